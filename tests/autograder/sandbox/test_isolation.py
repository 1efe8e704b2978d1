"""Isolation is chosen by trying, in order of strength, and what cannot be had is said in one sentence."""

import contextlib
import itertools
import os
import platform
import queue
import signal
import struct
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import joblib
import pytest
from processes import descendants, is_running, standing, until
from small_edition import ISOLATED, LIMITS, RIGHT, added, ask, available, run, works, write_edition

from autograder.sandbox import Sandbox, SandboxUnavailable, backends, choose, describe, isolation, seccomp, view, warm
from autograder.sandbox.inside.files import empty
from autograder.sandbox.packages import packages
from autograder.sandbox.view import expand, make_view


def without(*names: str) -> tuple[backends.Backend, ...]:
    """The known ways to isolate, some of them missing."""
    return tuple(
        replace(each, missing=lambda: "it is not installed") if each.name in names else each
        for each in backends.BACKENDS
    )


def test_the_first_that_works_is_chosen(monkeypatch):
    """Without bubblewrap the next one is taken, and the reason is kept."""
    best = choose()
    assert best.isolated
    assert best.blocks
    monkeypatch.setattr(isolation, "BACKENDS", without(best.name))
    second = choose()
    assert second.name != best.name
    assert (best.name, "it is not installed") in second.rejected
    assert f"not {best.name}: it is not installed" in describe()
    assert f"isolation: {second.name}" in describe()


def test_no_isolation_is_never_chosen_silently(monkeypatch, tmp_path):
    """If nothing works, one sentence says why; `none`, and `gvisor` where it works, must be asked for by name."""
    monkeypatch.setattr(isolation, "BACKENDS", without("bubblewrap", "namespaces", "landlock"))
    monkeypatch.setattr(isolation, "_try", lambda backend: backend.missing() if backend.name != "gvisor" else "")
    assert choose("gvisor").isolated
    with pytest.raises(SandboxUnavailable, match="no isolation can be had on this machine") as refused:
        Sandbox(tmp_path)
    assert str(refused.value).count("it is not installed") == 3
    assert "none to be had" in describe()
    assert not choose("none").isolated


def test_a_way_that_breaks_when_started_is_rejected(monkeypatch):
    """The choice does not rest on what is installed but on a start that worked."""

    def broken(shown, limits):
        raise PermissionError("operation not permitted")

    changed = tuple(replace(each, start=broken) if each.name == "bubblewrap" else each for each in backends.BACKENDS)
    monkeypatch.setattr(isolation, "BACKENDS", changed)
    monkeypatch.setattr(isolation, "_what_forbids", lambda: "a guard stands there")
    with pytest.raises(SandboxUnavailable, match="cannot be started: operation not permitted; a guard stands there"):
        choose("bubblewrap")


@pytest.mark.parametrize(("lost", "heard"), [(1e9, True), (0.0, False)])
def test_a_busy_machine_may_take_longer_to_start_a_sandbox(lost, heard, monkeypatch):
    """The time for the first answer is stretched as any other limit is, and ends on an idle machine."""
    monkeypatch.setattr(warm, "_START_SECONDS", 0.1)
    readings = itertools.chain([0.0], itertools.repeat(lost))
    monkeypatch.setattr(warm, "kept_waiting", lambda root: lambda: next(readings))
    worker = object.__new__(warm.Warm)
    worker.process, worker._frames = SimpleNamespace(pid=0), queue.Queue()
    late = threading.Timer(0.3, worker._frames.put, [b'P{"ready": true}'])
    late.start()
    with contextlib.nullcontext() if heard else pytest.raises(warm.Silent):
        assert worker._first_answer() == ("P", {"ready": True})
    late.join()


