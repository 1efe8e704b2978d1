"""Attacks on the limits of memory and of time: what a session holds or uses where an account may not look.

Each program holds more than its session may, or uses more processor time, and then says the word `REACHED`, which no
report may hold. With a smaller aim it stays within the limits and says that word: so a test can show that the program
does what it claims.
"""

from __future__ import annotations

from textwrap import dedent, indent

from autograder.proof.attack.model import Attack, cells
from autograder.proof.attack.system import REACHED, TELL

TOTAL_MB = 512
"""The memory that a session may have which is attacked, in MiB: it is filled within the time of a cell."""

_HELD = TOTAL_MB * 5 // 4 << 20
"""Bytes that an attack holds, if it can."""

_USED = 2.5
"""Seconds for which an attack keeps every processor busy: two and a half times the limit of a cell."""

_HEAD = """
import ctypes, gc, mmap, os, resource, signal, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
PAGE, CHUNK = 4096, 4 << 20
"""

_HOLD = """
def write(area, size):
    for at in range(0, size, PAGE):
        area[at] = 1

def fill(size):
    return bytearray(b"x") * size

held = []
def hold(size):
    held.append(fill(size))

def done(what="done"):
    open(f"{what}-{os.getpid()}-{threading.get_ident()}", "w").close()

def rest():
    time.sleep(99)
    os._exit(0)

def wait_for(count, what="done"):
    while sum(name.startswith(f"{what}-") for name in os.listdir(".")) < count:
        time.sleep(0.01)
    time.sleep(0.2)

def forked(count, act):
    for _ in range(count):
        if os.fork() == 0:
            try:
                act()
                done()
                rest()
            finally:
                os._exit(1)
    wait_for(count)
"""

_USE = """
signal.setitimer(signal.ITIMER_REAL, 0)  # the limit that rings inside

def burn():
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    with open("burnt", "ab") as file:
        file.write(b"x")

def again(start):
    while not os.path.exists("burnt") or os.path.getsize("burnt") * 0.05 < AIM:
        try:
            start()
        except BlockingIOError:
            pass
        time.sleep(0.005)

def child():
    if os.fork() == 0:
        burn()
        os._exit(0)
"""

