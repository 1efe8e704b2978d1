"""`autograder doctor --class`: what a class on one server needs, each thing once as it should be and once not."""

import datetime as dt
import os
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.api import Base, Gradebook
from small_course import SmallCourse
from sqlalchemy import create_engine, make_url

from autograder.course import CourseError, Section
from autograder.gradebook import class_server
from autograder.gradebook.class_server import ANYBODY, Server, User, reaches
from autograder.sandbox import SandboxUnavailable

NOW = dt.datetime(2027, 1, 15, 12, 0, tzinfo=dt.UTC)
STUDENTS = 4711
"""A group of the students'."""


@pytest.fixture
def place():
    """A folder that everybody can enter; pytest's own are closed."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        if not reaches(ANYBODY, Path(name)):
            pytest.skip(f"{Path(name).parent} is closed to other users, so nothing in it can be open")
        yield Path(name)


@pytest.fixture
def server(place, monkeypatch):
    """A course that nobody else can read, beside an exchange."""
    (place / "grace").mkdir(mode=0o700)
    entry = SimpleNamespace(pw_dir=str(place / "grace"))
    monkeypatch.setattr(class_server, "pwd", SimpleNamespace(getpwuid=lambda uid: entry))
    small = SmallCourse(place / "small")
    (place / "small").chmod(0o750)
    exchange = place / "exchange"
    exchange.mkdir()
    exchange.chmod(0o1777)
    return Server(small.load(), make_url(f"sqlite:///{small.root / 'course' / 'gradebook.db'}"), exchange, "small")


@pytest.fixture
def gradebook(server):
    """Its gradebook, with two students."""
    engine = create_engine(server.url)
    Base.metadata.create_all(engine)  # without it nbgrader starts alembic
    engine.dispose()
    with Gradebook(server.address, "small") as gradebook:
        gradebook.add_student("ada")
        gradebook.add_student("bea")
    return server.gradebook


@pytest.fixture
def users(place, monkeypatch):
    """Unix users for both, whose homes are closed."""
    known = {}
    for number, name in enumerate(("ada", "bea")):
        (place / name).mkdir(mode=0o700)
        known[name] = User(name, 90000 + number, frozenset({STUDENTS, 90000 + number}), place / name)
    monkeypatch.setattr(User, "named", known.__getitem__)
    return known


def right(findings):
    """The one finding of a check that found nothing wrong."""
    (found,) = findings
    assert not found.fix, str(found)
    return found.found


def wrong(findings):
    """The one sentence of a check that found something wrong."""
    (found,) = findings
    assert found.fix, str(found)
    return str(found)


def test_modes_say_who_reaches_a_file(place):
    """A file is out of reach if any folder above it is closed; a group's bits count for its members alone."""
    inner = place / "outer" / "inner"
    inner.mkdir(parents=True)
    fellow = User("ada", -1, frozenset({inner.stat().st_gid}), place)
    inner.chmod(0o750)
    (place / "outer").chmod(0o751)
    assert not reaches(ANYBODY, inner) and reaches(fellow, inner)
    inner.chmod(0o705)
    assert reaches(ANYBODY, inner) and not reaches(fellow, inner)
    (place / "outer").chmod(0o710)
    assert not reaches(ANYBODY, inner)


def test_sandbox(monkeypatch):
    """Without a sandbox nothing can be graded."""
    monkeypatch.setattr(class_server, "choose", lambda: type("Isolation", (), {"name": "bubblewrap"}))
    assert right(class_server._sandbox()) == "bubblewrap"

    def none():
        raise SandboxUnavailable("no isolation can be had on this machine")

    monkeypatch.setattr(class_server, "choose", none)
    assert "apt install bubblewrap" in wrong(class_server._sandbox())


def test_gradebook(server, gradebook):
    """A gradebook can be used, or it is said why not."""
    assert right(class_server._gradebook(server)) == "can be read and written"
    gradebook.write_bytes(b"nothing of SQLite's" * 100)
    assert "is no gradebook" in wrong(class_server._guarded("gradebook", lambda: class_server._gradebook(server)))


def test_gradebook_before_the_first_release(server):
    """No gradebook yet is well, and none is made."""
    assert right(class_server._gradebook(server)).startswith("none yet")
    assert "not looked at" in right(class_server._students(server, []))
    assert not server.gradebook.exists()


