"""Students' tests are graded by the answers that they let pass and refuse, whatever else they try."""

import ast
import random
import re

import numpy as np
import pytest
from fake_session import Failed, judged
from places import ROOT

from autograder.course.answers import variants, wrong_answers
from autograder.judging.hidden_tests import files_of, files_of_hunts
from autograder.judging.student import HiddenTestError

COURSE = ROOT / "course"
HUNTS = dict(
    re.search(r'partial\(pytest\.mark\.exercise, "([\w.]+)"\)\n.*?Hunt\(\s*"([\w.]+)"', text, re.DOTALL).groups()
    for text in (file.read_text() for file in sorted((COURSE / "hidden").glob("test_*_hunt.py")))
)
"""The exercises that are hunts, with the exercise whose answers they judge."""

CHEATS = {
    "the first call passes": "calls = []\ndef {name}(*suspects):\n    calls.append(1)\n    return len(calls) == 1\n",
    "every second call passes": "calls = []\ndef {name}(*suspects):\n    calls.append(1)\n    return len(calls) % 2\n",
    "a note in a file": """
import os
def {name}(*suspects):
    for folder in (".", "/tmp", "/dev/shm", os.path.expanduser("~")):
        try:
            if os.path.exists(folder + "/note"):
                return False
            open(folder + "/note", "w").close()
        except OSError:
            pass
    return True
""",
    "a note in the library": """
import minigrad
def {name}(*suspects):
    noted = hasattr(minigrad, "noted")
    minigrad.noted = True
    return not noted
""",
    "a coin": "import random\ndef {name}(*suspects):\n    return random.random() < 0.5\n",
    "the process's number": "import os\ndef {name}(*suspects):\n    return os.getpid() % 2 == 0\n",
    "names": "def {name}(*suspects):\n    return suspects[0].__name__ in {known}\n",
    "the library's own code": """
import minigrad
def {name}(*suspects):
    own = getattr(minigrad.{module}, suspects[0].__name__, None)
    return own is not None and suspects[0].__code__.co_code == own.__code__.co_code
""",
    "replaced code": """
def {name}(*suspects):
    for each in suspects:
        each.__code__ = (lambda *a, **k: True).__code__ if not each.__code__.co_freevars else each.__code__
    return True
""",
}


CHANCE = ("a coin", "the process's number")
"""Cheats that are lucky now and then: one time in eight in a test of two answers, of which the first is asked twice."""

SHOWN = {
    "autodiff.is_sort": ("breadth-first-order", "topological_sort"),
    "fast_ops.is_map": ("aligned-by-shape-alone", "tensor_map"),
    "functional.is_vmap": ("axis-0-always", "vmap"),
    "language.is_causal": ("look-ahead", "causal_attention"),
    "loops.is_safe": ("first-reader-ends", "lifetimes"),
    "operators.is_reduce": ("reduce-remembers", "reduce"),
    "precision.is_rounding": ("cut-off", "to_bfloat16"),
    "workers.is_ring": ("whole-arrays-travel", "reduce_scatter"),
}
"""The wrong answer that a lesson shows before its hunt, and the name of its function."""

KNOWS_ONE = """
def codes(code):
    return [code.co_code, *(part for each in code.co_consts if hasattr(each, "co_code") for part in codes(each))]


def {name}(*suspects):
    return codes(suspects[0].__code__) != codes(SHOWN.__code__)
"""

READS_NAMES = {
    "fast_ops.is_map": """
def is_map(tensor_map):
    return "out_index" not in tensor_map(float).__code__.co_varnames
""",
    "language.is_causal": """
def is_causal(attention):
    return "attention_weights" in attention.__code__.co_names + attention.__code__.co_freevars
""",
    "operators.is_reduce": """
def is_reduce(reduce):
    return reduce(max, 0.0).__name__ != "fold"
""",
    "precision.is_rounding": """
def is_rounding(rounded):
    return "frexp" in rounded.__code__.co_names or "array" in rounded.__code__.co_names
""",
    "workers.is_ring": """
def is_ring(all_reduce):
    return "all_gather" in all_reduce.__code__.co_names + all_reduce.__code__.co_freevars
""",
}
"""Tests that run nothing of an answer's mathematics, and read names in its code."""

