"""A course that is served: released into an exchange of its own, handed in to, and watched by the command."""

import datetime as dt
import json
import os
import secrets
import shutil
import subprocess
import sys

import nbformat
from class_runs import generate
from nbgrader.utils import notebook_hash
from places import ROOT
from processes import until
from two_lessons import make_course

LESSONS = ("00_numbers", "01_order")
NO_LIMITS = '\n[serve]\ntries_per_day = 100\nwait = 0\nshows = "points"\n'


def served_course(folder):
    """A course that was released into an exchange of its own."""
    course = make_course(folder, ROOT)
    with (course / "course.toml").open("a") as file:
        file.write(NO_LIMITS)
    generate(course)
    exchange = course / "exchange" / "minigrad"
    shutil.copytree(course / "release" / "week0", exchange / "outbound" / "week0")
    for name in ("inbound", "feedback"):
        (exchange / name).mkdir()
    (course / "exchange").chmod(0o1777)
    return course


def notebooks(course, texts):
    """The texts of a student's notebooks, by file."""
    found = {}
    for lesson, text in zip(LESSONS, texts, strict=True):
        notebook = nbformat.read(course / "release" / "week0" / f"{lesson}.ipynb", as_version=4)
        if text:
            next(cell for cell in notebook.cells if cell.source.startswith("# exercise")).source = text
        found[f"{lesson}.ipynb"] = json.dumps(notebook)
    return found


def hand_in(course, student, texts, when=None):
    """Put a hand-in where `nbgrader submit` puts it, file by file as that does; return its folder."""
    said = f"{when or dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    folder = course / "exchange" / "minigrad" / "inbound" / f"{student}+week0+{said}+{secrets.token_hex(4)}"
    folder.mkdir()
    for name, text in notebooks(course, texts).items():
        (folder / name).write_text(text)
    (folder / "timestamp.txt").write_text(said)
    (folder / "submission_secret.txt").write_text(secrets.token_hex(64))
    return folder


def pages(folder):
    """The pages of a hand-in that lie in the exchange."""
    secret = (folder / "submission_secret.txt").read_text()
    home = folder.parents[1] / "feedback"
    found = (home / f"{notebook_hash(secret=secret, notebook_id=lesson)}.html" for lesson in LESSONS)
    return [page for page in found if page.exists()]


class Served:
    """The command, in a process of its own that is ended in whichever way."""

    def __init__(self, course, *options, log=None, names=("week0",)):
        self.program = [sys.executable, "-c", "from autograder.cli import main; main()"]
        self.environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        self.log = log or course / "serve.log"
        command = [*self.program, "serve", *names, "--jobs", "2", "--course", str(course), *options]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment)

    def until(self, condition):
        """Wait for a condition, while the command runs; whether it came."""
        until(lambda: condition() or self.process.poll() is not None)
        assert condition() and self.process.poll() is None, self.log.read_text()
        return True

    def end(self, how):
        """End it by a signal; return its exit code."""
        self.process.send_signal(how)
        return self.process.wait()