def test_students(server, gradebook, users):
    """Every student of the gradebook has a Unix user with a closed home; those found are returned."""
    known = []
    assert right(class_server._students(server, known)).startswith("each of 2")
    assert known == [users["ada"], users["bea"]]
    users["bea"].home.chmod(0o755)
    assert f"chmod 0700 {users['bea'].home}" in wrong(class_server._students(server, []))
    users["bea"].home.chmod(0o700)
    del users["ada"]
    assert "useradd --create-home ada" in wrong(class_server._students(server, []))


def test_homes_are_closed_to_the_group_of_students(server, gradebook, users, monkeypatch):
    """A home that all students' group can enter is open, and one that only its student's group can is not."""
    home = users["ada"].home
    home.chmod(0o750)
    monkeypatch.setattr(User, "named", {name: _in(user, home) for name, user in users.items()}.__getitem__)
    assert "other students can look into" in wrong(class_server._students(server, []))
    users["ada"] = _in(users["ada"], home)
    monkeypatch.setattr(User, "named", users.__getitem__)
    assert right(class_server._students(server, []))


def _in(user, folder):
    """A user who is in the group that owns a folder, too."""
    return class_server.replace(user, groups=user.groups | {folder.stat().st_gid})


def test_answers(server, gradebook, users):
    """Course, library and gradebook are closed to everybody, and to students by their groups."""
    students = list(users.values())
    assert right(class_server._answers(server, students)).startswith("closed to students")
    server.course.directory.parent.chmod(0o755)
    found = list(class_server._answers(server, students))
    private = {str(path) for path in server.private}
    assert str(server.course.source) in private and str(gradebook) in private
    assert {each.fix for each in found if str(server.course.directory.parent) in each.found} == {
        f"`chmod o-rwx {path}`" for path in private if path.startswith(str(server.course.directory.parent))
    }


def test_the_instructors_home(server, place):
    """An instructor's home is closed too: tables of marks and lists of students lie there."""
    home = place / "grace"
    assert str(home) in right(class_server._answers(server, []))
    home.chmod(0o755)
    assert wrong(class_server._answers(server, [])).endswith(f"`chmod o-rwx {home}`")


def test_a_student_in_the_instructors_group_is_found(server, gradebook, users):
    """Whoever is in the group of the course's folder reads the answers."""
    students = [users["ada"], _in(users["bea"], server.course.directory)]
    found = [each for each in class_server._answers(server, students) if str(server.gradebook) in each.found]
    assert wrong(found).startswith("answers: bea can look into")


def test_exchange(server):
    """An exchange is there, open to all with the sticky bit, on a way that students can go, away from the answers."""
    assert right(class_server._exchange(server)).startswith(str(server.exchange))
    for mode in (0o777, 0o1755):
        server.exchange.chmod(mode)
        assert f"chmod 1777 {server.exchange}" in wrong(class_server._exchange(server))
    inside = server.course.directory / "exchange"
    assert "lies beside the answers" in wrong(class_server._exchange(class_server.replace(server, exchange=inside)))
    none = server.exchange / "none"
    assert f"mkdir -p {none}" in wrong(class_server._exchange(class_server.replace(server, exchange=none)))
    closed = server.course.directory.parent / "exchange"
    closed.mkdir()
    closed.chmod(0o1777)
    found = wrong(class_server._exchange(class_server.replace(server, exchange=closed)))
    assert f"chmod o+x {closed.parent}" in found


@pytest.mark.parametrize(
    ("name", "mode", "bad"),
    [("", 0o755, 0o777), ("outbound", 0o755, 0o750), ("inbound", 0o2733, 0o2777), ("feedback", 0o711, 0o755)],
)
def test_folders_of_the_exchange(server, name, mode, bad):
    """Nobody may list what others have handed in, or another's feedback, or put something into the course's place."""
    folder = server.exchange / "small" / name
    folder.mkdir(parents=True)
    (server.exchange / "small").chmod(0o755)
    folder.chmod(mode)
    assert right(class_server._exchange(server))
    folder.chmod(bad)
    assert f"chmod {mode:04o} {folder}" in wrong(class_server._exchange(server))


