"""`autograder new exercise` lays out every file of an exercise, changes no line, and no skeleton passes for work."""

import pytest
from rich.text import Text
from small_course import SmallCourse
from typer.testing import CliRunner

from autograder.building.pieces import lay_out, pieces, unfilled
from autograder.building.skeletons import mark
from autograder.cli import app
from autograder.course import CourseError
from autograder.course.adding import add_exercise
from autograder.course.loading import load_course

ID = "numbers.triple"
MARK = mark(ID)


@pytest.fixture
def small(tmp_path):
    """A course with hints and visible checks, which counts mutants."""
    course = SmallCourse(tmp_path)
    (course.source / "checks").mkdir()
    (tmp_path / "course" / "hints").mkdir()
    (tmp_path / "mutants.json").write_text('{"exercises": {}}')
    return course


def contents(small):
    return {path: path.read_bytes() for path in sorted(small.root.rglob("*")) if path.is_file()}


def laid_out(small, **groups):
    """Add the exercise and its skeletons, and return the course and the pieces."""
    return add(small, ID, None, **(groups or {"values": 2.0}))


def add(small, exercise, lesson, **groups):
    """The same for any exercise."""
    course, entry = add_exercise(load_course(small.toml, tree=False), exercise, lesson, groups)
    return course, lay_out(course, course.exercise(exercise), small.root / "hidden", small.root, entry)


def run(small, *options, code):
    """Call the command; return its words on one line."""
    places = ["--course", small.toml.parent, "--hidden", small.root / "hidden", "--answers", small.root]
    command = [*map(str, ("new", "exercise", *options, *places))]
    result = CliRunner().invoke(app, command, env={"COLUMNS": "250"})
    assert result.exit_code == code, result.output
    return " ".join(Text.from_ansi(result.output).plain.split())


# --- the entry -----------------------------------------------------------------------------------------------


def test_the_entry_stands_behind_the_last_exercise_of_its_lesson(small):
    """Every line of course.toml stays, in its order; the entry follows the lesson's last exercise."""
    before = small.toml.read_text().replace('\n[[exercise]]\nid = "shapes', '\n# Shapes.\n\n[[exercise]]\nid = "shapes')
    small.toml.write_text(before)
    course, _ = laid_out(small, values=2.0, edges=0.5)
    entry = (
        f'\n[[exercise]]\nid = "{ID}"\nlesson = "00_numbers"\npoints = 2.5\ngroups = {{ values = 2, edges = 0.5 }}\n'
    )
    assert small.toml.read_text() == before.replace("\n\n# Shapes.", f"\n{entry}\n# Shapes.")
    assert list(course.exercises) == ["numbers.pair", "numbers.clamp", ID, "shapes.Square"]


def test_lines_end_as_before(small):
    """A file whose lines end with a carriage return keeps them, and the new lines have them too."""
    small.toml.write_bytes(small.toml.read_bytes().replace(b"\n", b"\r\n"))
    laid_out(small)
    text = small.toml.read_bytes()
    assert text.count(b"\r\n") == text.count(b"\n") == text.count(b"\r")


def test_the_last_exercise_of_the_file_gets_a_neighbour(small):
    """An exercise may be added behind the last one, above the tables that follow."""
    course, _ = add(small, "shapes.Circle", None, area=1.0)
    assert list(course.exercises)[-1] == "shapes.Circle"
    assert course.limits == {"cell_seconds": 5}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([ID], "a new exercise needs points; give --points, or --group NAME=POINTS"),
        ([ID, "--group", "values"], "--group values: write NAME=POINTS, such as values=2"),
        ([ID, "--group", "values=2", "--points", "3"], "the groups sum to 2 but --points is 3"),
        ([ID, "--points", "0", "--lesson", "07_none"], "its lesson '07_none' is in no [[assignment]]"),
        (["triple", "--points", "2"], "'triple' names no object of a module; write MODULE.NAME"),
        (["other.triple", "--points", "2"], "no exercise is in other yet; name the lesson by --lesson"),
        ([ID, "--points", "2", "--object", "numbers.half"], "'numbers.half' belongs to 'numbers.pair' already"),
        ([ID, "--group", "a b=2"], "--group a b=2: write NAME=POINTS, such as values=2"),
        (["numbers.pair", "--points", "4"], "course.toml lists numbers.pair with groups {'values': 2, 'special': 1}"),
        (["numbers.pair", "--lesson", "01_shapes"], "course.toml lists numbers.pair with lesson 00_numbers"),
        (["none.of.it", "--points", "2", "--lesson", "00_numbers"], "there is no folder"),
    ],
)
def test_a_contradiction_is_one_sentence_and_changes_nothing(small, options, said):
    """An id, lesson or group that does not fit the course is refused before a file is written."""
    before = contents(small)
    text = run(small, *options, code=2)
    assert said in text
    assert text.count("error:") == 1
    assert contents(small) == before


# --- the skeletons -------------------------------------------------------------------------------------------


def test_every_piece_is_laid_out_and_says_what_to_do(small):
    """Each file that a person writes gets a skeleton; what commands make is missing, with the command."""
    _, found = laid_out(small, values=2.0, edges=0.5)
    assert [(str(piece.path.relative_to(small.root)), piece.state) for piece in found] == [
        ("course/course.toml", "there"),
        ("src/minigrad/numbers.py", "to fill in"),
        ("course/lessons/00_numbers.md", "to fill in"),
        ("src/minigrad/checks/numbers.py", "to fill in"),
        ("course/hints/00_numbers.toml", "to fill in"),
        ("hidden/test_numbers.py", "to fill in"),
        ("hidden/test_numbers.py", "to fill in"),
        *((f"wrong/numbers.triple/fill-in-{number}.py", "to fill in") for number in (1, 2, 3)),
        *((f"variants/numbers.triple/fill-in-{number}.py", "to fill in") for number in (1, 2)),
        ("src/minigrad/course.json", "missing"),
        ("notebooks/00_numbers.ipynb", "missing"),
        ("src/minigrad/hints.json", "missing"),
        ("wrong/seen.json", "missing"),
        ("mutants.json", "missing"),
    ]
    assert all(piece.to_do and piece.command.startswith("autograder ") for piece in found[1:])


