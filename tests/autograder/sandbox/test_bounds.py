"""A session holds no more memory and uses no more processor time than it may, by whatever means, and no less."""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from small_edition import ISOLATED, added, available, run, works, write_edition

from autograder.proof.attack.bounds import HOLDING, USING, holding, using
from autograder.proof.attack.programs import REACHED
from autograder.sandbox import CellOutcome, Limits, Sandbox
from autograder.sandbox.inside import patience

MOST = 1024 << 20
LIMITS = Limits(cell_seconds=30, submission_seconds=300, total_mb=MOST >> 20)
REFUSED = {"PermissionError", "FileNotFoundError"}  # a call that the sandbox refuses, a file that it does not show
SHORT = 2.0
"""Seconds of a cell whose end is waited for."""


@pytest.fixture(scope="module", params=available(ISOLATED))
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A warm sandbox of each kind that isolates, whose sessions may have a GiB together."""
    with Sandbox(write_edition(tmp_path_factory.mktemp("edition")), LIMITS, request.param) as box:
        yield box


class Watch(threading.Thread):
    """Looks again and again at what the processes of a sandbox hold, each page once, and keeps the most.

    Args:
        root: The sandbox's first process.
    """

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.ended = root, threading.Event()
        self.before = self.most = self._held()

    def __enter__(self) -> "Watch":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.join()

    def run(self) -> None:
        """Look until told to end."""
        while not self.ended.is_set():
            self.most = max(self.most, self._held())

    def _held(self) -> int:
        """Bytes; none where a process was forked or ended meanwhile: who shares a page with whom has changed then."""
        processes = self._with_memory()
        found = sum(map(_share, processes))
        return found if self._with_memory() == processes else 0

    def _with_memory(self) -> list[int]:
        """The processes that have not given up their memory yet."""
        children = dict[int, list[int]]()
        for file in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parent = int(file.read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(file.parent.name))
        found, below = list[int](), [self.root]
        while below:
            pid = below.pop()
            below += children.get(pid, [])
            with contextlib.suppress(OSError):
                if "RssAnon" in Path(f"/proc/{pid}/status").read_text():
                    found.append(pid)
        return found


def _share(pid: int) -> int:
    with contextlib.suppress(OSError):  # it has ended meanwhile
        return next(_shares(pid), 0)
    return 0


def _shares(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/smaps_rollup"):
        try:
            lines = task.read_text().splitlines()
        except OSError:  # it has ended; or it is the relay's or the warm parent's, which only root may see
            continue
        yield sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))


def outcome_of(box: Sandbox, text: str) -> CellOutcome:
    """How a cell ended that is all of its session."""
    with run(box, added(text)) as session:
        return session.cells[0]


@pytest.mark.full("programs fill memory in each kind of sandbox", share=48)
@pytest.mark.parametrize("means", HOLDING)
def test_a_session_is_ended_where_it_holds_more_than_it_may(box: Sandbox, means: str) -> None:
    """Whatever memory it is, and whoever had it before: at its limit and no more than a tenth later."""
    with Watch(box.process) as watch:
        outcome = outcome_of(box, holding(means, MOST * 5 // 4))
    assert outcome.status == "memory" or outcome.error in REFUSED, outcome
    assert REACHED not in outcome.message
    assert watch.most - watch.before <= MOST * 1.1
    assert works(box)


@pytest.mark.full("programs fill memory in each kind of sandbox", share=48)
@pytest.mark.parametrize("means", HOLDING)
def test_a_session_may_have_what_it_may(box: Sandbox, means: str) -> None:
    """The same programs with a third of the limit come to their end: no page counts twice, nor what was inherited."""
    outcome = outcome_of(box, holding(means, MOST // 3))
    assert REACHED in outcome.message or outcome.error in REFUSED, outcome
    assert works(box)


def test_the_processes_below_a_worker_are_found_by_either_way(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system lists the children of a thread, and where all processes are looked through for their parents."""
    with run(box, added("import os, time\nif os.fork() == 0:\n    time.sleep(100)\n    os._exit(0)")):
        listed = set(patience._below(box.process))
        monkeypatch.setattr(patience, "_lists_children", lambda: False)
        assert set(patience._below(box.process)) == listed
        assert len(listed) >= 4  # the worker, its relay, the session, and what that forked


@pytest.mark.full("programs keep every processor busy", share=48)
@pytest.mark.parametrize("means", USING)
def test_no_second_that_a_session_uses_is_lost(box: Sandbox, means: str) -> None:
    """Whoever waits for the processes that used it, or nobody: what the session had is in its sandbox's account."""
    before, aim = patience.spent(box.process), 0.3
    outcome = outcome_of(box, using(means, aim))
    assert REACHED in outcome.message or outcome.error in REFUSED, outcome
    if REACHED in outcome.message:
        assert patience.spent(box.process) - before > aim * (os.cpu_count() or 1) * 0.9


@pytest.mark.full("programs keep every processor busy", share=48)
@pytest.mark.parametrize("isolation", available((*ISOLATED, "none")))
@pytest.mark.parametrize("means", USING)
def test_a_cell_ends_in_its_time(tmp_path: Path, isolation: str, means: str) -> None:
    """It has no more of every processor than one and a half times its limit, however long others keep it waiting."""
    limits = Limits(cell_seconds=SHORT, submission_seconds=60)
    with Sandbox(write_edition(tmp_path), limits, isolation) as box:
        outcome = outcome_of(box, using(means, SHORT * 1.5))
        assert outcome.status == "timeout" or outcome.error in REFUSED, outcome
        assert works(box)


