"""Which tests run when: a marker on the test says it, and options choose.

`@pytest.mark.full(why, share=K)` marks a test that takes long. Without options pytest leaves all marked tests out, so
that the same files always get the same tests; `make test-all` (option `--all`) runs every test. `--turn N` runs marked
tests only: of each the N-th of K shares, and one of twelve of the others. `--changed REV` adds the marked tests of all
rooms whose files differ from a commit. `--budget` bounds the minutes of such a run: no marked test is begun later, and
one that takes M minutes (`full(why, minutes=M)`) only where so many are left. A test that is named by its own address
(`file.py::test`) runs always.
"""

from __future__ import annotations

import math
import re
import subprocess
import time
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from zlib import crc32

import pytest
from places import ROOT
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

__all__ = ["CHOICE", "SPENT", "Apart", "Choice", "concerned", "git"]

REST = 12
"""A turn runs one of so many of the marked tests whose own share is smaller, or that have none."""

SEARCHES = "tests/autograder/proof/test_borrow.py::test_an_edition_keeps_no_answer["
"""How the addresses of the searches for borrowed answers begin, which together take longest.

Any change of the library concerns them, and out of turn they look at what changed alone (`Choice.only_for_changes`).
"""

APART = (SEARCHES, "tests/autograder/proof/test_verify.py::test_the_hidden_tests_of_an_exercise[")
"""How the addresses of tests begin that are shared out one by one: their cases take long, and share nothing."""

LONGEST = (
    "tests/autograder/proof/test_borrow.py",
    "tests/autograder/proof/test_verify.py",
    "tests/course/test_lessons.py",
    "tests/e2e/test_lab.py",
    "tests/autograder/proof/test_attack.py",
    "tests/autograder/proof/test_texts.py",
    "tests/autograder/classes/test_command.py",
    "tests/autograder/classes/test_cluster.py",
    "tests/autograder/classes/test_six_runs.py",
    "tests/autograder/judging/test_judge.py",
    "tests/autograder/gradebook/test_nbgrader.py",
    "tests/autograder/commands/test_cli.py",
    "tests/minigrad/working_folder/test_minitorch.py",
    "tests/autograder/judging/test_kernel_marks.py",
    "tests/minigrad/working_folder/test_checking.py",
    "tests/autograder/gradebook/test_questions_recorded.py",
    "tests/autograder/sandbox/test_hostile.py",
    "tests/autograder/sandbox/test_numba.py",
    "tests/e2e/test_widgets.py",
    "tests/course/test_visible_checks.py",
    "tests/minigrad/checks/test_checks.py",
    "tests/autograder/proof/test_demo.py",
    "tests/autograder/proof/test_mutants.py",
    "tests/autograder/building/test_build.py",
    "tests/autograder/building/test_editions.py",
    "tests/autograder/gradebook/test_dates.py",
    "tests/autograder/gradebook/test_lms_files.py",
    "tests/autograder/regrading/test_regrade.py",
    "tests/autograder/grafting/test_mangled.py",
    "tests/test_walks.py",
    "tests/test_project.py",
    "tests/minigrad/test_registry.py",
)
"""The files that take longest in one process, longest first: they are begun first, so that processes end together."""

ROOMS = (
    (r"src/minigrad/(\w+)/.*", r"tests/minigrad/\1/"),
    (r"src/minigrad/(\w+)\.py", r"tests/minigrad/test_\1.py"),
    (
        r"src/minigrad/(backends|backward|tensors|engine|functions|tensor_functions|operators|nn|quick)\b.*",
        "tests/peers/",
    ),
    (
        r"src/minigrad/(backends|backward|functions|layout|tensor_functions|graph|quick|transforms)\b.*",
        "tests/minigrad/tensors/",
    ),
    (r"src/minigrad/(widgets|draw)/.*", "tests/e2e/"),
    (r"src/minigrad/(widgets|draw)/.*", "tests/book/"),
    (r"src/minigrad/(checks|exercises|compiling)\b.*", "tests/course/"),
    (r"src/minigrad/\w+\.py", "tests/course/"),
    (r"autograder/(\w+)/.*", r"tests/autograder/\1/"),
    (r"course/(hidden|wrong|variants|mutants|equivalent|leaks)\b.*", "tests/autograder/proof/"),
    (r"autograder/(judging|sandbox|building)/.*", "tests/autograder/proof/"),
    (r"autograder/(gradebook|results|grafting)/.*", "tests/autograder/classes/"),
    (r"(course|notebooks)/.*", "tests/course/"),
    (r"examples/.*", "tests/examples/"),
    (r"autograder/(library|building|proof)/.*", "tests/examples/"),
    (r"benchmarks/.*", "tests/benchmarks/"),
    (r"(book|docs)/.*", "tests/book/"),
    (r"(tests/.+/test_\w+\.py)", r"\1"),
    (r"(tests/(?!support/).+/)(?!test_)[^/]+", r"\1"),
    (r"constraints\.txt", "tests/"),
    (r"src/minigrad/.*\.py", SEARCHES),
)
"""What a changed file concerns: the tests whose address begins so. A file may match several lines."""


def concerned(changed: list[str]) -> set[str]:
    """Return how the addresses of the tests begin that changed files concern."""
    return {
        match.expand(tests) for file in changed for pattern, tests in ROOMS if (match := re.fullmatch(pattern, file))
    }