def test_a_second_run_changes_nothing_and_lists_the_same(small):
    """Files that are laid out stay, and are listed again."""
    said = run(small, ID, "--points", "2", code=1)
    before = contents(small)
    assert run(small, ID, code=1) == said
    assert contents(small) == before


def test_no_line_of_an_author_is_changed(small):
    """Each file that was there still holds its lines, in their order."""
    before = contents(small)
    laid_out(small)
    for path, content in before.items():
        lines = iter(path.read_bytes().split(b"\n"))
        assert all(line in lines for line in content.split(b"\n")), path


def test_a_wrong_answer_that_is_named_counts(small):
    """With two answers of the author's own, one skeleton is laid out beside them."""
    folder = small.root / "wrong" / ID
    folder.mkdir(parents=True)
    for name in ("doubles", "fill-in-1"):
        (folder / f"{name}.py").write_text('"""A mistake."""\n')
    laid_out(small)
    assert sorted(path.name for path in folder.iterdir()) == ["doubles.py", "fill-in-1.py", "fill-in-2.py"]


def test_a_class_has_its_answer_in_a_method(small):
    """A name with a capital letter is a class, and the answers' skeletons have its signatures."""
    add(small, "shapes.Circle", None, area=1.0)
    answer = (small.root / "variants" / "shapes.Circle" / "fill-in-1.py").read_text()
    assert "class Circle:\n\n    def __init__(self) -> None:\n        raise NotImplementedError()" in answer


def test_a_new_module_is_made(small):
    """A module that does not exist yet is laid out as well."""
    add(small, "angles.turn", "01_shapes", values=1.0)
    assert "def turn(" in (small.source / "angles.py").read_text()
    assert load_course(small.toml).exercise("angles.turn").lesson == "01_shapes"


def test_an_object_without_markers_is_missing(small):
    """A function that is there, with no answer marked, is listed and left alone."""
    small.numbers.write_text(small.numbers.read_text() + "\n\ndef triple(x):\n    return 3 * x\n")
    _, found = laid_out(small)
    assert found[1].state == "missing"
    assert found[1].to_do == "put '### BEGIN SOLUTION' and its partner around the answer of triple"


FILES = (
    "src/minigrad/numbers.py",
    "course/lessons/00_numbers.md",
    "src/minigrad/checks/numbers.py",
    "course/hints/00_numbers.toml",
    "hidden/test_numbers.py",
    "wrong/numbers.triple/fill-in-2.py",
    "variants/numbers.triple/fill-in-1.py",
)


def fill_in(small, but):
    """Take the marks out of every file but one, and give answers their names."""
    for piece in laid_out(small)[1]:
        if piece.path.is_file() and piece.path != small.root / but:
            text = piece.path.read_text().replace(MARK, "written:")
            piece.path.write_text(text)
            piece.path.rename(piece.path.with_stem(piece.path.stem.replace("fill-in", "named")))


@pytest.mark.parametrize("file", FILES)
def test_verify_refuses_each_skeleton(small, file):
    """One file that is not filled in is one sentence, which names it and the command that lists its part."""
    fill_in(small, file)
    course = load_course(small.toml)
    said = unfilled(course, course.exercise(ID), small.root / "hidden", small.root)
    part = f"write its part, as `autograder new exercise {ID}` lists it"
    assert said == [f"{file}: is still the skeleton of {ID}; {part}"]
    assert unfilled(course, course.exercise("numbers.pair"), small.root / "hidden", small.root) == []


@pytest.mark.parametrize("file", FILES[:5])
def test_the_build_refuses_each_skeleton(small, file):
    """A build stops at a skeleton in the library, the lesson, the checks, the hints or the hidden tests."""
    fill_in(small, file)
    before = contents(small)
    with pytest.raises(CourseError, match=f"^{file}: is still the skeleton of {ID}; write its part"):
        small.build(hidden=small.root / "hidden")
    assert contents(small) == before


def test_the_build_refuses_an_exercise_without_a_visible_check(small):
    """The cell below its answer would end in an error. Exercises that have a check are built."""
    with pytest.raises(CourseError, match=r"numbers\.py: checks/ has no visible check of numbers\.pair; write one, as"):
        small.build()
    for exercise in load_course(small.toml).released:
        with (small.source / "checks" / "all.py").open("a") as file:
            file.write(f'@visible("{exercise.id}", "")\ndef check(student): ...\n\n\n')
    assert small.build()


def test_an_answer_without_a_name_is_a_skeleton(small):
    """A wrong answer is named after its mistake: the skeleton's own name says none."""
    fill_in(small, "nothing")
    path = small.root / "wrong" / ID / "named-1.py"
    path.rename(path.with_stem("fill-in-1"))
    course = load_course(small.toml)
    assert len(unfilled(course, course.exercise(ID), small.root / "hidden", small.root)) == 1


@pytest.mark.full("the whole course is read, exercise by exercise", share=12)
def test_every_exercise_of_the_course_has_all_its_pieces(root):
    """The list of what is missing is empty for each exercise that the repository's course lists."""
    course = load_course(root / "course")
    found = [
        (each.id, piece)
        for each in course.exercises.values()
        for piece in pieces(course, each, course.hidden, course.directory)
    ]
    assert [(exercise, piece) for exercise, piece in found if piece.state != "there"] == []
