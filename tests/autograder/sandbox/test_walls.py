"""What a student's code can see and reach, in every isolation that this machine has: the library and its scratch."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from places import ROOT
from small_edition import DAEMONS, ISOLATED, LIMITS, RIGHT, added, ask, available, outcome_of, run, works, write_edition

from autograder.sandbox import Limits, Sandbox


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small library."""
    return write_edition(tmp_path_factory.mktemp("edition"))


@pytest.fixture(scope="module", params=available(ISOLATED))
def jail(request: pytest.FixtureRequest, edition: Path) -> Iterator[Sandbox]:
    """A warm sandbox of each kind that isolates."""
    with Sandbox(edition, LIMITS, request.param) as box:
        yield box


def succeeded(box: Sandbox, source: str) -> None:
    """Assert that a cell of assertions holds."""
    outcome = outcome_of(box, source)
    assert outcome.ok, outcome


def test_only_what_is_needed_can_be_read(jail, tmp_path):
    """Neither this repository, nor this file, nor other temporary files, nor the user's home can be read."""
    secret = tmp_path / "secret"
    secret.write_text("an expected value")
    places = [
        secret,
        Path(__file__),
        ROOT / "pyproject.toml",
        Path.home() / ".bashrc",
        "/etc/shadow",
    ]
    places += [place for place in ("/etc/passwd", "/etc/hostname", "/var/log/dpkg.log") if os.path.exists(place)]
    cell = f"""
    for place in {[str(place) for place in places]!r}:
        try:
            open(place)
        except OSError:
            continue
        raise AssertionError(place)
    """
    succeeded(jail, cell)


def test_folders_cannot_be_searched_for_the_course(jail):
    """A walk over all that can be listed meets no hidden test, no lesson and no other submission."""
    repository = ROOT
    cell = f"""
    import os
    for folder in ({str(repository)!r}, {str(repository / "course")!r}, "/root", "/home", "/tmp", "/var"):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        assert not set(names) & {{"autograder", "hidden", "wrong", "course", "src", "tests"}}, (folder, names)
    """
    succeeded(jail, cell)


def test_only_the_edition_is_importable(jail):
    """`minigrad` is the edition given; the grader and the project's own sources are not to be found."""
    cell = """
    import importlib.util, sys, minigrad
    assert not hasattr(minigrad, "Scalar") and minigrad.sums
    for name in ("autograder", "minigrad.autodiff", "small_edition", "inside.session"):
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            found = None
        assert found is None, name
    for name in ("micrograd", "torch", "scipy", "sklearn"):
        try:
            __import__(name)
        except ImportError:
            continue
        raise AssertionError(name)
    import numpy, cloudpickle
    assert all("__editable__" not in path for path in sys.path)
    """
    succeeded(jail, cell)


def test_nothing_can_be_written_but_the_scratch(jail):
    """The library, Python and the system are read-only; the working folder, HOME and TMPDIR are the scratch."""
    cell = """
    import os, sys, tempfile, minigrad, numpy
    places = [os.path.dirname(minigrad.__file__), os.path.dirname(numpy.__file__), sys.prefix, "/", "/usr/lib", "/dev",
              "/etc", "/tmp", os.path.dirname(os.path.dirname(minigrad.__file__)), "/sandbox", "/proc"]
    for place in places:
        try:
            with open(os.path.join(place, "left-behind"), "w") as file:
                file.write("x")
        except OSError:
            continue
        raise AssertionError(place)
    for place in places:
        try:
            os.chmod(place, 0o777)
        except OSError:
            continue
        raise AssertionError(place)
    scratch = os.getcwd()
    assert os.environ["HOME"] == os.environ["TMPDIR"] == os.environ["NUMBA_CACHE_DIR"] == scratch
    assert tempfile.gettempdir() == scratch
    with tempfile.TemporaryFile() as file:
        file.write(b"x")
    """
    succeeded(jail, cell)


