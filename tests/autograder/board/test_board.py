"""A class with a board: who chose a name and is right is ranked, and a cheat gains nothing."""

import copy
import dataclasses
import datetime as dt
import functools
import hashlib
import re
import shutil

import nbformat
import numpy as np
import pytest
from board_entries import (
    APART,
    ATTENTION,
    BANKS,
    CALLS_NUMPY,
    HARD_CODES,
    PLAN,
    PRODUCT,
    READS_THE_COUNTER,
    SCATTERED,
    SLOW,
    TRAINING,
    TRANSPOSE,
)
from invented_class import HOSTILE
from places import ROOT
from typer.testing import CliRunner

from autograder.board import Refused
from autograder.board.events import HandedIn, least_of, literal, peak_of
from autograder.board.page import board_page
from autograder.board.ranking import events_of, ranked
from autograder.building.masters import find_master
from autograder.building.notebooks import setup_texts
from autograder.building.slicing import slice_exercise, without_markers
from autograder.cli import app
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.grafting.graft import graft_notebook
from autograder.grafting.grafted import added_cell, label
from autograder.judging.judge import Judge
from autograder.reading import read_notebook
from autograder.results import Graded, GroupScore, Submission
from autograder.results.ledger import Entry, write_entry
from autograder.sandbox import SourceCell

SMALLER = {
    "SIDE = 64": "SIDE = 32",
    "QUERIES, WIDTH = 64, 16": "QUERIES, WIDTH = 32, 16",
    "BUDGET = 10_000_000_000": "BUDGET = 60_000_000",
}
"""Lines of the course's `board.py`, and what stands there in these tests, so that the events are small."""

BEST = {
    "Transpose": TRANSPOSE,
    "Product": PRODUCT,
    "Attention": ATTENTION,
    "A plan of memory": PLAN,
    "A poem on a budget": TRAINING,
}
WORSE = BEST | {
    "Transpose": BANKS,
    "Product": PRODUCT.replace("BLOCK_DIM = 32", "BLOCK_DIM = 16"),
    "A plan of memory": APART,
    "A poem on a budget": SLOW,
}


def new_place(folder):
    """A course with everything that minigrad's has, and folders of its own for a class."""
    (folder / "src").symlink_to(ROOT / "src")
    (folder / "course").mkdir()
    for name in ("course.toml", "lessons", "hidden", "hints", "wrong", "variants"):
        (folder / "course" / name).symlink_to(ROOT / "course" / name)
    text = (ROOT / "course" / "board.py").read_text()
    for old, new in SMALLER.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "course" / "board.py").write_text(text)
    return folder / "course"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return load_course(new_place(tmp_path_factory.mktemp("board")))


@pytest.fixture(scope="module")
def judge(course):
    with Judge(course) as made:
        yield made


@functools.cache
def reference(exercise):
    return without_markers(slice_exercise(load_course(ROOT / "course", tree=False), exercise).reference_cell)


def hand_in(course, student, name, cells, when, points=1.0):
    """Put a student's notebooks where grading leaves them: one for each lesson of the events.

    Args:
        course: The course.
        student: The id.
        name: The name for the board, or "".
        cells: What the student's own cell holds, by event.
        when: The time of handing in.
        points: The share of the points that each exercise has earned.
    """
    events = events_of(course)
    for lesson in dict.fromkeys(course.exercise(each.exercise).lesson for each in events):
        exercises = [each.exercise for each in events if course.exercise(each.exercise).lesson == lesson]
        notebook = nbformat.v4.new_notebook()
        for text in setup_texts(course.lessons[lesson].path):
            cell = nbformat.v4.new_code_cell(text)
            label(cell, "setup")
            notebook.cells.append(cell)
        for exercise in exercises:
            cell = nbformat.v4.new_code_cell(reference(exercise))
            label(cell, "solution", exercise, "answered")
            notebook.cells.append(cell)
        own = [cells.get(each.title, "") for each in events if each.exercise in exercises]
        said = f"# board: {name}\n" if name else ""
        notebook.cells.append(added_cell(said + "\n".join(own), 1))
        assignment = course.lessons[lesson].assignment
        folder = course.directory / "submitted" / student / assignment
        folder.mkdir(parents=True, exist_ok=True)
        data = nbformat.writes(notebook).encode()
        (folder / f"{lesson}.ipynb").write_bytes(data)
        (folder / "timestamp.txt").write_text(f"{when} UTC")
        worth = ((each, course.exercise(each).points) for each in exercises)
        graded = tuple(Graded(each, most, (GroupScore("all", most, points * most),)) for each, most in worth)
        digest = hashlib.sha256(data).hexdigest()
        entry = Entry(student, assignment, lesson, digest, "2027-01-01T00:00:00Z", Submission(lesson, graded))
        write_entry(course.directory, entry)


