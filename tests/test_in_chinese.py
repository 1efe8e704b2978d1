"""A Chinese folder speaks Chinese to the end: start, hints, checks, the grader's report, progress, feedback."""

import html
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from places import ROOT

LESSON, ASSIGNMENT, ID = "00_fundamentals", "module0", "operators.comparison"

WRONG = {
    "operators.arithmetic": "def mul(x, y):\n    return x + y\ndef add(x, y):\n    return [x, y, 'x, expected y']\n"
    "def neg(x):\n    return -x\n",
    ID: "def lt(x, y):\n    return 1.0 if x <= y else 0.0\ndef eq(x, y):\n    return 1.0 if x == y else 0.0\n"
    "def max(x, y):\n    raise ValueError('no')\ndef is_close(x, y):\n    return abs(x - y) < 1e-2\n",
    "operators.folds": "def sum(ls):\n    return undefined_name\n",
    "module.Module": "class Module:\n    pass\n",
}
RIGHT = "def mul(x, y):\n    return x * y\ndef add(x, y):\n    return x + y\ndef neg(x):\n    return -float(x)\n"

CODE = re.compile(r"<(style|script|code|pre)\b.*?</\1>|`[^`]*`|https?://\S+|<[^>]+>", re.DOTALL)
ENGLISH = re.compile(r"(?<![\w.])[A-Za-z][a-z']*(?:,? [a-z][a-z']*){2,}(?![\w.(])")
"""Three English words in a row, which no code, name or value has here."""

OTHERS = {
    "minigrad lab lessons",  # a command
    "x, expected y'",  # a value of the answer's
    "Module' object has no attribute",  # Python says it
    "not a number",  # what nan stands for
    "values, digits, special",  # names of groups
    "My answer to the question",  # the heading by which the grader knows an answer
    "Write your answer",
    "What every computer scientist should know about floating",  # titles of papers
    "The accuracy of floating point summation",
    "Why functional programming matters",
}
"""What no translation has, or keeps."""


def english(text):
    """Return what is English in a text or a page, without code."""
    plain = html.unescape(CODE.sub(" . ", text))
    return [found for found in ENGLISH.findall(" ".join(plain.split())) if found not in OTHERS]


def run(package, *words, cwd, code=0):
    """Run a command line, and return what it printed."""
    environment = {**os.environ, "COLUMNS": "200"}
    command = [sys.executable, "-m", package, *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def answer(notebook, answers):
    """Write answers into a lesson."""
    book = json.loads(notebook.read_text())
    for cell in book["cells"]:
        text = "".join(cell["source"])
        for id, body in answers.items():
            if text.startswith(f"# exercise: {id}\n"):
                cell["source"] = f"# exercise: {id}\n{body}"
    notebook.write_text(json.dumps(book))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as `minigrad start --language zh` makes it, with wrong answers, and what that printed."""
    home = tmp_path_factory.mktemp("zh")
    said = run("minigrad", "start", "lessons", "--language", "zh", cwd=home)
    answer(home / "lessons" / f"{LESSON}.ipynb", WRONG)
    return home / "lessons", said


@pytest.mark.full("an assignment is released, handed in and graded by the hidden tests", share=24)
def test_no_sentence_of_the_project_is_english(folder, tmp_path):
    """From `start` to a class's feedback page nothing but code, names and values is English."""
    lessons, started = folder
    said = {"start": started}
    for tier in "123":
        said[f"hint {tier}"] = run("minigrad", "hint", ID, "--tier", tier, cwd=lessons)
    said["wrong check"] = run("minigrad", "check", f"{LESSON}.ipynb", cwd=lessons, code=1)
    said["grade"] = run("minigrad", "grade", cwd=lessons)
    said["report"] = (lessons / ".minigrad" / "report.html").read_text()
    answer(lessons / f"{LESSON}.ipynb", {"operators.arithmetic": RIGHT})
    said["right check"] = run("minigrad", "check", f"{LESSON}.ipynb", cwd=lessons, code=1)
    said["grade again"] = run("minigrad", "grade", cwd=lessons)
    said["progress"] = run("minigrad", "progress", "--page", cwd=lessons)
    said["page"] = (lessons / ".minigrad" / "progress.html").read_text()
    said["feedback"] = feedback(lessons, tmp_path)
    found = {name: english(text) for name, text in said.items()}
    assert {name: each for name, each in found.items() if each} == {}
    assert all(re.search("[\u4e00-\u9fff]", text) for text in said.values())


def feedback(lessons, place):
    """Return the feedback page of a class whose student handed the lesson in."""
    ignored = shutil.ignore_patterns(".cache", ".grades", "exchange", "gradebook.db")
    shutil.copytree(ROOT / "course", place / "course", ignore=ignored)
    for name in ("src", "autograder", "notebooks"):
        (place / name).symlink_to(ROOT / name)
    course = place / "course"
    run("autograder", "build", "--quick", cwd=course)  # a clone has no masters and sources
    run("nbgrader", "generate_assignment", ASSIGNMENT, cwd=course)
    submitted = course / "submitted" / "ada" / ASSIGNMENT
    submitted.mkdir(parents=True)
    for path in (course / "release" / ASSIGNMENT).glob("*.ipynb"):
        shutil.copy(lessons / path.name, submitted)
    run("autograder", "autograde", ASSIGNMENT, cwd=course)
    run("autograder", "feedback", ASSIGNMENT, cwd=course)
    return (course / "feedback" / "ada" / ASSIGNMENT / f"{LESSON}.html").read_text()
