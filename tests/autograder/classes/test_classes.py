"""A class made from a seed: every kind of work, in each student's own words, and worth what its kind says."""

import ast
import copy
import itertools
import os
import random
import shutil
import subprocess
import symtable
import sys
from collections import Counter

import pytest
from two_lessons import make_course

from autograder.building.masters import find_master
from autograder.building.notebooks import dump
from autograder.course.answers import variants, wrong_answers
from autograder.course.loading import DEFAULT_COURSE, load_course
from autograder.grafting.graft import graft
from autograder.grafting.grafted import stubs
from autograder.judging.judge import Judge
from autograder.proof.demo.classes import HONEST, MANGLED, SHARES, hand_in, in_own_words, make_class
from autograder.proof.demo.typing_in import reference_answers

LESSON = "01_numerical_derivatives"


@pytest.fixture(scope="module")
def course():
    return load_course()


@pytest.fixture(scope="module")
def members(course):
    return list(make_class(course, [LESSON], 40, 5))


@pytest.mark.full("an invented class is made", share=4)
def test_a_seed_makes_one_class(course, members):
    """The same seed makes the same files, byte for byte; another one makes others."""
    assert list(make_class(course, [LESSON], 40, 5)) == members
    assert list(make_class(course, [LESSON], 40, 6)) != members


def test_every_kind_has_its_share(members):
    """Kinds are as many as their shares say, and not in the order of a list."""
    kinds = [kind for _, kind, _ in members]
    assert Counter(kinds) == {kind: round(share * 40) for kind, share in SHARES.items()}
    assert len([kind for kind, _ in itertools.groupby(kinds)]) > len(SHARES)


def test_in_a_small_class_kinds_that_lost_most_by_rounding_are_rounded_up(course):
    """A class has exactly as many students as were asked for."""
    kinds = Counter(kind for _, kind, _ in make_class(course, [LESSON], 7, 1))
    assert kinds == {"right": 3, "wrong": 3, "variant": 1}


def test_no_two_students_hand_in_the_same(members):
    """Files that hold any answer differ from student to student."""
    files = [data for student, _, files in members for data in files.values() if f"# {student}: ".encode() in data]
    assert len(set(files)) == len(files) > 30


def _known_answers(course):
    """Each reference, variant and known-wrong answer there is."""
    yield from reference_answers(course, course.exercises).values()
    for exercise in course.exercises:
        for text in (*variants(DEFAULT_COURSE, exercise).values(), *wrong_answers(DEFAULT_COURSE, exercise).values()):
            yield f"# exercise: x\n{text}"


def _tables(table):
    yield table
    for child in table.get_children():
        yield from _tables(child)


@pytest.mark.full("an invented class is made", share=4)
def test_own_words_mean_the_same(course):
    """Names alone change, and a new name is a local variable wherever it stands."""
    changed, all_texts = 0, list(_known_answers(course))
    for text in all_texts:
        own = in_own_words(text, "s7", random.Random(1))
        assert "_s7" not in text
        head, remark, *rest = own.split("\n")
        assert remark.startswith("# s7: ")
        assert "\n".join([head, *rest]).replace("_s7", "") == text
        for node in ast.walk(ast.parse(own)):
            name = getattr(node, "attr", None) or (node.arg if isinstance(node, ast.keyword) else None) or ""
            assert not name.endswith("_s7"), own
        for table in _tables(symtable.symtable(own, "cell", "exec")):
            for symbol in table.get_symbols():
                assert not (symbol.get_name().endswith("_s7") and symbol.is_global()), own
        changed += "_s7" in own
    assert changed > len(all_texts) / 2


def test_what_means_more_than_a_variable_keeps_its_name():
    """Builtins, parameters, keywords, attributes and what another function reads are left alone."""
    cell = """# exercise: x
def one(given):
    sum = other = shared = key = 1
    box.other = other
    return f"{shared}", dict(key=key, given=given)


def two():
    return sum([other, 1])
"""
    assert not any("_s7" in in_own_words(cell, "s7", random.Random(seed)) for seed in range(9))
    mine = "# x\ndef one():\n    mine = 1\n    return mine"
    assert any("return mine_s7" in in_own_words(mine, "s7", random.Random(seed)) for seed in range(9))


def test_every_process_finds_the_same_words():
    """A student's words do not depend on the order of a set, which is another one in each process."""
    cell = "# x\\ndef one(): " + "; ".join(f"{name} = 1" for name in ("a", "b", "c", "d", "e", "f", "g", "h"))
    program = "import random; from autograder.proof.demo.classes import in_own_words; "
    program += f"print(in_own_words('{cell}', 's', random.Random(1)))"
    command = [sys.executable, "-c", program]
    said = [
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        for seed in "123"
    ]
    assert "a = 1" in said[0].stdout.replace("_s", "") and len({each.stdout for each in said}) == 1


@pytest.mark.full("an invented class is graded", share=24)
def test_work_earns_what_its_kind_says(course, members):
    """Right answers and variants earn everything, wrong ones less, attacks nothing; damage is survived."""
    earned = {kind: [] for kind in SHARES}
    with Judge(course) as judge:
        master = judge.master(LESSON)
        for _, kind, files in members:
            if len(earned[kind]) < 2:
                data = files.get(f"{LESSON}.ipynb")
                grafted = stubs(master, "renamed") if data is None else graft(data, master)
                earned[kind].append(judge.grade(grafted, LESSON).earned)
    points = sum(each.points for each in course.of_lesson(LESSON))
    assert earned["right"] == earned["variant"] == [points] * 2
    assert max(earned["wrong"]) < points
    assert max(earned["untouched"]) < points
    assert earned["hostile"] == [0, 0]


@pytest.mark.parametrize("mangle", MANGLED)
def test_damage_is_damage(course, mangle):
    """Each way to damage a notebook leaves one file, which is not the one that was released."""
    master = find_master(course, LESSON)
    (name, data), *rest = mangle(copy.deepcopy(master), LESSON).items()
    assert name.endswith(".ipynb")
    assert not rest
    assert (name, data) != (f"{LESSON}.ipynb", dump(master).encode())


def test_files_are_handed_in_where_the_grader_looks(tmp_path, root):
    """A class of a course, drafts too, goes into the submitted tree or into the exchange."""
    directory = make_course(tmp_path, root)
    for built in (tmp_path / "notebooks", directory / "source"):  # nobody has got anything of a draft
        shutil.rmtree(built)
    toml = directory / "course.toml"
    toml.write_text(toml.read_text().replace('title = "Numbers"', 'title = "Numbers"\ndraft = true'))
    course = load_course(directory)
    members = list(make_class(course, course.drafts["week0"].lessons, 3, 1, shares={"right": 1}))
    assert hand_in(course, "week0", members) == dict.fromkeys(("s1", "s2", "s3"), "right")
    names = {"00_numbers.ipynb", "01_order.ipynb"}
    assert {path.name for path in (directory / "submitted" / "s2" / "week0").iterdir()} == names
    inbound = directory / "exchange" / "minigrad" / "inbound"
    inbound.mkdir(parents=True)  # as releasing an assignment does
    hand_in(course, "week0", members, exchange=True)
    folders = list(inbound.iterdir())
    assert sorted(folder.name.partition("+")[0] for folder in folders) == ["s1", "s2", "s3"]
    assert {path.name for path in folders[0].iterdir()} == {*names, "timestamp.txt", "submission_secret.txt"}


def test_honest_kinds_are_kinds():
    """What other graders can be asked to grade are kinds of the class."""
    assert set(HONEST) < set(SHARES)