def ranks(course, judge, draw=7):
    return {each.title: ranked(course, each, draw, judge.ask) for each in events_of(course)}


def names(ranks):
    return {title: [line.name for line in each.lines] for title, each in ranks.items()}


@pytest.fixture(scope="module")
def classroom(course):
    """Four honest students: two who are equal, one who does worse, one with nothing but the answers."""
    hand_in(course, "s-bea", "Second owl", BEST, "2027-01-12 10:00:00")
    hand_in(course, "s-ada", "Turing's owl", BEST, "2027-01-10 10:00:00")
    hand_in(course, "s-cem", "A heron", WORSE, "2027-01-09 10:00:00")
    hand_in(course, "s-dan", "The answers", {}, "2027-01-11 10:00:00")
    return course


@pytest.fixture(scope="module")
def honest(classroom, judge):
    """The board without the cheat."""
    return ranks(classroom, judge)


def test_the_order_is_by_numbers_then_by_dates(honest):
    """Equal entries stand in the order of handing in; who has no function of the event's is not on its board."""
    order = ["Turing's owl", "Second owl", "A heron"]
    assert names(honest)["Attention"] == ["A heron", "Turing's owl", "Second owl"]  # all the same: the dates decide
    assert names(honest)["A poem on a budget"] == order
    assert names(honest)["Product"] == [*order, "The answers"]
    assert names(honest)["Transpose"] == ["Turing's owl", "The answers", "Second owl", "A heron"]
    plan = names(honest)["A plan of memory"]
    assert plan[-1] == "A heron" and plan.index("Turing's owl") < plan.index("Second owl")
    assert [each.why for each in honest["Attention"].left] == ["no cell has a function board_attention"]
    assert [each.why for each in honest["A poem on a budget"].left] == ["no cell sets board_training"]


def test_the_numbers(honest):
    """What each event counts of the best, the worse and the exercise's own answer."""
    counts = {title: {line.name: line.counted.order for line in each.lines} for title, each in honest.items()}
    assert counts["Transpose"]["Turing's owl"] == counts["Transpose"]["The answers"] == (256, 64)
    assert counts["Transpose"]["A heron"] == (256, 32 + 32 * 32)
    assert counts["Product"]["Turing's owl"][0] == 384 and counts["Product"]["A heron"][0] == 640
    assert counts["Product"]["The answers"][0] == 1152
    assert counts["A plan of memory"]["Turing's owl"] < counts["A plan of memory"]["A heron"]
    losses = counts["A poem on a budget"]
    assert losses["Turing's owl"] == losses["Second owl"] and losses["Turing's owl"] < losses["A heron"] < (4.2,)


CHEATS = {"s-counter": READS_THE_COUNTER, "s-answer": HARD_CODES, "s-numpy": CALLS_NUMPY}


@pytest.fixture(scope="module")
def with_cheats(classroom, judge, honest):
    """The same board after a fifth student has handed in, first of all, in each of three manners of cheating."""
    for student, cells in CHEATS.items():
        hand_in(classroom, student, f"First by {student}", cells, "2027-01-01 10:00:00")
    yield ranks(classroom, judge)
    for student in CHEATS:
        shutil.rmtree(classroom.directory / "submitted" / student)
        for folder in (classroom.directory / ".grades" / "submissions").glob(f"*/{student}"):
            shutil.rmtree(folder)


@pytest.mark.parametrize("title", BEST)
def test_a_cheat_gains_nothing(with_cheats, honest, title):
    """Who reads the counter, hard-codes an answer or calls NumPy is on no board, and moves nobody on any."""
    found = with_cheats[title]
    assert found.lines == honest[title].lines
    why = {each.student: each.why for each in found.left if each.student in CHEATS}
    assert why.keys() == CHEATS.keys() and not any("the grader itself failed" in said for said in why.values())


