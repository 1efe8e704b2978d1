"""A build makes the same legal notebooks every time, or refuses with one sentence and writes nothing."""

import itertools
import json
import os
import re
import shutil
from dataclasses import replace

import nbformat
import pytest
from class_runs import generate_assignment
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3
from small_course import SmallCourse

from autograder.building import build as building
from autograder.building.editions import edition_files
from autograder.building.notebooks import is_generated
from autograder.building.slicing import slice_exercise
from autograder.common import files
from autograder.course import CourseError, Section
from autograder.course.loading import load_course
from autograder.results import Graded, GroupScore


@pytest.fixture
def small(tmp_path):
    """A course to bend out of shape."""
    return SmallCourse(tmp_path)


@pytest.fixture
def built(small):
    """The same course, built once."""
    small.build()
    return small


@pytest.fixture(autouse=True)
def _same_path(monkeypatch):
    """The course's nbgrader configuration extends PATH; give it back after each test."""
    monkeypatch.setenv("PATH", os.environ["PATH"])


def read(path):
    """Return a notebook as it is in its file."""
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def source_of(small):
    """Return nbgrader's source notebook of the first lesson."""
    return read(small.root / "course/source/week0/00_numbers.ipynb")


def student_of(small):
    """Return the student notebook of the first lesson."""
    return read(small.root / "notebooks/00_numbers.ipynb")


def contents(root):
    """Return every file below a directory, or the file itself; what an editor or hypothesis leaves does not count."""
    paths = [path for path in [root, *sorted(root.rglob("*"))] if path.is_file()]
    left = {".ipynb_checkpoints", ".hypothesis"}
    return {path: path.read_bytes() for path in paths if left.isdisjoint(path.parts)}


def refusal(small, **options):
    """Return the sentence with which the build is refused; nothing may have been written."""
    before = contents(small.root)
    with pytest.raises(CourseError) as caught:
        small.build(**options)
    assert contents(small.root) == before
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def test_a_build_writes_source_notebooks_masters_and_the_library_file(small):
    """Each lesson gives nbgrader's source, the student notebook and a master; the library learns the course."""
    report = small.build()
    stamp = student_of(small).metadata.minigrad.stamp
    second = read(small.root / "notebooks/01_shapes.ipynb").metadata.minigrad.stamp
    names = {str(path.relative_to(small.root)) for path in report.written}
    assert names == {
        "course/source/week0/00_numbers.ipynb",
        "course/source/week1/01_shapes.ipynb",
        "notebooks/00_numbers.ipynb",
        "notebooks/01_shapes.ipynb",
        f"course/masters/{stamp}/00_numbers.ipynb",
        f"course/masters/{second}/01_shapes.ipynb",
        "src/minigrad/course.json",
    }
    assert report.unchanged == []
    assert report.totals == {"00_numbers": 5, "01_shapes": 2.5}


def test_the_master_is_the_student_notebook(built):
    """What grading grafts onto holds no answer that a missing cell could fall back to."""
    master = built.root / "course/masters" / student_of(built).metadata.minigrad.stamp
    assert (master / "00_numbers.ipynb").read_bytes() == (built.root / "notebooks/00_numbers.ipynb").read_bytes()


def test_two_builds_are_byte_identical(built, tmp_path_factory):
    """A second build changes no file, and a build elsewhere gives the same bytes."""
    before = contents(built.root)
    report = built.build()
    assert report.written == []
    assert contents(built.root) == before
    elsewhere = SmallCourse(tmp_path_factory.mktemp("elsewhere"))
    elsewhere.build()
    there = {path.relative_to(elsewhere.root): data for path, data in contents(elsewhere.root).items()}
    assert there == {path.relative_to(built.root): data for path, data in before.items()}


def test_the_notebooks_are_valid(built):
    """nbformat and nbgrader accept every notebook, and cell ids are unique."""
    for path in built.root.rglob("*.ipynb"):
        notebook = read(path)
        nbformat.validate(notebook)
        MetadataValidatorV3().validate_nb(notebook)
        ids = [cell.id for cell in notebook.cells]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell_id) for cell_id in ids)


