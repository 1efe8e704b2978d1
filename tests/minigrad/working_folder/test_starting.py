"""A working folder: begun, brought up to date, opened in JupyterLab, handed in."""

import copy
import datetime as dt
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest
from lesson_versions import NEW, OLD, answer
from notebooks_by_hand import code, exercise, find, load, markdown, notebook, save, texts
from typer.testing import CliRunner

from minigrad.checks import CheckReport, CheckResult
from minigrad.cli import app
from minigrad.errors import MinigradError
from minigrad.exercises import syllabus
from minigrad.tutor import progressing
from minigrad.working_folder import lab, next_step, starting, submitting

LESSON = "00_fundamentals"


def minigrad(*arguments, cwd):
    command = [sys.executable, "-m", "minigrad", *map(str, arguments)]
    variables = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=variables)


@pytest.fixture
def course(tmp_path):
    """A folder with one released lesson."""
    return save(tmp_path / "course" / f"{LESSON}.ipynb", OLD).parent


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def states(outcomes):
    return [each.state for each in outcomes]


def test_the_table_has_no_empty_column(course, tmp_path):
    """What happened to cells has a column where anything did."""
    new = minigrad("start", "work", "--from", course, cwd=tmp_path)
    assert new.stdout.splitlines()[0].count("┳") == 1
    save(course / f"{LESSON}.ipynb", NEW)
    updated = minigrad("start", "work", "--from", course, cwd=tmp_path)
    assert updated.stdout.splitlines()[0].count("┳") == 2 and "what happened" in updated.stdout


# --- start ----------------------------------------------------------------------------------------------------


def test_a_folder_begins_with_the_lessons_of_the_course(root, tmp_path):
    """Without --from they are those of the repository, byte for byte, each with its base."""
    assert set(states(starting.start(tmp_path / "work"))) == {"copied"}
    made = files(tmp_path / "work")
    for path in (root / "notebooks").glob("*.ipynb"):
        assert made[path.name] == made[f".minigrad/base/{path.name}"] == path.read_bytes()
    assert len(made) == 2 * len(list((root / "notebooks").glob("*.ipynb"))) + 1
    assert "the answer is not yours to give" in made["AGENTS.md"].decode()