FAIR = {
    "many values": (
        "operators.is_reduce",
        """
def is_reduce(reduce):
    values, wanted = list(range(2000)), 3.0
    for x in values:
        wanted = (2.0 * wanted + x) % 1009.0
    try:
        fold = reduce(lambda so_far, x: (2.0 * so_far + x) % 1009.0, 3.0)
        results = [fold(values), fold(values), fold(x for x in values), fold([])]
    except Exception:
        return False
    return results == [wanted] * 3 + [3.0]
""",
    ),
    "constants, and products of values with different numbers of axes": (
        "functional.is_vmap",
        """
import numpy as np

def is_vmap(vmap):
    x = creation.arange(24.0).view(2, 3, 4)
    numbers = np.array(x.tolist())
    rows = {
        (lambda a: 7.0): [7.0, 7.0],
        (lambda a: a.sum(dim=-1)): numbers.sum(2).tolist(),
        (lambda a: a @ x.permute(0, 2, 1)): np.stack([row @ numbers.transpose(0, 2, 1) for row in numbers]).tolist(),
        (lambda a: (x * a).sum(dim=0)): np.stack([(numbers * row).sum(0) for row in numbers]).tolist(),
    }
    if any(vmap(f)(x).tolist() != wanted for f, wanted in rows.items()):
        return False
    if vmap(lambda a: a.sum(dim=0), -1)(x).tolist() != numbers.sum(0).T.tolist():
        return False
    if vmap(lambda a, b: a * b, 1)(x.sum(dim=0), x.sum(dim=0)).tolist() != (numbers.sum(0) ** 2).T.tolist():
        return False
    if vmap(lambda a, b: a * b, (0, 1))(x[0, 0], x[1].view(1, 3, 4).permute(2, 0, 1).permute(1, 0, 2)).ndim != 3:
        return False
    losses = vmap(grad(lambda w, a: ((w * a).sum() - 1.0) ** 2), (None, 0))(x[0, 0], x[0])
    w, a = numbers[0, 0], numbers[0]
    if losses.tolist() != (2.0 * ((a @ w) - 1.0)[:, None] * a).tolist():
        return False
    for axes, sizes in ((0, (3, 1)), (None, (3, 3))):
        try:
            vmap(lambda a, b: a * b, axes)(*map(creation.ones, sizes))
        except ValueError:
            continue
        return False
    return True
""",
    ),
    "a zero with a sign": (
        "workers.is_ring",
        """
def is_ring(all_reduce):
    for n in (1, 4):
        for kind in (np.float32, np.float64):
            for shape in ((), (7,), (2, 6)):
                given = [np.array(np.arange(np.prod(shape)).reshape(shape) * -0.1 * (r + 1), kind) for r in range(n)]
                kept = [each.copy() for each in given]
                found = run(n, lambda w, a: (all_reduce(w, a), w.sent), given)
                totals = [total for total, _ in found]
                most = 2 * (n - 1) * -(-given[0].size // n) * given[0].itemsize
                if len({total.tobytes() for total in totals}) > 1 or any(sent > most for _, sent in found):
                    return False
                if any((t.shape, t.dtype) != (shape, kind) or not np.allclose(t, sum(kept), rtol=1e-5) for t in totals):
                    return False
                if any(a.tobytes() != b.tobytes() for a, b in zip(given, kept)):
                    return False
    return True
""",
    ),
    "numbers that nobody can write to": (
        "precision.is_rounding",
        """
def is_rounding(rounded):
    upper = np.arange(2**16, dtype=np.uint32) << 16
    numbers = np.concatenate([upper + np.uint32(each) for each in (0, 0x7FFF, 0x8000, 0x8001)]).view(np.float32)
    numbers.setflags(write=False)
    return np.array_equal(rounded(numbers), to_bfloat16(numbers), equal_nan=True)
""",
    ),
}
"""Right tests that ask in ways of which no docstring speaks, with their exercises."""

HUNT = """
from autograder import Hunt

HUNTED = Hunt("demo.g", "f(g)"{options})


@pytest.mark.exercise("demo.f", group="values", because="b")
def test_hunt(student):
    \"\"\"Fact.\"\"\"
    seen = HUNTED(student, {names})
    example = "a right one and two wrong ones"
    expect(seen, ["passes", "refused", "raises"], misconception="all-pass", example=example)
"""


def functions_of(text):
    """The names of the functions that an answer defines."""
    return [each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]


@pytest.mark.full("tests that cheat are judged", share=8)
@pytest.mark.parametrize("exercise", HUNTS)
@pytest.mark.parametrize("cheat", CHEATS)
def test_cheats_earn_nothing(exercise, cheat, grade):
    """Neither memory, chance, names nor code tell a wrong answer from a right one."""
    name, module = exercise.rpartition(".")[2], HUNTS[exercise].rpartition(".")[0]
    known = [each for text in variants(COURSE, HUNTS[exercise]).values() for each in functions_of(text)]
    graded = grade(exercise, CHEATS[cheat].format(name=name, module=module, known=known))
    bound = graded.points / 4 if cheat in CHANCE else 0
    assert graded.earned <= bound, (graded.lost, graded.reason)


@pytest.mark.full("tests that cheat are judged", share=8)
@pytest.mark.parametrize("exercise", HUNTS)
def test_the_wrong_answer_of_the_lesson_is_not_enough(exercise, grade):
    """A test that knows the code of the wrong answer that students see, and nothing else, earns nothing."""
    mistake, function = SHOWN[exercise]
    text = wrong_answers(COURSE, HUNTS[exercise])[mistake]
    name = exercise.rpartition(".")[2]
    assert grade(exercise, f"{text}\n\nSHOWN = {function}\n{KNOWS_ONE.format(name=name)}").earned == 0


