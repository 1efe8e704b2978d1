"""Attacks on the machine and on whoever is graded next: everything a process can try from inside the sandbox.

The answers are wrong; a cell that reaches what it wanted says the word `REACHED`, which no report may hold.
"""

from __future__ import annotations

from textwrap import dedent, indent

from autograder.proof.attack.model import Attack, cells, wrong_and

REACHED = "REACHED-FROM-INSIDE"

TELL = """
def add(x, y):
    raise refusal


mul = neg = add
"""
"""Answers that raise what an attack met with, where a report would show it."""


def _try(name: str, tries: str, text: str) -> Attack:
    """An attack whose answers raise what the system refused with, or REACHED, where a report would show it."""
    body = indent(dedent(text).strip(), "    ")
    return Attack(
        name,
        tries,
        cells(
            f"import ctypes, os, resource, signal, socket, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            f"parent = os.getppid()\n\ndef checked(result):\n    if result < 0:\n        raise OSError(result)\n"
            f"    return result\n\ntry:\n{body}\nexcept (OSError, ValueError) as error:\n    refusal = error\n"
            f"else:\n    refusal = RuntimeError({REACHED!r})\n{TELL}"
        ),
    )


def _do(name: str, tries: str, text: str) -> Attack:
    return Attack(name, tries, wrong_and(text))


