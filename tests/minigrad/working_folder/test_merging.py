"""A new version of a lesson, merged around a student's work: nothing of theirs is lost, all of the new text comes."""

import copy
import itertools
import json
import random

import pytest
from lesson_versions import NEW, OLD, answer
from notebooks_by_hand import code, exercise, find, markdown, notebook, texts

from minigrad.exercises.reading import answer_cells
from minigrad.working_folder import merging
from minigrad.working_folder.merging import NotANotebook, dump, merge, parse


def mine():
    """The old lesson, to be worked in."""
    return copy.deepcopy(OLD)


def test_without_work_the_result_is_the_new_lesson():
    """Nobody wrote anything: all cells are those of the new lesson, in its order, and its version is noted."""
    merged = merge(mine(), NEW, OLD)
    assert texts(merged.notebook) == texts(NEW)
    assert merged.notebook["metadata"]["minigrad"]["version"] == "2"
    assert merged.kept == []


@pytest.mark.parametrize("known", [True, False], ids=["base known", "base unknown"])
def test_a_lesson_that_has_not_changed_stays(root, known):
    """Byte for byte, in each lesson of the course: also where a check stands twice, graded once."""
    paths = sorted((root / "notebooks").rglob("*.ipynb"))
    assert len(paths) > 30
    for path in paths:
        given = path.read_bytes()
        merged = merge(parse(given), parse(given), parse(given) if known else None)
        assert dump(merged.notebook) == dump(parse(given)), path


@pytest.mark.parametrize("known", [True, False], ids=["base known", "base unknown"])
def test_cells_of_one_text_keep_their_places_without_ids(root, known):
    """An editor dropped all ids; a line that stands above several exercises stays above each."""
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        given = parse(path.read_bytes())
        lost = copy.deepcopy(given)
        for cell in lost["cells"]:
            del cell["id"]
        assert texts(merge(lost, given, given if known else None).notebook) == texts(given), path


def test_an_id_that_is_no_text_is_none():
    """Another program may write what no notebook has; nothing is lost."""
    theirs = mine()
    theirs["cells"][0]["id"] = []
    assert texts(merge(theirs, NEW, None).notebook)


def test_an_answer_stays_with_its_outputs():
    """The text is the student's, and so is what running it showed; the metadata are the course's."""
    book = mine()
    written = answer(book, "operators.one")
    written["outputs"], written["execution_count"] = [{"output_type": "stream", "name": "stdout", "text": "hi"}], 7
    found = find(merge(book, NEW, OLD).notebook, "# exercise: operators.one")
    assert found["source"] == written["source"]
    assert (found["outputs"], found["execution_count"]) == (written["outputs"], 7)
    assert found["metadata"]["nbgrader"]["grade_id"] == "operators-one"


def test_a_task_that_was_reworded():
    """A stub becomes the new stub; an answer stays as it is, and that is said."""
    merged = merge(mine(), NEW, OLD)
    assert "reworded" in find(merged.notebook, "# exercise: operators.two")["source"]
    book = mine()
    written = answer(book, "operators.two")
    merged = merge(book, NEW, OLD)
    assert find(merged.notebook, "# exercise: operators.two")["source"] == written["source"]
    assert merged.kept == ["your answer, whose task was reworded: '# exercise: operators.two'"]


def test_own_cells_stay_behind_what_they_stood_behind():
    """Also at the very top, behind a cell that is reworded, and behind an answer."""
    book = mine()
    for at, text in ((10, "own last"), (5, "own 3"), (4, "own 2"), (3, "own 1"), (0, "own top")):
        book["cells"].insert(at, {**code(text), "id": text.replace(" ", "-")})
    found = texts(merge(book, NEW, OLD).notebook)
    assert found[0] == "own top"
    assert found[found.index("own 1") - 1] == "New prose."
    assert found[found.index("own 2") - 1].startswith("# exercise: operators.one")
    assert found[found.index("own 3") - 1] == 'check("operators.one")'
    assert found[found.index("own last") - 1].startswith("**My answer")
    assert len(found) == len(NEW["cells"]) + 5


def test_a_given_cell_that_the_student_changed_stays():
    """Unchanged by the course it is the student's alone; if the course replaced it, both are there, and it is said."""
    book = mine()
    find(book, "Between.")["source"] = "Between, with my notes."
    find(book, "Old prose.")["source"] = "Old prose, with my notes."
    merged = merge(book, NEW, OLD)
    found = texts(merged.notebook)
    assert "Between." not in found
    assert "Between, with my notes." in found
    assert found.index("Old prose, with my notes.") == found.index("New prose.") + 1
    assert merged.kept == ["a cell that you changed and the course has replaced: 'Old prose, with my notes.'"]


