"""A run that was killed goes on with the tests that had not passed; any other run begins anew."""

import os
import re
import subprocess
import sys

import pytest

TESTS = """
import os
import signal
from pathlib import Path

import pytest
from subject import step

@pytest.mark.parametrize("case", range(6))
def test_step(case):
    step(case)
    if case == 1:
        assert not Path("../fails").exists()
    if case == 4 and Path("../killed").exists():
        if "PYTEST_XDIST_WORKER" in os.environ:
            os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
"""

CASES = range(6)
FILES = {
    "test_it.py": TESTS,
    "subject.py": "def step(case):\n" + "".join(f"    if case == {case}:\n        return {case}\n" for case in CASES),
    "conftest.py": "import resuming\nresuming.MINUTE = 0.0\n",
    "pytest.ini": "[pytest]\nmarkers = full: as in the project\n",
    ".gitignore": "__pycache__/\n.pytest_cache/\n.coverage*\n",
}


@pytest.fixture
def repository(tmp_path):
    """A repository of six tests, with one commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def git(folder, *words):
    """Run git."""
    subprocess.run(["git", "-c", "user.name=N", "-c", "user.email=N", *words], cwd=folder, check=True)


def commit(folder):
    """Commit all files."""
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Change")


@pytest.fixture
def run(repository, root, monkeypatch):
    """Run the tests with `--resume`; return the cases that passed, and all that was printed."""
    for name in [name for name in os.environ if name.startswith(("COV", "PYTEST_XDIST"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", f"{root / 'tests' / 'support'}{os.pathsep}{repository}")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(*options):
        command = [sys.executable, "-m", "pytest", "-v", "-p", "tiers", "-p", "resuming", "--resume", *options]
        done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
        passed = re.findall(r"test_step\[(\d)\] PASSED|PASSED test_it\.py::test_step\[(\d)\]", done.stdout)
        return {int(one or other) for one, other in passed}, done.stdout + done.stderr

    return run


def killed(repository, run, *options):
    """A run that is killed in its fifth test."""
    flag = repository.parent / "killed"
    flag.touch()
    passed, said = run(*options)
    flag.unlink()
    return passed, said


PROCESSES = [(), ("-p", "xdist", "--numprocesses", "2", "--dist", "loadfile")]


@pytest.mark.parametrize(
    "processes",
    [
        pytest.param(PROCESSES[0], id="one process"),
        pytest.param(PROCESSES[1], id="two processes", marks=pytest.mark.full("pytest is run several times", share=4)),
    ],
)
def test_a_killed_run_goes_on(repository, run, processes):
    """The second run leaves out the tests that passed, and counts them at its end; the third runs every test."""
    passed, said = killed(repository, run, *processes)
    assert passed <= {0, 1, 2, 3} and "resume: a new run" in said
    passed, said = run(*processes)
    assert passed == {4, 5} and "2 passed" in said
    assert "resume: an interrupted run of this commit goes on; 4 tests passed in it" in said
    assert re.search(r"before the interruption =+\n4 tests passed\n", said)
    passed, said = run(*processes)
    assert passed == set(CASES) and "resume: a new run" in said


MEASURED = ("-p", "pytest_cov", "--cov", "subject", "--cov-append", "--cov-report=term-missing", *PROCESSES[1])


@pytest.mark.full("pytest is run several times", share=4)
def test_coverage_goes_on(repository, run):
    """Lines that only the killed run reached are covered; those of a run before are forgotten."""
    killed(repository, run, *MEASURED)
    assert re.search(r"subject\.py +13 +0 +100%", run(*MEASURED)[1])
    assert re.search(r"subject\.py +13 +10 +23%", run(*MEASURED, "-k", "[0]")[1])


@pytest.mark.full("pytest is run several times", share=4)
def test_the_coverage_of_another_state_is_forgotten(repository, run):
    """Where a file has changed since, nothing goes on."""
    killed(repository, run, *MEASURED)
    (repository / "notes.txt").touch()
    assert re.search(r"subject\.py +13 +10 +23%", run(*MEASURED, "-k", "[0]")[1])


@pytest.mark.full("pytest is run several times", share=4)
def test_a_test_that_failed_is_run_again_and_named(repository, run):
    """The end of the second run names it, though it passes there."""
    flag = repository.parent / "fails"
    flag.touch()
    killed(repository, run)
    flag.unlink()
    passed, said = run()
    assert passed == {1, 4, 5} and "failed, and run again: test_it.py::test_step[1]" in said


@pytest.mark.full("pytest is run several times", share=4)
def test_a_red_run_leaves_nothing(repository, run):
    """The run came to its end, so the next one runs every test."""
    flag = repository.parent / "fails"
    flag.touch()
    assert run()[0] == {0, 2, 3, 4, 5}
    flag.unlink()
    assert run()[0] == set(CASES)


@pytest.mark.full("pytest is run several times", share=4)
@pytest.mark.parametrize("is_committed", [False, True], ids=["changed", "committed"])
def test_another_state_is_tested_anew(repository, run, is_committed):
    """Nothing that passed before a change says anything about the state after it."""
    killed(repository, run)
    with (repository / "subject.py").open("a") as file:
        file.write("OTHER = 1\n")
    if is_committed:
        commit(repository)
    passed, said = run()
    assert passed == set(CASES)
    assert ("resume: a new run" if is_committed else "files differ from the last commit") in said
