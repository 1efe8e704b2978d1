"""`course.toml` is read whole, or refused with one sentence that names the place and the remedy."""

import datetime as dt
from pathlib import Path

import pytest
from small_course import SmallCourse

from autograder.course import CourseError
from autograder.course.loading import load_course


@pytest.fixture
def small(tmp_path):
    """A course to bend out of shape."""
    return SmallCourse(tmp_path)


def refusal(small):
    """Return the sentence with which the course is refused."""
    with pytest.raises(CourseError) as caught:
        small.load()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.startswith("course.toml")
    return sentence


def test_everything_is_read(small):
    """Every key of the file reaches its attribute."""
    course = small.load()
    assert (course.name, course.version, course.seed) == ("small", "1.0", 7)
    assert course.limits == {"cell_seconds": 5}
    week0 = course.assignments["week0"]
    assert (week0.title, week0.lessons) == ("Numbers", ("00_numbers",))
    assert week0.due == dt.datetime(2027, 2, 1, 23, 59, tzinfo=dt.UTC)
    assert week0.answers_open == dt.date(2027, 2, 15)
    assert course.lessons["00_numbers"].path == small.lesson
    pair = course.exercise("numbers.pair")
    assert pair.objects == ("numbers.double", "numbers.half")
    assert pair.gives_away == ("fast", "other.twin", "other.Helper")
    assert (pair.points, pair.groups) == (3, {"values": 2, "special": 1})


def test_an_exercise_is_one_object_of_its_name_unless_it_lists_others(small):
    """`objects` is the id by default, and nothing gives an exercise away."""
    square = small.load().exercise("shapes.Square")
    assert square.objects == ("shapes.Square",)
    assert square.gives_away == ()


def test_the_grade_ids_are_legal_for_nbgrader(small):
    """Every character but letters, digits, _ and - becomes a -."""
    square = small.load().exercise("shapes.Square")
    assert (square.solution_id, square.graded_id) == ("shapes-Square", "shapes-Square-check")


def test_exercises_are_found_by_lesson_and_by_assignment(small):
    """Both keep the file's order."""
    course = small.load()
    assert [e.id for e in course.of_lesson("00_numbers")] == ["numbers.pair", "numbers.clamp"]
    assert [e.id for e in course.of_assignment("week1")] == ["shapes.Square"]
    assert course.assignment_of(course.exercise("numbers.clamp")).name == "week0"


def test_lessons_have_an_order_of_their_own(small):
    """It is that of the assignments unless the file says another; drafts are left out of it."""
    assert list(small.load().order) == ["00_numbers", "01_shapes"]
    small.change(small.toml, "seed = 7", 'seed = 7\norder = ["01_shapes", "00_numbers"]')
    course = small.load()
    assert list(course.order) == ["01_shapes", "00_numbers"]
    assert list(course.lessons) == ["00_numbers", "01_shapes"]
    small.change(small.toml, 'lessons = ["01_shapes"]', 'lessons = ["01_shapes"]\ndraft = true')
    small.lesson.with_name("01_shapes.md").unlink()
    assert list(small.load().order) == ["00_numbers"]


def test_a_directory_stands_for_the_course_in_it(small):
    """The directory of course.toml may be given instead of the file."""
    assert load_course(small.toml.parent).path == small.toml


def test_a_missing_file_is_refused(tmp_path):
    """A path without a course.toml is refused by its name, as an error of this project."""
    with pytest.raises(CourseError, match=r"course\.toml: cannot be read"):
        load_course(tmp_path / "course.toml")
    with pytest.raises(CourseError, match=r"has no course\.toml"):
        load_course(tmp_path)


def test_an_exchange_lies_where_no_answer_is(small):
    """It is outside of the course's folder, and optional."""
    text = small.toml.read_text()
    assert small.load().exchange is None
    small.toml.write_text(text.replace("seed = 7", 'seed = 7\nexchange = "/srv/nbgrader/exchange"'))
    assert small.load().exchange == Path("/srv/nbgrader/exchange")
    inside = small.toml.parent / "exchange"
    small.toml.write_text(text.replace("seed = 7", f'seed = 7\nexchange = "{inside}"'))
    with pytest.raises(CourseError, match="beside the answers; choose a folder outside"):
        small.load()


def test_an_unknown_exercise_is_refused(small):
    """Asking for an exercise that is not listed names it."""
    with pytest.raises(CourseError, match=r"no exercise 'numbers\.tripel'"):
        small.load().exercise("numbers.tripel")