def test_a_check_that_was_changed_is_the_courses_again():
    """What a check showed stays only where it is what was run; what was written in its place stands behind it."""
    book = mine()
    find(book, 'check("operators.one")')["outputs"] = ["seen"]
    changed = next(cell for cell in book["cells"] if cell["source"] == 'check("operators.two")')
    changed["source"], changed["outputs"] = "print('2')", ["forged"]
    merged = merge(book, NEW, OLD)
    cells = {cell["source"]: cell for cell in merged.notebook["cells"]}
    assert cells['check("operators.one")']["outputs"] == ["seen"]
    assert cells['check("operators.two")']["outputs"] == cells["print('2')"]["outputs"] == []
    assert cells["print('2')"]["metadata"] == {}
    found = texts(merged.notebook)
    assert found.index("print('2')") == found.index('check("operators.two")') + 1
    assert merged.kept == ["what you wrote in a cell of the course: \"print('2')\""]
    assert texts(merge(merged.notebook, NEW, NEW).notebook) == found


def test_an_answer_to_a_question_stays():
    """Questions that a person reads are answered in Markdown."""
    book = mine()
    find(book, "My answer")["source"] = "**My answer to the question `why`:**\n\nBecause."
    assert find(merge(book, NEW, OLD).notebook, "My answer")["source"].endswith("Because.")


def test_what_was_deleted():
    """Prose that a student took out stays out; an exercise and its check come back."""
    book = mine()
    kept = [c for c in book["cells"] if c["source"] != "Between." and "operators.one" not in c["source"]]
    book["cells"] = kept
    found = texts(merge(book, NEW, OLD).notebook)
    assert "Between." not in found
    assert 'check("operators.one")' in found
    assert any(text.startswith("# exercise: operators.one") for text in found)


def test_an_exercise_that_the_course_dropped_leaves_its_answer():
    """An answer is kept even if nobody asks for it any more; a stub is not."""
    without = notebook(markdown("# Lesson"), exercise("operators.two"))
    book = mine()
    written = answer(book, "operators.one")["source"]
    found = texts(merge(book, without, OLD).notebook)
    assert written in found
    assert not any("operators.one" in text for text in texts(merge(mine(), without, OLD).notebook))


@pytest.mark.parametrize("lost", ["metadata", "ids", "both"])
def test_an_editor_that_drops_metadata_or_ids(lost):
    """Cells are known by their first line, or by their text."""
    book = mine()
    written = answer(book, "operators.one")["source"]
    book["cells"].append(code("my own"))
    for cell in book["cells"]:
        if lost != "ids":
            cell["metadata"] = {}
        if lost != "metadata":
            del cell["id"]
    found = merge(book, NEW, OLD).notebook
    assert sorted([*texts(NEW), "my own"]) == sorted(
        text if text != written else texts(OLD)[3] for text in texts(found)
    )
    ids = [cell["id"] for cell in found["cells"]]
    assert len(set(ids)) == len(ids)


def test_a_copied_cell_is_the_students():
    """The second cell of one name is kept as a cell of their own, with an id of its own."""
    book = mine()
    answer(book, "operators.one")
    second = copy.deepcopy(find(book, "# exercise: operators.one"))
    second["source"] += "  # again"
    book["cells"].insert(5, second)
    found = merge(book, NEW, OLD).notebook
    assert sum("# exercise: operators.one" in text for text in texts(found)) == 2
    assert len({cell["id"] for cell in found["cells"]}) == len(found["cells"])


def test_without_a_base_untouched_prose_is_known_by_its_id():
    """Who copied the lessons by hand gets the new text once, keeps answers, and keeps what they changed."""
    book = mine()
    written = answer(book, "operators.one")["source"]
    find(book, "The end.")["source"] = "The end, I say."
    found = texts(merge(book, NEW, None).notebook)
    assert "Old prose." not in found
    assert written in found
    assert "The end, I say." in found


def test_merging_twice_changes_nothing():
    """With the new lesson as its base, a merged notebook is up to date."""
    book = mine()
    answer(book, "operators.two")
    find(book, "Old prose.")["source"] = "Mine."
    book["cells"].insert(2, {**code("own"), "id": "own"})
    once = merge(book, NEW, OLD)
    twice = merge(parse(dump(once.notebook)), NEW, NEW)
    assert dump(twice.notebook) == dump(once.notebook)
    assert (twice.new, twice.gone, twice.kept) == (0, 0, [])