def test_cell_ids_follow_the_grade_id_or_the_content(built):
    """An id does not change when a cell is put in front of it."""
    before = {cell.source: cell.id for cell in source_of(built).cells}
    built.change(
        built.lesson, "```{code-cell} ipython3\n:tags: [setup]", "New prose.\n\n```{code-cell} ipython3\n:tags: [setup]"
    )
    built.build()
    after = {cell.source: cell.id for cell in source_of(built).cells}
    changed = {text for text in before if after.get(text) != before[text]}
    assert changed == {"# Numbers to begin with\n\nWhy numbers."}


def test_a_placement_becomes_a_solution_cell_and_a_locked_check(built):
    """Metadata is nbgrader's, schema 3, with the points of course.toml on the check alone."""
    cells = source_of(built).cells
    index = next(i for i, cell in enumerate(cells) if cell.source.startswith("# exercise: numbers.pair"))
    solution, check = cells[index : index + 2]
    assert solution.source == slice_exercise(built.load(), "numbers.pair").reference_cell
    assert solution.metadata.nbgrader == {
        "grade": False,
        "grade_id": "numbers-pair",
        "locked": False,
        "schema_version": 3,
        "solution": True,
        "task": False,
    }
    assert check.source == 'check("numbers.pair")'
    assert check.metadata.nbgrader == {
        "grade": True,
        "grade_id": "numbers-pair-check",
        "locked": True,
        "points": 3,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }


def test_notebooks_name_their_kernel_and_their_release(built):
    """The metadata is the kernel, and the course's version, the lesson and a stamp, which the source shares."""
    metadata = student_of(built).metadata
    assert metadata.kernelspec.name == "python3"
    assert metadata.minigrad.version == "1.0"
    assert metadata.minigrad.lesson == "00_numbers"
    assert re.fullmatch("[0-9a-f]{12}", metadata.minigrad.stamp)
    assert source_of(built).metadata == metadata


def test_the_stamp_follows_what_students_see(built):
    """Another answer leaves the stamp as it is, other prose does not."""
    before = student_of(built).metadata.minigrad.stamp
    built.change(built.numbers, "doubled = x + x", "doubled = 2 * x")
    built.build()
    assert student_of(built).metadata.minigrad.stamp == before
    built.change(built.lesson, "Some prose.", "Other prose.")
    built.build()
    assert student_of(built).metadata.minigrad.stamp != before


def test_student_notebooks_hold_no_solution_and_no_output(built):
    """Students get stubs, and cells that have never been run."""
    text = (built.root / "notebooks/00_numbers.ipynb").read_text()
    assert "doubled" not in text
    assert "BEGIN SOLUTION" not in text
    for cell in student_of(built).cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


def test_tags_of_ordinary_cells_stay(built):
    """`setup`, by which the grader knows imports, reaches every notebook."""
    tagged = [cell.source for cell in student_of(built).cells if "setup" in cell.metadata.get("tags", [])]
    assert tagged == ["import math"]


@pytest.mark.full("nbgrader releases a lesson", share=16)
def test_a_release_is_the_student_notebook(built, root):
    """Stock `nbgrader generate_assignment` makes exactly the notebook that a reader finds in notebooks/."""
    release = generate_assignment(root, built.root / "course", "week0") / "00_numbers.ipynb"
    assert read(release) == student_of(built)


def test_a_section_with_a_date_of_its_own_leaves_no_date_in_folders(small):
    """A student's folder knows no section, and another one's date would be wrong."""
    course = small.load()
    own = replace(course, sections={"late": Section("late", due={"week0": course.assignments["week0"].due})})
    said = [json.loads(building.course_json(each, []))["assignments"][0] for each in (course, own)]
    assert ["due" in each for each in said] == [True, False]


def test_the_library_learns_the_course(built):
    """course.json names its origin, the assignments, lessons with titles, and exercises with points."""
    content = json.loads((built.source / "course.json").read_text())
    assert "course/course.toml" in content["generated"]
    assert content["version"] == "1.0"
    assert [each["name"] for each in content["assignments"]] == ["week0", "week1"]
    assert content["assignments"][0]["due"] == "2027-02-01T23:59:00+00:00" and "due" not in content["assignments"][1]
    assert content["lessons"][0] == {
        "name": "00_numbers",
        "title": "Numbers to begin with",
        "assignment": "week0",
        "needs": [],
    }
    assert content["exercises"][0] == {
        "id": "numbers.pair",
        "lesson": "00_numbers",
        "assignment": "week0",
        "objects": ["numbers.double", "numbers.half"],
        "points": 3,
    }