CHANGES = [
    ("seed = 7", "seed = = 7", "is not TOML"),
    ("seed = 7", "", "[course]: the key 'seed' is missing"),
    ("seed = 7", "seed = true", "'seed' is a true or false; write a whole number"),
    ("seed = 7", "seed = 7\ncolour = 1", "[course]: the key 'colour' is unknown"),
    ('version = "1.0"', 'version = " "', "'version' is empty"),
    ("seed = 7", 'seed = 7\nexchange = "exchange"', "'exchange' is 'exchange'; write a whole path"),
    ("seed = 7", 'seed = 7\norder = ["00_numbers"]', "'order' lacks '01_shapes'; add it"),
    ("seed = 7", 'seed = 7\norder = ["00_numbers", "01_shapes", "02_lost"]', "'order' names '02_lost', which no"),
    ("[limits]", "[limit]", "the key 'limit' is unknown"),
    ("cell_seconds = 5", "cell_second = 5", "[limits]: unknown limit 'cell_second'"),
    ("cell_seconds = 5", "memory_mb = 1.5", "[limits]: limit memory_mb is 1.5; it must be a whole number"),
    ("cell_seconds = 5", "cell_seconds = -5", "[limits]: 'cell_seconds' is -5; write a number above 0"),
    ('name = "week0"', 'name = "week 0"', "'name' is 'week 0'; write letters, digits"),
    ('name = "week1"', 'name = "week0"', "two assignments have that name"),
    ('title = "Shapes"', "titel = 1", "[[assignment]] week1: the key 'title' is missing"),
    ('title = "Shapes"', 'title = "Shapes"\nx = 1', "[[assignment]] week1: the key 'x' is unknown"),
    ('["01_shapes"]', "[]", "week1: 'lessons' is empty"),
    ('["01_shapes"]', '["shapes"]', "'lessons' holds 'shapes'; write two digits"),
    ('["01_shapes"]', '["01_shapes", "01_shapes"]', "'lessons' names '01_shapes' twice"),
    ('["01_shapes"]', '["01_shapes", "00_numbers"]', "'00_numbers' belongs to 'week0' already"),
    ("23:59:00Z", "23:59:00", "'due' is 2027-02-01T23:59:00 of no time zone"),
    ("due = 2027-02-01T23:59:00Z", "due = 2027-02-01", "'due' is a date"),
    ("answers_open = 2027-02-15", "answers_open = 2027-02-15T00:00:00Z", "'answers_open' has a time"),
    ("answers_open = 2027-02-15", "answers_open = 2027-02-01", "not after 'due'"),
    ("answers_open = 2027-02-15", 'answers_open = "soon"', "'answers_open' is a string; write a date"),
    ('id = "numbers.clamp"', 'id = "clamp"', "[[exercise]] clamp: 'id' is 'clamp'; write a dotted name"),
    ('id = "numbers.clamp"', 'id = "numbers.pair"', "two exercises have that id"),
    ('id = "numbers.clamp"', 'id = "numbers.none"', "src/minigrad has no 'numbers.none'"),
    ('id = "numbers.clamp"', 'id = "nothing.none"', "src/minigrad has no 'nothing.none'"),
    ('id = "numbers.clamp"', 'id = "numbers.AFTER"', "src/minigrad has no 'numbers.AFTER'"),
    ('"numbers.half"]', '"numbers.clamp"]', "'numbers.clamp' belongs to 'numbers.pair' already"),
    ('"numbers.half"]', '"numbers.double"]', "'objects' names 'numbers.double' twice"),
    ('["numbers.double", "numbers.half"]', "[]", "numbers.pair: 'objects' is empty"),
    ('["numbers.double", "numbers.half"]', '"numbers.double"', "'objects' is a string; write a list"),
    ('"other.twin", ', '"other.nobody", ', "src/minigrad has no 'other.nobody'"),
    ('"fast", ', '"slow", ', "src/minigrad has no 'slow'"),
    ('lesson = "01_shapes"', 'lesson = "09_lost"', "its lesson '09_lost' is in no [[assignment]]"),
    ("points = 2\n", "points = 3\n", "'groups' sum to 2 but 'points' is 3"),
    ("points = 2\n", "points = -1\n", "'points' is -1; write a number above 0, or 0"),
    ("points = 2\n", "points = inf\n", "'points' is inf; write a number above 0, or 0"),
    ("points = 2\n", 'points = "two"\n', "'points' is a string; write a whole number or a number"),
    ('"fast", ', '"numbers", ', "'gives_away' names 'numbers', which holds 'numbers.double' itself"),
    ('"fast", ', '"numbers.half", ', "'gives_away' names 'numbers.half', which holds 'numbers.half' itself"),
    ('title = "Numbers"\n', 'title = "Numbers"\nhides = ["slow"]\n', "[[assignment]] week0: "),
    (
        'title = "Shapes"\n',
        'title = "Shapes"\nhides = ["shapes"]\n',
        "'hides' names 'shapes', which holds 'shapes.Square'",
    ),
    (
        'title = "Shapes"\n',
        'title = "Shapes"\nhides = ["numbers"]\n',
        "[[assignment]] week1: 'hides' names 'numbers', which holds 'numbers.double' of the exercise numbers.pair",
    ),
    ("points = 2.5", 'points = 2.5\nuses = ["nunba"]', "shapes.Square: 'uses' names 'nunba', which is not installed"),
    ("edge = 0.5", "edge = -0.5", "[groups]: 'edge' is -0.5"),
    ("points = 2.5", "points = 2.5\nhidden = 1", "shapes.Square: the key 'hidden' is unknown"),
]