def git(*words: str, folder: Path = ROOT) -> str:
    """Return what git prints; nothing where there is no repository, or no such commit."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


@dataclass
class Choice:
    """What this run is to run.

    Attributes:
        every: All tests.
        turn: Which of the shares of the marked tests, and no test without a mark; None for tests without a mark alone.
        changed: The files that changed, where the run is to mind them.
        rooms: How the addresses of the tests begin that are run whatever their mark.
        until: The time after which no further marked test is begun; 0 for never.
    """

    every: bool = False
    turn: int | None = None
    changed: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    until: float = 0.0

    def takes(self, item: pytest.Item) -> bool:
        """Whether a test is run."""
        mark = item.get_closest_marker("full")
        if self.every or any("::" in word for word in item.config.args):
            return True
        if mark is None:
            return self.turn is None
        return item.nodeid.startswith(self.rooms) or self.is_due(item) or self.falls_on(item, REST)

    def is_due(self, item: pytest.Item) -> bool:
        """Whether it is the turn of a marked test's own share."""
        mark = item.get_closest_marker("full")
        share = mark.kwargs.get("share", 0) if mark else 0
        return share > 0 and self.falls_on(item, share)

    def only_for_changes(self, item: pytest.Item) -> bool:
        """Whether a search is run for nothing but that the library changed."""
        return not replace(self, rooms=tuple(room for room in self.rooms if room != SEARCHES)).takes(item)

    def place(self, item: pytest.Item) -> tuple[int, int]:
        """Where a test stands in the run: what is due comes first, then what changes concern; and what takes longest.

        Where the time is bounded, the last ones are not reached: other files come first in each turn, and searches,
        which would take all of it, at the end.
        """
        file = item.nodeid.split("::")[0]
        late = 0 if self.turn is None or self.is_due(item) else 1 if item.nodeid.startswith(self.rooms) else 2
        if self.until:
            unit = item.nodeid if item.nodeid.startswith(APART) else file
            return 3 if item.nodeid.startswith(SEARCHES) else late, crc32(f"{self.turn} {unit}".encode())
        return late, LONGEST.index(file) if file in LONGEST else len(LONGEST)

    def left(self, most: float) -> float:
        """Seconds that a test may take, where it never takes more than `most`."""
        return min(most, self.until - time.time()) if self.until else most

    def falls_on(self, item: pytest.Item, share: int) -> bool:
        """Whether it is a test's turn, where one of `share` is run; tests of one `group` take it together."""
        if self.turn is None:
            return False
        mark = item.get_closest_marker("full")
        name = (mark and mark.kwargs.get("group")) or item.nodeid
        return (crc32(f"{share} {name}".encode()) + self.turn) % share == 0  # shares do not follow from each other


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the options."""
    group = parser.getgroup("tiers", "which tests are run (tests/README.md)")
    group.addoption("--all", action="store_true", dest="tiers_all", help="run every test")
    group.addoption("--changed", metavar="REV", help="run all tests of rooms whose files differ from this commit")
    group.addoption("--turn", type=int, metavar="N", help="run the N-th share of the tests marked full, and no others")
    group.addoption("--budget", type=float, metavar="MINUTES", help="begin no test marked full after so many minutes")


CHOICE = pytest.StashKey[Choice]()


def pytest_configure(config: pytest.Config) -> None:
    """Choose once; the processes of pytest-xdist are told."""
    told = getattr(config, "workerinput", {}).get("tiers")
    config.stash[CHOICE] = Choice(**told) if told else _choose(config)


def _choose(config: pytest.Config) -> Choice:
    budget, since = config.getoption("budget"), config.getoption("changed")
    until = time.time() + 60.0 * budget if budget else 0.0
    changed: list[str] = []
    if since:
        if not git("rev-parse", "--verify", "--quiet", f"{since}^{{commit}}"):
            raise pytest.UsageError(f"--changed {since}: git knows no such commit")
        changed += (git("diff", "--name-only", since) + git("ls-files", "--others", "--exclude-standard")).splitlines()
    rooms = tuple(sorted(concerned(changed)))
    return Choice(config.getoption("tiers_all"), config.getoption("turn"), tuple(changed), rooms, until)


class Apart(LoadFileScheduling):
    """A file's tests stay together, as with `--dist loadfile`, but for those that are to be shared out."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith(APART) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Apart | None:
    """Share out the tests of a run that keeps files together."""
    return Apart(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell a process of pytest-xdist what was chosen: files and the clock may move on."""
    node.workerinput["tiers"] = asdict(node.config.stash[CHOICE])  # type: ignore[attr-defined]


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what was chosen."""
    choice = config.stash[CHOICE]
    if choice.every:
        return ["tiers: every test"]
    lines = ["tiers: tests not marked full" if choice.turn is None else f"tiers: tests marked full, turn {choice.turn}"]
    return [*lines, f"tiers: all tests of {' '.join(choice.rooms)}"] if choice.rooms else lines


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not chosen."""
    choice = config.stash[CHOICE]
    taken = [item for item in items if choice.takes(item)]
    if len(taken) < len(items):
        chosen = set(taken)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = sorted(taken, key=choice.place)


SPENT = "the budget of this run is spent"
"""Why a marked test was not run, or not to its end."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin no marked test when the budget is spent, or would be while it runs."""
    mark = item.get_closest_marker("full")
    if mark and item.config.stash[CHOICE].left(math.inf) < 60.0 * mark.kwargs.get("minutes", 0.0):
        pytest.skip(SPENT)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the files of which tests were not run for want of time."""
    skipped = terminalreporter.stats.get("skipped", [])
    files = Counter(each.nodeid.split("::")[0] for each in skipped if SPENT in str(each.longrepr))
    if files:
        terminalreporter.section(f"not run: {SPENT}")
        for file, count in sorted(files.items()):
            terminalreporter.line(f"{file}: {count}")
