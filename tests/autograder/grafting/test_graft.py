"""Grafting takes a student's text and nothing else, and says what it repaired."""

import contextlib
import copy
import json
import os

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autograder.grafting.graft as graft_module
from autograder.grafting.graft import graft
from autograder.grafting.grafted import grafted_from
from autograder.reading import MAX_BYTES, MAX_CODE, Unreadable, read_notebook

STUB_F = "# exercise: demo.f\ndef f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
STUB_PAIR = (
    "# exercise: demo.pair\ndef g(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()\n\n\n"
    "def h(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
)
DONE_F = "# exercise: demo.f\ndef f(x):\n    return x + 1"
DONE_PAIR = "# exercise: demo.pair\ndef g(x):\n    return x\n\n\ndef h(x):\n    return -x"


def code(source, cell_id, **metadata):
    cell = nbformat.v4.new_code_cell(source, metadata=metadata)
    cell.id = cell_id
    return cell


def solution(source, grade_id):
    nbgrader = {"grade": False, "solution": True, "locked": False, "grade_id": grade_id, "schema_version": 3}
    return code(source, grade_id, nbgrader=nbgrader)


def check(exercise):
    grade_id = exercise.replace(".", "-") + "-check"
    nbgrader = {"grade": True, "solution": False, "locked": True, "grade_id": grade_id, "points": 3}
    return code(f'check("{exercise}")', grade_id, nbgrader={**nbgrader, "schema_version": 3})


