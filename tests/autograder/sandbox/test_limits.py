"""Every limit: what it bounds, that course.toml sets it, and the sentence that a student reads."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT
from small_edition import LIMITS, RIGHT, added, ask, available, run, solution, works, write_edition

from autograder.course.loading import load_course
from autograder.sandbox import Limits, Sandbox, SandboxUnavailable, cgroups, choose
from autograder.sandbox.cgroups import describe_groups, make_group
from autograder.sandbox.inside import relay as relay_module
from autograder.sandbox.inside import wire
from autograder.sandbox.inside.account import Account, OwnKernel
from autograder.sandbox.inside.relay import Relay
from autograder.sandbox.model import BOUNDS


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small library."""
    return write_edition(tmp_path_factory.mktemp("edition"))


LOOP = "while True: pass"
MANY = "import os\nfor n in range({}):\n    os.close(os.open(f'f{{n}}', os.O_CREAT))\nwhile True: pass"
HEAVY = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        held = bytearray(b"x") * (200 << 20)
        time.sleep(60)
time.sleep(60)
"""
ANSWER = "def double(x):\n    {}"

# Each limit, a small value, the hostile cell or answer, and what is said.
CASES = {
    "cell_seconds": (0.3, added(LOOP), "the cell did not end within 0.3 s"),
    "test_seconds": (0.3, solution(ANSWER.format(LOOP)), "no answer within 0.3 s"),
    "submission_seconds": (0.5, solution(ANSWER.format(LOOP)), "the submission used up its 0.5 s"),
    "memory_mb": (600, added("x = bytearray(10**9)"), "the cell asked for more memory than it may have"),
    "total_mb": (700, added(HEAVY), "the session's processes took more than 700 MiB of memory together"),
    "processes": (8, added("import os\nwhile True:\n    os.fork()"), "BlockingIOError"),
    "output_bytes": (5000, added("print('x' * 9000)"), "the cell printed more than 5,000 characters"),
    "file_mb": (1, added("open('f', 'wb').write(bytes(2 << 20))"), "OSError"),
    "files": (50, added(MANY.format(90)), "the session made more than 50 files"),
    "reply_mb": (1, solution(ANSWER.format("return 'x' * (2 << 20)")), "the answer is too large: a message of 2,097,"),
}
SLOW = {"total_mb": 20.0, "files": 20.0}  # seconds for a cell that is to be ended by another limit


def test_every_limit_has_a_case() -> None:
    """A limit that is added has to be shown to work."""
    assert list(CASES) == [field.name for field in fields(Limits)]


@pytest.mark.full("every limit is reached", share=12)
@pytest.mark.parametrize("isolation", ["auto", *available(("gvisor",))])
@pytest.mark.parametrize("name", CASES)
def test_a_limit_bounds_and_says_so(edition: Path, name: str, isolation: str) -> None:
    """The smaller value ends what the default would allow, the message names it, and the next session works."""
    value, cell, sentence = CASES[name]
    seconds = {"cell_seconds": SLOW.get(name, 5.0), "test_seconds": 5.0, "submission_seconds": 60.0}
    limits = replace(LIMITS, **{**seconds, "memory_mb": 1500, "total_mb": 4000, "files": 20_000, name: value})
    with Sandbox(edition, limits, isolation) as box:
        if name == "files" and "the number of files has no bound" in box.isolation.leaves:
            pytest.skip(f"{box.isolation.name} has no scratch of its own")
        with run(box, cell, *([RIGHT] if cell.kind == "added" else [])) as session:
            said = session.cells[0].sentence() if cell.kind == "added" else ask(session, 1).failure.message
        assert sentence in said
        assert name in ("processes", "file_mb") or any(sentence in event for event in session.events), session.events
        assert works(box)


def test_limits_come_from_the_course(tmp_path: Path) -> None:
    """The table [limits] of course.toml sets each of them, and one that is impossible is refused."""
    root = ROOT / "course"
    text = (root / "course.toml").read_text().partition("\n[limits]")[0]
    file = tmp_path / "course.toml"
    (tmp_path / "lessons").symlink_to(root / "lessons")
    file.write_text(text + "\n[limits]\n" + "".join(f"{name} = {case[0]}\n" for name, case in CASES.items()))
    course = load_course(file, tree=False)
    assert Limits.from_mapping(course.limits) == Limits(**{name: case[0] for name, case in CASES.items()})
    with pytest.raises(ValueError, match="limit reply_mb is 13; it must be at most 12"):
        Limits(reply_mb=13)


@pytest.mark.parametrize("name", CASES)
def test_a_limit_that_no_code_can_keep_is_refused(name: str) -> None:
    """What would cost a whole class its points, or is no limit at all, is refused in one sentence each."""
    least, most = BOUNDS[name]
    assert least <= getattr(Limits(), name) <= most
    assert Limits(**{name: least}) and Limits(**{name: most})
    if least > 1:
        with pytest.raises(ValueError, match=f"limit {name} is .*; with less than {least:,} "):
            Limits(**{name: int(least) - 1})
    with pytest.raises(ValueError, match=f"limit {name} is .*; it must be at most {most:,}"):
        Limits(**{name: int(most) * 1000})


def test_what_was_contained_is_told_once(edition: Path) -> None:
    """Processes left behind and forged frames are events; an honest session has none."""
    with Sandbox(edition, LIMITS) as box:
        with run(box, RIGHT) as honest:
            assert ask(honest, 2).value == 4
        assert honest.events == []
        daemon = "import os, time\nif os.fork() == 0:\n    os.setpgid(0, 0)\n    time.sleep(99)"
        with run(box, daemon, RIGHT) as session:
            assert ask(session, 2).value == 4
        assert session.events == ["it left processes running, which were ended"]
        forged = "import os\nfor n in range(3, 30):\n    try: os.write(n, b'\\xff' * 64)\n    except OSError: pass"
        with run(box, forged, RIGHT) as session:
            assert ask(session, 2).value == 4
        assert session.events[0].startswith("it forged an answer: the session's process wrote what is not a reply")


class Ear(Relay):
    """A relay at the frame of its loop where a session's bytes arrive; what it says is kept."""

    def __init__(self, limit: int, asked: int) -> None:
        self.replies, self.to_child = -1, -1
        self.child, self.credit, self.left_running = 0, asked, 0
        self.incoming, self.outgoing = bytearray(), bytearray()
        self.config: dict[str, Any] = {"child": {"reply_bytes": limit}, "sweep": "descendants", "own_kernel": False}
        self.account, self.before, self.look = None, (0, 0), 0.0
        self.from_child, self.writes = os.pipe()
        self.said: list[dict[str, object]] = []

    def say(self, **payload: object) -> None:
        """Keep it."""
        self.said.append(payload)


