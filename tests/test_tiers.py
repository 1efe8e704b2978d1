"""Which tests run when: marked tests wait for their turn, changes bring theirs, and nothing is forgotten."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from tiers import APART, SEARCHES, Apart, Choice, concerned

TESTS = """
import pytest

def test_usual():
    pass

@pytest.mark.full("takes long", share=4)
@pytest.mark.parametrize("case", range(40))
def test_in_turn(case):
    pass

@pytest.mark.full("takes long", share=4, group="together")
@pytest.mark.parametrize("case", range(8))
def test_together(case):
    pass

@pytest.mark.full("takes longest")
def test_large():
    pass
"""


@pytest.fixture
def chosen(tmp_path, root):
    """Run these tests with options; return the names of those that passed, and all that was printed."""
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = full: as in the project\n")
    environment = {**os.environ, "PYTHONPATH": str(root / "tests" / "support"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def run(*options, program=("-m", "pytest")):
        command = [sys.executable, *program, "-v", "-p", "tiers", "-p", "no:cacheprovider", *options]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return set(re.findall(r"::(\S+) PASSED", done.stdout)), done.stdout + done.stderr

    return run


TURNS = range(7, 19)
EACH_TURN = f"""
import sys
import pytest

for turn in {[*TURNS]}:
    pytest.main([*sys.argv[1:], "--turn", str(turn)])
"""
"""Runs of pytest one after the other in one process, which need not start and import for each."""


MARKED = {
    "test_large",
    *(f"test_in_turn[{case}]" for case in range(40)),
    *(f"test_together[{case}]" for case in range(8)),
}


def test_the_same_files_get_the_same_tests(chosen, tmp_path):
    """Without options pytest runs what has no mark, whatever commits there are; each run says what it chose."""
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "--quiet"], cwd=tmp_path, check=True)
    for _ in range(2):
        found, said = chosen()
        assert found == {"test_usual"} and "tiers: tests not marked full\n" in said
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message=one"], cwd=tmp_path, check=True)
    every, said = chosen("--all")
    assert every == MARKED | {"test_usual"} and "tiers: every test" in said


def test_shares_take_turns_until_every_case_was_run(chosen):
    """A turn says its number and runs a part of the marked tests; twelve turns run all, and a group stays together."""
    turns, (_, *runs) = [], chosen(program=("-c", EACH_TURN))[1].split(" test session starts ")
    for turn, said in zip(TURNS, runs, strict=True):
        found = set(re.findall(r"::(\S+) PASSED", said))
        assert found < MARKED and f"tiers: tests marked full, turn {turn}\n" in said
        turns.append(found)
    assert set.union(*turns) == MARKED
    together = [sum("together" in case for case in turn) for turn in turns]
    assert set(together) == {0, 8} and any(all(together[start::4]) for start in range(4))


def test_processes_of_xdist_choose_alike(chosen):
    """Several processes run what one runs."""
    said = chosen("-p", "xdist", "--turn", "7", "--numprocesses", "2")[1]
    assert set(re.findall(r"PASSED test_it\.py::(\S+)", said)) == chosen("--turn", "7")[0]


@pytest.mark.parametrize("name", APART)
def test_what_is_shared_out_alone_is_there(root, name):
    """The addresses belong to tests with cases; each case is a unit of its own, and a file's other tests are one."""
    file, test = name.split("::")
    assert f"def {test.removesuffix('[')}(" in (root / file).read_text()
    split = Apart.__new__(Apart)._split_scope
    assert split(f"{name}a]") == f"{name}a]" and split(f"{file}::test_other[a]") == file


def test_a_files_tests_stay_together(chosen):
    """One process runs them all, though two are there."""
    said = chosen("-p", "xdist", "--all", "--numprocesses", "2", "--dist", "loadfile")[1]
    assert len(set(re.findall(r"\[(gw\d)\] .*PASSED", said))) == 1 and "50 passed" in said


def test_a_test_that_is_named_runs(chosen):
    """Its own address is enough; the whole file is not."""
    assert chosen("test_it.py::test_large")[0] == {"test_large"}
    assert "test_large" not in chosen("test_it.py")[0]


def test_when_the_budget_is_spent_the_files_are_named(chosen):
    """No marked test is begun, what is not marked runs, and the end says how many tests of which file wait."""
    found, said = chosen("--all", "--budget", "0.000001")
    assert found == {"test_usual"}
    assert re.search(r"not run: the budget of this run is spent =+\ntest_it\.py: 49\n", said)
    assert "49 skipped" in said


