"""A session that stands for a student: hidden tests given as text are judged without a sandbox."""

import textwrap
from dataclasses import dataclass, field

from autograder.judging.plugin import HiddenTests, run_hidden_tests

GROUPS = {"demo.f": ("values", "special"), "demo.g": ("all",)}
HEAD = "import pytest\nfrom autograder import expect, pictures\nfrom hypothesis import given, strategies as st\n"


@dataclass
class Failed:
    kind: str
    message: str


@dataclass
class Answer:
    ok: bool
    value: object = None
    failure: Failed | None = None


@dataclass
class FakeSession:
    """Answers with what `answer` makes of the arguments; counts the questions."""

    answer: object
    asked: list = field(default_factory=list)

    def observe(self, probe, args):
        self.asked.append(args)
        result = self.answer(*args)
        if isinstance(result, Failed):
            return Answer(False, failure=result)
        return Answer(True, result)


def pack(function):
    return function.__name__.encode()


def judged(folder, text, answer, **options):
    """The verdicts of hidden tests on the function that stands for the student."""
    (folder / "test_demo.py").write_text(HEAD + textwrap.dedent(text))
    return run_hidden_tests(HiddenTests("demo.f", GROUPS, FakeSession(answer), pack, 3, **options), folder)
