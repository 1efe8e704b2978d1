"""System-call filters as classic BPF programs: they refuse what no exercise needs and what leads out of a sandbox.

One binds the whole sandbox, another one a student's processes alone. The denied calls get EPERM: Python raises
PermissionError and the student reads a sentence. Numbers: the kernel's `unistd_64.h` (x86-64) and
`asm-generic/unistd.h` (AArch64).
"""

import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEWUSER, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP, NEWNS and NEWTIME
_TERMINAL_INJECTION = 0x5412  # TIOCSTI
_SYSTEM_CALL, _ARCHITECTURE, _FIRST_ARGUMENT, _FIRST_ARGUMENT_HIGH, _SECOND_ARGUMENT = 0, 4, 16, 20, 24
_SECOND_ARGUMENT_HIGH, _FOURTH_ARGUMENT = 28, 40
_MAP_ANONYMOUS, _MAP_SHARED = 0x20, 0x01
_SET_DUMPABLE = 4  # PR_SET_DUMPABLE
_SIGCHLD = 17
_LOCKS_AND_SIZES = (6, 7, 37, 38, 1031)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, F_SETPIPE_SZ

_ARCHITECTURES = {
    "x86_64": (0xC000003E, "x86_64"),
    "aarch64": (0xC00000B7, "aarch64"),
    "arm64": (0xC00000B7, "aarch64"),
}
_SPECIAL = {
    "x86_64": {
        "clone": 56, "clone3": 435, "ioctl": 16, "prlimit64": 302, "mmap": 9, "fcntl": 72, "prctl": 157,
        "rt_sigaction": 13,
    },
    "aarch64": {
        "clone": 220, "clone3": 435, "ioctl": 29, "prlimit64": 261, "mmap": 222, "fcntl": 25, "prctl": 167,
        "rt_sigaction": 134,
    },
}  # fmt: skip

# name: (x86-64, AArch64); None where the architecture has no such call
_COMMON: dict[str, tuple[int | None, int | None]] = {
    # other processes' memory and descriptors
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "kcmp": (312, 272), "process_madvise": (440, 440), "move_pages": (279, 239), "migrate_pages": (256, 238),
    # other processes' scheduling and processors, which the sessions after this one would inherit
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122), "sched_setattr": (314, 274), "ioprio_set": (251, 30),
    # sockets, and what outlives a process: System V objects, message queues, keys
    "socket": (41, 198), "socketpair": (53, 199), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "semget": (64, 190),
    "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "mq_open": (240, 180), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # memory that no limit counts: files without a name, pages that only a pipe holds, watches on files, rings,
    # and what is attached to files
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "vmsplice": (278, 75), "splice": (275, 76),
    "tee": (276, 77), "inotify_init": (253, None), "inotify_init1": (294, 26), "io_setup": (206, 0),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "mknod": (133, None), "mknodat": (259, 33), "quotactl": (179, 60),
    # parts of the kernel with a long record of holes
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "fanotify_init": (300, 262),
    "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None), "personality": (135, 92),
    "vhangup": (153, 58),
    # the machine itself
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162),
}  # fmt: skip

# Where the file system is shared (landlock), what landlock leaves open: owners, modes, times, and changing one's user.
_SHARED_FILES: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145),
    "setregid": (114, 143), "setgroups": (116, 159), "setresuid": (117, 147), "setresgid": (119, 149),
    "setfsuid": (122, 151), "setfsgid": (123, 152), "capset": (126, 91),
}  # fmt: skip

# What the processes of the worker themselves use before a student's code runs, or while it does.
_STUDENTS: dict[str, tuple[int | None, int | None]] = {
    # The kernel may share processors out by session: whoever begins many would have as many shares as there are.
    "setsid": (112, 157), "setpriority": (141, 140),
    # Rules that a process may heap up in the kernel's memory.
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}  # fmt: skip


