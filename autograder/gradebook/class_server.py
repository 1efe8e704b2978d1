"""The checks of `autograder doctor --class`: whether a server is ready for a class, and how to mend what is not.

Every student has a Unix user, and hands in through nbgrader's exchange. So the modes of folders alone keep students
from the answers, from the gradebook and from each other's work. The checks run as the instructor, or as root: they
compute from modes and groups what a student may do, and do not try it. They do not read access control lists.
"""

from __future__ import annotations

import datetime as dt
import os
import pwd
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import URL

from autograder.course import Course, CourseError
from autograder.gradebook.databases import of_course
from autograder.gradebook.diagnosing import opened, refuse_an_unwritable_gradebook
from autograder.gradebook.settings import load_app
from autograder.sandbox import SandboxUnavailable, choose

ENVIRONMENT = Path("/opt/minigrad-hub")
"""The environment that students start, where docs/instructor/server.md puts it."""

ROOM = 2 << 30
"""Bytes of free disk below which submissions, reports and backups of a class begin to fail."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        topic: What it is about.
        found: What was found.
        fix: What to do, if it is wrong; nothing if it is well.
    """

    topic: str
    found: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.topic}: {self.found}{'; ' if self.fix else ''}{self.fix}"


@dataclass(frozen=True)
class User:
    """A Unix user, as the modes of files know one.

    Attributes:
        name: The user's name.
        uid: The number that owns files.
        groups: Numbers of all groups.
        home: The home folder.
    """

    name: str
    uid: int
    groups: frozenset[int]
    home: Path

    @classmethod
    def named(cls, name: str) -> User:
        """Look up a user of this machine.

        Raises:
            KeyError: If there is none.
        """
        entry = pwd.getpwnam(name)
        groups = os.getgrouplist(name, entry.pw_gid)
        return cls(name, entry.pw_uid, frozenset(groups), Path(entry.pw_dir))


ANYBODY = User("everybody", -1, frozenset(), Path("/nonexistent"))
"""A user who owns nothing and is in no group."""


@dataclass(frozen=True)
class Server:
    """The places of a course on a server, as nbgrader's configuration names them.

    Attributes:
        course: The course.
        url: The gradebook's address.
        exchange: nbgrader's exchange.
        course_id: The course's folder in it.
        groupshared: Whether several instructors of one group work on the course, as nbgrader calls it.
    """

    course: Course
    url: URL
    exchange: Path
    course_id: str
    groupshared: bool = False

    @classmethod
    def of(cls, course: Course) -> Server:
        """Ask nbgrader's configuration of a course."""
        from nbgrader.exchange.default import Exchange  # loads all of nbgrader

        app = load_app(course.directory, next(iter(course.assignments)))
        exchange = Path(Exchange(coursedir=app.coursedir, parent=app).root)
        return cls(course, of_course(course), exchange, str(app.coursedir.course_id), bool(app.coursedir.groupshared))

    @property
    def owner(self) -> int:
        """The number of the user who owns the course."""
        return self.course.directory.stat().st_uid

    @property
    def address(self) -> str:
        """The gradebook's address as a text, with its password."""
        return self.url.render_as_string(hide_password=False)

    @property
    def gradebook(self) -> Path | None:
        """The gradebook's file; None where a database server keeps it."""
        return Path(str(self.url.database)) if self.url.get_backend_name() == "sqlite" else None

    @property
    def has_no_gradebook(self) -> bool:
        """True before the first release, if the gradebook is to be a file."""
        return self.gradebook is not None and not self.gradebook.exists()

    @property
    def _home(self) -> Path | None:
        try:
            return Path(pwd.getpwuid(self.owner).pw_dir)
        except KeyError:  # the user was removed
            return None

    @property
    def private(self) -> list[Path]:
        """The places that hold answers, hidden tests or marks; lists of a class lie in the instructor's home."""
        places = [self.course.directory, self.course.source, self.gradebook, self._home]
        return [*dict.fromkeys(path.resolve() for path in places if path is not None and path.exists())]


def examine(course: Course, environment: Path = ENVIRONMENT) -> Iterator[Finding]:
    """Yield what is well and what is wrong, each with its fix.

    Args:
        course: The course.
        environment: The folder of the Python environment that students start.
    """
    yield from _guarded("sandbox", _sandbox)
    server = Server.of(course)
    students: list[User] = []
    yield from _guarded("gradebook", lambda: _gradebook(server))
    yield from _guarded("students", lambda: _students(server, students))
    yield from _guarded("answers", lambda: _answers(server, students))
    yield from _guarded("exchange", lambda: _exchange(server))
    yield from _guarded("kernel", _kernel)
    yield from _guarded("environment", lambda: _environment(environment, students))
    yield from _guarded("disk", lambda: _disk(server))
    yield from _guarded("clock", lambda: _clock(server, dt.datetime.now().astimezone()))


