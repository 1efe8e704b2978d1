"""Notebooks damaged at random: each is grafted or refused with a sentence, in bounded time and memory."""

import copy
import json
import tracemalloc

import nbformat
import pytest
from damages import damaged, paths
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from autograder.building.masters import find_master
from autograder.building.notebooks import dump
from autograder.course.loading import load_course
from autograder.grafting.collecting import regraft, take_in
from autograder.grafting.graft import graft
from autograder.grafting.grafted import grade_id_of
from autograder.judging.judge import Judge
from autograder.proof.demo.typing_in import answers, fill
from autograder.reading import StudentNotebook, Unreadable, read_notebook

LESSON = "01_numerical_derivatives"
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
MEMORY = 60_000_000
"""Bytes that grafting a damaged notebook of a few kilobytes may take at most."""


BYTES = ("flip", "cut", "drop", "repeat", "insert")


@pytest.fixture(scope="module")
def course(root):
    """The project's own course."""
    return load_course(root / "course", tree=False)


@pytest.fixture(scope="module")
def master(course):
    """The lesson's master."""
    return find_master(course, LESSON)


@pytest.fixture(scope="module")
def right(course, master):
    """The lesson's notebook, right and small: without its prose."""
    notebook = copy.deepcopy(master)
    fill(notebook, answers(course))
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return notebook


def broken(draw, data):
    """Bytes with one damage somewhere in them."""
    start = draw(st.integers(0, len(data)))
    end = min(len(data), start + draw(st.integers(1, 400)))
    kind = draw(st.sampled_from(BYTES))
    if kind == "flip" and start < len(data):
        return data[:start] + bytes([data[start] ^ (1 << draw(st.integers(0, 7)))]) + data[start + 1 :]
    if kind == "cut":
        return data[:start]
    if kind == "drop":
        return data[:start] + data[end:]
    if kind == "repeat":
        return data[:end] + data[start:]
    marks = [b"\n<<<<<<< a\n", b"\n=======\n", b"\n>>>>>>> b\n", b"\xff", b"\x00", b"{", b'"', b"\\", b"[" * 3000]
    return data[:start] + draw(st.sampled_from(marks)) + data[start:]


def mutate(draw, notebook):
    """The bytes of a notebook, damaged one to four times in its values, or in its bytes, or in both."""
    document, where = json.loads(json.dumps(notebook)), draw(st.integers(0, 2))
    for _ in range(draw(st.integers(1, 4)) if where != 1 else 0):
        document = damaged(draw, document) if any(paths(document)) and document else document
    data = json.dumps(document, indent=draw(st.sampled_from([None, 1])), ensure_ascii=draw(st.booleans()))
    data = data.encode("utf-8", "replace")
    for _ in range(draw(st.integers(1, 4)) if where != 0 else 0):
        data = broken(draw, data)
    return data


def is_sound(grafted, master):
    """Whether a graft is a valid notebook with the master's graded cells, each with one state, and says sentences."""
    nbformat.validate(grafted.notebook)
    marked = [(grade_id_of(cell), cell.metadata["nbgrader"]) for cell in grafted.notebook.cells if grade_id_of(cell)]
    assert marked == [(grade_id_of(cell), cell.metadata["nbgrader"]) for cell in master.cells if grade_id_of(cell)]
    checks = [cell.source for cell in grafted.notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert checks == [cell.source for cell in master.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    labels = [cell.metadata.get("minigrad", {}) for cell in grafted.notebook.cells]
    states = {said["exercise"]: said["state"] for said in labels if said.get("kind") == "solution"}
    assert len(states) == 3 and set(states.values()) <= {"answered", "untouched", "missing", "unclear"}
    if "answered" not in states.values():
        assert grafted.unreadable or grafted.notes or "untouched" in states.values()
    for sentence in (grafted.unreadable, *(note.text for note in grafted.notes)):
        assert "\n" not in sentence and len(sentence) < 400
    return True


@pytest.mark.full("hundreds of notebooks are damaged", share=32)
@pytest.mark.no_cover  # twice as quick; test_mangled.py and test_graft.py run the same lines
@settings(max_examples=1000, suppress_health_check=QUIET)
@given(data=st.data())
def test_any_damage_is_grafted_or_refused(master, right, data):
    """A right notebook, damaged anywhere, becomes a valid one of the master's graded cells; nothing is raised."""
    file = mutate(data.draw, right)
    grafted = graft(file, master)
    assert is_sound(grafted, master)
    again = graft(dump(grafted.notebook).encode(), master)
    assert sources(again) == sources(grafted)


def sources(grafted):
    """The texts that are run."""
    return [cell.source for cell in grafted.notebook.cells if "minigrad" in cell.metadata]


@pytest.mark.full("hundreds of notebooks are damaged", share=32)
@settings(max_examples=100, suppress_health_check=QUIET)
@given(data=st.data())
def test_damage_takes_little_memory(master, right, data):
    """However a small notebook is damaged, to graft it takes no more memory than a bound."""
    file = mutate(data.draw, right)
    tracemalloc.start()
    try:
        graft(file, master)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


@settings(max_examples=300)
@given(data=st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_read_or_refused(data):
    """Whatever bytes a file holds, it is read as a notebook or refused with one sentence."""
    try:
        read = read_notebook(data)
    except Unreadable as error:
        read = str(error)
    assert isinstance(read, StudentNotebook) or (read and "\n" not in read)


@pytest.fixture(scope="module")
def judge(course, tmp_path_factory):
    """A judge with the course's hidden tests."""
    with Judge(course, cache=tmp_path_factory.mktemp("kept")) as judge:
        yield judge


@pytest.fixture(scope="module")
def files(right):
    """Some damaged files; made beforehand, since the judge has hypothesis for itself."""
    made = []

    @settings(max_examples=36, suppress_health_check=QUIET, phases=(Phase.generate,))
    @given(data=st.data())
    def make(data):
        made.append(mutate(data.draw, right))

    make()
    return made[:36]


@pytest.mark.full("each damaged notebook is judged", share=96)
@pytest.mark.parametrize("number", range(36))
def test_any_damage_is_judged(course, judge, files, tmp_path, number):
    """Taken in and judged, a damaged notebook earns at most its points, and says why where it does not."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"{LESSON}.ipynb").write_bytes(files[number])
    take_in(course, "module1", tmp_path / "in", tmp_path / "out", tmp_path / "originals", "2027-01-01 10:00:00 UTC")
    clean = tmp_path / "out" / f"{LESSON}.ipynb"
    submission = judge.grade(regraft(course, LESSON, clean, tmp_path / "originals"), LESSON)
    assert [graded.exercise for graded in submission.exercises] == [each.id for each in course.of_lesson(LESSON)]
    for graded in submission.exercises:
        assert 0 <= graded.earned <= graded.points
        assert graded.full or graded.reason or any(not verdict.passed for verdict in graded.verdicts)