def test_the_exchange_belongs_to_the_instructor(server, monkeypatch):
    """nbgrader does not release into a folder of somebody else's, which a student may have made first."""
    (server.exchange / "small").mkdir(mode=0o755)
    assert not list(class_server._folders_of_exchange(server))
    monkeypatch.setattr(Server, "owner", os.getuid() + 1)
    assert "does not belong" in wrong(class_server._folders_of_exchange(server))


def test_several_instructors_may_share_the_exchange(server):
    """Where nbgrader is told so, the group of instructors may do more than students."""
    (server.exchange / "small").mkdir()
    (server.exchange / "small").chmod(0o2775)
    assert "chmod 0755" in wrong(class_server._folders_of_exchange(server))
    assert not list(class_server._folders_of_exchange(class_server.replace(server, groupshared=True)))


def test_kernel(monkeypatch):
    """The kernel python3 is there, and so is the program that it starts."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel

    assert right(class_server._kernel()).startswith("python3")
    monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", lambda *_: KernelSpec(argv=["/nowhere/python"]))
    assert "/nowhere/python" in wrong(class_server._kernel())

    def none(*_):
        raise NoSuchKernel("python3")

    monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", none)
    assert "ipykernel install" in wrong(class_server._kernel())


def test_an_environment_that_students_cannot_start(place):
    """Its Python, what that is a link to, and each package are to be read by students; the fix is a command."""
    folder = place / "hub"
    site = folder / "lib/python3.11/site-packages"
    for made in (folder / "bin", site / "nbgrader", place / "private/bin"):
        made.mkdir(parents=True)
    (place / "private/bin/python3").touch(mode=0o755)
    python = folder / "bin/python"
    python.symlink_to(place / "private/bin/python3")
    look = partial(class_server._environment, folder)
    assert right(look([])) == f"students can start {python}"
    (site / "nbgrader").chmod(0o700)
    said = f"environment: students cannot start {python}, for want of "
    assert wrong(look([])) == f"{said}{site / 'nbgrader'}; `chmod -R o+rX {folder}`"
    (site / "nbgrader").chmod(0o755)
    (place / "private").chmod(0o700)
    anew = f"`/usr/bin/python3 -m venv --clear {folder}`, and install anew what was there"
    assert wrong(look([])) == f"{said}{place / 'private'}; {anew}"
    group = frozenset({(place / "private").stat().st_gid})
    (place / "private").chmod(0o750)
    assert wrong(look([])) and right(look([User(name, -1, group, place) for name in ("ada", "bea")]))
    assert "not looked at" in right(class_server._environment(place / "none", []))


def test_disk(server, monkeypatch):
    """A disk that is nearly full is found, once where it holds both course and exchange."""
    monkeypatch.setattr(class_server, "ROOM", 0)
    assert "GiB free" in right(class_server._disk(server))
    monkeypatch.setattr(class_server, "ROOM", 1 << 60)
    assert "make room" in wrong(class_server._disk(server))


def test_clock(server):
    """The time and its zone are said; a clock that is behind, or a due date before the release, is wrong."""
    written = NOW.timestamp()
    os.utime(server.course.path, (written, written))
    assert right(class_server._clock(server, NOW)) == "2027-01-15 12:00 in the time zone UTC"
    assert "set the clock" in wrong(class_server._clock(server, NOW - dt.timedelta(days=1)))
    later = NOW + dt.timedelta(days=30)
    assert "week0 was due 2027-02-01 23:59 UTC" in wrong(class_server._clock(server, later))
    (server.exchange / "small" / "outbound" / "week0").mkdir(parents=True)
    assert right(class_server._clock(server, later))
    monday = Section("monday", due={"week1": NOW})
    dated = replace(server, course=replace(server.course, sections={"monday": monday}))
    assert "week1 was due 2027-01-15 12:00 UTC for the section monday" in wrong(class_server._clock(dated, later))


def test_what_cannot_be_looked_at_is_wrong():
    """A check that fails does not end the doctor: it says what failed."""

    def failing():
        raise CourseError("the gradebook is damaged; restore it")
        yield

    def forbidden():
        raise PermissionError(13, "Permission denied", "/srv/course")
        yield

    assert wrong(class_server._guarded("gradebook", failing)) == "gradebook: the gradebook is damaged; restore it"
    assert "/srv/course: Permission denied" in wrong(class_server._guarded("answers", forbidden))