def test_why_a_cheat_is_not_counted(with_cheats):
    """What each of them reads as the reason: words that are not known, results that are wrong, plans that overlap."""
    why = {title: {left.student: left.why for left in each.left} for title, each in with_cheats.items()}
    wrong = "its result is wrong on the numbers of this board"
    assert [why[title]["s-answer"] for title in ("Transpose", "Product", "Attention")] == [wrong] * 3
    assert why["Transpose"]["s-counter"] == "line 4: `import` is not known on the board"
    assert why["Product"]["s-numpy"] == "line 11: `np` is not known on the board"
    assert why["Attention"]["s-numpy"] == "line 7: `best` is not known on the board"
    # It sets the sizes in its own process to 0; what counts are those that were drawn here.
    assert why["A plan of memory"]["s-counter"] == "two values that are in memory at the same time overlap"
    assert why["A poem on a budget"]["s-numpy"].endswith("as they stand, and of no code")


def test_inputs_are_others_on_each_board(course, judge):
    """Another number draws another input, by which a plan needs another memory; a kernel needs what it needed."""
    event = {each.title: each for each in events_of(course)}
    setup = (SourceCell(text, "setup", None, "") for text in setup_texts(course.lessons["11b_loops"].path))
    cells = (*setup, SourceCell(reference("loops.plan_memory"), "solution", "loops.plan_memory", "answer"))
    entry = HandedIn(cells, reference("cuda_ops._turn_practice"), ())
    plans = [event["A plan of memory"].count(entry, draw, judge.ask).order for draw in (1, 1, 2)]
    assert plans[0] == plans[1] != plans[2]
    assert len({event["Transpose"].count(entry, draw, judge.ask).order for draw in (1, 2, 3)}) == 1


def test_who_is_not_right_or_chose_no_name_is_not_on_the_board(classroom, judge):
    """Points that are missing, a notebook that has changed, no name, a name that is taken, another student's id."""
    event = events_of(classroom)[0]
    before = ranked(classroom, event, 7, judge.ask)
    hand_in(classroom, "s-eve", "Nearly", BEST, "2027-01-02 10:00:00", points=0.5)
    hand_in(classroom, "s-fay", "", BEST, "2027-01-02 10:00:00")
    hand_in(classroom, "s-gus", "turing's OWL", BEST, "2027-01-20 10:00:00")
    hand_in(classroom, "s-hal", "S-Ada", BEST, "2027-01-02 10:00:00")
    hand_in(classroom, "s-ida", "Changed", BEST, "2027-01-02 10:00:00")
    path = next((classroom.directory / "submitted" / "s-ida").rglob("08_gpu.ipynb"))
    path.write_text(path.read_text().replace("board_transpose", "board_transpose "))
    after = ranked(classroom, event, 7, judge.ask)
    assert after.lines == before.lines
    assert {each.student: each.why for each in after.left if each not in before.left} == {
        "s-eve": "cuda_ops._turn_practice has 4 of 8 points",
        "s-gus": "an entry that was handed in before has this name, or one that looks like it",
        "s-hal": "the name is the id of another student, or looks like it",
        "s-ida": "the notebook has changed since it was graded",
    }


def kernel(course, title, text, answer=""):
    event = next(each for each in events_of(course) if each.title == title)
    return event.count(HandedIn((), answer, (text,)), 7, None)


def test_a_kernel_that_looks_at_the_numbers_is_not_counted(course):
    """Two inputs are drawn; what is touched must not depend on them."""
    text = SCATTERED + "    if a[x] > 0.0:\n        y = a[8 * x]\n"
    with pytest.raises(Refused, match="depends on the numbers"):
        kernel(course, "Transpose", text)


def test_a_block_does_not_work_for_others(course):
    """A thread writes one element of the result: one block that computes all would touch less, and be slow."""
    text = """
TILE_DIM = 16


def board_transpose(out, a, size):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    if cuda.blockIdx.x == 0 and cuda.blockIdx.y == 0:
        for step in range(0, size, TILE_DIM):
            for other in range(0, size, TILE_DIM):
                out[(x + step) * size + y + other] = a[(y + other) * size + x + step]
"""
    with pytest.raises(Refused, match="a thread writes more than 1 elements"):
        kernel(course, "Transpose", text)


@pytest.mark.parametrize("size", ["0", "33", "-1", "True", "'a'", "2 * 4"])
def test_the_size_of_a_block_is_a_number_of_the_cell(course, size):
    """A block has at most 32 x 32 threads."""
    with pytest.raises(Refused, match="whole number"):
        kernel(course, "Transpose", f"TILE_DIM = {size}\n{TRANSPOSE}")