@pytest.mark.parametrize(
    ("files", "advice"),
    [
        (
            {"sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"},
            "give bwrap the profile in docs/instructor",
        ),
        ({"sys/user/max_user_namespaces": "0\n"}, "`sysctl -w user.max_user_namespaces=10000` as root"),
        ({"sys/kernel/unprivileged_userns_clone": "0\n"}, "`sysctl -w kernel.unprivileged_userns_clone=1` as root"),
        ({".dockerenv": ""}, "landlock needs no such flag"),
        ({"sys/user/max_user_namespaces": "95000\n"}, ""),
    ],
)
def test_what_forbids_namespaces_is_named(monkeypatch, tmp_path, files, advice):
    """Where they cannot be had, the sentence says which setting it is, and what mends it."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    said = isolation._what_forbids(tmp_path / "sys", tmp_path)
    assert advice in said
    assert bool(said) == bool(advice)


def test_an_unknown_way_is_refused():
    """A misspelt name lists the known ones."""
    with pytest.raises(
        SandboxUnavailable, match="unknown isolation 'bublewrap'; known are auto, bubblewrap, namespaces"
    ):
        choose("bublewrap")


def test_what_is_missing_is_named(monkeypatch):
    """Each reason is about this machine: the program, the system, the processor or the kernel."""
    by_name = {each.name: each for each in backends.BACKENDS}
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert by_name["namespaces"].missing() == "no system-call filter is known for riscv64"
    assert by_name["landlock"].missing() == "no system-call filter is known for riscv64"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert by_name["namespaces"].missing() == "it needs Linux"
    monkeypatch.setenv("PATH", "")
    assert by_name["bubblewrap"].missing() == "bwrap is not installed"
    assert by_name["gvisor"].missing() == "runsc is not installed"


@pytest.mark.parametrize("name", available(ISOLATED))
def test_an_ordinary_user_needs_no_root(monkeypatch, tmp_path, name):
    """The way that an ordinary user's sandbox is made works too, whoever runs this test."""
    monkeypatch.setattr(backends, "_is_root", lambda: False)
    cell = "try:\n    open('/etc/passwd', 'a')\nexcept OSError:\n    pass\nelse:\n    raise AssertionError"
    with Sandbox(write_edition(tmp_path), LIMITS, name) as box:
        with run(box, cell, RIGHT) as session:
            assert [outcome.status for outcome in session.cells] == ["ok", "ok"]
            assert ask(session, 4).value == 8
        assert works(box)


@pytest.mark.full("each kind of sandbox imports every package", share=12)
@pytest.mark.parametrize("name", available((*ISOLATED, "none")))
def test_only_allowed_packages_are_there(tmp_path, name):
    """What a machine has installed beside them can be neither imported nor, where files are kept away, read."""
    package = Path(joblib.__file__).parent
    allowed = sorted({place.partition("/")[0] for _, place in packages()})
    assert {"numpy", "numba", "llvmlite", "matplotlib", "PIL", "IPython", "traitlets", "anywidget"} < set(allowed)
    assert not {"joblib", "pytest", "sklearn", "scipy", "jupyterlab", "minigrad", "autograder"} & set(allowed)
    cell = f"""
    import importlib, os, pathlib, sys, matplotlib.pyplot, numpy
    from IPython.display import HTML
    assert sorted(os.listdir(sys.path[-1])) == {allowed}
    for name in ("joblib", "pytest", "sklearn", "scipy", "torch", "sympy", "jupyterlab", "nbgrader", "autograder"):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        raise AssertionError(name)
    try:
        seen = open({str(package / "__init__.py")!r}).read()
    except OSError:
        seen = ""
    print(bool(seen))
    """
    limits = replace(LIMITS, cell_seconds=10.0)
    with Sandbox(write_edition(tmp_path), limits, name) as box, run(box, added(cell)) as session:
        assert session.cells[0].ok, session.cells[0]
        assert session.cells[0].output == f"{name == 'none'}\n"