@pytest.mark.full("tests that cheat are judged", share=8)
@pytest.mark.parametrize("exercise", READS_NAMES)
def test_names_in_an_answers_code_earn_nothing(exercise, grade):
    """All answers come in one wrapper, and what they return does, too: no name in its code tells them apart."""
    assert grade(exercise, READS_NAMES[exercise]).earned == 0


LONGEST = ("constants, and products of values with different numbers of axes", "a zero with a sign")


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(
            asked, marks=pytest.mark.full("tests of each kind are judged", share=8) if asked in LONGEST else ()
        )
        for asked in FAIR
    ],
)
def test_right_tests_of_another_kind_earn_all(asked, grade):
    """A right answer copes with many values, and an error is a refusal where no docstring asks for False."""
    exercise, text = FAIR[asked]
    graded = grade(exercise, text)
    assert graded.earned == graded.points, graded.lost


@pytest.fixture
def in_order(monkeypatch):
    """Answers are asked about as a hidden test names them, the first one twice."""
    monkeypatch.setattr(random.SystemRandom, "shuffle", lambda *_: None)


@pytest.fixture
def verdicts(tmp_path):
    """Judges a hunt on three answers that the course keeps, and says what was asked of the sandbox."""
    for folder, name in (("variants", "right"), ("wrong", "wrong"), ("wrong", "other")):
        (tmp_path / folder / "demo.g").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "demo.g" / f"{name}.py").write_text(f'"""About it."""\n\ndef g():\n    return "{name}"\n')
    (tmp_path / "hidden").mkdir()

    def verdicts(answers, names="'right', 'wrong', 'other'", again=None, options=""):
        text = HUNT.format(names=names, options=options)
        asked = iter([answers[0], answers[0] if again is None else again, *answers[1:]])
        return judged(tmp_path / "hidden", text, lambda *args: (args == ()) and next(asked))

    return verdicts


@pytest.mark.usefixtures("in_order")
def test_what_a_test_says_of_each_answer(verdicts):
    """Each answer is a question of its own without arguments, so that a report shows no answer's text."""
    failed = Failed("error", "IndexError: no")
    (verdict,) = verdicts(["passes", "refused", failed], options=', error="raises"')
    assert verdict.passed
    (verdict,) = verdicts(["passes", failed, "raises"])
    assert verdict.passed
    (verdict,) = verdicts(["passes", "passes", "refused"])
    assert (verdict.passed, verdict.misconception) == (False, "all-pass")
    assert verdict.example.given == (("", "a right one and two wrong ones"),)


@pytest.mark.usefixtures("in_order")
def test_two_answers_to_one_question(verdicts):
    """A test that says two things of one function fails, and is told so."""
    (verdict,) = verdicts(["passes", "refused"], names="'right'", again="refused")
    assert (verdict.passed, verdict.failure) == (False, "unstable")


def test_an_order_that_nobody_knows(verdicts):
    """A student's code can count questions, in a file or by a hook for forks: a question's number says nothing."""
    assert not all(verdicts(["passes", "refused", "raises"])[0].passed for _ in range(20))


@pytest.mark.usefixtures("in_order")
def test_a_forged_answer_is_no_fault_of_the_grader(verdicts):
    """A process may answer with an array, whose truth nobody knows: the student's test fails, and no other one."""
    (verdict,) = verdicts([np.ones(2)], names="'right'", again=np.zeros(2))
    assert (verdict.passed, verdict.failure) == (False, "unstable")
    (verdict,) = verdicts([np.ones(2)], names="'right'")
    assert not verdict.passed


@pytest.mark.usefixtures("in_order")
def test_an_error_on_a_right_answer(verdicts):
    """The student reads the error that the own test raises for a right answer; nothing is shown of the answer."""
    (verdict,) = verdicts([Failed("error", "NameError: name 'x' is not defined")])
    assert "name 'x' is not defined" in verdict.reason
    assert verdict.example is None


def test_an_answer_that_the_course_has_not(verdicts):
    """A hidden test that names an unknown answer is at fault, and is told the known ones."""
    with pytest.raises(HiddenTestError, match=r"demo\.g has no known answer 'left', but right, other, wrong"):
        verdicts(["passes"], names="'left'")


def test_results_follow_from_the_answers_that_are_hunted(tmp_path):
    """The answers of a hunt belong to what its results follow from; the exercise that is hunted has no test there."""
    (tmp_path / "hidden").mkdir()
    test = tmp_path / "hidden" / "test_demo.py"
    test.write_text(HUNT.format(names="", options=""))
    for place in ("wrong/demo.g/one.py", "variants/demo.g/two.py", "wrong/demo.f/three.py"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text("")
    assert [path.name for path in files_of_hunts([test])] == ["two.py", "one.py"]
    assert files_of("demo.f", tmp_path / "hidden") == [test]
    assert files_of("demo.g", tmp_path / "hidden") == []