DRAFT = """
[[assignment]]
name = "week2"
title = "Later"
lessons = ["02_later", "03_latest"]
draft = true

[lesson.02_later]
setup = "import math"

[[exercise]]
id = "other.twin"
lesson = "02_later"
points = 1
groups = { values = 1 }
uses = ["numba"]
limits = { test_seconds = 20 }

[[exercise]]
"""


@pytest.fixture
def drafted(small):
    """The same course with an assignment that is still being written."""
    text = small.toml.read_text()
    small.toml.write_text(text.replace("[[exercise]]\n", DRAFT.lstrip(), 1))
    return small


def test_a_draft_stands_apart(drafted):
    """Its exercises are the course's, its assignment and lessons are not among those that students get."""
    course = drafted.load()
    assert list(course.assignments) == ["week0", "week1"] and list(course.lessons) == ["00_numbers", "01_shapes"]
    assert list(course.drafts) == ["week2"] and list(course.draft_lessons) == ["02_later", "03_latest"]
    twin = course.exercise("other.twin")
    assert (twin.uses, twin.limits) == (("numba",), {"test_seconds": 20})
    assert course.is_draft(twin) and twin not in course.released and len(course.released) == 3
    assert course.assignment_of(twin).name == "week2" and course.of_assignment("week2") == [twin]
    assert course.lesson_of(twin).setup == "import math"
    assert course.lesson_of(course.exercise("shapes.Square")).setup == ""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("draft = true", "draft = 1", "week2: 'draft' is a whole number; write a true or false"),
        ("draft = true", "draft = true\ndue = 2027-03-01T23:59:00Z", "week2: is a draft, which nobody gets"),
        ("draft = true", "draft = false", "[lesson]: [02_later]: 'setup' is for a draft without a file"),
        ("[lesson.02_later]", "[lesson.00_numbers]", "move it to a setup cell of lessons/00_numbers.md"),
        ("[lesson.02_later]", "[lesson.09_lost]", "[09_lost]: no [[assignment]] has that lesson"),
        ('setup = "import math"', 'setup = ""', "'setup' is empty"),
        ('setup = "import math"', 'setup = "import"', "[02_later]: 'setup' is not Python"),
        ('setup = "import math"', 'setup = "import math"\nx = 1', "the key 'x' is unknown"),
        ('uses = ["numba"]', 'uses = ["num ba"]', "'uses' holds 'num ba'; write a module"),
        ("test_seconds = 20", "test_second = 20", "other.twin: [limits]: unknown limit 'test_second'"),
    ],
)
def test_a_draft_that_contradicts_itself_is_refused(drafted, old, new, words):
    """What a draft may say is as strict as the rest."""
    drafted.change(drafted.toml, old, new)
    assert words in refusal(drafted)


@pytest.mark.parametrize("path", ["notebooks/02_later.ipynb", "course/source/week2/02_later.ipynb"])
def test_a_draft_that_is_out_already_is_refused(drafted, path):
    """An assignment of which students have a notebook does not become a draft in silence."""
    file = drafted.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}")
    assert f"week2: is a draft, but {file} was built of it" in refusal(drafted)


def test_a_lesson_that_is_written_has_its_setup_itself(drafted):
    """When the file of a draft's lesson exists, its setup cells say what answers need."""
    (drafted.lesson.parent / "02_later.md").write_text("# Later\n")
    assert "move it to a setup cell of lessons/02_later.md" in refusal(drafted)


@pytest.mark.parametrize(("old", "new", "words"), CHANGES, ids=[change[2] for change in CHANGES])
def test_an_inconsistency_is_refused(small, old, new, words):
    """Each mistake is one sentence that names the file, the key and what to do."""
    small.change(small.toml, old, new)
    assert words in refusal(small)


def test_two_objects_of_one_name_in_a_lesson_are_refused(small):
    """A check finds objects by their last name in the notebook, so a lesson cannot hold two of one name."""
    small.change(small.toml, 'id = "numbers.clamp"', 'id = "other.half"')
    other = small.source / "other.py"
    other.write_text(other.read_text() + "\n\ndef half(x):\n    return x\n")
    assert "would have one name in lesson '00_numbers'" in refusal(small)