LIVES = [(64, 0, 2), (128, 1, 3), (64, 3, 4)]


def test_a_plan_is_measured_by_the_grader():
    """The end of the last value, where none overlaps; no plan needs less than what is there at one step."""
    assert peak_of(LIVES, [0, 64, 0]) == least_of(LIVES) == 192
    assert peak_of(LIVES, [0, 64, 256]) == 320


@pytest.mark.parametrize(
    "places", [[0, 0, 0], [0, 63, 0], [0, 64], [0, 64, -64], [0, 64, True], [0, 64, 0.0], None, [0, 64, 2**60], "abc"]
)
def test_what_is_no_plan(places):
    """Values that overlap, too few of them, and places that are no bytes."""
    with pytest.raises(Refused):
        peak_of(LIVES, places)


@pytest.mark.parametrize(
    "change",
    [
        ('"width": 32', '"width": 1024'), ('"width": 32', '"width": 32.0'), ('"width": 32', '"width": True'),
        ('"heads": 2', '"heads": 3'), ('"length": 16', '"length": 17'), ("(0.1, 0.02)", "(0.1, 2.0)"),
        ("(0.1, 0.02)", "(0.1,)"), ("(0.1, 0.02)", "(-0.1, 0.02)"), ("(1.0, 0.001)", "(0.05, 0.001)"),
        ("(0.1, 0.02)", '(0.1, "0.02")'), ('"size": 16', '"size": 16, "seed": 1'), ('"size": 16,', ""),
        ('"blocks": 1', '"blocks": __import__("os").getpid()'), ("(0.1, 0.02)", "(0.1, float('nan'))"),
    ],
    ids=lambda change: change[1],
)  # fmt: skip
def test_settings_that_nothing_is_trained_with(course, change):
    """Settings are plain data within their bounds, and no code."""
    text = TRAINING.replace(*change)
    assert text != TRAINING
    event = events_of(course)[-1]
    with pytest.raises(Refused):
        event.count(HandedIn((), "", (text,)), 7, None)


def test_the_last_cell_wins():
    """A literal is found where it stands at the top level, and in no function."""
    assert literal(["a = 1", "def f():\n    a = 2", "a = [3]", "a: int"], "a") == [3]


def test_multiplications_are_those_of_the_products(course, monkeypatch):
    """What a step is charged with is three times what the products of one forward pass multiply."""
    import minigrad
    from minigrad import language, tensor_functions

    training = events_of(course)[-1].train
    charged = training.__globals__["multiplications"]
    settings = {"width": 32, "heads": 4, "blocks": 2, "length": 16, "size": 5}
    counted = []

    def counting(function, inner):
        forward = function.forward

        def wrapper(ctx, *args, **kwargs):
            out = forward(ctx, *args, **kwargs)
            counted.append(int(np.prod(out.shape)) * inner(*args))
            return out

        monkeypatch.setattr(function, "forward", staticmethod(wrapper))

    counting(tensor_functions.MatMul, lambda a, b: a.shape[-1])
    counting(tensor_functions.Linear, lambda x, weight, *rest: weight.shape[1])
    p = language.initial(np.random.default_rng(0), 61, window=16, width=32, blocks=2)
    language.gpt(p, minigrad.tensor(np.zeros((5, 16), np.int64)), 4)
    assert 3 * sum(counted) == charged(settings, 61)


def test_a_training_is_the_same_in_each_run(course):
    """The same settings and the same number give the same loss, whoever asks."""
    event = events_of(course)[-1]
    found = [event.count(HandedIn((), "", (TRAINING,)), 7, None) for _ in range(2)]
    assert found[0] == found[1] and found[0].shown[1] == str(int(found[0].shown[1]))


def test_the_page_holds_names_that_were_chosen_and_no_ids(honest):
    """No student's id, no script, nothing from elsewhere; a hostile name stays text."""
    line = dataclasses.replace(honest["Transpose"].lines[0], name=HOSTILE, when=None)
    ranked_so = [dataclasses.replace(honest["Transpose"], lines=[line]), *list(honest.values())[1:]]
    page = board_page("minigrad", ranked_so, 7, "Made today.")
    assert "s-ada" not in page and "<script" not in page and not re.search(r"url\(|@import|https?:", page)
    assert "&lt;script&gt;" in page and "not known" in page and "1. Turing&#x27;s owl" in page
    assert "1,056" in page and "drawn from the number 7. Made today." in page


