"""Marking by hand in Formgrader: what stands beside an answer, and in which order answers come.

A step of nbconvert's, `ModelAnswers`, puts the model answer, the comments of comments.toml and links to alike answers
beside each answer in words. It works on Formgrader's pages alone: feedback pages are made by the same exporter, and
their resources have no `submission_id`.

Formgrader's own order is that of random ids. `autograder marking` writes another one (`order`), section by section, in
which alike answers stand together, and Formgrader's pages lead from one to the next.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor
from traitlets import Unicode

from autograder.building.questions import is_answer, is_untouched
from autograder.common.files import write
from autograder.course import Course, CourseError
from autograder.course.classlist import read_class_list
from autograder.course.comments import Comment, read_comments
from autograder.gradebook.diagnosing import opened
from autograder.gradebook.feedback import cell_showing
from autograder.gradebook.formulas import in_mathml
from autograder.gradebook.harmless import rendered
from autograder.gradebook.nbgrader_hooks import Preprocessed
from autograder.gradebook.settings import gradebook_url
from autograder.grafting.grafted import grade_id_of
from autograder.grafting.tidying import course_of
from autograder.telling.solutions import model_answer

FEATURES = 5_000
"""Stretches of letters by which answers are compared at most, the most frequent ones of a question."""

Order = dict[str, dict[str, dict[str, list[list[str]]]]]
"""Student and nbgrader's id of the submitted notebook, by lesson, cell and section."""

_ASSETS = Path(__file__).with_name("marking.html").read_text(encoding="utf-8")


def order_file(root: Path, assignment: str) -> Path:
    """The file that holds the order of an assignment's answers: it names students, so `forget` finds it."""
    return root / "reports" / f"marking-{assignment}.json"


def write_order(course: Course, assignment: str) -> Order:
    """Order the answers of an assignment in words so that alike ones stand together, one of each group.

    Raises:
        CourseError: If the gradebook cannot be used.
    """
    classmates, found = read_class_list(course), Order()
    texts: dict[tuple[str, str, str], dict[tuple[str, str], str]] = {}
    seen = set[tuple[str, str, tuple[str, ...], str]]()
    with opened(gradebook_url(course), course.name) as gradebook:
        rows = {each.student_id: each for each in gradebook.find_assignment(assignment).submissions}
        # Of a group in several sections, or partly in none, the first one that has a section.
        for student in sorted(rows, key=lambda each: (each not in classmates.sections, each)):
            for notebook in rows[student].notebooks:
                path = course.directory / "autograded" / student / assignment / f"{notebook.name}.ipynb"
                for cell, text in _answers(path):
                    own = notebook.name, cell, classmates.members(assignment, student), text
                    if own not in seen:
                        place = notebook.name, cell, classmates.sections.get(student, "")
                        texts.setdefault(place, {})[student, notebook.id] = text
                    seen.add(own)
    for (lesson, cell, section), answers in sorted(texts.items()):
        keys = list(answers)
        ordered = [[*keys[place]] for place in alike(list(answers.values()))]
        found.setdefault(lesson, {}).setdefault(cell, {})[section] = ordered
    write(order_file(course.directory, assignment), json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return found


def _answers(path: Path) -> Iterator[tuple[str, str]]:
    """The answers in words of a graded notebook that somebody wrote, by grade id; none where it cannot be read."""
    try:
        cells = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4).cells
    except (OSError, ValueError):
        return
    for cell in cells:
        if is_answer(cell) and not is_untouched(str(cell.source)):
            yield grade_id_of(cell), str(cell.source).partition("\n")[2].strip()


def alike(texts: Sequence[str]) -> list[int]:
    """Return the places of texts in an order in which alike ones stand together.

    Texts are compared by their stretches of 2 to 4 letters, which serves every language, and grouped by average
    linkage; the order is that of the leaves of its tree.

    Args:
        texts: The texts.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage  # type: ignore[import-untyped]
    from sklearn.feature_extraction.text import TfidfVectorizer

    if len(texts) < 3 or not any(map(str.strip, texts)):
        return sorted(range(len(texts)), key=lambda place: texts[place])
    features = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), max_features=FEATURES).fit_transform(texts)
    return [int(place) for place in leaves_list(linkage(features.toarray(), "average"))]


class ModelAnswers(Preprocessor):
    """nbconvert's step that puts what a grader needs beside each answer in words, on Formgrader's pages."""

    root = Unicode(help="The course's directory.").tag(config=True)

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Preprocessed:
        """Add a cell before each answer; any page but Formgrader's stays as it is."""
        if "submission_id" in resources and any(map(is_answer, nb.cells)):
            cells = ((self._beside(cell, resources), cell) if is_answer(cell) else (cell,) for cell in nb.cells)
            nb.cells = [cell_showing(_ASSETS, "marking"), *itertools.chain.from_iterable(cells)]
        return nb, resources

    def _beside(self, cell: nbformat.NotebookNode, resources: Mapping[str, Any]) -> nbformat.NotebookNode:
        name = grade_id_of(cell)
        content = "".join(_parts(Path(self.root), name, resources))
        return cell_showing(f'<div class="mg-beside" data-cell="{escape(name)}">{content}</div>', f"beside-{name}"[:64])


def _parts(root: Path, cell: str, resources: Mapping[str, Any]) -> Iterator[str]:
    """The parts that stand beside an answer; where a file of the course is wrong, the page says so."""
    question = cell.removeprefix("question-")
    try:
        model = model_answer(course_of(root), question, resources["notebook_id"])
        shown = rendered(in_mathml(model), "{}") if model else "<p>The lesson has no model answer.</p>"
        yield f"<h4>Model answer</h4>{shown}"
        offered = [each for each in read_comments(root) if each.question in ("", question)]
        yield from _buttons(offered)
    except CourseError as error:
        yield f"<p>{escape(str(error))}</p>"
    yield _links(root, cell, resources)


def _buttons(comments: Sequence[Comment]) -> Iterator[str]:
    if comments:
        yield "<h4>Comments</h4>"
    for each in comments:
        points = f"<b>{each.points:+g}</b> ".replace("-", "\N{MINUS SIGN}") if each.points else ""
        said = f'data-points="{each.points}" data-text="{escape(each.text)}"'
        yield f'<button type="button" class="btn btn-default btn-sm" {said}>{points}{escape(each.text)}</button>'


def _links(root: Path, cell: str, resources: Mapping[str, Any]) -> str:
    """Links to the answers before and after this one in the order of likeness; nothing where none was written."""
    own = resources["submission_id"]
    try:
        found = json.loads(order_file(root, resources["assignment_id"]).read_text(encoding="utf-8"))
        sections: dict[str, list[list[str]]] = found[resources["notebook_id"]][cell]
    except (OSError, ValueError, KeyError):
        return ""
    for section, order in sections.items():
        ids = [key for _, key in order]
        if own in ids:
            place, where = ids.index(own), f" in section {section}" if section else ""
            around = {"Alike, before": place - 1, "Alike, after": place + 1}
            links = [
                f'<a href="{resources["base_url"]}/formgrader/submissions/{ids[to]}/">{escape(said)}</a>'
                for said, to in around.items()
                if 0 <= to < len(ids)
            ]
            return f"<p>{' · '.join([f'Answer {place + 1} of {len(ids)}{escape(where)}', *links])}</p>"
    return ""