def test_what_assistants_are_asked_is_written_once(course, tmp_path):
    """A folder begins with AGENTS.md; one that is there stays as it is, and one that was deleted does not come back."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "AGENTS.md").write_text("mine")
    starting.start(work, course)
    assert (work / "AGENTS.md").read_text() == "mine"
    (work / "AGENTS.md").unlink()
    starting.start(work, course)
    assert not (work / "AGENTS.md").exists()


def test_a_folder_begins_in_another_language_and_keeps_it(root, tmp_path):
    """`zh` means zh_CN; a later start without a language goes on with it, and English is one start away."""
    work = tmp_path / "work"
    starting.start(work, language="zh")
    for path in (root / "notebooks" / "zh_CN").glob("*.ipynb"):
        assert (work / path.name).read_bytes() == path.read_bytes()
    assert set(states(starting.start(work))) == {"unchanged"}
    assert set(states(starting.start(work, language="en"))) == {"updated"}
    assert load(work / f"{LESSON}.ipynb")["cells"][0] == load(root / "notebooks" / f"{LESSON}.ipynb")["cells"][0]


def test_an_answer_stays_when_the_language_changes(root, tmp_path):
    """The text is the other language's, the answer the student's, and nothing stands there twice."""
    work = tmp_path / "work"
    starting.start(work)
    book = load(work / f"{LESSON}.ipynb")
    find(book, "# exercise: operators.arithmetic")["source"] = ["# exercise: operators.arithmetic\n", "mine = 1"]
    save(work / f"{LESSON}.ipynb", book)
    starting.start(work, language="zh_CN")
    given, now = load(root / "notebooks" / "zh_CN" / f"{LESSON}.ipynb"), load(work / f"{LESSON}.ipynb")
    changed = [b for a, b in zip(given["cells"], now["cells"], strict=True) if a["source"] != b["source"]]
    assert ["".join(cell["source"]) for cell in changed] == ["# exercise: operators.arithmetic\nmine = 1"]


def test_a_language_that_is_not_there_is_one_sentence(tmp_path):
    """It names those that are."""
    done = minigrad("start", "work", "--language", "xx", cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "not there in the language 'xx'; choose one of: en, zh_CN" in " ".join((done.stdout + done.stderr).split())


def test_a_folder_of_lessons_has_one_language(course, tmp_path):
    """A language asked for beside the folder would be passed over in silence, so it is refused."""
    with pytest.raises(MinigradError, match="not both"):
        starting.start(tmp_path / "work", course, language="zh")


def test_a_second_start_changes_nothing(course, tmp_path):
    """Whatever was written in between."""
    work = tmp_path / "work"
    starting.start(work, course)
    book = load(work / f"{LESSON}.ipynb")
    answer(book, "operators.one")
    del book["cells"][4]  # a check, which an update would bring back
    save(work / f"{LESSON}.ipynb", book)
    before = files(work)
    assert states(starting.start(work, course)) == ["unchanged"]
    assert files(work) == before


def test_an_update_is_merged_and_the_old_file_kept(course, tmp_path):
    """Answers stay, new text comes, the file as it was lies aside, and a further start has nothing to do."""
    work = tmp_path / "work"
    starting.start(work, course)
    path = work / f"{LESSON}.ipynb"
    book = load(path)
    written = answer(book, "operators.one")["source"]
    save(path, book)
    before = path.read_bytes()
    save(course / path.name, NEW)
    (outcome,) = starting.start(work, course)
    assert outcome.state == "updated"
    assert outcome.details == ("6 cells are new or reworded, 3 were taken out",)
    assert written in texts(load(path))
    assert "New prose." in texts(load(path))
    (kept,) = (work / ".minigrad" / "before-update").glob("*/*.ipynb")
    assert kept.read_bytes() == before
    after = files(work)
    assert states(starting.start(work, course)) == ["unchanged"]
    assert files(work) == after


def test_a_dry_run_writes_nothing(course, tmp_path):
    """It says what would be done, on an empty folder and on one to be updated."""
    work = tmp_path / "work"
    assert states(starting.start(work, course, dry_run=True)) == ["copied"]
    assert not work.exists()
    starting.start(work, course)
    save(course / f"{LESSON}.ipynb", NEW)
    before = files(work)
    assert states(starting.start(work, course, dry_run=True)) == ["updated"]
    assert files(work) == before


@pytest.mark.parametrize("broken_at", [0, 1, 2])
def test_an_interrupted_update_can_be_done_again(course, tmp_path, monkeypatch, broken_at):
    """Wherever it stopped, the next start ends with the same notebook, and nothing is lost."""
    work, other = tmp_path / "work", tmp_path / "other"
    for folder in (work, other):
        starting.start(folder, course)
        book = load(folder / f"{LESSON}.ipynb")
        answer(book, "operators.one")
        book["cells"].append({**code("own"), "id": "own"})
        save(folder / f"{LESSON}.ipynb", book)
    save(course / f"{LESSON}.ipynb", NEW)
    starting.start(other, course)
    calls = []

    def failing(path, content):
        calls.append(path)
        if len(calls) == broken_at + 1:
            raise OSError("disk full")
        return writing(path, content)

    writing = starting.write
    monkeypatch.setattr(starting, "write", failing)
    with pytest.raises(OSError, match="disk full"):
        starting.start(work, course)
    monkeypatch.undo()
    starting.start(work, course)
    assert load(work / f"{LESSON}.ipynb") == load(other / f"{LESSON}.ipynb")


def test_a_broken_notebook_is_left_alone(course, tmp_path):
    """One sentence, exit code 1, and the other lessons are brought up to date."""
    work = tmp_path / "work"
    save(course / "01_numerical_derivatives.ipynb", notebook(markdown("# One"), lesson="01_numerical_derivatives"))
    starting.start(work, course)
    (work / f"{LESSON}.ipynb").write_text("{ half")
    save(course / f"{LESSON}.ipynb", NEW)
    (course / "01_numerical_derivatives.ipynb").unlink()
    save(course / "01_numerical_derivatives.ipynb", notebook(markdown("# 1"), lesson="01_numerical_derivatives"))
    done = minigrad("start", work, "--from", course, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "was left alone: it is not a notebook that can be read" in done.stdout
    assert (work / f"{LESSON}.ipynb").read_text() == "{ half"
    assert texts(load(work / "01_numerical_derivatives.ipynb")) == ["# 1"]


def test_a_broken_notebook_has_a_way_back(course, tmp_path):
    """`start` names the file also where the course has not changed, and what to do; done so, the lesson is new."""
    work = tmp_path / "work"
    starting.start(work, course)
    path = work / f"{LESSON}.ipynb"
    path.write_text("{ half")
    done = minigrad("start", "work", "--from", course, cwd=tmp_path)
    assert done.returncode == 1 and "cannot be read" in done.stdout
    assert "move it away, then `minigrad start work` gives a fresh copy" in done.stdout
    ((command, remark),) = next_step.next_step(work).commands
    assert command.startswith("minigrad start ") and f"moved {LESSON}.ipynb away" in remark
    path.rename(work / "old.ipynb")
    assert states(starting.start(work, course)) == ["copied"]


@pytest.mark.parametrize("damage", ["nbgrader", "metadata", "minigrad"])
def test_half_broken_metadata_do_not_stop_an_update(course, tmp_path, damage):
    """The notebook is left alone where it cannot be read, and the next lesson is brought up to date."""
    work, second = tmp_path / "work", "01_numerical_derivatives"
    save(course / f"{second}.ipynb", notebook(markdown("# One"), lesson=second))
    starting.start(work, course)
    book = load(work / f"{LESSON}.ipynb")
    if damage == "nbgrader":
        book["cells"][0]["metadata"] = {"nbgrader": "x"}
    else:
        book["metadata"] = None if damage == "metadata" else {"minigrad": "x"}
    save(work / f"{LESSON}.ipynb", book)
    (work / ".minigrad" / "base" / f"{LESSON}.ipynb").unlink()
    save(course / f"{LESSON}.ipynb", NEW)
    save(course / f"{second}.ipynb", notebook(markdown("# 1"), lesson=second))
    first = "updated" if damage == "minigrad" else "unreadable"
    assert states(starting.start(work, course)) == [first, "updated"]
    assert texts(load(work / f"{second}.ipynb")) == ["# 1"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_lesson_under_another_name_is_named(course, tmp_path, dry_run):
    """A new copy does not hide where the work is; nothing is said where the lesson's own file is there."""
    work = tmp_path / "work"
    starting.start(work, course)
    (work / f"{LESSON}.ipynb").rename(work / f"{LESSON}-mine.ipynb")
    (outcome,) = starting.start(work, course, dry_run=dry_run)
    said = f"{LESSON}-mine.ipynb is the same lesson; to go on with it, put it in place of {LESSON}.ipynb"
    assert (outcome.state, outcome.details) == ("copied", (said,))
    starting.start(work, course)
    assert starting.start(work, course)[0].details == ()


