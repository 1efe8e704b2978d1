"""The pages for strangers: paper, licences, citation, accessibility, forms, containers; each names what is there."""

import json
import re
import shutil
import stat
import subprocess
import tomllib

import pytest
import yaml
from places import ROOT

from autograder.course.loading import load_course
from autograder.proof.attack import ATTACKS

PAPER = ROOT / "paper.md"


def counted():
    """What the paper counts, by its words for it."""
    course, mutants = load_course(), json.loads((ROOT / "course" / "mutants.json").read_text())["exercises"]
    hidden = [path.read_text(encoding="utf-8") for path in (ROOT / "course" / "hidden").glob("test_*.py")]
    return {
        "exercises": len(course.exercises),
        "known-wrong answers": len(list((ROOT / "course" / "wrong").glob("*/*.py"))),
        "variants": len(list((ROOT / "course" / "variants").rglob("*.py"))),
        "hidden tests": sum(len(re.findall(r"^def test_", text, re.MULTILINE)) for text in hidden),
        "small changes": sum(each["mutants"] for each in mutants.values()),
        "submissions": len(ATTACKS),
    }


def test_the_paper_counts_right():
    """Each figure is a round number that the repository exceeds, by a quarter at most."""
    stated = dict(
        re.findall(r"more than ([\d,]+)\s([a-z-]+(?: (?:answers|tests|changes))?)", PAPER.read_text(), re.IGNORECASE)
    )
    figures = {what: int(number.replace(",", "")) for number, what in stated.items()}
    found = counted()
    assert figures.keys() == found.keys()
    assert {what for what in found if not figures[what] < found[what] < 1.25 * figures[what]} == set()


def test_no_mutant_survives_unproved():
    """The paper says so."""
    mutants = json.loads((ROOT / "course" / "mutants.json").read_text())["exercises"]
    assert sum(each["survivors"] for each in mutants.values()) == 0


