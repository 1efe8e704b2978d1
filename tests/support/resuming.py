"""A long run that was interrupted goes on: tests that passed on the same commit are not run again.

With `--resume` each process notes how its tests ended, and saves its coverage, once a minute. A
run that comes to its end, green or red, leaves no note: the next one runs everything. One that is interrupted or killed
leaves its note in pytest's cache. On the same commit, with no file changed, the next run with `--resume` leaves out the
tests that passed, and names those that failed. Coverage is to append (`--cov-append`); a run that does not go on erases
it first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData
from tiers import git

__all__ = ["Note"]

MINUTE = 60.0


class Note:
    """How the tests of an interrupted run ended, and those of the processes of this run.

    Args:
        file: Where it is kept.
        lines: How many of its lines are of the run before; more are written while processes start.
    """

    def __init__(self, file: Path, lines: int) -> None:
        self.file, self.lines = file, lines
        before = [line.partition(" ") for line in _lines(file)[:lines]]
        self.passed = {name for outcome, _, name in before if outcome == "passed"}
        self.failed = {name for outcome, _, name in before if outcome == "failed"}
        self._saved = time.monotonic()
        self._ended: list[str] = []
        self._outcomes: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test ended: what it sets up, the test, or what it leaves."""
        self._outcomes.append(report.outcome)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[object]:
        """Keep how a test ended; save once a minute, and after the last one."""
        self._outcomes = []
        result = yield
        if "failed" in self._outcomes:
            self._ended.append(f"failed {item.nodeid}\n")
        elif "skipped" not in self._outcomes:
            self._ended.append(f"passed {item.nodeid}\n")
        if nextitem is None or time.monotonic() - self._saved > MINUTE:
            self.save()
        return result

    def save(self) -> None:
        """Save the coverage of the tests that ended, then say that they did."""
        if measuring := Coverage.current():
            measuring.save()
        with self.file.open("a", encoding="utf-8") as file:
            file.write("".join(self._ended))
        self._ended, self._saved = [], time.monotonic()


def _lines(file: Path) -> list[str]:
    """Return the whole lines of a note; a process that is killed may leave a half one."""
    return file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []


NOTE = pytest.StashKey[Note | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the option."""
    parser.getgroup("tiers").addoption(
        "--resume", action="store_true", help="go on with a run of the same commit that was interrupted"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Look for a note; the processes of pytest-xdist are told of it."""
    told = getattr(config, "workerinput", {}).get("resuming")
    config.stash[NOTE] = note = Note(Path(told[0]), told[1]) if told else _found(config)
    if note:
        config.pluginmanager.register(note, "resuming-note")


def _found(config: pytest.Config) -> Note | None:
    if not config.getoption("resume") or hasattr(config, "workerinput"):
        return None
    note = _of_this_state(config)
    if not (note and note.lines) and (measuring := Coverage.current()):
        CoverageData(measuring.config.data_file).erase(parallel=True)
    return note


def _of_this_state(config: pytest.Config) -> Note | None:
    """Return the note of the last commit; none where a file differs from it."""
    root = config.rootpath
    tree = git("rev-parse", "HEAD^{tree}", folder=root).strip()
    if not tree or git("status", "--porcelain", folder=root):
        return None
    folder = config.cache.mkdir("interrupted")
    file = folder / f"{tree}-{sys.version_info.major}.{sys.version_info.minor}"
    for other in set(folder.iterdir()) - {file}:
        other.unlink()
    return Note(file, len(_lines(file)))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell a process of pytest-xdist how many lines to read: other processes may write more meanwhile."""
    if note := node.config.stash[NOTE]:  # type: ignore[attr-defined]
        node.workerinput["resuming"] = [str(note.file), note.lines]  # type: ignore[attr-defined]


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say whether this run goes on with another one."""
    note = config.stash[NOTE]
    if note is None:
        asked = config.getoption("resume")
        return ["resume: files differ from the last commit, so an interrupted run cannot go on"] if asked else []
    if not note.lines:
        return ["resume: a new run; if it is interrupted, the same command goes on with it"]
    return [f"resume: an interrupted run of this commit goes on; {len(note.passed)} tests passed in it"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that passed."""
    note = config.stash[NOTE]
    if note and note.passed:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in note.passed])
        items[:] = [item for item in items if item.nodeid not in note.passed]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Count the tests that passed in the interrupted run, and name those that failed in it."""
    note = config.stash[NOTE]
    if note and note.lines:
        terminalreporter.section("before the interruption")
        terminalreporter.line(f"{len(note.passed)} tests passed")
        for name in sorted(note.failed):
            terminalreporter.line(f"failed, and run again: {name}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run that came to its end leaves no note."""
    note = session.config.stash[NOTE]
    ended = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
    if note and not hasattr(session.config, "workerinput") and exitstatus in ended:
        note.file.unlink(missing_ok=True)