def test_the_scratch_is_bounded(edition):
    """Many files together are bounded too, where the scratch is a file system of its own."""
    cell = """
    try:
        for number in range(8):
            with open(f"{number}", "wb") as file:
                file.write(b"x" * 2**20)
    except OSError:
        pass
    else:
        raise AssertionError("8 MiB written")
    """
    with Sandbox(edition, LIMITS) as box:
        if "the sum of files in the scratch folder has no bound" in box.isolation.leaves:
            pytest.skip(f"{box.isolation.name} has no scratch of bounded size")
        succeeded(box, cell)


def test_the_memory_of_all_processes_is_bounded(jail, edition):
    """Processes that are small each and large together end the session, also where the machine's /proc is watched."""
    cell = """
    import os, time
    for _ in range(4):
        if os.fork() == 0:
            held = bytearray(b"x") * (200 << 20)
            time.sleep(60)
    time.sleep(60)
    """
    limits = replace(LIMITS, cell_seconds=30, memory_mb=1500, total_mb=500)
    with Sandbox(edition, limits, jail.isolation.name) as box:
        said = outcome_of(box, cell)
        assert said.status == "memory", said
        assert "the session's processes took more than 500 MiB of memory together" in said.message
        assert works(box)


def test_other_processes_cannot_be_looked_at(jail):
    """Of the machine's processes nothing can be read: behind landlock nothing of /proc at all, else the own ones."""
    if jail.isolation.name != "landlock":
        pytest.skip(f"{jail.isolation.name} has a /proc of its own, in which no other process is seen")
    cell = f"""
    import os
    own, above = f"/proc/{{os.getpid()}}", f"/proc/{{os.getppid()}}"
    for place in ("/proc", "/proc/self", "/proc/{os.getpid()}", f"{{own}}/fd", f"{{above}}/task"):
        try:
            os.listdir(place)
        except OSError:
            continue
        raise AssertionError(place)
    for place in ("/proc/self/status", "/proc/{os.getpid()}/cmdline", f"{{above}}/maps", "/proc/version"):
        try:
            open(place)
        except OSError:
            continue
        raise AssertionError(place)
    """
    succeeded(jail, cell)


def test_the_number_of_files_is_bounded(jail, edition):
    """Empty files, which have no size, end the session that makes too many, where the scratch is its own."""
    if "the number of files has no bound" in jail.isolation.leaves:
        pytest.skip(f"{jail.isolation.name} has no scratch of its own")
    cell = """
    import os
    for number in range(400_000):
        os.close(os.open(str(number), os.O_CREAT))
    """
    with Sandbox(edition, replace(LIMITS, cell_seconds=30), jail.isolation.name) as box:
        with run(box, added(cell), RIGHT) as session:
            hostile, right = session.cells
            assert "files" in hostile.message or "No space" in hostile.message, hostile
            assert right.ok
            assert ask(session, 4).value == 8
        assert works(box)


def test_no_socket_can_be_opened(jail):
    """Neither internet, nor local, nor netlink sockets."""
    cell = """
    import socket
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            try:
                socket.socket(family, kind)
            except PermissionError:
                continue
            raise AssertionError((family, kind))
    try:
        socket.socketpair()
    except PermissionError:
        pass
    else:
        raise AssertionError("socketpair")
    """
    succeeded(jail, cell)


def test_other_processes_are_out_of_reach(jail):
    """The warm parent's memory, environment and descriptors cannot be read, and it cannot be stopped or killed."""
    warm = jail.warm().process.pid
    told = "the worker's environment and the places of its memory can be read" in jail.isolation.leaves
    secret = ["mem", "fd/3", "root/etc/passwd", "cwd/x", *([] if told else ["environ", "maps"])]
    cell = f"""
    import ctypes, os, signal
    for pid in (os.getppid(), 1, 2, {os.getpid()}, {warm}):
        if pid in (0, os.getpid()):
            continue
        for name in {secret}:
            try:
                open(f"/proc/{{pid}}/{{name}}", "rb").read(1)
            except OSError:
                continue
            raise AssertionError((pid, name))
        assert ctypes.CDLL(None).ptrace(16, pid, 0, 0) == -1
    for pid in (os.getppid(), {os.getpid()}, {warm}):
        if pid:
            for number in (signal.SIGSTOP, signal.SIGKILL):
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
    """
    succeeded(jail, cell)
    assert jail.warm().process.pid == warm
    os.kill(warm, 0)