def test_a_list_of_values_where_tables_belong_is_refused(small):
    """`exercise = [1]` is answered by the way to write an exercise."""
    text = small.toml.read_text()
    small.toml.write_text("exercise = [1]\n" + text[: text.index("[[exercise]]")])
    assert "write one [[exercise]] for each" in refusal(small)


def test_the_tree_can_be_left_unread(small):
    """With tree=False a course is loaded although the library's sources are elsewhere."""
    small.numbers.unlink()
    assert "numbers.pair" in load_course(small.toml, tree=False).exercises


def test_a_family_gives_each_others_answers_away(small):
    """Exercises with one word under `family` are cut together; a word that stands once is refused."""
    small.change(small.toml, 'id = "numbers.pair"', 'id = "numbers.pair"\nfamily = "numbers"')
    with pytest.raises(CourseError, match=r"'numbers\.pair' is the only exercise of the family 'numbers'; correct"):
        small.load()
    small.change(small.toml, 'id = "numbers.clamp"', 'id = "numbers.clamp"\nfamily = "numbers"')
    course = small.load()
    pair, clamp = course.exercise("numbers.pair"), course.exercise("numbers.clamp")
    assert clamp.gives_away == pair.objects
    assert pair.gives_away == ("fast", "other.twin", "other.Helper", *clamp.objects)


def test_objects_may_live_in_packages(small):
    """A dotted name of three parts is an object of a package's module."""
    package = small.source / "kernels"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "loops.py").write_text("def add(x):\n    return x\n")
    small.change(small.toml, '"other.twin", ', '"kernels.loops.add", "kernels", ')
    assert "kernels.loops.add" in small.load().exercise("numbers.pair").gives_away


HEADER = 'minutes = 20\ndifficulty = 3\nrank = "core"\npoints = {}\n'
PATH = """
[path.short]
title = "A short way"
rank = "core"
part = [{ lesson = "01_shapes", week = 1, sections = ["Edges"] }]

[limits]
"""


@pytest.fixture
def told(small):
    """A course that says how long its exercises take, and has a path of one lesson."""
    for points in (3, 2, 2.5):
        small.change(small.toml, f"points = {points}\n", HEADER.format(points))
    small.change(small.toml, "\n[limits]\n", PATH)
    return small


def test_headers_and_paths_are_read(told):
    """An exercise says how long it takes, how hard it is and its rank; a path asks for those of a rank."""
    told.change(told.toml, 'rank = "core"\npoints = 2\n', 'rank = "stretch"\npoints = 2\n')
    course = told.load()
    clamp = course.exercise("numbers.clamp")
    assert (clamp.minutes, clamp.difficulty, clamp.rank) == (20, 3, "stretch")
    (part,) = course.paths["short"].parts
    assert (part.lesson, part.exercises, part.sections, part.week) == ("01_shapes", ("shapes.Square",), ("Edges",), 1)
    told.change(told.toml, '"01_shapes", week', '"00_numbers", week')
    assert told.load().paths["short"].parts[0].exercises == ("numbers.pair",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("minutes = 20\n", "", "[[exercise]] numbers.pair: the key 'minutes' is missing, which stands beside"),
        ("minutes = 20\n", "minutes = 0\n", "'minutes' is 0; write a number above 0"),
        ("minutes = 20\n", "minutes = 2.5\n", "'minutes' is a number; write a whole number"),
        ("difficulty = 3\n", "difficulty = 6\n", "'difficulty' is 6; write a number from 1 to 5"),
        ('rank = "core"\npoints = 3', 'rank = "easy"\npoints = 3', "'rank' is 'easy'; write core, more or stretch"),
        (HEADER.format(2), "points = 2\n", "[[exercise]] numbers.clamp: 'minutes' is missing, and other exercises of"),
        ("[path.short]", "[path.all]", "[path]: [all]: is no name for a path"),
        ('"01_shapes", week', '"02_lost", week', "[short]: [[part]] 1: there is no lesson '02_lost'"),
        ("week = 1,", 'exercises = ["numbers.clamp"],', "'exercises' names 'numbers.clamp', which the path cannot ask"),
        ('rank = "core"\npart', 'rank = "stretch"\npart', "asks for no exercise of '01_shapes'"),
        ('["Edges"] }', '["Edges"] }, { lesson = "01_shapes" }', "the lesson '01_shapes' has a part already"),
        ('["Edges"] }', '["Edges"] }, { lesson = "00_numbers" }', "'week' is 0, after week 1; put the parts in order"),
        ('title = "A short', 'colour = 1\ntitle = "A short', "[short]: the key 'colour' is unknown"),
    ],
)
def test_a_header_or_a_path_that_contradicts_the_course_is_refused(told, old, new, words):
    """Each mistake is one sentence that names the place and what to do."""
    text = told.toml.read_text()
    assert old in text
    told.toml.write_text(text.replace(old, new, 1))
    assert words in refusal(told)
