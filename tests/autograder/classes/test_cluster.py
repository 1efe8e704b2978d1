"""A class graded on a Dask cluster: the same marks as on one machine, whatever is killed."""

import asyncio
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from class_runs import again, grade, hand_in, times, write
from places import ROOT
from processes import until
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.classes.parcel import Answer, Question, pack_course, unpack_course
from autograder.cli import app
from autograder.course.loading import load_course
from autograder.judging.fingerprint import Fingerprint
from autograder.judging.plugin import SHRINK_SECONDS
from autograder.results.ledger import LEDGER

pytest.importorskip("distributed", reason="the package distributed is not installed: pip install -e '.[cluster]'")
from dask_clusters import DaskCluster, kill

from autograder.classes.dask_worker import GradingPlugin

in_turn = pytest.mark.full("a class is graded on a Dask cluster of this machine", share=32, group="cluster")

WRONG = ARITHMETIC.replace("x + y", "x - y")
ENDED = "import os\nos._exit(0)"
CLASS = {
    "ada": (ARITHMETIC, COMPARISON),
    "bea": (WRONG, COMPARISON + "# bea\n"),
    "cem": ("", COMPARISON + "# cem\n"),
    "eve": (ARITHMETIC + "# eve\n", ENDED),
}


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """A class of right, wrong and hostile submissions, none of them taken in."""
    return hand_in(make_course(tmp_path_factory.mktemp("cluster"), ROOT), CLASS)


@pytest.fixture
def course(handed, tmp_path):
    """The same class again."""
    return again(handed, tmp_path / "copy")


@pytest.fixture(scope="module")
def undisturbed(handed, tmp_path_factory):
    """What a class graded on this machine leaves in the ledger."""
    course = again(handed, tmp_path_factory.mktemp("undisturbed") / "copy")
    grade(course)
    return ledger(course)


@pytest.fixture
def cluster(tmp_path):
    """Begins clusters, which end with the test."""
    begun = []

    def begin(**settings):
        begun.append(DaskCluster(tmp_path / f"cluster{len(begun)}", **settings))
        return begun[-1].open()

    yield begin
    for each in begun:
        each.close()


def ledger(course):
    """Every recorded entry, but for the time."""
    entries = {path.parent.name + "/" + path.stem: path.read_text() for path in (course / LEDGER).rglob("*.json")}
    return {name: {**json.loads(text), "graded": ""} for name, text in entries.items()}


def begin_to_grade(course, address):
    """Give the command in a process of its own."""
    words = ["autograde", "week0", "--course", str(course), "--hidden", str(course.parent / "hidden")]
    command = [sys.executable, "-m", "autograder", *words, "--scheduler", address]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_results(run, course):
    """Wait until something is graded."""
    assert until(lambda: times(course) or run.poll() is not None)
    assert times(course), run.communicate()


@in_turn
def test_a_cluster_gives_the_same_marks(course, undisturbed, cluster):
    """Results are those of one machine, to the last word; the workers keep nothing of the course afterwards."""
    workers = cluster()
    run = begin_to_grade(course, workers.address)
    output, errors = run.communicate()
    assert run.returncode == 0, errors
    assert "4 submissions, 8 notebooks" in output and "Traceback" not in errors
    assert ledger(course) == undisturbed and len(undisturbed) == 8
    assert until(lambda: not list(course.parents[1].glob("cluster0/worker*/*/*/autograder-*")), 60)


@in_turn
def test_a_worker_that_is_killed_loses_nothing(course, undisturbed, cluster):
    """What the worker was at is graded by the other one; what was graded before is not graded again."""
    workers = cluster()
    run = begin_to_grade(course, workers.address)
    wait_for_results(run, course)
    before = times(course)
    kill(workers.workers[0])
    _, errors = run.communicate()
    assert run.returncode == 0, errors
    assert before.items() <= times(course).items(), "a notebook was graded twice"
    assert ledger(course) == undisturbed


@in_turn
def test_a_lost_scheduler_ends_the_run_with_one_sentence(course, undisturbed, cluster):
    """What was graded is kept, and the same command on another cluster grades the rest."""
    workers = cluster()
    run = begin_to_grade(course, workers.address)
    wait_for_results(run, course)
    kill(workers.scheduler)
    _, errors = run.communicate()
    assert run.returncode == 2, errors
    said = [line for line in errors.splitlines() if not line.startswith("grading: ")]
    assert len(said) == 1, errors
    assert said[0].startswith(f"error: the scheduler at {workers.address} is gone; what was graded is kept"), errors
    before = times(course)
    run = begin_to_grade(course, cluster().address)
    _, errors = run.communicate()
    assert run.returncode == 0, errors
    assert before and before.items() <= times(course).items(), "a notebook was graded twice"
    assert ledger(course) == undisturbed


