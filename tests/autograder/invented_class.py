"""A class that was never taught: its results drawn from a seed, with hostile names and a copied answer."""

import hashlib
import random

from autograder.results import Graded, GroupScore, Submission, Verdict
from autograder.results.ledger import Entry
from autograder.telling.classreport.gather import ClassData

LESSONS = {
    "01_first": ("autodiff.chain_rule", "autodiff.topological_sort", "autodiff.backpropagate"),
    "02_second": ("functions.arithmetic", "functions.elementary", "scalar.easy"),
}


HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202e"


WRONG = ("gradient-overwritten", "start-ignored", "path-by-path")


def verdict(passed=True, misconception="", confirmed=False, reason="got 3.0", group="values"):
    hint = "each use of a node adds to its gradient" if misconception else ""
    failed = {"reason": reason, "hint": hint, "misconception": misconception, "confirmed": confirmed}
    return Verdict("test_it", "Two paths are summed.", group, "lesson 03", passed, **({} if passed else failed))


def graded(exercise, earned, points=4.0, *, verdicts=(), reason="", events=()):
    return Graded(exercise, points, (GroupScore("values", points, earned),), verdicts, reason, events=events)


def answered(exercise, skill, rng):
    """An exercise of someone of a skill between 0 and 1."""
    hard = {"autodiff.backpropagate": 0.3, "scalar.easy": -0.6}.get(exercise, 0.0)
    luck = skill - hard + rng.uniform(-0.4, 0.4)
    if luck > 0.4:
        return graded(exercise, 4.0, verdicts=(verdict(),))
    if luck < -0.1:
        return graded(exercise, 0.0, reason="this exercise was not started")
    if luck < 0.1:
        event = ("it ran out of its 5 s and was stopped",)
        return graded(exercise, 0.0, verdicts=(verdict(False, reason="no answer within 5 s"),), events=event)
    name = rng.choice(WRONG)
    return graded(exercise, 2.0, verdicts=(verdict(), verdict(False, name, confirmed=rng.random() < 0.8)))


def entry(student, lesson, exercises, assignment="module1", notes=()):
    digest = hashlib.sha256(student.encode()).hexdigest()
    return Entry(student, assignment, lesson, digest, "2027-01-01T00:00:00Z", Submission(lesson, exercises, notes))


def invented_answer(rng, number):
    """An answer of a few lines, in one of very many ways."""
    lines = [f"def solve_{number}(values, scale):", f'    """Docstring {number}."""']
    for place in range(rng.randint(5, 12)):
        name, operator = f"part{rng.randint(0, 3)}", rng.choice(["+", "*", "-", "/", "**", "%"])
        lines.append(
            f"    {name} = values[{rng.randint(0, 40)}] {operator} scale.{rng.choice(['sum', 'data', 'grad'])}"
        )
        if rng.random() < 0.4:
            lines.append(f"    if {name} > {rng.randint(0, 99)}: values.{rng.choice(['append', 'remove'])}({name})")
        del place
    return "\n".join([*lines, "    return values"])


def invented(size=30, seed=1):
    """A class whose members differ in skill, with one hostile name, one copied answer and one without a sandbox."""
    rng = random.Random(seed)
    entries, answers = [], {}
    for number in range(size):
        student = f"student{number:03}" if number else f"={HOSTILE}"
        skill = 1.4 * rng.random() - 0.4
        for lesson, names in LESSONS.items():
            row = tuple(answered(name, skill, rng) for name in names)
            notes = ("not isolated: this code ran without a sandbox",) if number == 3 else ()
            entries.append(entry(student, lesson, row, notes=notes))
            for each in row:
                answers.setdefault(each.exercise, {})[student] = invented_answer(rng, number)
    theirs = answers["autodiff.backpropagate"]
    theirs["student007"] = theirs["student005"].replace("values", "liste").replace("Docstring", "My own words")
    entries.sort(key=lambda each: (each.assignment, each.student, each.lesson))
    return ClassData("minigrad", {"module1": "Autodiff"}, entries, answers)