@pytest.fixture
def master():
    cells = [
        nbformat.v4.new_markdown_cell("# Demo", id="title"),
        code("import math", "setup", tags=["setup"]),
        solution(STUB_F, "demo-f"),
        check("demo.f"),
        code("print(f(2))", "example"),
        solution(STUB_PAIR, "demo-pair"),
        check("demo.pair"),
    ]
    metadata = {"minigrad": {"lesson": "00_demo", "version": "1", "stamp": "abc123"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


@pytest.fixture
def student(master):
    notebook = copy.deepcopy(master)
    notebook.cells[2].source = DONE_F
    notebook.cells[5].source = DONE_PAIR
    return notebook


def run(notebook, master):
    return graft(json.dumps(notebook).encode(), master)


def texts(grafted):
    """Text by exercise, and the added cells."""
    found = {"added": []}
    for cell in grafted.notebook.cells:
        label = cell.metadata.get("minigrad", {})
        if label.get("kind") == "added":
            found["added"].append(cell.source)
        elif label.get("kind") == "solution":
            found[label["exercise"]] = cell.source
    return found


def states(grafted):
    labels = [cell.metadata.get("minigrad", {}) for cell in grafted.notebook.cells]
    return {label["exercise"]: label["state"] for label in labels if label.get("kind") == "solution"}


def said(grafted, *words):
    return any(all(word in note.text for word in words) for note in grafted.notes)


def test_untouched_round_trip(student, master):
    """A notebook that nobody mangled gives its solutions, and there is nothing to say."""
    grafted = run(student, master)
    assert texts(grafted) == {"added": [], "demo.f": DONE_F, "demo.pair": DONE_PAIR}
    assert grafted.notes == () and grafted.unreadable == ""
    assert states(grafted) == {"demo.f": "answered", "demo.pair": "answered"}


@pytest.mark.parametrize(
    ("said", "kept"),
    [("zh_CN", "zh_CN"), ("de", "de"), (None, ""), (1, ""), ("\ud800", ""), ("../" * 9, ""), ("e" * 99, "")],
)
def test_the_language_of_a_notebook_is_kept(student, master, said, kept):
    """Also when the clean notebook is read again; what is no language's name is none."""
    student.metadata.minigrad.language = said
    grafted = run(student, master)
    assert grafted.language == run(grafted.notebook, master).language == kept


def test_only_text_is_taken(student, master):
    """Outputs, tags, points, execution counts and kernels of the submission do not survive."""
    student.cells[3].metadata.nbgrader.points = 1000
    student.cells[3].metadata.tags = ["skip-execution"]
    student.cells[3].outputs = [nbformat.v4.new_output("execute_result", data={"text/plain": "1000"})]
    student.metadata.kernelspec = {"name": "evil", "display_name": "evil"}
    notebook = run(student, master).notebook
    checks = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert [cell.metadata.nbgrader.points for cell in checks] == [3, 3]
    assert all(cell.get("outputs", []) == [] for cell in notebook.cells)
    assert "kernelspec" not in notebook.metadata
    assert "tags" not in checks[0].metadata


def test_added_cells_keep_their_place(student, master):
    """A student's own cells are taken in order, each after the cell that it followed."""
    student.cells.insert(2, code("HELP = 1", "x1"))
    student.cells.append(code("print(HELP)", "x2"))
    grafted = run(student, master)
    assert texts(grafted)["added"] == ["HELP = 1", "print(HELP)"]
    sources = [cell.source for cell in grafted.notebook.cells]
    assert sources.index("HELP = 1") == sources.index("import math") + 1
    assert sources[-1] == "print(HELP)"


def test_setup_comes_from_the_master(student, master):
    """An edited setup cell is replaced by the course's."""
    student.cells[1].source = "math = None"
    grafted = run(student, master)
    assert "import math" in [cell.source for cell in grafted.notebook.cells]
    assert texts(grafted)["added"] == []


def test_helper_in_an_example_is_kept(student, master):
    """An example cell that was edited to define a helper is the student's own cell."""
    student.cells[4].source = "def helper(x):\n    return x"
    grafted = run(student, master)
    assert texts(grafted)["added"] == ["def helper(x):\n    return x"]
    assert "print(f(2))" in [cell.source for cell in grafted.notebook.cells]


@pytest.mark.parametrize(
    "source",
    [
        "g = lambda x: x\nh = lambda x: -x",
        "g, h = make(1), make(-1)",
        "g: object = make(1)\nh = make(-1)",
        "g = h = make(1)",
    ],
)
def test_objects_defined_by_assignment(student, master, source):
    """A cell without metadata that defines an exercise's objects by assignment is found by what it defines."""
    student.cells[5] = code(source, "mine")
    grafted = run(student, master)
    assert states(grafted)["demo.pair"] == "answered"
    assert source in [cell.source for cell in grafted.notebook.cells]


def test_an_answer_assigned_in_an_example_is_kept(student, master):
    """An example that was edited to define an exercise's object by assignment is the student's own."""
    student.cells[4].source = "g = make(1)"
    assert "g = make(1)" in [cell.source for cell in run(student, master).notebook.cells]


def test_edited_example_is_not_run(student, master):
    """An example that was only played with stays the master's."""
    student.cells[4].source = "print(f(3), 'hello')"
    assert texts(run(student, master))["added"] == []


def test_dropped_metadata(student, master):
    """Without any metadata, cells are found by their first line, and that is said."""
    for cell in student.cells:
        cell.metadata = nbformat.from_dict({})
        cell.id = f"new-{cell.id}"
    grafted = run(student, master)
    assert texts(grafted) == {"added": [], "demo.f": DONE_F, "demo.pair": DONE_PAIR}
    assert said(grafted, "first line")


def test_dropped_metadata_and_first_line(student, master):
    """Without metadata and first line, a cell is found by what it defines."""
    student.cells[2] = code("def f(x):\n    return 5", "other")
    grafted = run(student, master)
    assert texts(grafted)["demo.f"] == "def f(x):\n    return 5"
    assert said(grafted, "what it defines")


def test_missing_cell(student, master):
    """A deleted solution cell is a note for that exercise and the stub; the other exercise is kept."""
    del student.cells[2]
    grafted = run(student, master)
    assert states(grafted) == {"demo.f": "missing", "demo.pair": "answered"}
    assert [note.exercise for note in grafted.notes] == ["demo.f"]
    assert texts(grafted)["demo.f"] == STUB_F


def test_untouched_stub(master):
    """A notebook handed in as released is recognised as not started."""
    assert set(states(run(master, master)).values()) == {"untouched"}


def test_duplicate_takes_the_last_that_defines(student, master):
    """Of two cells with the grade id, the last that defines the function is graded, and that is said."""
    student.cells.insert(3, solution(DONE_F.replace("+ 1", "+ 2"), "demo-f"))
    student.cells.insert(4, solution("# exercise: demo.f\n", "demo-f"))
    grafted = run(student, master)
    assert texts(grafted)["demo.f"] == DONE_F.replace("+ 1", "+ 2")
    assert texts(grafted)["added"] == []
    assert said(grafted, "3 cells", "last")


def test_grade_id_wins_over_a_copy_without(student, master):
    """Between a copy without metadata and the course's own cell, the own cell is graded."""
    student.cells.append(code(DONE_F.replace("+ 1", "+ 9"), "copy"))
    assert texts(run(student, master))["demo.f"] == DONE_F


def test_copy_beats_an_untouched_stub(student, master):
    """Work in a copy is graded where the course's own cell was left as released."""
    student.cells[2].source = STUB_F
    student.cells.append(code(DONE_F, "copy"))
    assert texts(run(student, master))["demo.f"] == DONE_F


@pytest.mark.parametrize("both_marked", [True, False])
def test_split_in_the_middle_of_a_function(student, master, both_marked):
    """A function split over two cells is joined again, whether or not the second kept its metadata."""
    student.cells[2].source = "# exercise: demo.f\ndef f(x):\n    y = x + 1"
    rest = "    return y"
    student.cells.insert(3, solution(rest, "demo-f") if both_marked else code(rest, "rest"))
    grafted = run(student, master)
    assert texts(grafted)["demo.f"] == "# exercise: demo.f\ndef f(x):\n    y = x + 1\n    return y"
    assert texts(grafted)["added"] == []
    assert said(grafted, "split")


def test_split_between_functions(student, master):
    """An exercise of two functions split into two marked cells is joined."""
    first, second = DONE_PAIR.split("\n\n\n")
    student.cells[5].source = first
    student.cells.insert(6, solution(second, "demo-pair"))
    grafted = run(student, master)
    assert texts(grafted)["demo.pair"] == f"{first}\n{second}"
    assert said(grafted, "split")


def test_reordered(student, master):
    """Exercises in another order are put back, and that is said."""
    student.cells[2], student.cells[5] = student.cells[5], student.cells[2]
    grafted = run(student, master)
    assert texts(grafted)["demo.f"] == DONE_F
    assert said(grafted, "moved")


def test_retyped(student, master):
    """A solution turned into Markdown is read as code, and that is said."""
    student.cells[2] = nbformat.v4.new_markdown_cell(DONE_F, metadata=student.cells[2].metadata)
    grafted = run(student, master)
    assert texts(grafted)["demo.f"] == DONE_F
    assert said(grafted, "not code")


def test_edited_check_is_ignored(student, master):
    """An edit of the locked cell is ignored, and its exercise gets a note."""
    student.cells[3].source = "3.0"
    grafted = run(student, master)
    assert 'check("demo.f")' in [cell.source for cell in grafted.notebook.cells]
    assert [(note.exercise, "edited" in note.text) for note in grafted.notes] == [("demo.f", True)]


def test_deleted_and_copied_checks(student, master):
    """A deleted check is put back and a copied one counts once; both are said."""
    student.cells[6] = copy.deepcopy(student.cells[3])
    grafted = run(student, master)
    sources = [cell.source for cell in grafted.notebook.cells]
    assert sources.count('check("demo.f")') == sources.count('check("demo.pair")') == 1
    assert said(grafted, "put back for grading") and said(grafted, "2 times")


def test_unknown_exercise(student, master):
    """A cell that names an exercise which the notebook does not have is a note."""
    student.cells.append(code("# exercise: demo.zzz\ndef zzz():\n    return 1", "z"))
    assert said(run(student, master), "demo.zzz")


def test_a_helper_moves_with_what_it_needs_and_no_further(student, master):
    """A helper below is moved up after those it needs; one that could not run up there stays where it is."""
    student.cells[2].source = "# exercise: demo.f\n@wrapped\ndef f(x, y=LATE):\n    return x + 1"
    student.cells.append(code("def wrapped(function):\n    return kept(function)", "h1"))
    student.cells.append(code("LATE = g(1)\nlate = missing", "h2"))
    student.cells.append(code("def kept(function):\n    return function\nseen = wrapped(len)", "h3"))
    grafted = run(student, master)
    sources = [cell.source for cell in grafted.notebook.cells]
    place = {name: next(i for i, s in enumerate(sources) if s.startswith(name)) for name in ("def w", "def k", "LATE")}
    assert place["def w"] < place["def k"] < sources.index(student.cells[2].source) < place["LATE"]
    assert said(grafted, "defines wrapped", "moved up")
    assert texts(run(grafted.notebook, master)) == texts(grafted)


def test_helpers_that_need_each_other_stay(student, master):
    """Cells that need one another at once are left alone, however many there are."""
    student.cells += [code("\n".join(f"a{i}_{k} = a{i + 1}_{k}" for k in range(20)), f"c{i}") for i in range(150)]
    student.cells.append(code("a150_0 = a0_0", "last"))
    grafted = run(student, master)
    assert not said(grafted, "moved up") and len(texts(grafted)["added"]) == 151


def test_prose_without_end_is_not_parsed(student, master, monkeypatch):
    """A solution is looked for in so much prose and no more."""
    parsed = []
    real = graft_module.defined_names
    monkeypatch.setattr(graft_module, "defined_names", lambda text: parsed.append(len(text)) or real(text))
    del student.cells[2]
    student.cells += [nbformat.v4.new_markdown_cell("x = 1\n" * 3_000, id=f"p{i}") for i in range(20)]
    run(student, master)
    assert 50_000 < sum(parsed) < 200_000


def test_graded_cells_are_looked_up_once(student, master, monkeypatch):
    """The master's cells are not gone through again for each cell of a student."""
    asked = []
    real = graft_module.grade_id_of
    monkeypatch.setattr(graft_module, "grade_id_of", lambda cell: asked.append(cell) or real(cell))
    student.cells += [copy.deepcopy(student.cells[4]) for _ in range(100)]
    run(student, master)
    assert len(asked) <= 2 * len(master.cells)


@pytest.mark.parametrize("start", ['{"cell_type":"', '{"id":{"id":', '{"cell_type": "code", "source": "x'])
def test_damage_without_end(master, start):
    """A file of nothing but beginnings of cells is refused soon: Python counts the lines before each error."""
    assert graft((start * 1_000_000).encode(), master).unreadable


@pytest.mark.parametrize("version", [1, 2, 3])
def test_old_formats_are_upgraded(master, version):
    """A notebook of an older nbformat keeps its solutions, and the upgrade is said."""
    cell = {"cell_type": "code", "input": DONE_F, "language": "python", "metadata": {}, "outputs": []}
    cell["collapsed"] = False
    cell["prompt_number"] = None
    body = {"cells": [cell]} if version == 1 else {"worksheets": [{"cells": [cell]}]}
    if version == 1:
        cell["code"] = cell.pop("input")
    document = {"nbformat": version, "nbformat_minor": 0, "metadata": {}, **body}
    grafted = graft(json.dumps(document).encode(), master)
    assert grafted.unreadable == ""
    assert texts(grafted)["demo.f"] == DONE_F
    assert said(grafted, f"old format {version}")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"hello", "not JSON"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"[1, 2]", "not a notebook"),
        (b'{"a": 1}', "nbformat"),
        (b'{"nbformat": 4}', "no list of cells"),
        (b'{"nbformat": 5, "cells": []}', "newer"),
        (b'{"nbformat": true, "cells": []}', "nbformat"),
        (b'{"nbformat": 3, "worksheets": 7}', "cannot be converted"),
        (b"[" * 100_000, "deeply"),
        (b'{"nbformat": 4, "cells": [{"source": "x', "cut off"),
        (b'{"nbformat": 4,\n<<<<<<< HEAD\n=======\n>>>>>>> x\n}', "conflict"),
        (b"x" * (MAX_BYTES + 1), "MB"),
    ],
)
def test_files_that_are_no_notebook(master, data, words):
    """What is no notebook becomes stubs and one clear sentence."""
    grafted = graft(data, master)
    assert words in grafted.unreadable
    assert "\n" not in grafted.unreadable
    assert set(states(grafted).values()) == {"missing"}