def test_a_lesson_that_the_course_dropped_stays(course, tmp_path):
    """It is named, and not touched."""
    work = tmp_path / "work"
    starting.start(work, course)
    (course / f"{LESSON}.ipynb").unlink()
    save(course / "01_numerical_derivatives.ipynb", notebook(markdown("# One"), lesson="01_numerical_derivatives"))
    outcomes = {each.lesson: each for each in starting.start(work, course)}
    assert outcomes[LESSON].state == "left alone"
    assert (work / f"{LESSON}.ipynb").is_file()


def test_work_that_was_there_before_is_taken_over(course, tmp_path):
    """Notebooks that were copied by hand become a working folder; what was written in them stays."""
    work = tmp_path / "work"
    book = copy.deepcopy(OLD)
    written = answer(book, "operators.one")["source"]
    path = save(work / f"{LESSON}.ipynb", book)
    save(course / f"{LESSON}.ipynb", NEW)
    starting.start(work, course)
    assert written in texts(load(path))
    assert "Old prose." not in texts(load(path))
    assert (work / ".minigrad" / "base" / path.name).is_file()


def test_a_release_of_nbgrader_will_do(course, tmp_path):
    """`--from course/release` holds a folder for each assignment."""
    release = tmp_path / "release"
    save(release / "module0" / f"{LESSON}.ipynb", OLD)
    save(release / "module0" / "notes.ipynb", notebook(lesson="other"))
    assert list(starting.released(release)) == [LESSON]


def test_places_that_will_not_do(course, tmp_path):
    """A file, the course's own notebooks, and a folder without any: one sentence each."""
    (tmp_path / "file").touch()
    with pytest.raises(MinigradError, match="is a file; name a folder"):
        starting.start(tmp_path / "file", course)
    with pytest.raises(MinigradError, match="name another folder to work in"):
        starting.start(course, course)
    with pytest.raises(MinigradError, match="holds no notebooks of a course"):
        starting.start(tmp_path / "work", tmp_path / "empty")