def test_a_commit_that_is_not_there_is_said(chosen):
    """One sentence, and nothing is run."""
    assert "--changed nowhere: git knows no such commit" in chosen("--changed", "nowhere")[1]


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("src/minigrad/widgets/stepper.py", {"tests/minigrad/widgets/", "tests/book/", "tests/e2e/", SEARCHES}),
        ("src/minigrad/scalar.py", {"tests/minigrad/test_scalar.py", "tests/course/", SEARCHES}),
        (
            "src/minigrad/tensor_functions.py",
            {
                "tests/minigrad/test_tensor_functions.py",
                "tests/minigrad/tensors/",
                "tests/peers/",
                "tests/course/",
                SEARCHES,
            },
        ),
        ("autograder/judging/judge.py", {"tests/autograder/judging/", "tests/autograder/proof/"}),
        ("course/wrong/mlp.SGD/uphill.py", {"tests/course/", "tests/autograder/proof/"}),
        ("course/lessons/03_backprop.md", {"tests/course/"}),
        ("examples/structures/course.toml", {"tests/examples/"}),
        ("tests/autograder/small_course.py", {"tests/autograder/"}),
        ("tests/minigrad/test_registry.py", {"tests/minigrad/test_registry.py"}),
        ("constraints.txt", {"tests/"}),
        ("README.md", set()),
    ],
)
def test_a_file_concerns_its_room(file, tests):
    """A changed file asks for the tests of the folder of the same name, and of what is built on it."""
    assert concerned([file]) == tests


def test_every_room_has_its_tests(root):
    """Each folder of the two packages is known to have tests somewhere."""
    rooms = [*(root / "src" / "minigrad").glob("*/"), *(root / "autograder").glob("*/")]
    homeless = [
        str(room.relative_to(root))
        for room in rooms
        if room.name not in {"__pycache__", "locale", "notebooks", "machine"}
        and not any((root / found).exists() for found in concerned([f"{room.relative_to(root)}/x.py"]))
    ]
    assert homeless == []


def test_nothing_lies_beside_the_folder_of_a_test(tmp_path):
    """What looks for lessons in the folders beside one's own finds none of another test's."""
    assert list(tmp_path.parent.iterdir()) == [tmp_path]


def marked(address, **settings):
    """A test of this address that is marked full."""
    mark, config = SimpleNamespace(kwargs=settings), SimpleNamespace(args=[])
    return SimpleNamespace(nodeid=address, get_closest_marker=lambda _: mark, config=config)


def test_what_takes_longest_of_all_comes_last_where_the_time_is_bounded():
    """Else the first tests of a file that changes concern would leave none of it to the others."""
    longest, usual = marked(f"{SEARCHES}a]"), marked("tests/test_docs.py::test_it")
    for until, is_last in ((0.0, False), (1.0, True)):
        choice = Choice(turn=0, rooms=("tests/autograder/proof/",), until=until)
        assert (choice.place(longest) > choice.place(usual)) == is_last


def test_where_the_time_is_bounded_each_file_comes_first_in_some_turn():
    """Else the first ones would take all the time of each run; what changes concern always comes before the rest."""
    files = [marked(f"tests/course/test_{name}.py::test_it") for name in "abc"]
    other, due = marked("tests/book/test_site.py::test_it"), marked("tests/book/test_due.py::test_it", share=1)
    first = set()
    for turn in range(20):
        choice = Choice(turn=turn, rooms=("tests/course/",), until=1.0)
        ordered = sorted([other, due, *files], key=choice.place)
        first.add(ordered[1].nodeid)
        assert ordered[0] is due and ordered[-1] is other
    assert first == {each.nodeid for each in files}


@pytest.mark.parametrize(("budget", "runs"), [("4", False), ("6", True)])
def test_a_test_that_takes_longer_than_what_is_left_is_not_begun(chosen, tmp_path, budget, runs):
    """Its mark says how many minutes it takes, and the end that it waits."""
    text = 'import pytest\n@pytest.mark.full("takes long", minutes=5)\ndef test_long(): pass\n'
    (tmp_path / "test_long.py").write_text(text)
    found, said = chosen("--all", "--budget", budget)
    assert ("test_long" in found) == runs and len(found) == 50 + runs
    assert ("test_long.py: 1" in said) != runs


@pytest.mark.parametrize(
    ("choice", "only"),
    [
        ({"rooms": (SEARCHES,)}, True),
        ({"rooms": ("tests/autograder/proof/", SEARCHES)}, False),
        ({"every": True}, False),
    ],
)
def test_a_search_out_of_turn_is_for_what_changed_alone(choice, only):
    """Where its own room changed, and in its turn, it looks at everything."""
    found = [Choice(turn=turn, **choice).only_for_changes(marked(f"{SEARCHES}a]")) for turn in range(12)]
    assert found.count(True) == (11 if only else 0)
    assert Choice(**choice).only_for_changes(marked(f"{SEARCHES}a]")) == only