def test_no_descriptor_is_inherited(jail):
    """Inside, the only descriptors beyond the standard ones are the session's two pipes."""
    cell = """
    import os, stat
    kinds = []
    for descriptor in range(256):
        try:
            kinds.append(os.fstat(descriptor).st_mode)
        except OSError:
            continue
    pipes = [mode for mode in kinds if stat.S_ISFIFO(mode)]
    assert len(pipes) == 2 and len(kinds) == 5, kinds
    """
    succeeded(jail, cell)


def test_privileges_cannot_be_gained(jail):
    """No capability, no other user, no new namespace, no mount, no debugging; privileges stay dropped over exec."""
    cell = """
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    assert os.getuid() == os.geteuid() and os.getuid() != 0 and os.getgroups() in ([], [os.getgid()]), os.getgroups()
    assert libc.prctl(39, 0, 0, 0, 0) == 1
    for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000):
        assert libc.unshare(flag) == -1
    assert libc.mount(b"none", b"/", b"tmpfs", 0, None) == -1
    assert libc.chroot(b"/") == -1
    try:
        os.setuid(0)
    except OSError:
        pass
    else:
        raise AssertionError("setuid(0)")
    assert libc.shmget(0, 4096, 0o1777) == -1
    assert libc.memfd_create(b"x", 0) == -1
    if os.access("/proc/self/status", os.R_OK) and os.path.exists("/sandbox"):
        lines = open("/proc/self/status").read().splitlines()
        sets = ("CapInh", "CapPrm", "CapEff", "CapAmb")
        held = {line.split()[1].strip("0") for line in lines if line.startswith(sets)}
        assert held == {""}, held
        assert open("/proc/self/oom_score_adj").read().strip() == "1000"
    assert libc.syscall(248, b"user", b"name", b"x", 1, -3) == -1 or os.uname().machine != "x86_64"
    """
    succeeded(jail, cell)


def test_the_environment_is_bare(jail, monkeypatch):
    """Nothing of the grader's environment is passed on."""
    monkeypatch.setenv("GRADER_SECRET", "1")
    jail.close()
    succeeded(jail, "import os\nassert 'GRADER_SECRET' not in os.environ, os.environ")


def test_a_deep_tree_of_folders_does_not_stay(jail):
    """A tree deeper than a path can be long is gone in the next session."""
    cell = """
    import os
    for _ in range(2000):
        os.mkdir("d")
        os.chdir("d")
    """
    with run(jail, added(cell)) as session:
        assert session.cells[0].status in {"ok", "error", "timeout"}
    with run(jail, "import os\nassert os.listdir('.') == []") as session:
        assert session.cells[0].ok, session.cells[0]


def test_everything_ends_with_the_sandbox(edition, tmp_path_factory):
    """After close no process, no temporary folder and no descriptor is left."""
    import gc
    import tempfile

    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    with Sandbox(edition, LIMITS) as box:
        pid = box.warm().process.pid
        with run(box, DAEMONS.format(nap=100), RIGHT) as session:
            home = box.warm().home
            assert home.exists()
            assert ask(session, 1).ok
            box.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not home.exists()
    assert home.parent == Path(tempfile.gettempdir())
    assert len(os.listdir("/proc/self/fd")) == before


# Each of these reaches for the worker itself, whose bounds all later sessions inherit.
SQUEEZES = {
    "processes": "resource.prlimit(worker, resource.RLIMIT_NPROC, (2, 2))",
    "memory": "resource.prlimit(worker, resource.RLIMIT_AS, (2**28, 2**28))",
    "cpu": "resource.prlimit(worker, resource.RLIMIT_CPU, (3, 3))",
    "stack": "resource.prlimit(worker, resource.RLIMIT_STACK, (2**16, 2**16))",
    "nice": "os.setpriority(os.PRIO_PROCESS, worker, 19)",
    "idle": "os.sched_setscheduler(worker, os.SCHED_IDLE, os.sched_param(0))",
    "batch": "os.sched_setparam(worker, os.sched_param(0))",
    "affinity": "os.sched_setaffinity(worker, {max(os.sched_getaffinity(0))})",
    "group": "os.setpriority(os.PRIO_USER, 0, 19)",
}