def test_the_paper_cites_its_references():
    """Every key has an entry, and every entry is cited."""
    cited = set(re.findall(r"@([a-z]+)", PAPER.read_text(encoding="utf-8").partition("\n---\n")[2]))
    entries = re.findall(r"^@\w+\{(\w+),$", (ROOT / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(cited) == sorted(entries)


def test_the_paper_has_what_the_journal_asks_for():
    """Authors, affiliations, and the sections of a paper about open education."""
    head, _, body = PAPER.read_text(encoding="utf-8").removeprefix("---\n").partition("\n---\n")
    said = yaml.safe_load(head)
    places = {each["index"] for each in said["affiliations"]}
    assert {each["affiliation"] for each in said["authors"]} <= places
    assert (ROOT / said["bibliography"]).is_file()
    sections = {"Summary", "Statement of need", "Learning objectives", "Instructional design", "Experience of use"}
    assert sections <= set(re.findall(r"^# (.+)$", body, re.MULTILINE))
    assert 250 < len(body.split()) < 1200


def test_both_licences_are_everywhere():
    """The package, the citation and the README name the licence of code and that of texts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["license"].split(" AND ") == cited["license"] == ["MIT", "CC-BY-4.0"]
    for name in project["license-files"]:
        assert (ROOT / name).is_file()
        assert f"]({name})" in (ROOT / "README.md").read_text(encoding="utf-8")
    text = (ROOT / "LICENSE-CONTENT").read_text(encoding="utf-8")
    listed = re.search(r"files in (.+?), and (\S+)\. The code", " ".join(text.split()))
    places = [*re.split(r", | and ", listed[1]), listed[2]]
    assert [name for name in places if not (ROOT / name).exists()] == []


def test_accessibility_names_tests_that_are_there():
    """Each row of its table ends with files of tests, or refers to a row above."""
    text = (ROOT / "docs" / "accessibility.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert len(set(named)) > 4
    for name in named:
        assert "browser" in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "file", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda file: file.stem
)
def test_a_form_can_be_filled_in(file):
    """GitHub drops a form with a field without an id or a label, and says nothing of it."""
    form = yaml.safe_load(file.read_text(encoding="utf-8"))
    if file.stem == "config":
        assert form == {"blank_issues_enabled": True}
        return
    fields = [each for each in form["body"] if each["type"] != "markdown"]
    assert {"name", "description", "body"} <= form.keys()
    assert len({each["id"] for each in fields}) == len(fields) > 0
    assert all(each["attributes"]["label"] for each in fields)
    assert any(each["validations"]["required"] for each in fields)


def python_of(text):
    """The minor version of a Python that a text names."""
    (minor,) = re.findall(r"python(?:s/python)?[:-]3\.(\d+)", text)
    return int(minor)


def test_binder_installs_the_project():
    """Its requirements are this project in the versions of constraints.txt, on a Python that is supported."""
    lines = (ROOT / "binder" / "requirements.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["-c ../constraints.txt", "."]
    assert (ROOT / "constraints.txt").is_file()
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    oldest, beyond = (int(minor) for minor in re.findall(r"3\.(\d+)", requires))
    assert oldest <= python_of((ROOT / "binder" / "runtime.txt").read_text()) < beyond
    assert oldest <= python_of((ROOT / ".devcontainer" / "devcontainer.json").read_text()) < beyond


def test_binder_lays_out_the_lessons(tmp_path):
    """What is run after the installation works, and leaves a folder of lessons."""
    file = ROOT / "binder" / "postBuild"
    assert file.stat().st_mode & stat.S_IXUSR
    (tmp_path / "bin").mkdir()
    said = tmp_path / "said"
    (tmp_path / "bin" / "minigrad").write_text(f'#!/bin/sh\necho "$@" > {said}\n')
    (tmp_path / "bin" / "minigrad").chmod(0o755)
    subprocess.run([file], cwd=tmp_path, env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}, check=True)
    assert said.read_text() == "start lessons\n"


def test_a_container_is_set_up_by_the_projects_scripts():
    """A devcontainer runs scripts that are there, with extras that are there."""
    said = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    scripts = re.findall(r"\bscripts/[\w-]+", said["postCreateCommand"])
    assert scripts and all((ROOT / script).is_file() for script in scripts)
    (asked,) = re.findall(r"'\.\[(.+)\]'", said["postCreateCommand"])
    assert set(asked.split(",")) <= set(extras)


def test_images_are_made_of_files_that_are_there():
    """Each image copies what a checkout or the commands before it have, and installs extras that are there."""
    text = (ROOT / "course" / "hub" / "Containerfile").read_text()
    copied = [name for line in re.findall(r"^COPY (?:--\S+ )?(.+) \S+$", text, re.MULTILINE) for name in line.split()]
    assert "build/library" in copied and "src" in copied
    assert [name for name in copied if not (ROOT / name).exists() and name != "build/library"] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (asked,) = re.findall(r"minigrad\[(.+)\]'", text)
    assert set(asked.split(",")) <= set(project["project"]["optional-dependencies"])
    forced = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert set(forced) <= set(copied)
    said = (ROOT / "docs" / "instructor" / "containers.md").read_text()
    targets = re.findall(r"--target (\w+)", said)
    assert targets and set(targets) <= set(re.findall(r"^FROM \S+ AS (\w+)$", text, re.MULTILINE))


@pytest.mark.parametrize("place", [".venv/bin/ruff", ".venv/Scripts/ruff.exe"])
def test_hooks_find_their_tools_on_every_system(tmp_path, place):
    """Windows keeps programs of an environment in another folder; without one, a sentence says what to do."""
    (tmp_path / "scripts").mkdir()
    tool = shutil.copy(ROOT / "scripts" / "tool", tmp_path / "scripts")
    lacking = subprocess.run([tool, "ruff"], capture_output=True, text=True)
    assert (lacking.returncode, lacking.stderr) == (1, ".venv has no ruff; 'make lint' sets it up\n")
    program = tmp_path / place
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    done = subprocess.run([tool, "ruff", "check", "a b"], capture_output=True, text=True, check=True)
    assert done.stdout == "check a b\n"


def test_hooks_run_the_tools_of_the_environment():
    """Each hook is a tool of the extra `dev`, at the version of `make lint`."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    entries = [hook["entry"].split() for repo in hooks for hook in repo["hooks"]]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["dev"]
    assert [repo["repo"] for repo in hooks] == ["local"]
    assert {entry[0] for entry in entries} == {"scripts/tool"}
    assert {entry[1] for entry in entries} <= {re.split(r"[^\w-]", each)[0] for each in extras}
