"""Attacks on who is graded before, beside and after: what memory keeps of them, and what is taken from them.

Each holds memory, processors or the kernel's own tables by another means, or looks for what others left in them.
"""

from __future__ import annotations

from autograder.proof.attack.model import Attack, Files, Link, Released, cells, handed, notebook_with, wrong_and
from autograder.proof.attack.system import REACHED

_SEARCH = """
import ctypes

needle, found = b"canary_of_" + b"a_neighbour_who", set()
for line in open("/proc/self/maps"):
    place, rights, _, _, _, *name = line.split()
    if rights.startswith("rw") and not (name and name[0].startswith("[v")):
        low, high = (int(part, 16) for part in place.split("-"))
        for at in range(low, high, 1 << 22):
            data = ctypes.string_at(at, min(high - at, (1 << 22) + 64))
            place = data.find(needle)
            while place >= 0:
                found.add(data[place : place + 60].decode("latin-1").split()[0])
                place = data.find(needle, place + 1)
"""

_TELL = """
def add(x, y):
    raise RuntimeError(" ".join(sorted(found)) or "nothing")


mul = neg = add
"""

_MEMORY = """
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
kept, held = [], 0
"""


def _reads(name: str, tries: str, text: str) -> Attack:
    """An attack whose answers raise what it found, where a report would show it."""
    return Attack(name, tries, cells(text + _TELL))


def _holds(name: str, tries: str, text: str, naive: str = "memory") -> Attack:
    """An attack that would say so if it held four gigabytes, more than a session may have."""
    body = "\n    ".join(text.strip().splitlines())
    told = f"raise RuntimeError({REACHED!r})"
    return Attack(name, tries, wrong_and(f"{_MEMORY}while held < 4 << 30:\n    {body}\n{told}"), naive=naive)


_READING = (
    _reads("searches-memory", "the memory of the process is searched for who was graded before", _SEARCH),
    _reads(
        "searches-unused-memory",
        "memory that was freed is taken again and searched",
        "taken = [ctypes.create_string_buffer(1 << size) for size in range(4, 20) for _ in range(50)]"
        f"\n{_SEARCH}".replace("taken =", "import ctypes\ntaken ="),
    ),
    _reads(
        "searches-collector",
        "every object that the collector knows, and what it refers to, is searched for who was graded before",
        """
import gc
found = set()
for each in gc.get_objects():
    for inner in [each, *gc.get_referents(each)]:
        if isinstance(inner, str) and "canary_of_" + "a_neighbour_who" in inner:
            found.add(inner[inner.index("canary_of_") :].split()[0])
""",
    ),
)

_HOLDING = (
    _holds(
        "drops-shared-pages",
        "pages are shared, written and let go of, and stay in the kernel",
        "area = mmap.mmap(-1, 1 << 26)\nfor at in range(0, 1 << 26, 4096): area[at] = 1\n"
        "area.madvise(mmap.MADV_DONTNEED)\nkept.append(area)\nheld += 1 << 26",
    ),
    _holds(
        "maps-zeros",
        "the same with a mapping of /dev/zero",
        "area = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 26)\nfor at in range(0, 1 << 26, 4096): area[at] = 1\n"
        "area.madvise(mmap.MADV_DONTNEED)\nkept.append(area)\nheld += 1 << 26",
    ),
    _holds(
        "nameless-file",
        "a file without a name is written to",
        "file = os.memfd_create('x')\nheld += os.write(file, bytes(1 << 26))\nkept.append(file)",
        naive="",
    ),
    _holds(
        "huge-pages",
        "huge pages, which have a line of their own in a process's account, are taken",
        "area = mmap.mmap(-1, 1 << 26, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)\n"
        "kept.append(area)\nheld += 1 << 26",
        naive="",
    ),
    _holds(
        "full-sockets",
        "sockets are filled, and nobody reads",
        "import socket\nends = socket.socketpair()\nends[0].setblocking(False)\n"
        "held += ends[0].send(bytes(150_000)) << 8\nkept.append(ends)",
        naive="",
    ),
    _holds(
        "pipes-of-pages",
        "pages are given to pipes, which hold them when the process has none any more",
        "ends = os.pipe()\narea = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "for at in range(0, 1 << 16, 4096): area[at] = 1\n"
        "vector = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.c_char.from_buffer(area)), 1 << 16)\n"
        "if libc.vmsplice(ends[1], vector, ctypes.c_size_t(1), 0) < 0: raise OSError('vmsplice')\n"
        "kept.append(ends)\nheld += 1 << 24",
        naive="",
    ),
    _holds(
        "a-million-locks",
        "each byte of a file is locked by itself",
        "import fcntl\nfile = kept[0] if kept else kept.append(open('f', 'wb+')) or kept[0]\n"
        "fcntl.lockf(file, fcntl.LOCK_EX, 1, held >> 14)\nheld += 1 << 15",
        naive="",
    ),
    _holds(
        "a-million-watches",
        "the kernel is asked to watch files",
        "watcher = libc.inotify_init1(0)\nif watcher < 0: raise OSError('inotify')\n"
        "kept.append(watcher)\nheld += 1 << 26",
        naive="",
    ),
    _holds(
        "rules-of-landlock",
        "sets of rules are heaped up in the kernel",
        "rules = (ctypes.c_uint64 * 2)(0, 1)\n"
        "if libc.syscall(444, rules, ctypes.c_size_t(16), 0) < 0: raise OSError('rules')\nheld += 1 << 26",
        naive="",
    ),
    _holds(
        "rings-for-files",
        "rings for reading files are made, which no process is charged with",
        "if libc.syscall(206, 60_000, (ctypes.c_uint64 * 1)()) < 0: raise OSError('rings')\nheld += 1 << 26",
        naive="",
    ),
    _holds(
        "queue-of-messages",
        "a queue of messages is filled, and outlives its process",
        "queue = libc.mq_open(b'/queue', os.O_RDWR | os.O_CREAT, 0o600, None)\nif queue < 0: raise OSError('queue')\n"
        "held += 1 << 26",
        naive="",
    ),
    _holds(
        "files-in-shared-memory",
        "shared memory of Python is made, which lies where every process may look",
        "from multiprocessing.shared_memory import SharedMemory\narea = SharedMemory(create=True, size=1 << 26)\n"
        "area.buf[::4096] = b'x' * (1 << 14)\nkept.append(area)\nheld += 1 << 26",
        naive="",
    ),
)