def test_the_kernel_bounds_each_process(jail):
    """In each isolation files, address space, processes, descriptors and core dumps are bounded, with no way back."""
    megabyte = 1 << 20
    bounds = {
        "FSIZE": LIMITS.file_mb * megabyte,
        "AS": LIMITS.memory_mb * megabyte,
        "NOFILE": 256,
        "CORE": 0,
        "MSGQUEUE": 0,
    }
    cell = f"""
    import resource
    for name, most in {bounds!r}.items():
        assert resource.getrlimit(getattr(resource, f"RLIMIT_{{name}}")) == (most, most), name
    assert {LIMITS.processes} <= resource.getrlimit(resource.RLIMIT_NPROC)[1], "no bound is -1"
    """
    succeeded(jail, cell)


@pytest.mark.parametrize("name", SQUEEZES)
def test_no_session_can_bind_the_next_ones(jail, name):
    """The limits, priority, scheduling and processors of the worker are out of a session's reach."""
    cell = f"""
    import os, resource
    for worker in (1, os.getppid()):
        try:
            {SQUEEZES[name]}
        except PermissionError:
            continue
        raise AssertionError(worker)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 256
    """
    worker = jail.warm()
    succeeded(jail, cell)
    assert jail.warm() is worker


def test_a_worker_whose_bounds_were_changed_is_not_used_again(edition):
    """Where nothing stops a session from changing its worker, the next session gets a worker of its own."""
    cell = "import os\nos.setpriority(os.PRIO_PROCESS, os.getppid(), 19)"
    report = "import os, resource\nprint(os.getpriority(os.PRIO_PROCESS, 0), resource.getrlimit(resource.RLIMIT_CPU))"
    limit = "import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CPU, (50, 50))"
    with Sandbox(edition, LIMITS, "none") as box:
        with run(box, report) as session:
            before = session.cells[0].output
        for squeeze in (cell, limit):
            with run(box, squeeze) as session:
                assert session.cells[0].ok, session.cells[0]
            with run(box, report) as session:
                assert session.cells[0].output == before


def test_numerical_libraries_run_behind_the_filter(edition):
    """Threads of NumPy and Numba, which may ask for processors and priorities, start and compute."""
    cell = """
    import numba, numpy
    assert numpy.linalg.inv(numpy.eye(300) * 2)[0, 0] == 0.5
    @numba.njit(parallel=True)
    def total(values):
        sum = 0.0
        for index in numba.prange(values.size):
            sum += values[index]
        return sum
    assert total(numpy.ones(1000)) == 1000
    """
    with Sandbox(edition, Limits(cell_seconds=60), preload=["numba"]) as box, run(box, cell) as session:
        assert session.cells[0].ok, session.cells[0]


def test_no_attribute_of_the_scratch_outlives_a_session(jail):
    """What a session attaches to the scratch folder itself is gone in the next one, as the files are."""
    leave = """
    import os
    try:
        os.setxattr(os.getcwd(), "user.left", b"behind")
    except OSError as error:
        print(error)
    try:
        os.utime(os.getcwd(), (1, 12345))
    except OSError as error:
        print(error)
    """
    find = "import os\nassert os.listxattr('.') == []\nassert os.stat('.').st_mtime != 12345"
    with run(jail, added(leave)) as session:
        assert session.cells[0].ok, session.cells[0]
    with run(jail, find) as session:
        assert session.cells[0].ok, session.cells[0]


@pytest.mark.parametrize("kind", ["cgroup", "ipc", "mnt", "net", "pid", "uts"])
def test_the_namespaces_are_others(jail, kind):
    """Behind the refusal of sockets, mounts and shared memory stands a second wall: the sandbox's own namespaces."""
    if jail.isolation.name in ("landlock", "gvisor"):
        pytest.skip(f"{jail.isolation.name} has no namespaces; what leads out is refused there as everywhere")
    here = os.readlink(f"/proc/self/ns/{kind}")
    succeeded(jail, f'import os\nassert os.readlink("/proc/self/ns/{kind}") != {here!r}')