def _guarded(topic: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield a check's findings; what keeps it from looking is one too."""
    try:
        yield from check()
    except CourseError as error:
        found, _, fix = str(error).partition("; ")
        yield Finding(topic, found, fix or "mend that first")
    except OSError as error:
        yield Finding(topic, f"{error.filename}: {error.strerror}", "let the user who grades read it, or ask as root")


def reaches(user: User, path: Path) -> bool:
    """Return whether the modes of a path and of all folders above it let a user list, open or enter it."""
    doors = [_may(user, above, stat.S_IXOTH) for above in path.parents]
    return all(doors) and (_may(user, path, stat.S_IROTH) or _may(user, path, stat.S_IXOTH))


def _may(user: User, path: Path, right: int) -> bool:
    """Return whether a user has a right, given as one of others."""
    status = path.stat()
    if user.uid == status.st_uid:
        right <<= 6
    elif status.st_gid in user.groups:
        right <<= 3
    return bool(status.st_mode & right)


# The checks ----------------------------------------------------------------------------------------------------------


def _sandbox() -> Iterator[Finding]:
    try:
        yield Finding("sandbox", choose().name)
    except SandboxUnavailable as error:
        yield Finding("sandbox", str(error), "install bubblewrap (`apt install bubblewrap`)")


def _gradebook(server: Server) -> Iterator[Finding]:
    refuse_an_unwritable_gradebook(server.address)
    if server.has_no_gradebook:
        yield Finding("gradebook", f"none yet; the first `nbgrader generate_assignment` makes {server.gradebook}")
    else:
        yield Finding("gradebook", "can be read and written")


def _students(server: Server, known: list[User]) -> Iterator[Finding]:
    """Look up the gradebook's students among the machine's users, and add those that there are to `known`."""
    names: list[str] = []
    if not server.has_no_gradebook:
        with opened(server.address, server.course_id) as gradebook:
            names = sorted(student.id for student in gradebook.students)
    if not names:
        how = "`nbgrader db student import students.csv` lists a class"
        yield Finding("students", f"not looked at, since the gradebook has none; {how}")
        return
    missing = []
    for name in names:
        try:
            known.append(User.named(name))
        except KeyError:
            missing.append(name)
    fellow = _fellow(known)
    open_homes = [user.home for user in known if user.home.is_dir() and reaches(fellow, user.home)]
    if missing:
        fix = f"`useradd --create-home {missing[0]}`"
        yield Finding("students", f"no Unix user has the name of {_some(missing)}", fix)
    if open_homes:
        fix = f"`chmod 0700 {open_homes[0]}`"
        yield Finding("students", f"other students can look into {_some(open_homes)}", fix)
    if not missing and not open_homes:
        yield Finding("students", f"each of {len(names)} has a Unix user, whose home is closed to the others")


def _fellow(students: Sequence[User]) -> User:
    """A student who owns nothing, and is in each group that students share."""
    shared = Counter(group for student in students for group in student.groups)
    return replace(ANYBODY, groups=frozenset(group for group, count in shared.items() if count > 1))


def _some(names: Sequence[object]) -> str:
    """The first few names of many."""
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(map(str, names[:3])) + rest


def _answers(server: Server, students: Sequence[User]) -> Iterator[Finding]:
    is_closed = True
    for path in server.private:
        if reaches(ANYBODY, path):
            is_closed = False
            yield Finding("answers", f"everybody on this server can look into {path}", f"`chmod o-rwx {path}`")
        elif inside := [user.name for user in students if reaches(user, path)]:
            is_closed = False
            fix = f"take them out of the group that owns it, or `chmod 0700 {path}`"
            yield Finding("answers", f"{_some(inside)} can look into {path}", fix)
    if is_closed:
        yield Finding("answers", f"closed to students: {', '.join(map(str, server.private))}")


def _exchange(server: Server) -> Iterator[Finding]:
    root = server.exchange
    if root.resolve().is_relative_to(server.course.directory.resolve()):
        fix = "name a folder elsewhere in course.toml, such as `exchange = '/srv/nbgrader/exchange'`"
        yield Finding("exchange", f"{root} lies beside the answers", fix)
        return
    if not root.is_dir():
        yield Finding("exchange", f"{root} is not there", f"`mkdir -p {root} && chmod 1777 {root}`")
        return
    wrong = [*_root_of_exchange(root), *_folders_of_exchange(server)]
    yield from wrong or [Finding("exchange", f"{root}, where students can hand in and not look at others' work")]


def _root_of_exchange(root: Path) -> Iterator[Finding]:
    """nbgrader wants it writable to all. Without the sticky bit, a student could move the course's folder away."""
    mode = stat.S_IMODE(root.stat().st_mode)
    if mode & 0o1777 != 0o1777:
        yield Finding("exchange", f"{root} has the mode {mode:04o} and needs 1777", f"`chmod 1777 {root}`")
    closed = next((above for above in root.parents if not _may(ANYBODY, above, stat.S_IXOTH)), None)
    if closed is not None:
        yield Finding("exchange", f"students cannot pass {closed} on their way to it", f"`chmod o+x {closed}`")


def _folders_of_exchange(server: Server) -> Iterator[Finding]:
    """nbgrader makes these at the first release, with these modes, and later leaves the modes alone."""
    folder = server.exchange / server.course_id
    if not folder.is_dir():
        return
    if folder.stat().st_uid != server.owner:
        fix = "move it away, and release as the owner of the course"
        yield Finding("exchange", f"{folder} does not belong to the owner of the course", fix)
    compared = 0o007 if server.groupshared else 0o077
    for name, wanted in (("", 0o755), ("outbound", 0o755), ("inbound", 0o2733), ("feedback", 0o711)):
        path = folder / name
        if path.is_dir():
            mode = stat.S_IMODE(path.stat().st_mode)
            if (mode ^ wanted) & compared:
                yield Finding("exchange", f"{path} has the mode {mode:04o}", f"`chmod {wanted:04o} {path}`")


def _kernel() -> Iterator[Finding]:
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    fix = "`python -m ipykernel install --sys-prefix`"
    try:
        program = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        yield Finding("kernel", "there is no kernel python3, which the lessons ask for", fix)
        return
    if shutil.which(program) is None:
        yield Finding("kernel", f"python3 starts {program}, which is not there", fix)
    else:
        yield Finding("kernel", f"python3, by {program}")


def _environment(folder: Path, students: Sequence[User]) -> Iterator[Finding]:
    """Look at an environment as students do: they start its Python and read what is installed there."""
    python = folder / "bin" / "python"
    if not python.exists():
        how = "`--environment DIR` names the one that students start"
        yield Finding("environment", f"not looked at, since {python} is not there; {how}")
        return
    packages = [path for site in folder.glob("lib/python3*/site-packages") for path in (site, *sorted(site.iterdir()))]
    student = _fellow(students)
    for path in (*_links(python), folder / "pyvenv.cfg", *packages):
        if path.exists() and (closed := _closed(student, path)) is not None:
            inside = closed.is_relative_to(folder)
            again = f"`/usr/bin/python3 -m venv --clear {folder}`, and install anew what was there"
            fix = f"`chmod -R o+rX {folder}`" if inside else again
            yield Finding("environment", f"students cannot start {python}, for want of {closed}", fix)
            return
    yield Finding("environment", f"students can start {python}")


def _links(path: Path) -> Iterator[Path]:
    """A path, and each one that it leads to by links."""
    yield path
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield path


def _closed(user: User, path: Path) -> Path | None:
    """Return the folder that a user cannot pass on the way to a path, or the path itself if it cannot be read."""
    for above in reversed(path.parents):
        if not _may(user, above, stat.S_IXOTH):
            return above
    rights = (stat.S_IROTH, stat.S_IXOTH) if path.is_dir() else (stat.S_IROTH,)
    return None if all(_may(user, path, right) for right in rights) else path


def _disk(server: Server) -> Iterator[Finding]:
    disks = {path.stat().st_dev: path for path in (server.exchange, server.course.directory) if path.is_dir()}
    for path in disks.values():
        free = shutil.disk_usage(path).free
        fix = "" if free >= ROOM else f"make room: a class wants {ROOM >> 30} GiB"
        yield Finding("disk", f"{free / 2**30:.1f} GiB free for {path}", fix)


def _clock(server: Server, now: dt.datetime) -> Iterator[Finding]:
    """Look for a clock that is behind, and for assignments that would be late before they are handed out."""
    said = f"{now:%Y-%m-%d %H:%M} in the time zone {now.tzname()}"
    written = dt.datetime.fromtimestamp(server.course.path.stat().st_mtime, dt.UTC)
    if written > now + dt.timedelta(minutes=5):
        fix = "set the clock (`timedatectl set-ntp true`), since it decides what is late"
        yield Finding("clock", f"{said}, but course.toml was written later, {written:%Y-%m-%d %H:%M} UTC", fix)
        return
    outbound = server.exchange / server.course_id / "outbound"
    dates = [(each.name, each.due, "") for each in server.course.assignments.values() if each.due is not None]
    for section in server.course.sections.values():
        dates += [(name, due, f" for the section {section.name}") for name, due in section.due.items()]
    passed = [each for each in dates if each[1] < now and not (outbound / each[0]).is_dir()]
    for name, due, whom in passed:
        said_due = f"{due.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC{whom}"
        yield Finding("clock", f"{name} was due {said_due} and is not released yet", "change that `due` in course.toml")
    if not passed:
        yield Finding("clock", said)