def test_truncated_notebook(student, master):
    """A notebook cut anywhere keeps the exercises whose cells are whole, and the report says that it was cut off."""
    data = json.dumps(student).encode()
    seen = []
    for length in range(1, len(data), 97):
        grafted = graft(data[:length], master)
        assert "cut off" in grafted.unreadable or said(grafted, "cut off", "could be read")
        seen.append([exercise for exercise, state in states(grafted).items() if state == "answered"])
    assert [list(each) for each in dict.fromkeys(map(tuple, seen))] == [[], ["demo.f"], ["demo.f", "demo.pair"]]


def test_malformed_cells_are_counted(student, master):
    """Cells that are no cells are skipped and counted."""
    document = json.loads(json.dumps(student))
    document["cells"] += [7, {"cell_type": "code", "source": {"a": 1}}, None]
    document["metadata"] = "none"
    grafted = graft(json.dumps(document).encode(), master)
    assert texts(grafted)["demo.f"] == DONE_F
    assert said(grafted, "3 malformed cells")


def test_half_a_surrogate_pair(student, master):
    """Text that no file can hold is made harmless."""
    student.cells[2].source = DONE_F + "  # X"
    data = json.dumps(student).replace("# X", "# \\ud800").encode()
    grafted = graft(data, master)
    nbformat.writes(grafted.notebook).encode()
    assert texts(grafted)["demo.f"].startswith(DONE_F)