_PARTS = """
import ctypes, os, threading, time
begun = time.monotonic()

def hold(number):
    time.sleep(0.2)
    part = bytearray(320 << 20)
    part[::4096] = b"x" * (80 << 10)
    open(f"held-{number}", "w").close()
    time.sleep(60)
"""
_FOUR = f"""{_PARTS}
for number in range(4):
    if os.fork() == 0:
        hold(number)
"""
_FOUR_THREADS = f"""{_PARTS}
for number in range(4):
    if os.fork() == 0:
        threading.Thread(target=hold, args=(number,)).start()
        ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
"""

_PROGRAM = """
import os, struct, time
begun = time.monotonic()
code = bytes.fromhex("b8220000000f05ebf7")
head = struct.pack("<16sHHIQQQIHHHHHH", b"\\x7fELF\\x02\\x01\\x01", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
part = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 4096)
with open(os.open("program", os.O_WRONLY | os.O_CREAT, 0o111), "wb") as file:
    file.write(head + part + code)
running = os.fork()
if running == 0:
    os.execv("program", ["program"])
"""

_WAIT = "time.sleep(0.9)"
_WAITED = f"if time.monotonic() > begun + 2.5: raise RuntimeError({REACHED!r})"
"""Where a session is ended, its cells are run again, and nothing was held for so long."""
_HIDDEN = f"""
try:
    open("program", "rb").close()
except PermissionError:
    if os.waitpid(running, os.WNOHANG) == (0, 0):
        {_WAITED}
"""
"""Where whoever is in the sandbox may read everything in it, the program's memory is open, too."""
_ALL_HELD = f"if sum(name[:5] == 'held-' for name in os.listdir()) == 4:\n    {_WAITED}"

_TOGETHER = (
    Attack(
        "family-of-four",
        "four processes hold a part each",
        wrong_and(_FOUR, _WAIT, _WAIT, _WAIT, _ALL_HELD),
        naive="hangs",
    ),
    Attack(
        "ended-first-thread",
        "four processes hold a part each, by a thread that goes on when the first one, which is asked, has ended",
        wrong_and(_FOUR_THREADS, _WAIT, _WAIT, _WAIT, _ALL_HELD),
        naive="hangs",
    ),
    Attack(
        "hidden-program",
        "a process runs a program that nobody may read, so that its memory cannot be looked at",
        wrong_and(_PROGRAM, _WAIT, _WAIT, _WAIT, _HIDDEN),
    ),
)
"""Each holds more than the gigabyte that a session may have here, or could."""

_TAKING = (
    Attack(
        "many-loops",
        "28 loops without end take the processors from a neighbour",
        wrong_and("import os\nfor _ in range(28):\n    if os.fork() == 0:\n        while True: pass\nwhile True: pass"),
        naive="hangs",
    ),
    Attack(
        "many-sessions",
        "the same, each in a session of its own, as each has a share of the processors",
        wrong_and(
            "import os\nfor _ in range(28):\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass\n"
            "while True: pass"
        ),
        naive="hangs",
    ),
)


def _names_without_end(released: Released) -> Files:
    names = "=".join(f"n{number}" for number in range(6_000))
    readers = "\n".join(f"def f{number}(): return n{number}" for number in range(600))
    return handed(notebook_with(released, f"{names}=0\n{readers}\nadd = mul = neg = f0"))


def _named_out(_released: Released) -> Files:
    """An archive whose members lead out of every folder, beside a link that does."""
    import io
    import zipfile

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("../../../outside.ipynb", "{}")
        file.writestr("/tmp/own-kernel", "x")
        file.writestr("bomb.ipynb", bytes(60_000_000))
    return {"00_fundamentals.zip": data.getvalue(), "out.ipynb": Link("../../../gradebook.db")}


_READERS = (
    Attack("names-without-end", "thousands of names, each of which every analysis follows", _names_without_end),
    Attack("archive-leads-out", "an archive with paths that lead out, and a bomb", _named_out),
)

_OTHERS = (
    Attack(
        "other-packages",
        "packages that this machine happens to have are imported, for the answers in them",
        cells(
            f"""
import importlib
found = set()
for name in ("torch", "sklearn", "scipy", "joblib", "pytest", "nbgrader", "autograder", "jupyterlab"):
    try:
        importlib.import_module(name)
        found.add({REACHED!r})
    except ImportError:
        pass
{_TELL}"""
        ),
    ),
    Attack(
        "own-session",
        "a process begins a session of its own, which has a share of the processors of its own",
        cells(
            f"""
import os
found = set()
pid = os.fork()
if pid == 0:
    try:
        os.setsid()
    except OSError:
        os._exit(0)
    os._exit(7)
if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7:
    found.add({REACHED!r})
{_TELL}"""
        ),
    ),
)

NEIGHBOURS = (*_OTHERS, *_READING, *_HOLDING, *_TOGETHER, *_TAKING, *_READERS)