HOLDING: dict[str, tuple[str, str]] = {
    "rewrites-inherited-pages": (
        "27 processes write to pages that they inherited, and allocate nothing",
        """
        open("/proc/self/maps").close()

        def rewrite():
            left = AIM // 27
            for line in open("/proc/self/maps"):
                place, rights, _, _, node, *name = line.split()
                begin, end = (int(part, 16) for part in place.split("-"))
                if left > 0 and rights.startswith("rw") and node == "0" and "[stack]" not in name:
                    area = (ctypes.c_char * (end - begin)).from_address(begin)
                    for at in range(0, min(left, end - begin), PAGE):
                        area[at] = area[at]
                    left -= end - begin

        forked(27, rewrite)
        """,
    ),
    "rewrites-inherited-objects": (
        "24 processes write to the pages of the library's objects",
        """
        gc.unfreeze()
        pages = sorted({id(each) // PAGE for each in gc.get_objects()})[: AIM // 24 // PAGE]
        more = AIM // 24 - len(pages) * PAGE
        hold(more)

        def rewrite():
            for page in pages:
                byte = ctypes.c_char.from_address(page * PAGE)
                byte.value = byte.value
            write(held[0], more)

        forked(24, rewrite)
        """,
    ),
    "rewrites-own-pages": (
        "memory that is forked is written to by every child",
        """
        hold(AIM // 12)
        forked(11, lambda: write(held[0], AIM // 12))
        """,
    ),
    "copies-of-copies": (
        "memory is forked on and on, and written to at each step",
        """
        hold(AIM // 20)

        def copy(depth):
            write(held[0], AIM // 20)
            done()
            for _ in range(2 if depth else 0):
                if os.fork() == 0:
                    copy(depth - 1)
            rest()

        for _ in range(2):
            if os.fork() == 0:
                copy(2)
        for _ in range(6):
            if os.fork() == 0:
                copy(0)
        wait_for(20)
        """,
    ),
    "chain-of-forks": (
        "each process fills some memory and leaves the rest to its child",
        """
        if os.fork() == 0:
            for _ in range(12):
                hold(AIM // 12)
                if os.fork():
                    rest()
            done()
            rest()
        wait_for(1)
        """,
    ),
    "orphans-hold": (
        "memory is held by processes whose parents have ended",
        """
        for _ in range(8):
            if os.fork() == 0:
                if os.fork() == 0:
                    os.setpgid(0, 0)
                    hold(AIM // 8)
                    done()
                    rest()
                os._exit(0)
        wait_for(8)
        """,
    ),
    "stopped-processes-hold": (
        "memory is held by processes that were stopped",
        """
        def stop():
            hold(AIM // 8)
            done()
            os.kill(os.getpid(), signal.SIGSTOP)

        forked(8, stop)
        """,
    ),
    "hands-memory-on": (
        "memory has another owner every few milliseconds, and the one before it is gone",
        """
        for _ in range(8):
            if os.fork() == 0:
                hold(AIM // 8)
                done()
                while True:
                    try:
                        if os.fork():
                            os._exit(0)
                    except BlockingIOError:
                        pass
        wait_for(8)
        """,
    ),
    "programs-hold": (
        "memory is held by programs that were started anew",
        """
        for number in range(8):
            if os.fork() == 0:
                code = f"area = bytearray(b'x') * {AIM // 8}; open('done-{number}', 'w').close(); import time"
                os.execve(sys.executable, ["python", "-S", "-c", code + "; time.sleep(99)"], {})
        wait_for(8)
        """,
    ),
    "private-mappings-of-a-file": (
        "a small file is mapped again and again, and the pages are written to",
        """
        with open("file", "wb") as file:
            file.write(bytes(2 * CHUNK))
        file = open("file", "r+b")
        for _ in range(AIM // CHUNK // 2):
            held.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE))
            write(held[-1], 2 * CHUNK)
        time.sleep(0.2)
        """,
    ),
    "private-mappings-of-a-library": (
        "a library's file is mapped again and again, and the pages are written to",
        """
        import numpy
        file = open(numpy._core._multiarray_umath.__file__, "rb")
        size = os.path.getsize(file.name)
        for _ in range(AIM // size + 1):
            held.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=3))
            write(held[-1], size)
        time.sleep(0.2)
        """,
    ),
    "stacks-of-threads": (
        "memory is held in the stacks of threads",
        """
        size = AIM // 12
        threading.stack_size(size + (4 << 20))

        def deep():
            here = ctypes.addressof(ctypes.c_char())
            buffer = (ctypes.c_char * 64)()
            base, whole = ctypes.c_void_p(), ctypes.c_size_t()
            libc.pthread_self.restype = ctypes.c_void_p
            libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), buffer)
            libc.pthread_attr_getstack(buffer, ctypes.byref(base), ctypes.byref(whole))
            area = (ctypes.c_char * size).from_address(base.value + (1 << 20))
            for at in range(0, size, PAGE):
                area[at] = b"x"
            done("stack")
            time.sleep(99)

        def threads():
            for _ in range(6):
                threading.Thread(target=deep, daemon=True).start()
            wait_for(12, "stack")

        forked(2, threads)
        """,
    ),
    "first-threads-end": (
        "memory is held by processes whose first thread has ended",
        """
        def second():
            time.sleep(0.05)
            hold(AIM // 8)
            done()
            time.sleep(99)

        for _ in range(8):
            if os.fork() == 0:
                threading.Thread(target=second, daemon=True).start()
                libc.syscall(ctypes.c_long(60 if os.uname().machine == "x86_64" else 93), 0)
        wait_for(8)
        """,
    ),
    "advised-huge-pages": (
        "memory is asked for in huge pages",
        """
        def huge():
            area = mmap.mmap(-1, AIM // 4, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            area.madvise(mmap.MADV_HUGEPAGE)
            write(area, AIM // 4)
            held.append(area)

        forked(4, huge)
        """,
    ),
    "attributes-of-files": (
        "memory is held by attributes of files",
        """
        for number in range(AIM // CHUNK):
            open(f"file-{number}", "w").close()
            for name in range(64):
                os.setxattr(f"file-{number}", f"user.{name}", bytes(CHUNK // 64 - 64))
        """,
    ),
}
"""Programs that hold `AIM` bytes, by name: what each of them tries, and its text."""