def supported() -> bool:
    """Return whether the system calls of this machine's processor are known here."""
    return platform.machine() in _ARCHITECTURES


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def build_filter(shared_files: bool = False) -> bytes:
    """The program for a sandbox on this machine's processor, an array of `struct sock_filter`.

    Args:
        shared_files: Refuse as well what changes the owner, mode, times or attributes of files that belong to the host.
    """
    refuse, unknown = _step(_RETURN, _ERRNO | _EPERM), _step(_RETURN, _ERRNO | _ENOSYS)
    program = _refusing({**_COMMON, **(_SHARED_FILES if shared_files else {})})
    special = _SPECIAL[_family()]
    # The flags of clone3 lie in memory, where no filter can look: without it, libc falls back to clone.
    program += [_step(_EQUAL, special["clone3"], 0, 1), unknown]
    for name, argument, test, bits in (
        ("clone", _FIRST_ARGUMENT, _ANY_BIT, _NAMESPACE_FLAGS),
        ("ioctl", _SECOND_ARGUMENT, _EQUAL, _TERMINAL_INJECTION),
    ):
        program += [_step(_EQUAL, special[name], 0, 4), _step(_LOAD, argument), _step(test, bits, 0, 1), refuse]
        program += [_step(_RETURN, _ALLOW)]
    # Pages that processes share without a file are in nobody's account once their owner has let go of them.
    program += [_step(_EQUAL, special["mmap"], 0, 5), _step(_LOAD, _FOURTH_ARGUMENT)]
    program += [_step(_ANY_BIT, _MAP_ANONYMOUS, 0, 2), _step(_ANY_BIT, _MAP_SHARED, 0, 1), refuse]
    program += [_step(_RETURN, _ALLOW)]
    # Locks of parts of a file, of which there may be any number, and pipes larger than others.
    program += [_step(_EQUAL, special["fcntl"], 0, 2 + 2 * len(_LOCKS_AND_SIZES)), _step(_LOAD, _SECOND_ARGUMENT)]
    for command in _LOCKS_AND_SIZES:
        program += [_step(_EQUAL, command, 0, 1), refuse]
    program += [_step(_RETURN, _ALLOW)]
    # A process may change its own limits, number 0; another one's, such as the worker's, would bind later sessions.
    program += [_step(_EQUAL, special["prlimit64"], 0, 6)]
    for half in (_FIRST_ARGUMENT, _FIRST_ARGUMENT_HIGH):
        program += [_step(_LOAD, half), _step(_EQUAL, 0, 1, 0), refuse]
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def build_student_filter(walls: bool = True) -> bytes:
    """The program that a session's own processes enter, beside the sandbox's.

    Args:
        walls: Whether there is a sandbox. Where there is none, only what would hide processor time is refused.
    """
    refuse, special = _step(_RETURN, _ERRNO | _EPERM), _SPECIAL[_family()]
    program = _refusing(_STUDENTS if walls else {})
    # What a process used counts once its parent has waited for it. Of children whose end is to be ignored nobody would
    # know: what happens to SIGCHLD may be asked for, and not be changed.
    program += [
        _step(_EQUAL, special["rt_sigaction"], 0, 8),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_EQUAL, _SIGCHLD, 0, 5),
    ]
    program += [_step(_LOAD, _SECOND_ARGUMENT), _step(_EQUAL, 0, 0, 2)]
    program += [_step(_LOAD, _SECOND_ARGUMENT_HIGH), _step(_EQUAL, 0, 1, 0), refuse, _step(_RETURN, _ALLOW)]
    # The relay looks at the memory of each process; none may hide it.
    program += [_step(_EQUAL, special["prctl"], 0, 3), _step(_LOAD, _FIRST_ARGUMENT)]
    program += [_step(_EQUAL, _SET_DUMPABLE, 0, 1), refuse]
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _family() -> str:
    return _ARCHITECTURES[platform.machine()][1]


def _refusing(calls: dict[str, tuple[int | None, int | None]]) -> list[bytes]:
    """The beginning of a program: it refuses these calls, and leaves the call's number loaded for what follows."""
    number, family = _ARCHITECTURES[platform.machine()]
    column = 0 if family == "x86_64" else 1
    refuse = _step(_RETURN, _ERRNO | _EPERM)
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, number, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _SYSTEM_CALL),
    ]
    if family == "x86_64":
        program += [_step(_AT_LEAST, 0x40000000, 0, 1), refuse]  # the x32 numbering of the same calls
    for numbers in calls.values():
        call = numbers[column]
        if call is not None:
            program += [_step(_EQUAL, call, 0, 1), refuse]
    return program
