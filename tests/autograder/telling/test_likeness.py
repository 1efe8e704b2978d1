"""Answers that are unusually alike are found, and answers that a task makes alike are not."""

import random

import pytest

from autograder.telling.likeness import (
    MAX_NODES,
    MAX_TEXT,
    MOST_HOLDERS,
    _pairs,
    compared,
    fingerprints,
    normalised,
    pairs,
    same_text,
)

TEXT = '''
def topological_sort(variable):
    """Order the graph."""
    seen, order = set(), []
    for each in variable.parents:
        # visit it
        if each.unique_id > 3:
            order.append(each + 1.0)
    return order
'''
CHANGES = [
    ("seen", "visited"),
    ("variable", "v"),
    ('"""Order the graph."""', '"""Anders gesagt."""'),
    ("        # visit it\n", ""),
    ("(variable):", "(variable: object) -> list[object]:"),
    ("each + 1.0", "1.0 + each"),
    ("each.unique_id > 3", "3 < each.unique_id"),
    ("    seen, order", "    import math\n    pass\n    seen, order"),
    ("    ", "  "),
    ("def topological_sort", "%time\ndef topological_sort"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_authors_choose_freely_is_left_out(old, new):
    """Names, comments, docstrings, annotations, imports, the order of operands and layout change nothing."""
    changed = TEXT.replace(old, new)
    assert changed != TEXT
    assert normalised(changed) == normalised(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("parents", "history"),
        ("append", "insert"),
        ("1.0", "2.0"),
        ("return order", "return seen"),
        ("set()", "list()"),
        ("for each in", "while"),
    ],
)
def test_what_makes_another_answer_is_kept(old, new):
    """Attributes, functions, numbers and which variable is meant tell answers apart."""
    changed = TEXT.replace(old, new)
    assert normalised(changed) is not None
    assert normalised(changed) != normalised(TEXT)


def test_an_augmented_assignment_is_the_long_one():
    """x += y and x = x + y are the same; so is a declaration with a value and an assignment."""
    assert normalised("x = 0\nx += y * 2") == normalised("x = 0\nx = 2 * y + x")
    assert normalised("x: int = 3") == normalised("x = 3")


@pytest.mark.parametrize(
    "text",
    [
        "def broken(:",
        "x = " + "(" * 400 + ")" * 400,
        "x = " + "-" * 50_000 + "1",
        "x = a" + ".b" * 30_000,
        "\n".join(["x = 1"] * MAX_NODES),
        "x = '" + "#" * MAX_TEXT + "'",
        "x = '\0'",
    ],
    ids=["broken", "nested", "unary", "attributes", "long", "large", "null"],
)
def test_hostile_texts_are_not_compared(text):
    """What is no Python, too deep or too long is left out, and does not stop the comparison."""
    assert normalised(text) is None
    answers = {f"s{n}": text for n in range(6)}
    assert pairs(answers) == []


def test_huge_numbers_and_strange_strings_are_compared():
    """A number that Python refuses to write, and half a character, are constants like others."""
    assert normalised(f"x = {'9' * 4000}") == normalised(f"y = 0x{'f' * 3000}")
    assert fingerprints(normalised("x = ['\\ud800', 1, 2, 3, 4, 5, 6, 7]"))


def varied(rng, lines=8):
    """An answer in one of very many ways."""
    names = [f"n{i}" for i in range(4)]
    body = [
        f"    {rng.choice(names)} = {rng.choice(names)}.{rng.choice('abcdefgh')}[{rng.randint(0, 99)}] "
        f"{rng.choice('+-*/%')} {rng.choice(names)}({rng.randint(0, 99)})"
        for _ in range(lines)
    ]
    return "\n".join(["def solve(n0, n1, n2, n3):", *body, "    return n0"])


def a_class(size=40, seed=3):
    rng = random.Random(seed)
    return {f"s{n:03}": varied(rng) for n in range(size)}


def test_independent_answers_are_no_pairs():
    """In a class in which everyone wrote alone nothing is reported."""
    assert pairs(a_class()) == []


def test_a_copy_with_other_names_is_found():
    """A copy with other names, comments and order of operands is the most unusual pair, and the only one."""
    answers = a_class()
    answers["s030"] = answers["s010"].replace("n1", "first").replace("n2", "second").replace("\n", "  # so\n", 3)
    (pair,) = pairs(answers)
    assert (pair.one, pair.other, pair.rank) == ("s010", "s030", 1)
    assert pair.alike == 1.0 and pair.having == 2.0
    assert pair.pairs == 40 * 39 // 2
    assert not same_text(answers["s010"], answers["s030"])


def test_half_a_copy_is_less_alike():
    """An answer that shares most lines is found with a lower share; one that shares a few is not."""
    answers = a_class()
    lines = answers["s010"].splitlines()
    rng = random.Random(9)
    own = varied(rng).splitlines()
    answers["s030"] = "\n".join([*lines[:8], *own[8:]])
    answers["s031"] = "\n".join([*lines[:3], *varied(rng).splitlines()[3:]])
    (pair,) = pairs(answers)
    assert (pair.one, pair.other) == ("s010", "s030")
    assert 0.6 < pair.alike < 1


def test_what_most_of_a_class_writes_is_no_likeness():
    """A short exercise, for which nearly everyone writes the same line, has no pairs, though all are equal."""
    answers = {f"s{n:03}": f"def add(x{n}, y):\n    return x{n} + y" for n in range(300)}
    assert pairs(answers) == []


def test_a_manner_of_a_part_of_the_class_is_no_likeness():
    """A form that a twentieth of a class has is a manner of writing; the same form in two answers is unusual."""
    forms = a_class(2, seed=5)
    usual, other = forms.values()
    answers = {f"s{n:03}": (other if n % 20 == 0 else usual) for n in range(300)}
    assert pairs(answers) == []
    answers = {f"s{n:03}": (other if n in (7, 9) else usual) for n in range(300)}
    assert [(pair.one, pair.other) for pair in pairs(answers)] == [("s007", "s009")]


def test_known_answers_are_no_likeness():
    """What the task gives out, and a form that the course knows, may be shared by any two."""
    answers = a_class()
    answers["s030"] = answers["s010"]
    assert pairs(answers, known=[answers["s010"].replace("n0", "other")]) == []


def test_answers_from_elsewhere_are_pairs_with_the_class_alone():
    """A copy of an earlier answer is found, also where many places have it; two earlier ones are no pair."""
    answers, old = a_class(), {f"old/s{n:03}/x.ipynb": text for n, text in enumerate(a_class(seed=4).values())}
    answers |= {"s030": old["old/s010/x.ipynb"].replace("n1", "first"), "s031": answers["s001"]}
    old |= {"web/a.py": old["old/s010/x.ipynb"], "old/s020/x.ipynb": old["old/s021/x.ipynb"]}
    (pair,) = compared(answers, outside=old).pairs
    assert (pair.one, pair.other, pair.also) == ("s030", "old/s010/x.ipynb", ("web/a.py",))
    assert (pair.answers, pair.pairs, pair.rank) == (40 + 39, 40 * 39, 1)


def test_an_earlier_try_of_ones_own_is_no_likeness():
    """A student who does the course again hands in what stands in a folder of the same name; a friend does not."""
    answers, old = a_class(), a_class(seed=4)
    answers |= {"s010": old["s011"], "s020": old["s022"]}
    places = {"old/s010/x.ipynb": old["s011"], "old/s021/x.ipynb": old["s022"]}
    found = compared(answers, outside=places).pairs
    assert [(pair.one, pair.other) for pair in found] == [("s020", "old/s021/x.ipynb")]
    together = {"ada + s010" if student == "s010" else student: text for student, text in answers.items()}
    assert [(pair.one, pair.other) for pair in compared(together, outside=places).pairs] == [
        ("s020", "old/s021/x.ipynb")
    ]
    again = compared(answers, outside={**places, "old/s033/x.ipynb": old["s011"]}).pairs
    assert ("s010", ("old/s033/x.ipynb",)) in [(pair.one, pair.also) for pair in again]


@pytest.mark.parametrize("text", ["def broken(", "x = " + "(" * 5_000, "", "x = 0\n" * MAX_NODES])
def test_whatever_lies_elsewhere_the_class_is_compared(text):
    """A hostile file from the web ends no comparison."""
    assert compared(a_class(), outside={"web/a.py": text}).pairs == []


def test_a_class_of_four_says_nothing():
    """In a class of four nothing is usual, so nothing is unusual."""
    answers = a_class(4)
    answers["s001"] = answers["s000"]
    assert pairs(answers) == []


def test_the_order_of_a_class_changes_nothing():
    """The same answers in another order give the same pairs."""
    answers = a_class()
    answers["s030"] = answers["s010"]
    answers["s031"] = answers["s011"]
    backwards = dict(reversed(answers.items()))
    assert pairs(answers) == pairs(backwards) != []


def test_a_large_class_is_compared_in_time_that_grows_with_it():
    """What more than a fixed number of students have leads to no pair, however large the class is."""

    def found(group):
        features = {f"s{place:04}": frozenset(range(9 * place, 9 * place + 9)) for place in range(3_000)}
        shared = frozenset(range(-9, 0))
        return _pairs(features | {f"s{place:04}": shared | {place} for place in range(group)})

    assert len(found(MOST_HOLDERS)) == MOST_HOLDERS * (MOST_HOLDERS - 1) // 2
    assert found(MOST_HOLDERS + 1) == []