DEAF = """
import signal, time
signal.setitimer(signal.ITIMER_REAL, 0)
while True:
    {}
"""


@pytest.mark.parametrize(("does", "stretched"), [("time.sleep(9)", False), ("signal.pause()", False), ("pass", True)])
def test_what_sleeps_is_kept_waiting_by_nobody(tmp_path, monkeypatch, does, stretched):
    """On a machine that others keep busy, a limit is stretched for what waits for a processor, and for nothing else."""
    monkeypatch.setattr("autograder.sandbox.session.kept_waiting", lambda _: partial(since, time.monotonic()))
    with Sandbox(write_edition(tmp_path), Limits(cell_seconds=0.5)) as box:
        begun = time.monotonic()
        assert outcome_of(box, DEAF.format(does)).status == "timeout"
        assert (time.monotonic() - begun > 5.0) is stretched
        assert works(box)


def since(begun: float) -> float:
    """All the seconds since then."""
    return time.monotonic() - begun


def after(
    monkeypatch: pytest.MonkeyPatch, seconds: float, own: float, idle: float, stalled: float, group: float | None = None
) -> float:
    """What was lost to others of some seconds on two processors, of which 0.5 are allowed if there is a `group`."""
    clock, times = [100.0], {"own": 7.0, "idle": 50.0, "stalled": 3.0, "group": 20.0}
    limit = None if group is None else Quota(times)
    for name, says in {
        "_monotonic": lambda: clock[0],
        "stalled": lambda: times["stalled"],
        "spent": lambda _root: times["own"],
        "idle": lambda: times["idle"],
        "processors": lambda: 2,
        "quota": lambda: limit,
    }.items():
        monkeypatch.setattr(patience, name, says)
    monkeypatch.setattr(patience, "_sampled", {})
    lost = patience.kept_waiting(1)
    assert lost() == 0.0
    clock[0] += seconds
    for name, had in {"own": own, "idle": idle, "stalled": stalled, "group": group or 0.0}.items():
        times[name] += had
    return lost()


class Quota(patience.Quota):
    """Half a processor for a group that has used what it is told."""

    def __init__(self, times: dict[str, float]) -> None:
        super().__init__(Path(), 0.5)
        vars(self)["times"] = times

    def used(self) -> float:
        """Processor seconds."""
        return float(vars(self)["times"]["group"])


@pytest.mark.parametrize(("had", "given"), [(0.0, 8.0), (10.0, 5.0), (20.0, 0.0), (40.0, 0.0)])
def test_processes_that_wait_for_each_other_are_not_kept_waiting(monkeypatch, had, given):
    """Of ten seconds of which eight were lost, a session that had both cores gets nothing back."""
    assert after(monkeypatch, 10.0, own=had, idle=0.0, stalled=8.0) == given


@pytest.mark.parametrize(("own", "idle", "given"), [(10.0, 10.0, 0.0), (2.0, 18.0, 0.0), (2.0, 12.0, 3.0)])
def test_what_nobody_used_was_taken_by_nobody(monkeypatch, own, idle, given):
    """Processes that compute together and rest together wait for each other, and leave processors idle in between."""
    assert after(monkeypatch, 10.0, own=own, idle=idle, stalled=8.0) == given


@pytest.mark.parametrize(("own", "group", "given"), [(5.0, 5.0, 0.0), (1.0, 5.0, 8.0), (0.0, 2.0, 4.0)])
def test_a_containers_share_is_what_can_be_had(monkeypatch, own, group, given):
    """Half a processor for ten seconds: who uses all of it lost nothing, and who finds four fifths taken lost eight."""
    assert after(monkeypatch, 10.0, own=own, idle=20.0 - group, stalled=9.0, group=group) == given


def test_what_processors_do_is_asked_of_those_that_may_be_used(monkeypatch, tmp_path):
    """Others rest for themselves; and where the system says nothing, nothing rested."""
    (tmp_path / "stat").write_text(
        "cpu  9 9 9 99000 0 0\ncpu0 1 1 1 500 20 0\ncpu1 1 1 1 7000 0 0\ncpu10 1 1 1 100 0 0\nintr 5 5\n"
    )
    monkeypatch.setattr(patience, "_PROCESSORS", str(tmp_path / "stat"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 10}, raising=False)
    assert patience.idle() == 620 / os.sysconf("SC_CLK_TCK")
    assert patience.processors() == 2
    monkeypatch.setattr(patience, "_PROCESSORS", str(tmp_path / "none"))
    assert patience.idle() == 0.0


def test_the_smallest_quota_around_this_process_is_found(monkeypatch, tmp_path):
    """In any of the groups around it; a quota of more than all processors is none."""
    groups, own = tmp_path / "groups", tmp_path / "own"
    (groups / "a" / "b").mkdir(parents=True)
    monkeypatch.setattr(patience, "_GROUPS", groups)
    monkeypatch.setattr(patience, "_OWN_GROUP", str(own))
    monkeypatch.setattr(patience, "processors", lambda: 4)

    def found() -> tuple[Path, float] | None:
        patience.quota.cache_clear()
        limit = patience.quota()
        return None if limit is None else (limit.group, limit.processors)

    assert found() is None
    own.write_text("5:memory:/\n0::/a/b\n")
    (groups / "a" / "b" / "cpu.max").write_text("max 100000\n")
    assert found() is None
    (groups / "a" / "cpu.max").write_text("800000 100000\n")
    assert found() is None
    (groups / "cpu.max").write_text("150000 100000\n")
    assert found() == (groups, 1.5)
    (groups / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    assert patience.quota().used() == 2.5
    patience.quota.cache_clear()
