"""The cache of results: files below a course's `.grades`, named by a hash of everything that a result follows from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.common.files import write
from autograder.results import Graded
from autograder.sandbox import CellOutcome

Outcomes = dict[int, CellOutcome]
"""The outcomes of cells, by their index."""

Record = tuple[Graded, Outcomes]
"""One cached grading result: the exercise's `Graded`, and the cells that later exercises must not run again."""

_GRADER = Path(__file__).parents[1]


def grader_files() -> list[Path]:
    """The code that decides on points."""
    return _code_in("common", "judging", "library", "results", "sandbox")


def text_files() -> list[Path]:
    """The code that decides which text of a notebook is graded, and how much of a result is said."""
    return _code_in("building", "common", "grafting", "library", "reading", "results")


def _code_in(*folders: str) -> list[Path]:
    """Every module of some of the grader's folders: a list of single files would miss the next one."""
    return [file for folder in folders for file in sorted((_GRADER / folder).rglob("*.py"))]


def hash_files(files: Iterable[Path]) -> str:
    """One hash of what several files say, and of their names."""
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def kept_path(cache: Path, content: Mapping[str, Any]) -> Path:
    """Return the file for a result; its name is a hash of everything that the result follows from."""
    digest = content_hash(content)
    return cache / digest[:2] / f"{digest}.json"


def content_hash(content: Mapping[str, Any]) -> str:
    """A hash of plain data."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:40]


def follows_of(path: Path) -> str:
    """Return a cached result's hash of its sources, besides the submission; empty if it has none, or is damaged."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8")).get("follows", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def read_record(path: Path | None) -> Record | None:
    """A result that was kept; None if there is none or it is damaged."""
    if path is None or not path.is_file():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        ended = {
            int(index): CellOutcome(**{**data, "notes": tuple(data["notes"])})
            for index, data in record["given_up"].items()
        }
        return Graded.from_json(record["graded"]), ended
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_record(path: Path, record: Record, follows: str = "") -> None:
    """Keep a result, and a hash of what it follows from besides the submission."""
    graded, ended = record
    given_up = {str(index): asdict(outcome) for index, outcome in ended.items()}
    write(path, json.dumps({"graded": graded.as_json(), "given_up": given_up, "follows": follows}))