def test_the_command_writes_the_page(tmp_path_factory):
    """It says how many there are, who is first, and of the others why they are not counted."""
    course = load_course(new_place(tmp_path_factory.mktemp("command")))
    hand_in(course, "s-ada", "Turing's owl", BEST, "2027-01-10 10:00:00")
    hand_in(course, "s-eve", "Nearly", BEST, "2027-01-02 10:00:00", points=0.5)
    result = CliRunner().invoke(app, ["board", "--draw", "7", "--course", str(course.directory)])
    assert result.exit_code == 0, result.output
    assert "Transpose: 1 entry, Turing's owl first" in result.output
    assert "s-eve (Nearly): cuda_ops._turn_practice has 4 of 8 points" in result.output
    page = (course.directory / "reports" / "board.html").read_text()
    assert page.count("1. Turing") == len(BEST) and "Nearly" not in page


def test_a_course_without_events(tmp_path, course):
    """A course that lists none has no board, and a mistake in the list is said in one sentence."""
    other = dataclasses.replace(course, path=tmp_path / "course.toml")
    with pytest.raises(CourseError, match="there is no such file; it lists what the board counts"):
        events_of(other)
    (tmp_path / "board.py").write_text("EVENTS = 1 / 0")
    with pytest.raises(CourseError, match="ZeroDivisionError"):
        events_of(other)


def test_a_name_is_short_and_shown_as_it_is():
    """What would steer a terminal or a page is left out of a name, and a long one is cut."""
    from autograder.board.entries import chosen_name

    assert chosen_name(["x = 1", "#board:  a\u202eb\x1b[31m  c "]) == "a b [31m c"
    assert chosen_name(["# board: " + "n" * 99]) == "n" * 30
    assert chosen_name(["# board:", "# bored: x", "x = 1\n# board: y"]) == ""


ALIKE = ["turing's OWL", "Turing's  owl", "\uff34\uff55ring's owl", "Turing's o\ufe0fwl", "Turing\u2019s owl"]
ALIKE += ["Turing's \u043ewl", "\u03a4uring's owl", "Turing\u3164's owl"]
OTHERS = ["Turing's owls", "T\u00fcring's owl", "\u56fe\u7075\u7684\u732b\u5934\u9e70", "\u0421\u043e\u0432\u0430"]


def test_names_that_look_alike_are_one():
    """Small and large letters, wide ones, invisible ones and those of other alphabets make no other name."""
    from autograder.board.entries import Candidate, _with_names_of_their_own

    def of(names, students=frozenset()):
        found = [Candidate(f"s-{i}", name, None, HandedIn((), "", ())) for i, name in enumerate(names)]
        return [each.refusal for each in _with_names_of_their_own(found, set(students))]

    taken = "an entry that was handed in before has this name, or one that looks like it"
    assert of(["Turing's owl", *ALIKE]) == ["", *[taken] * len(ALIKE)]
    assert of(["Turing's owl", *OTHERS]) == [""] * (1 + len(OTHERS))
    assert of(["\u0455-ada"], {"s-0", "s-ada"}) == ["the name is the id of another student, or looks like it"]
    assert of(["\u3164", "\u2800 \ufe0f"]) == ["nobody can see the name"] * 2


def test_a_name_comes_through_collecting():
    """A cell with a name, put anywhere into the notebook that was handed out, is found after grafting."""
    from autograder.board.entries import chosen_name
    from autograder.judging.student_cells import source_cells

    master = find_master(load_course(ROOT / "course", tree=False), "02_chain_rule")
    for place in (0, 5, len(master.cells)):
        handed = copy.deepcopy(master)
        handed.cells.insert(place, nbformat.v4.new_code_cell("# board: Turing's owl"))
        grafted = graft_notebook(read_notebook(nbformat.writes(handed).encode()), master)
        assert chosen_name([each.source for each in source_cells(grafted.notebook) if each.kind == "added"])


def test_dates_decide_where_ids_would_not(course):
    """Where no time of handing in is known, an entry stands behind those of which one is."""
    from autograder.board.entries import Candidate

    known = Candidate("z", "Z", dt.datetime(2027, 1, 1), HandedIn((), "", ()))
    unknown = Candidate("a", "A", None, HandedIn((), "", ()))
    assert sorted([unknown, known], key=lambda each: each.turn) == [known, unknown]