@pytest.mark.parametrize("folder", ["loop", "loop/work", "nowhere"])
def test_a_link_that_leads_nowhere_will_not_do(course, tmp_path, folder):
    """A link to itself, a folder behind it, and a link to what is not there: one sentence that names the link."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    link = re.escape(str(tmp_path / folder.partition("/")[0]))
    with pytest.raises(MinigradError, match=f"start: {link} is a link that leads nowhere; name another folder"):
        starting.start(tmp_path / folder, course)


def test_an_empty_language_is_no_language(tmp_path):
    """`--language ""` is not English: the sentence names the languages that there are."""
    with pytest.raises(MinigradError, match="not there in the language ''; choose one of: en, "):
        starting.start(tmp_path / "work", language="")


@pytest.mark.full("the command is started three times", share=4)
def test_the_command_says_what_it_did(course, tmp_path):
    """`minigrad start` copies, then merges; inside the folder it needs no name."""
    done = minigrad("start", "work", "--from", course, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"{LESSON}\s*│ new", done.stdout)
    assert "Next: minigrad lab work" in done.stdout
    save(course / f"{LESSON}.ipynb", NEW)
    done = minigrad("start", "--from", course, cwd=tmp_path / "work")
    assert "updated" in done.stdout
    assert "cells are new or reworded" in done.stdout
    done = minigrad("start", "--dry-run", "--from", course, cwd=tmp_path / "work")
    assert "Nothing was written" in done.stdout


@pytest.mark.full("an edition is made", share=4)
def test_a_class_gets_the_notebooks_with_its_library(root, tmp_path):
    """The student edition holds them: `minigrad start` needs nothing else, and stubs are checked there."""
    from autograder.building.editions import class_edition
    from autograder.course.loading import load_course

    course = load_course(root / "course")
    edition = class_edition(tmp_path / "edition", course, dt.date(2026, 1, 1))

    def run(*arguments):
        variables = {**os.environ, "COLUMNS": "200", "PYTHONPATH": str(edition)}
        command = [sys.executable, "-m", "minigrad", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=variables)

    done = run("start", "work")
    assert done.returncode == 0, done.stderr
    given = {path.name: path.read_bytes() for path in (edition / "minigrad" / "notebooks").glob("*.ipynb")}
    assert given == {path.name: path.read_bytes() for path in (root / "notebooks").glob("*.ipynb")}
    assert {path.name: path.read_bytes() for path in (tmp_path / "work").glob("*.ipynb")} == given
    done = run("check", "work/02_chain_rule.ipynb")
    assert done.returncode == 1
    assert done.stdout.count("not begun") == len(course.of_lesson("02_chain_rule")), done.stdout + done.stderr


def test_the_wheel_takes_the_notebooks_along(root):
    """What `start` copies is in the package that is built."""
    import tomllib

    wheel = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"notebooks": "minigrad/notebooks"}


# --- lab ------------------------------------------------------------------------------------------------------


def test_lab_runs_this_python_and_writes_into_the_folder_alone(tmp_path):
    """The kernel of the lessons is this Python, no news, and the environment keeps Jupyter's files in the folder."""
    lab.prepare(tmp_path)
    home = tmp_path.resolve() / ".minigrad" / "jupyter"
    kernel = json.loads((home / "data" / "kernels" / "python3" / "kernel.json").read_text())
    assert kernel["argv"][0] == sys.executable
    settings = json.loads((home / "config" / "labconfig" / "default_setting_overrides.json").read_text())
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    variables = lab.environment(tmp_path, {"JUPYTER_CONFIG_DIR": "/mine", "JUPYTER_CONFIG_PATH": "/site", "A": "b"})
    assert variables["A"] == "b"
    assert variables["JUPYTER_CONFIG_PATH"] == f"/mine{os.pathsep}/site"
    ours = [variables[name] for name in variables if name.startswith(("JUPYTER", "IPYTHON"))]
    assert [each for each in ours if not each.startswith(str(home))] == [variables["JUPYTER_CONFIG_PATH"]]


