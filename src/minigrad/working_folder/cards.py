"""Cards to review by: out of a student's own lessons, and out of the known wrong answers where the course lies at hand.

A lesson has boxes that ask first and answer when they are opened: *Find the slip*, and questions to test oneself. Each
is a card. A known wrong answer to an exercise asks which of the visible checks fails. These answers lie in the course's
repository alone, never in an installed library; and only those to exercises that pass are shown.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from minigrad import exercises
from minigrad.exercises.lesson_files import lessons_in
from minigrad.exercises.marker import exercise_of, marker
from minigrad.tutor.progressing import read
from minigrad.working_folder import checking

_BOX = re.compile(r"<details>\s*<summary>.*?</summary>(.*?)</details>", re.DOTALL)
_HEADING = re.compile(r"^##+ (.*)$", re.MULTILINE)
_WRONG = Path(__file__).parents[3] / "course" / "wrong"
"""Where the known wrong answers lie beside the library in the course's repository."""


@dataclass(frozen=True)
class Card:
    """A question and its answer, as Markdown.

    Attributes:
        id: What progress knows it by.
        place: The lesson and its section, or the exercise.
        front: The question.
        back: Gives the answer. Finding it out may take a few seconds.
    """

    id: str
    place: str
    front: str
    back: Callable[[], str]


def cards(folder: Path) -> list[Card]:
    """Return the cards of the lessons in a folder that are begun: in which an exercise passes its check."""
    passing = [id for id, done in read(folder).items() if done.passed and id in exercises.catalogue()]
    begun = {exercises.get(id).lesson for id in passing}
    notebooks = {path.stem: path for path in lessons_in(folder) if path.stem in begun}
    boxes = [card for path in notebooks.values() for card in _of_boxes(path)]
    lessons = [(exercises.get(id), notebooks.get(exercises.get(id).lesson)) for id in passing]
    return boxes + [card for each, path in lessons if path for card in _of_wrong_answers(each.id, path)]


def _of_boxes(notebook: Path) -> Iterator[Card]:
    """Yield a card for each box of a lesson: what stands before it asks, in a quotation, in bold or else plainly."""
    try:
        written = json.loads(notebook.read_text(encoding="utf-8-sig"))["cells"]
        text = "\n\n".join("".join(each["source"]) for each in written if each["cell_type"] == "markdown")
    except (OSError, ValueError, LookupError, TypeError):
        return  # `minigrad check` says so of a notebook that cannot be read
    end, section = 0, ""
    for box in _BOX.finditer(text):
        before = text[end : box.start()]
        end = box.end()
        section = (_HEADING.findall(before) or [section])[-1]
        paragraphs = [each.strip() for each in re.split(r"\n\s*\n", _HEADING.split(before)[-1]) if each.strip()]
        asking = [each for start in ("> **", "**") for each in paragraphs[::-1] if each.startswith(start)]
        front = "\n\n".join(asking[:1] or paragraphs[-2:])
        name = f"{notebook.stem}/{hashlib.sha256(front.encode()).hexdigest()[:12]}"
        back = box[1].strip()
        yield Card(name, f"{notebook.stem}, {section}", front, lambda back=back: back)  # type: ignore[misc]


def _of_wrong_answers(id: str, notebook: Path) -> Iterator[Card]:
    for path in sorted((_WRONG / id).glob("*.py")):
        code = path.read_text(encoding="utf-8").split('"""', 2)[-1].strip()  # without the sentence that tells
        front = f"This answer to `{id}` is wrong. Which of its visible checks fails?\n\n```python\n{code}\n```"
        yield Card(f"{id}/{path.stem}", id, front, lambda code=code: _failing(id, code, notebook))  # type: ignore[misc]


def _failing(id: str, code: str, notebook: Path) -> str:
    """Return what the visible checks say of a wrong answer, which runs in a process of its own."""
    setup = [source for source in exercises.answer_cells(notebook) if not exercise_of(source)]
    texts = [*((source, ["setup"]) for source in setup), (f"{marker(id)}\n{code}", [])]
    cells = [{"cell_type": "code", "source": source, "metadata": {"tags": tags}} for source, tags in texts]
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, notebook.name)
        copy.write_text(json.dumps({"cells": cells}), encoding="utf-8")
        (report,) = checking.check_notebook(copy, [id]).reports
    failing = [f"- {each.title}\n  {each.reason}" for each in report.results if not each.passed]
    return "\n".join(failing) or "None of them: it takes a hidden test to see this mistake."