def test_the_library_has_the_order_of_a_reader_alone_and_a_class_that_of_its_assignments(small):
    """course.json lists lessons and exercises as the key `order` says; an edition lists them as they are handed in."""
    small.change(small.toml, "seed = 7", 'seed = 7\norder = ["01_shapes", "00_numbers"]')
    small.build()
    course = small.load()
    numbers, shapes = ["numbers.pair", "numbers.clamp"], ["shapes.Square"]
    for content, lessons, exercises in (
        (course.catalogue.read_bytes(), ["01_shapes", "00_numbers"], shapes + numbers),
        (edition_files(course, [])["course.json"], ["00_numbers", "01_shapes"], numbers + shapes),
    ):
        listed = json.loads(content)
        assert [each["name"] for each in listed["lessons"]] == lessons
        assert [each["id"] for each in listed["exercises"]] == exercises
        assert [each["lessons"] for each in listed["assignments"]] == [["00_numbers"], ["01_shapes"]]


@pytest.mark.parametrize("how", ["answered", "half answered", "run"])
def test_a_notebook_that_someone_worked_in_is_kept(built, how):
    """A build writes the notebook anew beside it, says where it is, and leaves it alone from then on."""
    path = built.root / "notebooks/00_numbers.ipynb"
    fresh, notebook = path.read_bytes(), student_of(built)
    if "answered" in how:
        cell = next(cell for cell in notebook.cells if cell.source.startswith("# exercise:"))
        stubs = cell.source.count("raise NotImplementedError()")
        assert stubs == 2
        cell.source = cell.source.replace("raise NotImplementedError()", "return 1.0", 1 if "half" in how else stubs)
    else:
        next(cell for cell in notebook.cells if cell.cell_type == "code").execution_count = 1
    nbformat.write(notebook, path)
    work, aside = path.read_bytes(), path.with_name("00_numbers-kept.ipynb")
    assert built.build().kept == (aside,)
    assert (path.read_bytes(), aside.read_bytes()) == (fresh, work)
    again = built.build()
    assert (again.kept, again.removed, aside.read_bytes()) == ((), (), work)
    path.write_bytes(work)
    assert built.build().kept == (path.with_name("00_numbers-kept1.ipynb"),)


def test_notebooks_of_a_lesson_that_is_gone_are_removed(built):
    """nbgrader would release a left-over notebook; a notebook that the build did not write stays."""
    mine = built.root / "notebooks" / "mine.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), mine)
    renamed = built.lesson.rename(built.lesson.with_name("00_figures.md"))
    built.toml.write_text(built.toml.read_text().replace("00_numbers", "00_figures"))
    report = built.build()
    assert renamed.is_file()
    assert sorted(str(path.relative_to(built.root)) for path in report.removed) == [
        "course/source/week0/00_numbers.ipynb",
        "notebooks/00_numbers.ipynb",
    ]
    assert mine.is_file()
    assert not (built.root / "notebooks" / "00_numbers.ipynb").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"metadata": []}', '{"metadata": {"minigrad": {}}}'])