def test_nbgrader_finds_a_file_of_settings(tmp_path, monkeypatch):
    """So it does not warn, in the terminal where a student reads, that it found none; a file that is there stays."""
    from nbgrader.apps import NbGrader

    for name, value in lab.environment(tmp_path, {"JUPYTER_CONFIG_DIR": str(tmp_path / "none")}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def warnings():
        said = []
        app = NbGrader()
        monkeypatch.setattr(app.log, "warning", lambda text, *_: said.append(text))
        app.load_config_file()
        return said

    assert any("No nbgrader_config.py file found" in each for each in warnings())
    lab.prepare(tmp_path)
    assert warnings() == []
    mine = tmp_path / ".minigrad" / "jupyter" / "config" / "nbgrader_config.py"
    mine.write_text("# mine")
    lab.prepare(tmp_path)
    assert mine.read_text() == "# mine"


def test_nbgrader_finds_the_exchange_of_a_class(tmp_path, monkeypatch):
    """It is where the edition says, also after an edition with another one."""
    from nbgrader.apps import NbGrader

    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / ".minigrad" / "jupyter" / "config"))
    monkeypatch.chdir(tmp_path)
    for place in ("/srv/first", "/srv/second"):
        monkeypatch.setattr(syllabus, "course", lambda place=place: {"name": "deep", "exchange": place})
        lab.prepare(tmp_path)
        app = NbGrader()
        app.load_config_file()
        assert (app.config.Exchange.root, app.config.CourseDirectory.course_id) == (place, "deep")


@pytest.mark.parametrize("what", ["settings", "answers"])
def test_lab_refuses_a_folder_that_nothing_can_be_saved_in(tmp_path, monkeypatch, what):
    """One sentence before JupyterLab starts; a port that there is none of is refused as well."""
    monkeypatch.setattr(lab.waiting, "run", lambda *_: pytest.fail("JupyterLab was started"))
    if what == "settings":
        (tmp_path / progressing.FOLDER).write_text("a file")
    else:  # as in a folder that may be read alone, which root may write to all the same

        def refused(**_named):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(lab.tempfile, "TemporaryFile", refused)
    with pytest.raises(MinigradError, match=r"^lab: .* cannot be written to \(.*\): your answers could"):
        lab.run(tmp_path)
    for port in ("99999999", "65536", "0", "-1"):
        done = CliRunner().invoke(app, ["lab", str(tmp_path), "--port", port])
        assert done.exit_code == 2 and "--port" in done.output


def test_labs_options_are_passed_on(tmp_path):
    """--no-browser and --port reach JupyterLab, and it opens in the folder."""
    words = lab.command(tmp_path, True, None)
    assert words[:4] == [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={tmp_path.resolve()}"]
    assert "--no-browser" not in words
    assert {"--no-browser", "--port=8899"} <= set(lab.command(tmp_path, False, 8899))


def test_lab_without_a_folder_or_without_jupyterlab(tmp_path, monkeypatch):
    """One sentence each, with what to do."""
    with pytest.raises(MinigradError, match=r"there is no folder .*minigrad start"):
        lab.run(tmp_path / "none")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MinigradError, match=r"JupyterLab is not installed; .*pip install jupyterlab"):
        lab.run(tmp_path)


def test_labs_exit_code_is_the_commands(tmp_path, monkeypatch):
    """Where JupyterLab ends with an error, so does `minigrad lab`."""
    for status in (0, 7):
        monkeypatch.setattr(lab, "run", lambda folder, status=status, **_: status)
        assert CliRunner().invoke(app, ["lab", str(tmp_path)]).exit_code == status