_REACH = (
    _try(
        "parent-memory",
        "the warm parent's memory is read through /proc",
        "open(f'/proc/{parent}/mem', 'rb').seek(4096)",
    ),
    _try("parent-memory-call", "the same by process_vm_readv", "checked(libc.process_vm_readv(parent, 0, 0, 0, 0, 0))"),
    _try("ptrace", "the parent is traced", "checked(libc.ptrace(16, parent, 0, 0))"),
    _try("parent-descriptors", "descriptors of the parent are opened", "os.listdir(f'/proc/{parent}/fd')"),
    _try(
        "pidfd-getfd",
        "a descriptor is fetched from the parent",
        "checked(libc.syscall(438, os.pidfd_open(parent), 0, 0))",
    ),
    _try("parent-root", "the file system is entered through /proc/1/root", "os.listdir('/proc/1/root/')"),
    _try(
        "proc-walk",
        "all of /proc is searched for the grader",
        """
        loot = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            for name in ("environ", "cmdline", "maps", "cwd/gradebook.db"):
                try:
                    text = open(f"/proc/{pid}/{name}", "rb").read()
                except OSError:
                    continue
                if any(word in text for word in (b"nbgrader", b"autograder", b"gradebook", b"pytest")):
                    loot.append(pid)
        if not loot:
            raise OSError
        """,
    ),
    _try("stops-parent", "the parent is stopped", "os.kill(parent, signal.SIGSTOP)\nos.kill(parent, 0)\nraise OSError"),
    _try(
        "limits-of-parent",
        "the next sessions' limits are lowered",
        "resource.prlimit(parent, resource.RLIMIT_NPROC, (2, 2))",
    ),
    _try("nice-of-parent", "the next sessions' priority is lowered", "os.setpriority(os.PRIO_PROCESS, parent, 19)"),
    _try("affinity-of-parent", "the next sessions get one processor", "os.sched_setaffinity(parent, {0})"),
    _try("setuid", "another user is become", "os.setuid(0)"),
    _try("new-namespace", "a user namespace is made", "checked(libc.unshare(0x10000000))"),
    _try("mount", "a file system is mounted", "checked(libc.mount(b'none', b'/', b'tmpfs', 0, None))"),
    _try("chroot", "the root is changed", "os.chroot('/usr')"),
    _try("memfd", "memory that no limit counts is taken", "os.memfd_create('x')"),
    _try("shared-memory", "System V memory outlives the session", "checked(libc.shmget(0, 4096, 0o1777))"),
    _try("keyring", "a key is left in the kernel", "checked(libc.syscall(248, b'user', b'n', b'x', 1, -3))"),
    _try("netlink", "the network is looked at", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    _try("io-uring", "io_uring goes round the filter", "checked(libc.syscall(425, 8, 0))"),
    _try("bpf", "a program is loaded into the kernel", "checked(libc.syscall(321, 0, 0, 0))"),
    _try("core-dump", "a core dump is asked for", "resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))"),
    _try(
        "raises-own-limits",
        "the session raises its own limits",
        "resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))",
    ),
    _try("writes-library", "the library is written to", "import minigrad\nopen(minigrad.__file__, 'a').write('x')"),
    _try("writes-python", "Python's own modules are written to", "open(os.__file__, 'a').write('x')"),
    _try(
        "kernel-settings",
        "kernel settings are written to",
        "open('/proc/sys/kernel/core_pattern', 'w').write('|/bin/sh')",
    ),
    _try("dynamic-loader", "files of the host are looked for", "open('/etc/passwd')"),
)

_BURDENS = (
    _do("fork-bomb", "processes fork without end", "import os\nwhile True:\n    os.fork()"),
    _do(
        "thread-bomb",
        "threads are started without end",
        "import threading, time\nwhile True:\n    threading.Timer(999, print).start()",
    ),
    _do(
        "memory-of-many",
        "20 processes take a gigabyte each, none of them too much",
        """
        import os, time
        for _ in range(20):
            if os.fork() == 0:
                held = bytearray(b"x") * 10**9
                time.sleep(100)
        time.sleep(8)
        """,
    ),
    _do(
        "fills-scratch",
        "the scratch folder is filled",
        """
        n = 0
        while True:
            open(f"f{n}", "wb").write(bytes(2**20))
            n += 1
        """,
    ),
    _do(
        "fills-inodes",
        "a million empty files",
        """
        import os
        for n in range(10**6):
            os.close(os.open(str(n), os.O_CREAT))
        """,
    ),
    _do(
        "deep-folders",
        "folders nest deeper than a path can be long",
        """
        import os
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
        """,
    ),
    _do(
        "descriptor-flood",
        "every descriptor is used up",
        "import os\nheld = []\nwhile True:\n    held.append(os.dup(0))",
    ),
    _do(
        "watches-files",
        "thousands of inotify watches",
        """
        import ctypes, os
        libc = ctypes.CDLL(None)
        for _ in range(300):
            descriptor = libc.inotify_init()
            for folder, _, _ in os.walk("/usr/lib/python3"):
                libc.inotify_add_watch(descriptor, folder.encode(), 0xFFF)
        """,
    ),
    _do(
        "deaf-to-signals",
        "every signal is ignored, then a loop",
        """
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        while True:
            pass
        """,
    ),
    _do(
        "recursion",
        "a function calls itself without end, in C",
        """
        import sys
        sys.setrecursionlimit(10**9)
        def f(x):
            return sorted([1, 2], key=lambda _: f(x))
        f(1)
        """,
    ),
    _do("closes-descriptors", "every descriptor is closed", "import os\nos.closerange(0, 256)"),
    _do("segmentation-fault", "memory is destroyed", "import ctypes\nctypes.memset(0, 0, 10**9)"),
    _do("huge-integer", "an integer of ten million digits is computed", "x = 7 ** 10**8\nprint(x)"),
    _do("regex-bomb", "a pattern that never ends, in C", "import re\nre.match('(a+)+$', 'a' * 64 + 'b')"),
)

_NEXT = (
    _do(
        "leaves-modules",
        "modules are left for the next student",
        """
        import os
        for name in ("numpy", "minigrad", "sitecustomize", "cloudpickle", "math", "operators"):
            open(f"{name}.py", "w").write("import os; os._exit(9)")
        open(os.path.join(os.environ["HOME"], ".pythonrc"), "w").write("import os; os._exit(9)")
        """,
    ),
    _do(
        "leaves-locked-folders",
        "folders without permissions are left",
        """
        import os
        for name in "abc":
            os.mkdir(name)
            open(f"{name}/x", "w").write("x")
            os.chmod(name, 0)
        os.chmod(".", 0)
        """,
    ),
    _do(
        "leaves-daemon",
        "a process waits for the next student and breaks into their files",
        """
        import os, time
        if os.fork() == 0:
            os.setpgid(0, 0)
            if os.fork():
                os._exit(0)
            while True:
                for name in os.listdir("."):
                    open(name, "w").write("x")
                open("minigrad.py", "w").write("import os; os._exit(9)")
                time.sleep(0.01)
        """,
    ),
    _do(
        "leaves-pipes",
        "pipes and links are left, which whoever cleans would open",
        """
        import os
        os.mkfifo("pipe")
        os.symlink("/", "root")
        os.symlink("loop", "loop")
        os.mkdir("ring")
        os.symlink("../ring", "ring/ring")
        """,
    ),
)

SYSTEM: tuple[Attack, ...] = (*_REACH, *_BURDENS, *_NEXT)