@pytest.mark.parametrize("seed", range(30))
def test_nothing_that_a_student_wrote_is_ever_lost(seed):
    """Whatever is written, changed, moved, copied and deleted: each text of theirs is in the result."""
    choose = random.Random(seed)
    book, numbers = mine(), itertools.count()
    wrote = []
    for _ in range(12):
        cells, action = book["cells"], choose.choice(["own", "change", "move", "delete", "copy"])
        at = choose.randrange(len(cells))
        if action == "own":
            text = f"own {next(numbers)}"
            cells.insert(at, {**code(text), "id": text.replace(" ", "-")})
            wrote.append(text)
        elif action == "change" and not cells[at]["source"].startswith("check("):
            cells[at]["source"] += f"\n# mine {next(numbers)}"
        elif action == "move":
            cells.insert(choose.randrange(len(cells)), cells.pop(at))
        elif action == "delete" and len(cells) > 1 and "own" not in cells[at]["source"]:
            del cells[at]
        elif action == "copy":
            cells.insert(at, copy.deepcopy(cells[at]))
    found = texts(merge(book, NEW, OLD).notebook)
    theirs = [text for text in texts(book) if text not in texts(OLD)]
    assert [text for text in theirs if text not in found] == []
    given = [text for text in texts(NEW) if text not in texts(OLD) and not text.startswith("# exercise: operators.two")]
    assert [text for text in given if text not in found] == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not a notebook"),
        (b"[]", "not a notebook"),
        (b'{"nbformat": 3, "worksheets": []}', "format 3"),
        (b'{"nbformat": 4, "cells": [{}]}', "not a notebook"),
        (b'{"nbformat": 4, "cells": [{"source": "", "cell_type": "code", "metadata": []}]}', "not a notebook"),
        (
            b'{"nbformat": 4, "cells": [{"source": "", "cell_type": "code", "metadata": {"nbgrader": "x"}}]}',
            "not a notebook",
        ),
        (b'{"nbformat": 4, "cells": [], "metadata": null}', "not a notebook"),
        (b"\xff\xfe", "not a notebook"),
    ],
)
def test_what_is_no_notebook_is_refused(content, says):
    """One sentence says what is the matter with it."""
    with pytest.raises(NotANotebook, match=says):
        parse(content)


def test_a_file_is_laid_out_as_jupyter_does_it(root):
    """Reading and writing a lesson of the course gives the same bytes."""
    content = (root / "notebooks" / "03_backprop.ipynb").read_bytes()
    assert dump(parse(content)) == content
    another_order = dict(reversed(json.loads(content).items()))
    assert dump(parse(json.dumps(another_order).encode())) == content
    assert merging.text_of({"source": ["a\n", "b"]}) == "a\nb"


def test_a_byte_order_mark(tmp_path):
    """Some editors of Windows begin a file with one; it is read over."""
    content = json.dumps(OLD).encode()
    path = tmp_path / "lesson.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + content)
    assert parse(path.read_bytes()) == parse(content)
    assert len(answer_cells(path)) == 3


@pytest.mark.parametrize(
    "written", ['check("operators.one")', ' check("operators.one")\n', "", "check('operators.one')"]
)
def test_a_check_without_words_of_the_students(written):
    """White space, and other quotes, are nothing to keep."""
    book = mine()
    find(book, 'check("operators.one")')["source"] = written
    merged = merge(book, NEW, OLD)
    assert texts(merged.notebook) == texts(NEW)
    assert merged.kept == []


def drafted(*before_and_behind):
    """The old lesson with an answer, and drafts above and below that begin with the same line."""
    book = mine()
    written = answer(book, "operators.one")
    at = book["cells"].index(written)
    above, below = ([copy.deepcopy(each)] if each else [] for each in before_and_behind)
    book["cells"][at : at + 1] = [*above, written, *below]
    return book, written["source"]


def graded(book, grade_id):
    """The texts of the cells that nbgrader knows by an id."""
    cells = book["cells"]
    return [cell["source"] for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id]


def test_a_draft_above_the_answer_does_not_become_it():
    """Where one cell carries nbgrader's id, another that begins like it is a cell of the student's own, and stays."""
    draft = {**code("# exercise: operators.one\ndef one(x):\n    return 0"), "id": "draft"}
    book, written = drafted(draft, None)
    merged = merge(book, NEW, OLD)
    assert graded(merged.notebook, "operators-one") == [written]
    found = texts(merged.notebook)
    assert found.index(draft["source"]) < found.index(written)
    assert merged.kept == []
    assert texts(merge(merged.notebook, NEW, NEW).notebook) == found


def test_of_two_cells_of_one_grade_id_the_last_one_stays_the_answer():
    """A copy in Jupyter takes the metadata along. The grader lets the last one count, and so it is after an update."""
    copied = exercise("operators.one", body="    return 3 * x")[0]
    copied["metadata"] |= {"deletable": False, "tags": ["mine"]}
    copied["outputs"] = ["seen"]
    book, written = drafted(copied, None)
    merged = merge(book, NEW, OLD)
    assert graded(merged.notebook, "operators-one") == [written]
    own = find(merged.notebook, "return 3 * x")
    assert (own["metadata"], own["outputs"]) == ({"tags": ["mine"]}, ["seen"])
    assert merged.kept == ["a second cell of operators-one, as one of your own: '# exercise: operators.one'"]
    again = merge(merged.notebook, NEW, NEW)
    assert (texts(again.notebook), again.kept) == (texts(merged.notebook), [])


def test_half_a_character_is_kept():
    """JSON may hold half of a surrogate pair, which no encoding has: it is written as JSON writes it."""
    theirs = mine()
    theirs["cells"].append(code("x = 1"))
    theirs["cells"][-1]["source"] = "x = '\ud800'"
    del theirs["cells"][-1]["id"]
    merged = merge(theirs, NEW, OLD)
    assert "x = '\ud800'" in texts(parse(dump(merged.notebook)))