@pytest.mark.parametrize("hostile", ["-" * 40_000 + "1", "1" + "+1" * 20_000, "(" * 5_000, "x = '\0'"])
def test_hostile_text(student, master, hostile):
    """Text made to break a parser is taken as it is, and nothing breaks."""
    student.cells[2].source = hostile
    assert texts(run(student, master))["demo.f"] == hostile


def test_very_long_cells_and_many_cells(student, master):
    """Cells beyond the limits are left out, and that is said."""
    student.cells.append(code("#" * 300_000, "long"))
    student.cells += [code(f"a{i} = {i}", f"n{i}") for i in range(250)]
    grafted = run(student, master)
    assert len(texts(grafted)["added"]) == 200
    assert said(grafted, "250 cells") and said(grafted, "300000 characters")


def test_more_cells_than_anyone_writes(student, master):
    """Of hundreds of thousands of cells the first 2,000 are read, and that is said."""
    student.cells += [code("1", "n") for _ in range(3000)]
    read = read_notebook(json.dumps(student).encode())
    assert len(read.cells) == 2000
    assert any("2,000 cells" in note for note in read.notes)


def test_more_text_than_anyone_writes(student, master):
    """Code beyond the bound is not read, and that is said."""
    student.cells += [code("#" * 40_000, f"n{i}") for i in range(20)]
    read = read_notebook(json.dumps(student).encode())
    assert sum(len(cell.text) for cell in read.cells) <= MAX_CODE
    assert any("characters of code" in note for note in read.notes)