def test_a_worker_that_was_killed_is_started_again(tmp_path):
    """A sandbox outlives its worker."""
    with Sandbox(write_edition(tmp_path), LIMITS) as box:
        process = box.warm().process
        process.kill()
        process.wait()
        assert works(box)
        with run(box, RIGHT) as session:
            process = box.warm().process
            process.kill()
            process.wait()
            assert ask(session, 1).failure.kind == "killed"
        assert works(box)


def judge(program: bytes, call: int, arguments: tuple[int, ...] = (), architecture: int = 0xC000003E) -> int:
    """Run a filter as the kernel does, on one system call."""
    data = struct.pack("<iIQ6Q", call, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    steps = [struct.unpack_from("=HBBI", program, offset) for offset in range(0, len(program), 8)]
    tests = {0x15: lambda a, k: a == k, 0x35: lambda a, k: a >= k, 0x45: lambda a, k: bool(a & k)}
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            accumulator = struct.unpack_from("<I", data, value)[0]
        else:
            at += if_true if tests[code](accumulator, value) else if_false


ALLOWED, REFUSED, UNKNOWN, ENDED = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000


@pytest.mark.parametrize(
    ("machine", "architecture", "calls"),
    [
        ("x86_64", 0xC000003E, {"read": 0, "ptrace": 101, "socket": 41, "clone": 56, "chmod": 90, "ioctl": 16}),
        ("aarch64", 0xC00000B7, {"read": 63, "ptrace": 117, "socket": 198, "clone": 220, "chmod": 53, "ioctl": 29}),
    ],
)
def test_the_filter_lets_work_through_and_ways_out_not(monkeypatch, machine, architecture, calls):
    """Ordinary calls pass; debugging, sockets, namespaces and terminal injection do not, on both processors."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    program = seccomp.build_filter()

    def verdict(name: str, *arguments: int) -> int:
        return judge(program, calls[name], arguments, architecture)

    assert verdict("read") == ALLOWED
    assert verdict("ptrace") == verdict("socket") == REFUSED
    assert verdict("clone", 0x01200011) == ALLOWED
    for namespace in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000):
        assert verdict("clone", namespace | 17) == REFUSED
    assert verdict("ioctl", 0, 0x5401) == ALLOWED
    assert verdict("ioctl", 0, 0x5412) == REFUSED
    assert verdict("chmod") == ALLOWED
    assert judge(seccomp.build_filter(shared_files=True), calls["chmod"], (), architecture) == REFUSED
    assert judge(program, 435, (), architecture) == UNKNOWN
    assert judge(program, calls["read"], (), 0x40000003) == ENDED


@pytest.mark.parametrize(
    ("machine", "architecture", "prlimit", "others"),
    [
        ("x86_64", 0xC000003E, 302, (142, 144, 203, 251, 314)),
        ("aarch64", 0xC00000B7, 261, (118, 119, 122, 30, 274)),
    ],
)
def test_the_filter_keeps_other_processes_bounds(monkeypatch, machine, architecture, prlimit, others):
    """A process may change its own limits, in whichever half of the argument another one's number stands."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    program = seccomp.build_filter()
    assert judge(program, prlimit, (0, 6), architecture) == ALLOWED
    for pid in (1, 4711, 1 << 32, 2**64 - 1):
        assert judge(program, prlimit, (pid, 6), architecture) == REFUSED
    assert [judge(program, call, (0,), architecture) for call in others] == [REFUSED] * 5


@pytest.mark.parametrize(
    ("machine", "architecture", "mmap", "fcntl", "uncounted", "students"),
    [
        ("x86_64", 0xC000003E, 9, 72, (53, 278, 275, 276, 253, 294, 206, 319), (112, 141, 444, 445, 446)),
        ("aarch64", 0xC00000B7, 222, 25, (199, 75, 76, 77, 26, 0, 279), (157, 140, 444, 445, 446)),
    ],
)
def test_the_filters_leave_no_memory_uncounted(monkeypatch, machine, architecture, mmap, fcntl, uncounted, students):
    """Shared pages without a file, locks without number, large pipes; what only the worker does, students may not."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    program, inner = seccomp.build_filter(), seccomp.build_student_filter()

    def verdict(call: int, *arguments: int) -> int:
        return judge(program, call, arguments, architecture)

    private, shared, anonymous, huge = 0x02, 0x01, 0x20, 0x40000
    assert verdict(mmap, 0, 4096, 3, private | anonymous) == ALLOWED
    assert verdict(mmap, 0, 4096, 3, shared) == verdict(mmap, 0, 4096, 3, private) == ALLOWED
    assert verdict(mmap, 0, 4096, 3, shared | anonymous) == REFUSED
    assert verdict(mmap, 0, 4096, 3, shared | private | anonymous | huge) == REFUSED
    assert [verdict(fcntl, 3, command) for command in (6, 7, 37, 38, 1031)] == [REFUSED] * 5
    assert [verdict(fcntl, 3, command) for command in (1, 2, 3, 4, 1030)] == [ALLOWED] * 5
    assert [verdict(call) for call in uncounted] == [REFUSED] * len(uncounted)
    assert [verdict(call) for call in students] == [ALLOWED] * 5
    assert [judge(inner, call, (), architecture) for call in students] == [REFUSED] * 5
    assert judge(inner, mmap, (0, 4096, 3, private | anonymous), architecture) == ALLOWED
    assert judge(inner, mmap, (), 0x40000003) == ENDED


@pytest.mark.parametrize(
    ("machine", "architecture", "sigaction", "attributes"),
    [("x86_64", 0xC000003E, 13, (188, 189, 190, 463)), ("aarch64", 0xC00000B7, 134, (5, 6, 7, 463))],
)
@pytest.mark.parametrize("walls", [True, False])
def test_what_becomes_of_ended_children_is_not_a_students_choice(
    monkeypatch, machine, architecture, sigaction, attributes, walls
):
    """The action on SIGCHLD can be asked for and not be set, however its address is written; other signals' can."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    program = seccomp.build_student_filter(walls)

    def verdict(signal: int, action: int) -> int:
        return judge(program, sigaction, (signal, action, 0, 8), architecture)

    assert [verdict(17, action) for action in (1, 4096, 1 << 32, 0x7FFF_0000_0000)] == [REFUSED] * 4
    assert verdict(17 | 1 << 32, 4096) == REFUSED  # the kernel reads the lower half alone
    assert [verdict(17, 0), verdict(14, 4096), verdict(2, 1 << 32), verdict(18, 17)] == [ALLOWED] * 4
    assert judge(program, 157 if machine == "x86_64" else 167, (4,), architecture) == REFUSED
    outer = seccomp.build_filter()
    assert [judge(outer, call, (), architecture) for call in attributes] == [REFUSED] * 4


def test_the_other_numbering_of_x86_is_refused(monkeypatch):
    """x32 calls would pass a filter by number."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert judge(seccomp.build_filter(), 0x40000000 + 41) == REFUSED


def test_hidden_parts_are_left_out_of_what_is_allowed(tmp_path):
    """A folder with something hidden deep inside is given entry by entry, without it."""
    for name in ("a/x/secret", "a/x/open", "b"):
        (tmp_path / name).mkdir(parents=True)
    hidden = (tmp_path / "a/x/secret", tmp_path / "elsewhere")
    assert sorted(expand(tmp_path, hidden)) == [tmp_path / "a/x/open", tmp_path / "b"]
    assert list(expand(tmp_path / "b", hidden)) == [tmp_path / "b"]


def test_a_view_is_a_readable_copy_in_a_closed_folder(tmp_path):
    """Other users can read the copy only through what is shown of it, and clearing leaves nothing."""
    shown = make_view(write_edition(tmp_path), "minigrad")
    assert shown.home.stat().st_mode & 0o777 == 0o700
    assert (shown.edition / "minigrad" / "sums.py").stat().st_mode & 0o777 == 0o644
    assert (shown.edition / "minigrad").stat().st_mode & 0o777 == 0o755
    shown.clear()
    assert not shown.home.exists()


def test_folders_of_dead_owners_are_removed(monkeypatch, tmp_path):
    """A grader that was killed leaves its folder, whatever its number; the next one removes it, and no living one's."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    edition = tmp_path / "edition"
    edition.mkdir()
    write_edition(edition)
    with standing(lambda stop: (make_view(edition, "minigrad"), stop())):
        (alive,) = tmp_path.glob("minigrad-sandbox-*")
        nobodys = tmp_path / f"minigrad-sandbox-{os.getpid()}"  # the number of a living process, but of no owner
        kept = [tmp_path / "sandbox-1-x", tmp_path / "minigrad"]
        linked = tmp_path / "minigrad-sandbox-link"
        linked.symlink_to(edition)
        for folder in (nobodys, *kept):
            (folder / "inner").mkdir(parents=True)
        view.remove_stale.cache_clear()
        make_view(edition, "minigrad").clear()
        assert (alive / "edition" / "minigrad").is_dir() and not nobodys.exists()
        assert all((folder / "inner").exists() for folder in kept) and linked.is_symlink()
    assert (alive / "edition" / "minigrad").is_dir()
    view.remove_stale.cache_clear()
    make_view(edition, "minigrad").clear()
    assert not alive.exists()


@pytest.mark.parametrize("name", available(("bubblewrap", "namespaces", "landlock", "gvisor")))
def test_a_sandbox_ends_with_its_grader(tmp_path, monkeypatch, name):
    """A grader that is killed in the midst of a session leaves no process, or the wall says that it may.

    Its folder holds all else that was made.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    edition = tmp_path / "edition"
    edition.mkdir()
    write_edition(edition)
    leaves = choose(name).leaves  # here, where what is made for the trial is removed again

    def grade(stop):
        box = Sandbox(edition, replace(LIMITS, cell_seconds=60), name)
        (tmp_path / "worker").write_text(str(box.warm().process.pid))
        with run(box, "import time\nif __import__('os').fork() == 0:\n    time.sleep(1000)"):
            stop()

    with standing(grade):
        worker = int((tmp_path / "worker").read_text())
        inside = {worker, *descendants(worker)}
        assert len(inside) >= 3
    if "a process that the code started outlives a grader that was killed" in leaves:
        assert until(lambda: not is_running(worker), 60)
        for orphan in filter(is_running, inside):
            os.kill(orphan, signal.SIGKILL)
    assert until(lambda: not any(map(is_running, inside)), 60)
    view.remove_stale.cache_clear()
    view.remove_stale()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["edition", "worker"]


def test_folders_of_other_users_are_left_alone(monkeypatch, tmp_path):
    """Anyone may make folders among the temporary files; those of other users are not looked into."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "minigrad-sandbox-x").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "minigrad-sandbox-x").stat().st_uid + 1)
    view.remove_stale.cache_clear()
    view.remove_stale()
    assert os.listdir(tmp_path / "minigrad-sandbox-x") == []


def test_any_folder_can_be_emptied(tmp_path):
    """Deep trees, closed folders, links, odd names and names that are in the way all go; what links point to stays."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(outside)
    (scratch / "moved-1").touch()
    (scratch / "inner").mkdir()
    (scratch / "inner" / "link").symlink_to(outside)
    (scratch / "inner" / "in\nner").mkdir()
    before = Path.cwd()
    os.chdir(scratch)
    for _ in range(400):
        os.mkdir("a-deeper-folder")
        os.chdir("a-deeper-folder")
    os.chdir(before)
    (scratch / "inner").chmod(0)
    empty(str(scratch))
    assert list(scratch.iterdir()) == []
    assert (outside / "kept").exists()