def test_lab_says_that_it_holds_the_terminal(tmp_path, monkeypatch):
    """Before JupyterLab's own log: where further commands go, and how to reach this Python there."""
    said = []
    monkeypatch.setattr(lab.waiting, "run", lambda *_: len(said))
    assert lab.run(tmp_path, say=said.append) == 1
    head, *lines = said[0].splitlines()
    assert "Ctrl-C" in head and "open a second terminal" in head
    assert [line.strip() for line in lines if line.strip()] == lab.second_terminal()
    (tmp_path / "my course").mkdir()
    monkeypatch.chdir(tmp_path / "my course")
    monkeypatch.setattr(sys, "prefix", "/somewhere/my venv")
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    there, line = lab.second_terminal()
    assert there.startswith("cd ") and there.endswith(("my course'", 'my course"'))
    assert line in ("source '/somewhere/my venv/bin/activate'", r'"\somewhere\my venv\Scripts\activate"')
    monkeypatch.setenv("CONDA_PREFIX", "/somewhere/my venv")
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "course")
    assert lab.second_terminal() == [there, "conda activate course"]
    monkeypatch.setenv("CONDA_PREFIX", "/base")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert lab.second_terminal() == [there]


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a program without a signal")
def test_who_ends_the_command_ends_the_program(tmp_path):
    """A signal that ends `minigrad lab`, as a server sends it, leaves no JupyterLab running behind."""
    child = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(60)"
    parent = f"import sys; from minigrad.working_folder import waiting; waiting.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], cwd=tmp_path) as running:
        end = time.monotonic() + 30
        while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < end
            time.sleep(0.02)
        running.terminate()
        running.wait(timeout=30)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port, process, seconds=120.0):
    """Return when something listens there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"nothing listens on port {port}; JupyterLab ended with {process.poll()}")


@pytest.mark.full("JupyterLab is started", share=4)
def test_lab_really_starts_and_stops(tmp_path):
    """A server answers for the folder's notebooks, with the quiet settings, and ends when it is told to."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    save(work / f"{LESSON}.ipynb", OLD)
    hidden = ("JUPYTER", "IPYTHON", "XDG")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    variables |= {"HOME": str(home), "JUPYTER_TOKEN": "t"}
    port = free_port()
    command = [sys.executable, "-m", "minigrad", "lab", str(work), "--no-browser", f"--port={port}"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables, start_new_session=True
    )
    try:
        wait_for(port, process)

        def get(path):
            without_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with without_proxy.open(f"http://127.0.0.1:{port}/{path}?token=t", timeout=60) as reply:
                return json.load(reply)

        assert [each["name"] for each in get("api/contents")["content"]] == [f"{LESSON}.ipynb"]
        settings = get("lab/api/settings/@jupyterlab/apputils-extension:notification")
        assert settings["schema"]["properties"]["fetchNews"]["default"] == "false"
        assert get("api/kernelspecs")["kernelspecs"]["python3"]["spec"]["argv"][0] == sys.executable
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)
    left = [path for path in home.rglob("*") if path.is_file() and ".cache" not in path.parts]
    assert left == []


# --- submit ---------------------------------------------------------------------------------------------------


@pytest.fixture
def work(tmp_path):
    """A working folder with the lessons of module1 and module0, as they are given out."""
    starting.start(tmp_path / "work")
    return tmp_path / "work"


def test_a_zip_holds_the_assignment(work):
    """Its notebooks by their names, as they are on the disk; the same work gives the same bytes."""
    packed = submitting.pack(work, "module1")
    assert packed.path == work / "module1.zip"
    with zipfile.ZipFile(packed.path) as archive:
        assert archive.namelist() == ["01_numerical_derivatives.ipynb", "02_chain_rule.ipynb", "03_backprop.ipynb"]
        for name in archive.namelist():
            assert archive.read(name) == (work / name).read_bytes()
    again = submitting.pack(work, "module1", work / "other.zip")
    for name, _ in packed.files:
        os.utime(work / name, (1, 1))
    later = submitting.pack(work, "module1")
    assert packed.sha256 == again.sha256 == later.sha256
    assert packed.path.read_bytes() == (work / "other.zip").read_bytes()


def test_what_is_begun_is_not_called_unwritten(work):
    """It is the code that says what is written: not a comment, nor a magic above the exercise's line."""
    path = work / "00_fundamentals.ipynb"
    notebook = load(path)
    cell = next(cell for cell in notebook["cells"] if "# exercise: operators.arithmetic" in "".join(cell["source"]))
    cell["source"] = "%%time\n# exercise: operators.arithmetic\n# raise NotImplementedError()\n" + (
        "def add(x, y): return x + y\ndef mul(x, y): return x * y\ndef neg(x): return -float(x)\n"
    )
    save(path, notebook)
    said = " ".join(submitting.pack(work, "module0").warnings)
    assert "operators.comparison" in said and "operators.arithmetic" not in said


@pytest.mark.parametrize("name", ["02_chain_rule.ipynb", "new.ipynb", "notes.txt", ".minigrad"])
def test_no_file_of_the_students_becomes_a_zip(work, name):
    """A zip takes the place of a zip at most."""
    (work / "notes.txt").write_text("precious")
    before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    with pytest.raises(MinigradError, match="is no zip, and stays as it is"):
        submitting.pack(work, "module1", work / name)
    assert {path: path.read_bytes() for path in work.rglob("*") if path.is_file()} == before