def test_copies_without_end(student, master, monkeypatch):
    """Of many copies of a solution cell the last few are compared, never joined, and none becomes an added cell."""
    big = "x = 1\n" * 100
    student.cells += [solution(f"# exercise: demo.f\n{big}# {i}", "demo-f") for i in range(200)]
    student.cells += [solution(f"# exercise: demo.f\n{big}def f(x):\n    return x + 3", "demo-f")]
    student.cells += [solution(STUB_F, "demo-f") for _ in range(200)]
    parsed = []
    for name in ("parses", "defined_names"):
        real = getattr(graft_module, name)
        monkeypatch.setattr(graft_module, name, lambda text, real=real: parsed.append(len(text)) or real(text))
    grafted = run(student, master)
    assert max(parsed) < 100_000 and sum(length > 500 for length in parsed) < 100
    assert texts(grafted)["demo.f"].endswith("return x + 3") and texts(grafted)["added"] == []
    assert said(grafted, "402 cells")


def test_notes_are_bounded(student, master):
    """The same note is made once, and at most 20 notes are made."""
    student.cells += [copy.deepcopy(student.cells[3]) for _ in range(50)]
    for cell in student.cells[7:]:
        cell.source = "4711"
    student.cells += [code(f"# exercise: demo.z{i}", f"z{i}") for i in range(50)]
    grafted = run(student, master)
    assert sum("was edited" in note.text for note in grafted.notes) == 1
    assert len(grafted.notes) == 20 and "more" in grafted.notes[-1].text