@settings(derandomize=True, max_examples=500, deadline=None)
@given(
    st.lists(st.binary(max_size=40) | st.binary(max_size=20).map(wire.frame), min_size=1, max_size=6),
    st.integers(0, 4),
)
def test_any_bytes_of_a_session_are_frames_or_its_end(monkeypatch_module: pytest.MonkeyPatch, pieces, asked) -> None:
    """The relay passes on whole frames within the limits, no more than were asked for, or ends the session."""
    relay, passed = Ear(30, asked), []
    monkeypatch_module.setattr(wire, "write_all", lambda _, data: passed.append(data))
    try:
        for piece in pieces:
            if relay.from_child >= 0 and piece:
                os.write(relay.writes, piece)
                relay._hear_child()
    finally:
        os.close(relay.writes)
        if relay.from_child >= 0:
            os.close(relay.from_child)
    assert len(passed) <= asked
    assert all(len(data) <= 4 + 1 + 30 and data[4:5] == b"C" for data in passed)
    assert [each["kind"] for each in relay.said] in ([], ["forged"])
    assert bool(relay.said) == (relay.from_child < 0)


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    """A patch for all examples of a property."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def fake_tree(folder: Path, controllers: str = "cpu memory pids", inside: str = "") -> tuple[Path, str]:
    """A process table and a tree of control groups, as plain files."""
    (folder / "proc" / "self").mkdir(parents=True)
    (folder / "proc" / "self" / "cgroup").write_text("9:name=systemd:/\n0::/mine\n")
    mine = folder / "cgroup" / "mine"
    mine.mkdir(parents=True)
    for place in (folder / "cgroup", mine):
        (place / "cgroup.controllers").write_text(controllers)
        (place / "cgroup.subtree_control").write_text("")
    (mine / "cgroup.procs").write_text(inside or f"{os.getpid()}\n")
    return folder / "proc", str(folder / "cgroup")


def test_a_control_group_bounds_a_sandbox(tmp_path: Path) -> None:
    """Where a part of the tree is this process's own, each sandbox enters a group with its bounds."""
    proc, mount = fake_tree(tmp_path)
    group = make_group(Limits(total_mb=1000, processes=20), proc, (mount,))
    mine = tmp_path / "cgroup" / "mine"
    assert (mine / "minigrad-grader" / "cgroup.procs").read_text() == str(os.getpid())
    assert (mine / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert (group.path / "memory.max").read_text() == str((1000 + 1024) << 20)
    assert (group.path / "pids.max").read_text() == "28"
    command = group.entering([sys.executable, "-c", "import os; print(os.getpid())"])
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert (group.path / "cgroup.procs").read_text() == shown
    assert describe_groups(proc, (mount,)).endswith(f"bounded by the kernel, in a control group below {mine}")


def test_the_kernels_account_is_used_where_there_is_one(tmp_path: Path) -> None:
    """A session holds what its group holds more than before it, but for files on disk; the kernel's bound follows."""
    files = {
        "memory.current": "600000000\n",
        "memory.stat": "anon 5\nfile 9\nactive_file 90000000\ninactive_file 10000000\nshmem 7\n",
        "memory.events": "low 0\noom 4\noom_kill 2\noom_group_kill 0\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    group = cgroups.Group(tmp_path)
    relay = Ear(30, 1)
    relay.config |= {"total_mb": 100, "files": None}
    relay.account, relay.before = Account(group.open()), (400_000_000, 2)
    assert (relay.account.held(), relay.account.killed()) == (500_000_000, 2)
    assert relay._held_by(set()) == 100_000_000
    assert not relay._takes_too_much()
    group.settle(Limits(total_mb=100))
    assert (tmp_path / "memory.max").read_text() == str(500_000_000 + 105 * (1 << 20))
    (tmp_path / "memory.current").write_text("604857601\n")
    relay.look = 0.0
    assert relay._takes_too_much()
    assert relay.said == [
        {"died": "the session's processes took more than 100 MiB of memory together", "kind": "memory"}
    ]
    (tmp_path / "memory.current").write_text("500000000\n")
    (tmp_path / "memory.events").write_text("oom_kill 3\n")
    assert relay._held_by(set()) == float("inf")  # the kernel was quicker
    held = list(group.descriptors)
    group.remove()
    for descriptor in held:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_kernel_of_the_sandboxs_own_says_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where gVisor counts, nobody looks through processes; all that computes at once may fill memory unseen."""
    monkeypatch.setattr(relay_module, "inhabitants", lambda: pytest.fail("it looked for processes"))
    held = OwnKernel().held()
    assert 0 < held < 1 << 50 and OwnKernel().killed() == 0
    relay = Ear(30, 1)
    relay.config |= {"total_mb": 100, "files": None, "own_kernel": True}
    relay.account, relay.before = OwnKernel(), (held, 0)
    monkeypatch.setattr(OwnKernel, "held", lambda _: held + (99 << 20))
    assert not relay._takes_too_much()
    monkeypatch.setattr(OwnKernel, "held", lambda _: held + (101 << 20))
    relay.look, ended = 0.0, []
    monkeypatch.setattr(relay, "_end_session", lambda: ended.append(True))
    assert relay._takes_too_much()
    assert ended and [each["kind"] for each in relay.said] == ["memory"]


def test_a_session_that_the_kernel_ended_was_ended_for_its_memory() -> None:
    """Its end alone would say only that it came by a signal."""
    relay = Ear(30, 1)
    relay.config |= {"total_mb": 100}
    relay.account, relay.before = Killed([]), (0, 2)
    os.close(relay.writes)
    relay._hear_child()
    assert [each["kind"] for each in relay.said] == ["memory"]


class Killed(Account):
    """An account of a group that the kernel has ended three processes of."""

    def killed(self) -> int:
        """Three."""
        return 3


@pytest.mark.parametrize(("busy", "left"), [(3, False), (10_000, True)])
def test_a_control_group_is_removed_once_its_processes_have_ended(tmp_path, monkeypatch, busy, left) -> None:
    """The kernel kills a moment after it was asked to: removing waits for that, about a second and no longer."""
    group = cgroups.Group(tmp_path / "group")
    group.path.mkdir()
    pauses: list[float] = []

    def rmdir(path: Path) -> None:
        if len(pauses) < busy:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        (path / "cgroup.kill").unlink()
        os.rmdir(path)

    monkeypatch.setattr(Path, "rmdir", rmdir)
    monkeypatch.setattr(cgroups.time, "sleep", pauses.append)
    group.remove()
    assert group.path.exists() == left
    assert sum(pauses) <= 1.5 and len(pauses) == min(busy, 50)


def test_a_control_group_that_is_gone_or_in_use_is_not_waited_for(tmp_path, monkeypatch) -> None:
    """Only processes that are ending are worth waiting for."""
    monkeypatch.setattr(cgroups.time, "sleep", lambda _: pytest.fail("it waited"))
    cgroups.Group(tmp_path / "none").remove()
    (tmp_path / "group" / "inner").mkdir(parents=True)
    cgroups.Group(tmp_path / "group").remove()
    assert (tmp_path / "group" / "inner").is_dir()


def test_why_there_is_no_control_group(tmp_path: Path) -> None:
    """Other processes in it, no controller, no cgroup v2 at all: each is said, and nothing is changed."""
    proc, mount = fake_tree(tmp_path / "shared", inside=f"1\n{os.getpid()}\n")
    assert "its control group is not its own; `systemd-run --user" in describe_groups(proc, (mount,))
    assert make_group(LIMITS, proc, (mount,)) is None
    assert sorted(path.name for path in Path(mount, "mine").iterdir()) == [
        "cgroup.controllers",
        "cgroup.procs",
        "cgroup.subtree_control",
    ]
    proc, mount = fake_tree(tmp_path / "poor", controllers="cpu")
    assert "offers no memory and no pids controller" in describe_groups(proc, (mount,))
    assert "this system has no cgroup v2" in describe_groups(proc, (str(tmp_path / "none"),))


def test_doctor_tells_of_control_groups() -> None:
    """One line of it."""
    from autograder.sandbox import describe

    try:
        choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    assert describe().splitlines()[-1].strip() == describe_groups()