def test_no_other_zip_is_replaced(work):
    """Only one that may have been packed here: nothing but notebooks, in no folder."""
    others = {"thesis": ["thesis.tex", "02_chain_rule.ipynb"], "handout": ["module1/02_chain_rule.ipynb"], "none": []}
    for name, members in others.items():
        with zipfile.ZipFile(work / f"{name}.zip", "w") as archive:
            for member in members:
                archive.writestr(member, "precious")
    (work / "broken.zip").write_bytes(b"PK" + (work / "thesis.zip").read_bytes()[2:].replace(b"PK\1\2", b"...."))
    for name in (*others, "broken"):
        before = (work / f"{name}.zip").read_bytes()
        why = "holds not only notebooks|is no zip"  # since Python 3.14 a zip without its list of members is none
        with pytest.raises(MinigradError, match=rf"submit: .*{name}.zip ({why}), and stays as it is"):
            submitting.pack(work, "module1", work / f"{name}.zip")
        assert (work / f"{name}.zip").read_bytes() == before
    packed = submitting.pack(work, "module0", work / "mine.zip")
    assert submitting.pack(work, "module1", work / "mine.zip").sha256 != packed.sha256


@pytest.mark.parametrize(
    ("text", "unwritten"),
    [
        ("def add(x, y): return x + y\ndef mul(x, y): return x * y\ndef neg(x): return -x\n", False),
        ("%%time\ndef add(x, y):\n    raise NotImplementedError()\n", True),
        ("", True),
    ],
)
def test_an_answer_over_the_whole_cell_is_written(work, text, unwritten):
    """The cell is known by nbgrader's metadata where the exercise's line is gone; an empty one holds no answer."""
    book = load(work / "00_fundamentals.ipynb")
    find(book, "# exercise: operators.arithmetic")["source"] = text
    save(work / "00_fundamentals.ipynb", book)
    said = " ".join(submitting.pack(work, "module0").warnings)
    assert ("operators.arithmetic" in said) is unwritten
    progressing.record(CheckReport("operators.arithmetic", 3.0, (CheckResult("It works.", True),)), work)
    said = " ".join(submitting.pack(work, "module0").warnings)
    assert ("operators.arithmetic passed its check, but the saved file holds no answer" in said) is unwritten


def test_a_folder_that_cannot_be_is_a_sentence(tmp_path):
    """What the system refuses is said without a traceback."""
    (tmp_path / "file").touch()
    done = minigrad("start", tmp_path / "file" / "work", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"minigrad: {tmp_path / 'file' / 'work'}: Not a directory\n")


def test_a_grader_takes_the_zip(work):
    """In the place of notebooks the grader finds each lesson in it, answers and all."""
    from autograder.reading.handed_in import HandedIn

    book = load(work / "03_backprop.ipynb")
    cell = find(book, "# exercise: mlp.SGD")
    cell["source"] = "".join(cell["source"]).replace("raise NotImplementedError()", "self.mine = 1")
    save(work / "03_backprop.ipynb", book)
    submitted = work.parent / "submitted"
    submitted.mkdir()
    packed = submitting.pack(work, "module1", submitted / "module1.zip")
    lessons = [name.removesuffix(".ipynb") for name, _ in packed.files]
    found = {each.stem: each.notebook for each in HandedIn([packed.path], submitted, lessons).exports}
    assert sorted(found) == lessons
    assert any("self.mine = 1" in each.text for each in found["03_backprop"].cells)


def test_what_is_missing_or_broken_is_refused(work):
    """All of it in one sentence; --force packs what there is and says so."""
    (work / "01_numerical_derivatives.ipynb").unlink()
    (work / "02_chain_rule.ipynb").write_text("{")
    with pytest.raises(MinigradError) as refused:
        submitting.pack(work, "module1")
    assert "01_numerical_derivatives.ipynb is missing; 02_chain_rule.ipynb cannot be handed in: it is not" in str(
        refused.value
    )
    assert not (work / "module1.zip").exists()
    packed = submitting.pack(work, "module1", force=True)
    assert [name for name, _ in packed.files] == ["02_chain_rule.ipynb", "03_backprop.ipynb"]
    assert packed.warnings[0] == "01_numerical_derivatives.ipynb is missing"
    for path in work.glob("*.ipynb"):
        path.unlink()
    with pytest.raises(MinigradError, match=r"03_backprop.ipynb is missing$"):
        submitting.pack(work, "module1", force=True)