USING: dict[str, tuple[str, str]] = {
    "ignores-ended-children": (
        "children compute whose parent says that it does not want to hear of their end",
        """
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        again(child)
        """,
    ),
    "keeps-no-zombies": (
        "the same is said to the kernel itself, and the answer is not looked at",
        """
        for action, flags in ((1, 0), (0, 2)):
            wanted = (ctypes.c_char * 152)()
            ctypes.c_size_t.from_buffer(wanted).value = action
            ctypes.c_int.from_buffer(wanted, 136).value = flags
            libc.sigaction(17, wanted, None)
        again(child)
        """,
    ),
    "ignores-in-grandchildren": (
        "six processes have children that compute, and want to hear nothing of them",
        """
        def parent():
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            except OSError:
                pass
            again(child)

        for _ in range(6):
            if os.fork() == 0:
                try:
                    parent()
                finally:
                    os._exit(0)
        again(lambda: None)
        """,
    ),
    "orphans-compute": (
        "children of children compute, whose parents have ended",
        """
        def orphan():
            if os.fork() == 0:
                child()
                os._exit(0)

        again(orphan)
        """,
    ),
    "ends-without-a-signal": (
        "children compute whose end is told to nobody, or by another signal",
        """
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        number = 56 if os.uname().machine == "x86_64" else 220

        def cloned():
            for flags in (0, int(signal.SIGUSR1)):
                made = libc.syscall(ctypes.c_long(number), ctypes.c_ulong(flags), None, None, None, None)
                if made == 0:
                    burn()
                    os._exit(0)

        again(cloned)
        """,
    ),
    "programs-compute": (
        "programs are started that compute for a moment each",
        """
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        except OSError:
            pass
        code = "import time\\nwhile time.process_time() < 0.05: pass\\nopen('burnt', 'ab').write(b'x')"
        again(lambda: os.posix_spawn(sys.executable, ["python", "-S", "-c", code], {}))
        """,
    ),
}
"""Programs that use `AIM` seconds of processor time, by name: what each of them tries, and its text."""


def holding(name: str, size: int) -> str:
    """The text of a cell that holds so many bytes by one of the means in `HOLDING`, and then raises an error."""
    return f"{_HEAD}{_HOLD}\nAIM = {size}\n{dedent(HOLDING[name][1])}\nraise RuntimeError({REACHED!r})\n"


def using(name: str, seconds: float) -> str:
    """The text of a cell that keeps each processor busy for so long, as one of those in `USING`, and then raises."""
    aim = f"AIM = {seconds!r} * os.cpu_count()"
    return f"{_HEAD}{_USE}\n{aim}\n{dedent(USING[name][1])}\nraise RuntimeError({REACHED!r})\n"


def _attack(name: str, tries: str, program: str) -> Attack:
    """An attack whose answers raise what the program ended with, where a report would show it."""
    text = f"try:\n{indent(program, '    ')}\nexcept Exception as error:\n    refusal = error\n{TELL}"
    return Attack(name, tries, cells(text))


BOUNDS: tuple[Attack, ...] = (
    *(_attack(name, tries, holding(name, _HELD)) for name, (tries, _) in HOLDING.items()),
    *(_attack(name, tries, using(name, _USED)) for name, (tries, _) in USING.items()),
)
