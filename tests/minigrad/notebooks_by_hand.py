"""Notebooks for tests, made by hand: lessons as the course gives them out, and what a student does to them."""

import copy
import hashlib
import json


def text_id(lesson, kind, source):
    """The id that the build gives to a cell of that text."""
    return hashlib.sha256(f"{lesson}\n{kind}\n{source}\n0".encode()).hexdigest()[:12]


def markdown(source, lesson="00_fundamentals"):
    return {"cell_type": "markdown", "id": text_id(lesson, "markdown", source), "metadata": {}, "source": source}


def code(source, lesson="00_fundamentals", **metadata):
    return {
        "cell_type": "code",
        "id": text_id(lesson, "code", source),
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def exercise(id, body="    # YOUR CODE HERE\n    raise NotImplementedError()", doc="The task."):
    """The two cells of an exercise: what is to be written, and its check."""
    name, grade_id = id.rpartition(".")[2], id.replace(".", "-")
    first = code(f'# exercise: {id}\ndef {name}(x):\n    """{doc}"""\n{body}')
    first["id"], first["metadata"] = text_id("", "", grade_id), {"nbgrader": nbgrader(grade_id, solution=True)}
    second = code(f'check("{id}")')
    second["id"] = text_id("", "", f"{grade_id}-check")
    second["metadata"] = {"nbgrader": nbgrader(f"{grade_id}-check", solution=False)}
    return [first, second]


def question(name, answer="Write your answer here."):
    """The cell that takes the answer to a question."""
    cell = markdown(f"**My answer to the question `{name}`:**\n\n{answer}")
    cell["metadata"] = {"nbgrader": nbgrader(f"question-{name}", solution=True)}
    cell["id"] = text_id("", "", name)
    return cell


def nbgrader(grade_id, solution):
    return {"grade": not solution, "grade_id": grade_id, "locked": not solution, "solution": solution, "task": False}


def notebook(*cells, lesson="00_fundamentals", version="1"):
    minigrad = {"lesson": lesson, "version": version, "stamp": version}
    metadata = {"kernelspec": {"name": "python3"}, "minigrad": minigrad}
    flat = [each for cell in cells for each in (cell if isinstance(cell, list) else [cell])]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": copy.deepcopy(flat)}


def find(notebook, part):
    """The only cell whose text holds a part."""
    (cell,) = [cell for cell in notebook["cells"] if part in "".join(cell["source"])]
    return cell


def texts(notebook):
    return ["".join(cell["source"]) for cell in notebook["cells"]]


def save(path, notebook):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1))
    return path


def load(path):
    return json.loads(path.read_text())