def test_a_notebook_that_is_too_large_is_refused(work, monkeypatch):
    """With what to do about it."""
    monkeypatch.setattr(submitting, "LARGEST", 1000)
    with pytest.raises(MinigradError, match="clear its outputs"):
        submitting.pack(work, "module0")


def test_work_that_was_not_saved_is_noticed(work):
    """A check that passed while the file holds a stub, and a check after the last save, are both said."""
    passed = CheckReport("mlp.SGD", 4.0, (CheckResult("It works.", True),))
    progressing.record(passed, work)
    os.utime(work / "03_backprop.ipynb", (1_000_000_000, 1_000_000_000))
    said = " ".join(submitting.pack(work, "module1").warnings)
    assert "03_backprop.ipynb: mlp.SGD passed its check, but the saved file holds no answer: save the notebook" in said
    assert (
        "nothing is written yet in autodiff.topological_sort, autodiff.is_sort, autodiff.backpropagate, mlp.Linear"
        in said
    )
    assert "03_backprop.ipynb was saved before its last check" in said
    assert "02_chain_rule.ipynb was saved before" not in said
    progressing.record(CheckReport("autodiff.chain_rule", 5.0, passed.results), work, live=False)
    os.utime(work / "02_chain_rule.ipynb", (1_000_000_000, 1_000_000_000))
    assert "02_chain_rule.ipynb was saved before" not in " ".join(submitting.pack(work, "module1").warnings)


def test_which_assignment_is_meant(work):
    """The only one that there are notebooks of; else it must be named, and exist."""
    with pytest.raises(MinigradError, match=r"and one of module0 \(Fundamentals, lesson 00\), module1 \(Autodiff, "):
        submitting.assignment_for(work, None)
    assert submitting.assignment_for(work, "module1") == "module1"
    for path in work.glob("*.ipynb"):
        if not path.name.startswith(("01", "02", "03")):
            path.unlink()
    assert submitting.assignment_for(work, None) == "module1"
    with pytest.raises(MinigradError, match=r"'module10'; there are module0 \(.*module9 \(Many workers, lesson 14\)$"):
        submitting.assignment_for(work, "module10")
    with pytest.raises(MinigradError, match="holds no notebook of the course"):
        submitting.assignment_for(work / ".minigrad", None)


def test_the_command_shows_what_is_in_the_zip(work):
    """Names, sizes, warnings, the hash that `sha256sum` gives, and the time."""
    done = minigrad("submit", work, "--assignment", "module0", cwd=work.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("module0 (Fundamentals, lesson 00):\n")
    assert "00_fundamentals.ipynb" in done.stdout
    assert "Look again:\n00_fundamentals.ipynb: nothing is written yet in operators.arithmetic" in done.stdout
    import hashlib

    digest = hashlib.sha256((work / "module0.zip").read_bytes()).hexdigest()
    assert f"sha256 {digest}" in done.stdout
    assert re.search(r"packed \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", done.stdout)
    (work / "00_fundamentals.ipynb").unlink()
    done = minigrad("submit", work, "--assignment", "module0", cwd=work.parent)
    assert (done.returncode, done.stderr) == (2, "minigrad: submit: 00_fundamentals.ipynb is missing\n")


def test_exercises_of_tests_are_whole():
    """The cells made by hand look like those of the build."""
    first, second = exercise("operators.one")
    assert first["metadata"]["nbgrader"]["grade_id"] == "operators-one"
    assert second["source"] == 'check("operators.one")'
    assert Path(starting.__file__).name == "starting.py"


def test_a_question_without_an_answer_is_told(root, tmp_path):
    """Packing names it; what is written, or not asked, is not named."""
    work = tmp_path / "work"
    starting.start(work)
    (book,) = [load(work / f"{LESSON}.ipynb")]
    (cell,) = [each for each in book["cells"] if "My answer to the question" in "".join(each["source"])]
    name = "".join(cell["source"]).split("`")[1]
    assert f"no answer is written yet to {name}" in " ".join(submitting.pack(work, "module0").warnings)
    cell["source"] = "".join(cell["source"]).replace("Write your answer here.", "It does.")
    save(work / f"{LESSON}.ipynb", book)
    assert "no answer is written yet" not in " ".join(submitting.pack(work, "module0").warnings)