@in_turn
def test_a_notebook_that_brings_workers_down_is_given_up(course, undisturbed, cluster):
    """After some tries it is listed as not graded; no notebook that waited beside it is blamed with it."""
    write(course, "kim", {"00_numbers": ARITHMETIC + "# brings workers down\n", "01_order": COMPARISON + "# kim\n"})
    workers = cluster(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    run = begin_to_grade(course, workers.address)
    killed = 0
    while run.poll() is None:
        for number in workers.at_work(b"brings workers down"):
            kill(workers.workers[number])
            workers.add_worker()
            killed += 1
    output, errors = run.communicate()
    assert run.returncode == 1, errors
    assert killed == 2
    assert "not graded: kim: 00_numbers: the process that graded it ended (with its workers, the last one tcp" in output
    assert output.count("not graded") == 1
    assert {name: entry for name, entry in ledger(course).items() if not name.startswith("kim/")} == undisturbed


@pytest.fixture
def plugin_of(course, tmp_path):
    """Makes the plugin of a worker, which ends with the test."""
    made = []

    def make(isolation):
        parcel = pack_course(load_course(course, tree=False), course.parent / "hidden")
        made.append(GradingPlugin("run", parcel, isolation))
        made[-1].setup(SimpleNamespace(local_directory=str(tmp_path)))
        return made[-1]

    yield make
    for each in made:
        asyncio.run(each.teardown(None))
    assert not (tmp_path / "run").exists()


@pytest.mark.full("a process that grades apart is started several times", share=16)
def test_a_grading_process_that_ends_is_replaced(course, tmp_path, plugin_of):
    """A worker keeps one process for a run. If it ends, the answer says how, and the next question starts another."""
    notebook = (course / "submitted" / "bea" / "week0" / "00_numbers.ipynb").read_bytes()
    question = Question("week0", "00_numbers", notebook, None).pack()
    plugin = plugin_of("auto")
    entry = Answer.unpack(plugin.ask(question), "bea").entry
    assert (entry.student, entry.submission.earned) == ("bea", 1)
    fingerprint = Fingerprint(load_course(course, tree=False), course.parent / "hidden", "auto", SHRINK_SECONDS)
    assert entry.state == fingerprint.state("00_numbers")
    assert not list((tmp_path / "run" / "course").glob("submitted/*/*/*"))
    kill(plugin._process)
    assert Answer.unpack(plugin.ask(question), "bea") == Answer(ended="-9")
    assert Answer.unpack(plugin.ask(question), "bea").entry.submission == entry.submission


@pytest.mark.full("a process that grades apart is started several times", share=4)
def test_a_worker_without_a_sandbox_refuses(plugin_of):
    """It says which machine it is, and which isolation cannot be had there."""
    assert ": unknown isolation 'walls'" in Answer.unpack(plugin_of("walls").ask(b""), "bea").refusal


@pytest.mark.full("a process that grades apart is started several times", share=4)
def test_a_worker_without_a_package_refuses(course, plugin_of):
    """What the course requires is asked of each worker: else honest work would be graded without it."""
    toml = course / "course.toml"
    toml.write_text(toml.read_text() + '\n[library]\npackage = "minigrad"\nrequires = ["no-such-package"]\n')
    said = Answer.unpack(plugin_of("auto").ask(b""), "bea").refusal
    assert "course.toml: [library]: 'requires' names 'no-such-package', which is not installed here; install" in said


@pytest.mark.full("a class hands in", share=4)
def test_a_parcel_has_what_grading_reads(course, tmp_path):
    """An unpacked course has the same fingerprint. It holds no submission and no gradebook."""
    loaded, hidden = load_course(course, tree=False), course.parent / "hidden"
    unpack_course(pack_course(loaded, hidden), tmp_path / "there")
    there = load_course(tmp_path / "there" / "course")
    names = {path.name for path in there.directory.iterdir()}
    assert names == {"course.toml", "lessons", "masters", "source"}
    here = Fingerprint(loaded, hidden, "auto", SHRINK_SECONDS)
    other = Fingerprint(there, tmp_path / "there" / "hidden", "auto", SHRINK_SECONDS)
    assert [here.state(lesson) for lesson in loaded.lessons] == [other.state(lesson) for lesson in there.lessons]


@pytest.mark.parametrize("data", [b"", b"[]", b'{"entry": {"student": "ada"}}', b'{"entry": null, "other": 1}'])
def test_what_is_no_answer_is_refused(data):
    """An answer has its own fields alone, and its result is one that the ledger could hold."""
    with pytest.raises(ValueError, match="no answer"):
        Answer.unpack(data, "ada")


def test_a_scheduler_that_does_not_answer(course, monkeypatch):
    """The command says so at once, in one sentence, and grades nothing."""
    monkeypatch.setattr("autograder.classes.cluster._CONNECT_SECONDS", 0.2)
    done = CliRunner().invoke(app, ["autograde", "week0", "--course", str(course), "--scheduler", "tcp://127.0.0.1:9"])
    assert done.exit_code == 2, done.output
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in done.output
    assert not times(course)


@pytest.mark.full("processes are started", share=4)
def test_only_a_scheduler_loads_dask():
    """Neither the command nor the pool of this machine imports distributed."""
    code = "import sys, autograder.cli, autograder.classes.pool; print('distributed' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