@pytest.mark.parametrize(("index", "source"), [(1, "import math\nTOL = 1e-2"), (4, "K = 1.0\nprint(f(2))")])
def test_constants_in_given_cells_are_kept(student, master, index, source):
    """A given cell that was edited to define a constant is the student's own, run after the course's."""
    student.cells[index].source = source
    grafted = run(student, master)
    assert texts(grafted)["added"] == [source]
    sources = [cell.source for cell in grafted.notebook.cells]
    assert sources.index(source) == sources.index(master.cells[index].source) + 1


def test_edits_of_given_cells_are_said(student, master):
    """A given cell whose edit is left out is a note; a difference in white space is none."""
    student.cells[4].source = "print( f(3))"
    assert said(run(student, master), "1 cell", "edited")
    student.cells[4].source = "print(f(2))  \n"
    assert run(student, master).notes == ()


def test_links_pipes_and_directories(tmp_path, student, master):
    """Only a regular file is read: links, pipes, directories and absent files are one sentence each."""
    real = tmp_path / "real.ipynb"
    real.write_text(json.dumps(student))
    assert graft(real, master).unreadable == ""
    (tmp_path / "link.ipynb").symlink_to(real)
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "dir.ipynb").mkdir()
    for name, word in {"link": "link", "pipe": "regular", "dir": "regular", "none": "opened"}.items():
        assert word in graft(tmp_path / f"{name}.ipynb", master).unreadable


def test_grafting_is_stable(student, master):
    """What was grafted is read back as it was written, and grafting it again changes no text."""
    student.cells.append(code("HELP = 1", "x1"))
    del student.cells[6]
    first = run(student, master)
    read = grafted_from(first.notebook)
    assert read.notes == first.notes and read.unreadable == ""
    assert texts(run(first.notebook, master)) == texts(first)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
TEXTS = st.sampled_from([DONE_F, DONE_PAIR, STUB_F, "    return 1", "x = 1", "# exercise: demo.f", "%time f(1)", ""])
IDS = st.sampled_from(["demo-f", "demo-pair", "demo-f-check", "setup", "example", "other", ""])
CELLS = st.builds(
    lambda kind, text, grade_id, cell_id: {
        "cell_type": kind, "source": text, "id": cell_id, "metadata": {"nbgrader": {"grade_id": grade_id}},
    },
    st.sampled_from(["code", "markdown", "raw", "nonsense"]), TEXTS, IDS, IDS,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(CELLS | JSON, max_size=12), metadata=JSON)
def test_any_mixture_of_cells(master, cells, metadata):
    """Whatever cells a notebook holds, the graft is a valid notebook with exactly the master's graded cells."""
    document = {"nbformat": 4, "nbformat_minor": 2, "metadata": metadata, "cells": cells}
    grafted = graft(json.dumps(document).encode(), master)
    nbformat.validate(grafted.notebook)
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in grafted.notebook.cells]
    assert [grade_id for grade_id in ids if grade_id] == ["demo-f", "demo-f-check", "demo-pair", "demo-pair-check"]
    assert set(states(grafted)) == {"demo.f", "demo.pair"}


@given(document=JSON, number=st.integers(-1, 5))
def test_any_json(document, number):
    """Whatever JSON a file holds, it is read as a notebook or refused with a sentence."""
    for data in (document, {"nbformat": number, "cells": document, "worksheets": document}):
        with contextlib.suppress(Unreadable):
            assert isinstance(read_notebook(json.dumps(data).encode()).cells, tuple)
