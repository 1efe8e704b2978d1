"""Nothing of one submission is within reach of the next one, and none can take more of the machine than its share."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
from small_edition import ISOLATED, LIMITS, RIGHT, added, ask, available, run, solution, works, write_edition

from autograder.sandbox import Sandbox

ROOMY = replace(LIMITS, cell_seconds=20.0, test_seconds=20.0, memory_mb=2048)
PLANTED = "Tq7ZcWn4"
"""How every marker begins. No library contains it."""

# A search must not find itself: the eight letters are looked for by their product with an odd number, modulo 2**64.
FACTOR = 0x9E3779B97F4A7C15
PRODUCT = int.from_bytes(PLANTED.encode(), "little") * FACTOR % 2**64

SEARCH = f"""
import ctypes, gc, os
import numpy as np

FACTOR, PRODUCT = np.uint64({FACTOR}), np.uint64({PRODUCT})

def holds(data):
    return any(
        (data[start : start + (data.size - start) // 8 * 8].view(np.uint64) * FACTOR == PRODUCT).any()
        for start in range(min(8, data.size))
    )

def read(path):
    try:
        with open(path, "rb", buffering=0) as file:
            return np.frombuffer(file.read(1 << 22) or b"", dtype=np.uint8)
    except (OSError, ValueError):
        return np.zeros(0, dtype=np.uint8)

found = []
libc = ctypes.CDLL(None)

def regions():
    # Where memory is, and what the kernel calls it; without /proc, where objects and the heap are.
    try:
        lines = open("/proc/self/maps").read().splitlines()
    except PermissionError:
        libc.sbrk.restype = ctypes.c_void_p
        step, top = 1 << 18, libc.sbrk(0)
        starts = {{id(each) // step * step for each in gc.get_objects()}}
        starts |= {{at // step * step for at in range(top - (64 << 20), top, step)}}
        resident = (ctypes.c_ubyte * (step // 4096))()
        mapped = [at for at in starts if libc.mincore(ctypes.c_void_p(at), ctypes.c_size_t(step), resident) == 0]
        yield from ((at, at + step, "an arena") for at in mapped)
        return
    for line in lines:
        place, rights, _, _, _, *name = line.split(maxsplit=5)
        name = name[0] if name else ""
        if not rights.startswith("r") or name.startswith(("[v", "/dev")) or ("w" not in rights and name[:1] == "/"):
            continue  # a library's text is the same for everybody
        yield *(int(part, 16) for part in place.split("-")), line

searched = 0
for begin, end, line in regions():
    for at in range(begin, end, 1 << 22):
        size = min(end, at + (1 << 22) + 16) - at
        searched += size
        if holds(np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(at))):
            found.append(f"memory at {{line}}")
words = [os.fsencode(f"{{name}}={{value}}") for name, value in os.environ.items()]
words += [str(os.fstat(each)).encode() for each in range(256) if os.path.exists(f"/proc/self/fd/{{each}}")]
for pid in [*range(1, 2000), "self", "thread-self", os.getppid()]:
    for name in ("cmdline", "comm", "environ", "maps", "mountinfo", "stack", "wchan", "status", "io"):
        words.append(read(f"/proc/{{pid}}/{{name}}").tobytes())
words += [read(f"/proc/{{name}}").tobytes() for name in ("keys", "key-users", "locks", "sysvipc/shm", "sysvipc/msg")]
for top in (os.getcwd(), "/tmp", "/dev/shm", "/var/tmp", "/run"):
    for folder, folders, files in os.walk(top):
        words += [os.fsencode(os.path.join(folder, each)) for each in folders + files]
        words += [read(os.path.join(folder, each)).tobytes() for each in files]
for number, word in enumerate(words):
    if holds(np.frombuffer(word + bytes(8), dtype=np.uint8)):
        found.append(f"word {{number}}")
print(found[:5] or f"nothing in {{searched >> 20}} MiB and {{len(words)}} words")
"""


@pytest.fixture(scope="module", params=available(ISOLATED))
def roomy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A warm sandbox of each kind that isolates, with time to search in."""
    with Sandbox(write_edition(tmp_path_factory.mktemp("edition")), ROOMY, request.param) as box:
        yield box


def plant(box: Sandbox, number: int) -> None:
    """A submission whose marker is in its text, its names, files, output, errors, answers, threads and processes."""
    marker = f"{PLANTED}{number:04d}"
    cell = f"""
    import ctypes, os, subprocess, sys, threading
    {marker} = ["{marker}" + str(n) for n in range(100)]
    print("{marker}" * 20)
    os.environ["{marker}"] = "{marker}"
    open("{marker}", "w").write("{marker}" * 1000)
    ctypes.CDLL(None).prctl(15, b"{marker}", 0, 0, 0)
    sys.modules["{marker}"] = sys
    threading.Thread(target=lambda: [len("{marker}" * n) for n in range(100)], name="{marker}").start()
    if os.fork() == 0:
        import time
        time.sleep(60)
    """
    answer = solution(
        f"def double(x):\n    if x > 2:\n        raise ValueError('{marker}')\n    return '{marker}' * 50"
    )
    with run(box, added(cell, label=marker), added(f"raise KeyError('{marker}')"), answer) as session:
        assert session.cells[0].ok, session.cells[0]
        assert PLANTED in session.cells[1].message
        assert ask(session, 1).value == marker * 50
        assert ask(session, 3).failure.kind == "error"


@pytest.mark.full("a hundred submissions are run", share=48)
def test_no_byte_of_a_hundred_submissions_reaches_the_next_one(roomy: Sandbox) -> None:
    """What the next submission can read of memory, descriptors, files, environment and /proc holds no marker."""
    worker = roomy.warm().process.pid
    for number in range(100):
        plant(roomy, number)
    with run(roomy, added(SEARCH), RIGHT) as session:
        assert session.cells[0].ok, session.cells[0]
        assert session.cells[0].output.startswith("nothing in "), session.cells[0].output
        assert int(session.cells[0].output.split()[2]) > 5
        answered = ask(session, 4)
    assert answered.value == 8
    assert roomy.warm().process.pid == worker


@pytest.mark.full("all memory of a process is searched", share=48)
@pytest.mark.parametrize("where", ["text", "file", "variable"])
def test_the_search_finds_what_is_there(roomy: Sandbox, where: str) -> None:
    """The search before is one that finds: in its own submission, a marker is seen wherever it is."""
    plants = {
        "text": f"kept = '{PLANTED}' * 3",
        "file": f"open('x', 'w').write(''.join({list(PLANTED)!r}))",
        "variable": f"import os\nos.environ['x'] = ''.join({list(PLANTED)!r})",
    }
    with run(roomy, added(plants[where]), added(SEARCH)) as session:
        assert session.cells[1].ok, session.cells[1]
        assert session.cells[1].output.startswith("['"), session.cells[1].output
    assert works(roomy)


HOLD = """
import ctypes, mmap, os, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
PAGE, CHUNK = 4096, 1 << 24

def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def touch(area, size=CHUNK):
    for at in range(0, size, PAGE):
        area[at] = 1

kept, held = [], 0
def keep(thing, size):
    global held
    kept.append(thing)
    held += size
    if held >= 1 << 30:
        raise SystemError(f"held {held >> 20} MiB")

def rest():
    # What is held is held: the sum of what processes have is looked at ten times a second.
    time.sleep(1.0)
    raise SystemError("held")
"""

# Each holds a gigabyte, if it can, by another means; the session may have a fifth of that.
HOLDERS = {
    "private": "while True: keep(bytearray(CHUNK), CHUNK)",
    "pages let go of": """
while True:
    area = mmap.mmap(-1, CHUNK)
    touch(area)
    area.madvise(mmap.MADV_DONTNEED)
    keep(area, CHUNK)
""",
    "a device of zeros": """
device = os.open("/dev/zero", os.O_RDWR)
while True:
    area = mmap.mmap(device, CHUNK)
    touch(area)
    area.madvise(mmap.MADV_DONTNEED)
    keep(area, CHUNK)
""",
    "a file without a name": "while True: keep(os.write(os.memfd_create('x'), bytes(CHUNK)), CHUNK)",
    "shared memory of Python": """
from multiprocessing.shared_memory import SharedMemory
while True:
    area = SharedMemory(create=True, size=CHUNK)
    touch(area.buf)
    keep(area, CHUNK)
""",
    "files": """
while True:
    with open(f"f{held}", "wb") as file:
        file.write(bytes(1 << 20))
    keep(None, 1 << 20)
""",
    "files removed while open": """
while True:
    file = open("f", "wb")
    os.unlink("f")
    keep(file, file.write(bytes(1 << 20)))
""",
    "full pipes": """
import fcntl
while True:
    ends = os.pipe()
    fcntl.fcntl(ends[1], 1031, 1 << 20)
    os.set_blocking(ends[1], False)
    keep(ends, os.write(ends[1], bytes(1 << 20)))
""",
    "full sockets": """
import socket
while True:
    ends = socket.socketpair()
    ends[0].setblocking(False)
    keep(ends, ends[0].send(bytes(200_000)))
""",
    "pages that a pipe holds": """
while True:
    ends, area = os.pipe(), mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    touch(area, 1 << 16)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.c_char.from_buffer(area)), 1 << 16)
    call(278 if os.uname().machine == "x86_64" else 75, ends[1], vector, ctypes.c_size_t(1), 0)
    keep(ends, 1 << 16)
""",
    "a System V segment": """
while True:
    segment = libc.shmget(0, ctypes.c_size_t(CHUNK), 0o1600)
    if segment < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    keep(segment, CHUNK)
""",
    "a queue of messages": """
queue = libc.mq_open(b"/q", os.O_RDWR | os.O_CREAT, 0o600, None)
if queue < 0:
    raise OSError(ctypes.get_errno(), "mq_open")
while True: keep(None, 8192)
""",
    "children": """
for _ in range(8):
    if os.fork() == 0:
        area = bytearray(1 << 27)
        touch(area, 1 << 27)
        time.sleep(60)
rest()
""",
    "threads": """
def hold():
    area = bytearray(1 << 26)
    touch(area, 1 << 26)
    time.sleep(60)
for _ in range(12):
    threading.Thread(target=hold, daemon=True).start()
rest()
""",
    "huge pages": """
while True:
    area = mmap.mmap(-1, 1 << 26, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)
    touch(area, 1 << 26)
    keep(area, 1 << 26)
""",
    "locks on parts of a file": """
import fcntl
file = open("f", "wb+")
while True:
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * len(kept))
    keep(None, 256)
""",
    "watches on files": """
watcher = libc.inotify_init1(0)
if watcher < 0:
    raise OSError(ctypes.get_errno(), "inotify_init1")
while True: keep(None, 1024)
""",
    "rules of landlock": """
rules = (ctypes.c_uint64 * 2)(0, 1)
while True:
    keep(call(444, rules, ctypes.c_size_t(16), 0), 1 << 16)
""",
    "keys": """
while True:
    number = 248 if os.uname().machine == "x86_64" else 217
    keep(call(number, b"user", str(held).encode(), bytes(30_000), 30_000, -2), 30_000)
""",
    "rings for files": """
number = 206 if os.uname().machine == "x86_64" else 0
while True: keep(call(number, 60_000, (ctypes.c_uint64 * 1)()), 1 << 20)
""",
    "rings for calls": "while True: keep(call(425, 4096, (ctypes.c_uint32 * 30)()), 1 << 20)",
    "tables of pages": """
while True:
    area = mmap.mmap(-1, 1 << 28, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, 1 << 28, 1 << 21):
        area[at] = 1
    area.madvise(mmap.MADV_DONTNEED)
    keep(area, 1 << 19)
""",
    "a process whose first thread has ended": """
for _ in range(4):
    if os.fork() == 0:
        def hold():
            time.sleep(0.3)
            area = bytearray(1 << 28)
            touch(area, 1 << 28)
            time.sleep(60)
        threading.Thread(target=hold, daemon=True).start()
        libc.syscall(ctypes.c_long(60 if os.uname().machine == "x86_64" else 93), 0)
rest()
""",
    "areas without pages": """
libc.mmap.restype = ctypes.c_void_p
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
size = 64_000 * PAGE
base = libc.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, 0)
for generation in range(9):
    for at in range(base, base + size, 2 * PAGE):
        ctypes.c_char.from_address(at).value = 1
        if generation == 0:
            libc.mprotect(at + PAGE, PAGE, 0)
    libc.madvise(base, size, mmap.MADV_DONTNEED)
    if generation < 8 and os.fork():
        break
time.sleep(4.0)  # these are counted once in a second
rest()
""",
    "environment of programs": """
for _ in range(12):
    if os.fork() == 0:
        os.execve("/proc/self/exe", ["x", "-S", "-c", "import time; time.sleep(60)"],
                  {str(n): "x" * 100_000 for n in range(19)})
for _ in range(8):
    if os.fork() == 0:
        area = bytearray(1 << 27)
        touch(area, 1 << 27)
        os.setpgid(0, 0)
        time.sleep(60)
rest()
""",
}


HIDDEN = """
import os, struct, time
code = bytes.fromhex("b8220000000f05ebf7")  # pause, again and again
head = struct.pack("<16sHHIQQQIHHHHHH", b"\\x7fELF\\x02\\x01\\x01", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
part = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 4096)
with open("program", "wb") as file:
    file.write(head + part + code)
os.chmod("program", 0o111)
if os.fork() == 0:
    os.execv("program", ["program"])
time.sleep(3)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the program is one for x86-64")
@pytest.mark.full("programs hold memory in each kind of sandbox", share=48)
def test_a_process_that_hides_its_memory_ends_its_session(small: Sandbox) -> None:
    """A program that may not be read keeps others from seeing its memory: the session does not go on with it."""
    if small.isolation.name == "gvisor":
        pytest.skip("gvisor counts what is held, whoever holds it")
    with run(small, added(HIDDEN)) as session:
        outcome = session.cells[0]
    assert outcome.status == "memory", outcome
    assert works(small)


@pytest.mark.full("programs hold memory in each kind of sandbox", share=48)
@pytest.mark.parametrize("means", HOLDERS)
def test_no_memory_is_held_outside_of_the_limit(small: Sandbox, means: str) -> None:
    """Whatever it is held in, a session has its share of memory at most, and the next one has its own."""
    if small.isolation.name == "gvisor" and means == "areas without pages":
        pytest.skip("gvisor's own records have a bound of their own, of a GiB")
    with run(small, added(HOLD + HOLDERS[means])) as session:
        outcome = session.cells[0]
    refused = outcome.error in {"PermissionError", "OSError", "MemoryError", "FileNotFoundError", "BlockingIOError"}
    assert refused or outcome.status == "memory" or "memory" in outcome.message, outcome
    assert "held" not in outcome.message, outcome
    assert works(small)


@pytest.fixture(scope="module", params=available(("bubblewrap", "namespaces", "gvisor")))
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A warm sandbox of each kind that counts what files hold, whose sessions may have 200 MiB."""
    limits = replace(ROOMY, total_mb=200)
    with Sandbox(write_edition(tmp_path_factory.mktemp("edition")), limits, request.param) as box:
        yield box