def test_a_foreign_file_is_not_taken_for_a_generated_one(tmp_path, text):
    """Only a notebook with a stamp is the build's to remove."""
    (tmp_path / "x.ipynb").write_text(text)
    assert not is_generated(tmp_path / "x.ipynb")


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    """A file is written aside and renamed: if that fails the old content and no debris are there."""
    target = tmp_path / "x.json"
    files.write(target, "old")
    monkeypatch.setattr(files.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        files.write(target, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    assert target.read_text() == "old"


def test_an_unknown_exercise_is_refused(small):
    """A lesson may place only what course.toml lists."""
    small.add_cell("# exercise: numbers.triple")
    assert "places 'numbers.triple', which course.toml does not list" in refusal(small)


def test_an_exercise_of_another_lesson_is_refused(small):
    """A lesson may place only its own exercises."""
    small.add_cell("# exercise: shapes.Square")
    assert "places 'shapes.Square', an exercise of lesson '01_shapes'" in refusal(small)


@pytest.mark.parametrize("text", ["def clamp(x):\n    return 0.0", "other = clamp = lambda x: 0.0\nprint(other(1.0))"])
def test_an_example_that_defines_an_answer_is_refused(small, text):
    """Of a notebook that has lost its metadata such an example would be graded as the answer."""
    small.add_cell(text)
    assert "defines clamp, as the answer to 'numbers.clamp' does; give it another name" in refusal(small)


def test_an_exercise_placed_twice_is_refused(small):
    """One exercise has one solution cell."""
    small.add_cell("# exercise: numbers.clamp")
    assert "00_numbers.md: places 'numbers.clamp' twice" in refusal(small)


def test_an_exercise_that_its_lesson_does_not_place_is_refused(small):
    """Every exercise of course.toml reaches a notebook."""
    small.change(small.lesson, "# exercise: numbers.clamp", "1 + 2")
    assert "does not place the exercise 'numbers.clamp'" in refusal(small)


def test_an_assignment_that_names_a_lesson_nobody_wrote_is_refused(small):
    """Every lesson of course.toml is a file."""
    small.change(small.toml, '["01_shapes"]', '["01_shapes", "02_none"]')
    assert "week1: the lesson '02_none' does not exist; write lessons/02_none.md" in refusal(small)


@pytest.mark.parametrize("text", ["# exercise: numbers.clamp\nx = 1", "#exercise: numbers.clamp", "# exercise:"])
def test_a_sloppy_placement_is_refused(small, text):
    """A cell that begins like a placement must be that one line."""
    small.change(small.lesson, "# exercise: numbers.clamp", text)
    assert "place an exercise by a cell that holds '# exercise: ID' and nothing else" in refusal(small)


def test_an_exercise_without_markers_is_refused(small):
    """Without markers nbgrader would release an empty cell."""
    small.shapes.write_text(re.sub(r" *### \w+ SOLUTION\n", "", small.shapes.read_text()))
    assert "shapes.Square: exercise shapes.Square needs the markers" in refusal(small)


def test_an_unmatched_marker_is_refused(small):
    """nbgrader would accept a closing marker without its opening one in silence."""
    small.change(small.numbers, "### BEGIN SOLUTION\n    kept", "kept")
    assert "'### END SOLUTION' closes nothing" in refusal(small)


@pytest.mark.parametrize("kind", ["code", "markdown"])
def test_a_solution_that_leaks_is_refused(small, kind):
    """A line of an answer may stand in no cell of the student notebook, however it is laid out."""
    if kind == "code":
        small.add_cell("kept = min(\n    max(kept, smallest), largest)")
    else:
        small.lesson.write_text(small.lesson.read_text() + "\nWrite `kept = min(max(kept, smallest), largest)`.\n")
    sentence = refusal(small)
    assert "shows 'kept = min(max(kept, smallest), largest)'" in sentence
    assert "a line of the answer to 'numbers.clamp'" in sentence


def test_an_answer_of_a_later_lesson_that_leaks_is_refused(small):
    """Answers of later assignments are not open either."""
    small.add_cell("return self.edge * self.edge")
    assert "a line of the answer to 'shapes.Square'" in refusal(small)


def test_a_line_that_the_library_gives_is_no_leak(small):
    """What students can read in their library gives nothing away, unless it is cut from there too."""
    line = "kept = min(max(kept, smallest), largest)"
    small.add_cell(line)
    fast = small.source / "fast.py"
    text = fast.read_text()
    fast.write_text(f"{text}\n\ndef clamp(kept, smallest, largest):\n    {line}\n    return kept\n")
    assert small.build().written
    small.change(small.toml, 'id = "numbers.clamp"', 'id = "numbers.clamp"\ngives_away = ["fast"]')
    assert "a line of the answer to 'numbers.clamp'" in refusal(small)


def test_an_answer_of_an_earlier_assignment_may_be_shown(small):
    """A later lesson may look back."""
    small.add_cell("kept = min(max(kept, smallest), largest)", small.second_lesson)
    assert small.build().written


@pytest.mark.parametrize("text", ["# Numbers to begin with", "## Numbers", ""])
def test_a_lesson_without_a_heading_is_refused(small, text):
    """The first line of a lesson is its title."""
    small.change(small.lesson, "# Numbers to begin with", text)
    if text.startswith("# "):
        small.change(small.lesson, text, "Numbers to begin with")
    assert "00_numbers.md: begins without a heading" in refusal(small)


def test_an_empty_lesson_is_refused(small):
    """A lesson of no cells has no heading either."""
    small.lesson.write_text("")
    assert "begins without a heading" in refusal(small)


def test_a_lesson_that_is_not_text_is_refused(small):
    """Bytes that are no UTF-8 are named, not raised."""
    small.lesson.write_bytes(b"# \xff\n")
    assert "00_numbers.md: is not a lesson in MyST Markdown" in refusal(small)


def test_a_long_code_cell_is_refused(small):
    """Sixteen lines are too many, fifteen are not."""
    small.add_cell("\n".join(f"x{i} = {i}" for i in range(15)))
    small.build()
    small.add_cell("\n".join(f"y{i} = {i}" for i in range(16)))
    assert "has 16 lines of code, more than 15" in refusal(small)


def test_hand_written_nbgrader_metadata_is_refused(small):
    """Ids and points come from course.toml alone."""
    small.add_cell("1", options="---\nnbgrader: {grade: true, points: 100, grade_id: mine}\n---\n")
    assert "has nbgrader metadata; remove it" in refusal(small)


def test_words_that_nbgrader_acts_on_are_refused(small):
    """nbgrader cuts at its markers wherever they stand, also in prose."""
    small.lesson.write_text(small.lesson.read_text() + "\nWrite between ### BEGIN SOLUTION and so on.\n")
    assert "contains 'BEGIN SOLUTION', which nbgrader acts on" in refusal(small)


def test_totals_that_differ_are_refused(small, monkeypatch):
    """If the graded cells do not add up to course.toml, nothing is written."""
    honest = building.check_cell

    def generous(*arguments):
        cell = honest(*arguments)
        cell.metadata["nbgrader"]["points"] += 1
        return cell

    monkeypatch.setattr(building, "check_cell", generous)
    sentence = refusal(small)
    assert "worth 7 points, but course.toml gives its exercises 5" in sentence


def marked(exercise, earned):
    """What is said of an answer that earns some points."""
    groups = (GroupScore("all", exercise.points, earned),)
    return Graded(exercise.id, exercise.points, groups, reason="the cell ended with NameError")


def test_a_stub_that_earns_a_point_is_refused(small):
    """The hook that marks an answer sees every stub; none may earn anything."""

    def mark(exercise, cell):
        generous = exercise.id == "numbers.clamp"
        return marked(exercise, exercise.points if "NotImplementedError" not in cell else 0.5 * generous)

    assert "numbers.clamp: the stub earns 0.5 points" in refusal(small, verify_points=mark)


def test_a_reference_that_loses_a_point_is_refused(small):
    """The hook that marks an answer sees every reference; all must earn everything."""

    def mark(exercise, cell):
        return marked(exercise, 0 if "NotImplementedError" in cell else 2)

    sentence = refusal(small, verify_points=mark)
    assert "numbers.pair: the reference earns 2 of 3 points (the cell ended with NameError); correct" in sentence


def test_a_course_whose_answers_are_marked_well_is_built(small):
    """With honest marks the hook is asked twice for each exercise, and the build goes on."""
    asked = []

    def mark(exercise, cell):
        asked.append(exercise.id)
        return marked(exercise, 0 if "NotImplementedError" in cell else exercise.points)

    assert small.build(verify_points=mark).written
    assert asked == [e for e in small.load().exercises for _ in range(2)]


def build_copy(root, copy):
    """Build this course from a copy of what its author writes."""
    (copy / "course").mkdir()
    shutil.copy(root / "course" / "course.toml", copy / "course")
    for part in ("course/lessons", "course/locale", "course/hints", "src/minigrad"):
        if (root / part).is_dir():
            shutil.copytree(root / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    building.build(copy / "course")


def test_the_committed_files_are_what_a_build_makes(root, tmp_path):
    """A build changes neither notebooks/ nor the library's JSON; if it does, run `autograder build`."""
    build_copy(root, tmp_path)
    for part in ("notebooks", "src/minigrad/course.json", "src/minigrad/hints.json", "src/minigrad/locale"):
        made, committed = (contents(base / part) for base in (tmp_path, root))
        relative = {path.relative_to(tmp_path): data for path, data in made.items()}
        stale = [str(path) for path, data in relative.items() if committed.get(root / path) != data]
        assert stale == []
        assert len(committed) == len(made)


def test_no_committed_notebook_shows_an_answer(root):
    """Each solution cell is a stub, no marker is left, and no cell has an output."""
    course = load_course(root / "course")
    for lesson in course.lessons.values():
        cells = read(root / "notebooks" / f"{lesson.name}.ipynb").cells
        solutions = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")]
        shown = {cell.source for cell in solutions if cell.cell_type == "code"}  # a question's cell holds no code
        assert shown == {slice_exercise(course, each.id).stub_cell for each in course.of_lesson(lesson.name)}
        assert not any("SOLUTION" in cell.source or cell.get("outputs") for cell in cells)


@pytest.mark.full("nbgrader releases all lessons; the small course is released every time", share=96)
def test_a_release_of_this_course_is_its_notebooks(root, tmp_path):
    """Stock `nbgrader generate_assignment` on this course releases the student notebooks of the build."""
    build_copy(root, tmp_path)
    release = generate_assignment(root, tmp_path / "course", "module1")
    names = sorted(path.name for path in release.glob("*.ipynb"))
    assert names == [f"{name}.ipynb" for name in load_course(root / "course").assignments["module1"].lessons]
    for name in names:
        assert read(release / name) == read(tmp_path / "notebooks" / name)


HEADER = 'minutes = {}\ndifficulty = 3\nrank = "more"\npoints = {}\n'
PATH = """
[path.short]
title = "A short way"
part = [{ lesson = "00_numbers", exercises = ["numbers.clamp"], sections = ["Halves"] }]

[limits]
"""
SECTIONS = f"""
## Halves

{"word " * 1300}

## Doubles

{"word " * 2600}
"""


@pytest.fixture
def told(small):
    """The same course, which says how long its first lesson takes, and has a path through it."""
    small.change(small.toml, "points = 3\n", HEADER.format(60, 3))
    small.change(small.toml, "points = 2\n", HEADER.format(20, 2))
    small.change(small.toml, "\n[limits]\n", PATH)
    small.lesson.write_text(small.lesson.read_text() + SECTIONS)
    small.build()
    return small


def test_a_header_stands_above_its_exercise(told, small):
    """Right above the solution cell stands a cell of text that nothing grades; without minutes there is none."""
    cells = student_of(told).cells
    headers = [(cell.source, below.source.partition("\n")[0]) for cell, below in itertools.pairwise(cells)]
    assert ("**About 60 minutes · difficulty 3 of 5 · more**", "# exercise: numbers.pair") in headers
    assert ("**About 20 minutes · difficulty 3 of 5 · more**", "# exercise: numbers.clamp") in headers
    assert [cell for cell in cells if cell.source.startswith("**About") and "nbgrader" in cell.metadata] == []
    assert "**About" not in (told.root / "notebooks/01_shapes.ipynb").read_text()


def test_the_minutes_of_lessons_and_paths_are_counted(told):
    """Thirty minutes of words and three examples, and the exercises: of a path its sections and exercises alone."""
    content = json.loads((told.source / "course.json").read_text())
    assert [each.get("minutes") for each in content["lessons"]] == [110, None]
    header = {"minutes": 60, "difficulty": 3, "rank": "more"}
    assert {key: content["exercises"][0][key] for key in header} == header
    part = {"lesson": "00_numbers", "exercises": ["numbers.clamp"], "sections": ["Halves"], "minutes": 30}
    assert content["paths"] == [{"name": "short", "title": "A short way", "parts": [part]}]


def test_a_section_that_is_not_there_is_refused(told):
    """A path that names a section which the lesson does not have is refused by the section's title."""
    told.change(told.toml, '["Halves"]', '["Thirds"]')
    assert "a path names the section 'Thirds', which lesson '00_numbers' does not have" in refusal(told)
