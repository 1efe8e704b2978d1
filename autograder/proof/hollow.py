"""Answers that do no work: what somebody could hand in who has solved nothing.

Each written function returns a constant, an argument, or an argument with a value of a dictionary added; or it fills
an argument with 0; or it raises an exception; or its body is one line of the reference. The last line of a body is
left out, because the whole answer may stand there. A function that a written function makes, such as a kernel, is
emptied in the same ways.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from autograder.building.slicing import BEGIN, find_object, slice_exercise
from autograder.common.python_text import parse
from autograder.course import Course, Exercise

CONSTANTS = ("0", "0.0", "1", "1.0", "True", "False", '""', "()", "[]", "{}")

FUNCTIONS = ("lambda *a, **k: None", "lambda *a, **k: a[0]")
"""What is returned where a function is to be made."""

EXCEPTIONS = ("IndexError", "TypeError", "ValueError")
"""Exceptions that are raised in any case, beside those that the task names or its module imports."""

_EXCEPTION = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Iteration)\b")

_ADDED = """
rest = [each for each in [{others}] if isinstance(each, dict)]
while rest:
    each = rest.pop()
    if isinstance(each, dict):
        rest += each.values()
    else:
        try:
            return {first} + each
        except Exception:
            pass
"""
"""The first argument, and the last value in a dictionary that can be added to it."""

Body = Callable[[ast.FunctionDef], Sequence[ast.stmt]]
"""Makes the body of a function that does no work."""


def answers_without_work(course: Course, exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Answers to an exercise that do no work: each one's name, and the text of a solution cell, the stub first."""
    source = slice_exercise(course, exercise.id)
    module = parse(find_object(course.source, exercise.objects[0]).file.read_text(encoding="utf-8"))
    yield "the stub", source.stub_cell
    yield from hollow_answers(source.reference_cell, _imports(module, course.library.package))


def hollow_answers(reference: str, imports: Mapping[str, str] | None = None) -> Iterator[tuple[str, str]]:
    """Answers that do no work, in the place of a reference.

    Args:
        reference: The reference's solution cell, markers included.
        imports: For exceptions that the reference's module imports, the statement that does.

    Yields:
        A name and the text of a solution cell, each text once; first the answer that returns None.
    """
    known = set[str]()
    outer = _written(ast.parse(reference), reference)
    made = _made(outer)
    answers = [(name, _hollow(reference, body)) for name, body in _bodies(outer, _raising(reference, imports or {}))]
    raising = {f"raise {EXCEPTIONS[-1]}": f"raise {EXCEPTIONS[-1]}('no')"}
    for name, body in _bodies(made, raising) if made else ():
        answers.append((f"{name}, in the function that it makes", _hollow(reference, body, of_made=True)))
    for name, text in answers:
        if text not in known:
            known.add(text)
            yield name, text


def _bodies(functions: Sequence[ast.FunctionDef], raising: Mapping[str, str]) -> Iterator[tuple[str, Body]]:
    """The bodies of functions that do no work, each with a name."""
    yield "None", _returning("None")
    for constant in CONSTANTS:
        yield f"the constant {constant}", _returning(constant)
    for function in FUNCTIONS:
        yield function, _returning(function)
    for index in range(max((len(_parameters(each)) for each in functions), default=0)):
        yield f"argument {index + 1}", _argument(index)
    yield "argument 1 with a value of a dictionary added", _sum
    yield "argument 1 filled with 0", _filled
    for name, statement in raising.items():
        yield name, _stating(statement)
    for index in range(max((len(_lines(each)) for each in functions), default=0)):
        yield f"line {index + 1} alone", _line(index)


def _imports(module: ast.Module | None, package: str) -> dict[str, str]:
    """The exceptions that a module imports, each with the statement that does."""
    found: dict[str, str] = {}
    for node in module.body if module else ():
        if isinstance(node, ast.ImportFrom):
            origin = f"{package}.{node.module}" if node.level else node.module
            names = (each.name for each in node.names if _EXCEPTION.fullmatch(each.name))
            found |= {name: f"from {origin} import {name}" for name in names}
    return found


def _raising(reference: str, imports: Mapping[str, str]) -> dict[str, str]:
    """Statements that raise: nothing, what the task names, what its module imports, and what is raised anywhere."""
    names = dict.fromkeys([*_EXCEPTION.findall(reference), *imports, *EXCEPTIONS])
    raising = {"raise": "raise"}
    for name in names:
        above = "" if hasattr(builtins, name) else imports.get(name, "")
        raising[f"raise {name}"] = f"{above}\nraise {name}('no')"
    return raising


def _returning(value: str) -> Body:
    # Python itself refuses an __init__ that returns something.
    return lambda function: ast.parse(f"return {'None' if function.name == '__init__' else value}").body


def _argument(index: int) -> Body:
    def body(function: ast.FunctionDef) -> Sequence[ast.stmt]:
        names = _parameters(function)
        return _returning(names[min(index, len(names) - 1)] if names else "None")(function)

    return body


def _sum(function: ast.FunctionDef) -> Sequence[ast.stmt]:
    first, *others = [*_parameters(function), "None"]
    if function.name == "__init__":
        return _returning("None")(function)
    return ast.parse(_ADDED.format(first=first, others=", ".join(others))).body


def _filled(function: ast.FunctionDef) -> Sequence[ast.stmt]:
    return ast.parse(f"{_parameters(function)[0]}[:] = 0" if _parameters(function) else "pass").body


def _stating(text: str) -> Body:
    return lambda _: ast.parse(text).body


def _line(index: int) -> Body:
    def body(function: ast.FunctionDef) -> Sequence[ast.stmt]:
        lines = _lines(function)
        if index >= len(lines):
            return _returning("None")(function)
        line = lines[index]
        names = [each.id for each in line.targets if isinstance(each, ast.Name)] if isinstance(line, ast.Assign) else []
        return [line, *(_returning(names[0])(function) if names else [])]

    return body


def _lines(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function, those inside others too, that cannot be a whole answer.

    Left out are its last one, the functions that it makes, and the arithmetic that a branch returns: of a function of
    two branches, such as sigmoid, one line is right for all ordinary numbers.
    """
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    found, to_do = [], body[:-1][::-1]
    while to_do:
        each = to_do.pop()
        if not isinstance(each, ast.FunctionDef | ast.ClassDef):
            is_a_branchs_answer = isinstance(each, ast.Return) and isinstance(each.value, ast.BinOp)
            found += [] if is_a_branchs_answer else [each]
            to_do += [node for node in ast.iter_child_nodes(each) if isinstance(node, ast.stmt)][::-1]
    return found


def _written(tree: ast.Module, text: str) -> list[ast.FunctionDef]:
    """The outermost functions of a solution cell whose bodies a student writes."""
    lines = text.split("\n")
    outer: list[ast.FunctionDef] = []
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        outer += [member for member in members if isinstance(member, ast.FunctionDef)]
    # A closing marker may stand after the last statement, the opening one never does.
    return [f for f in outer if any(BEGIN in line for line in lines[f.lineno - 1 : f.end_lineno])]


def _made(functions: Sequence[ast.FunctionDef]) -> list[ast.FunctionDef]:
    """The functions inside others that these return, bare or decorated; not those that only help them."""
    found = []
    for function in functions:
        nodes = [node for each in function.body for node in ast.walk(each)]
        returned = [
            part for node in nodes if isinstance(node, ast.Return) and node.value for part in ast.walk(node.value)
        ]
        called = {id(each.func) for each in returned if isinstance(each, ast.Call)}
        names = {each.id for each in returned if isinstance(each, ast.Name) and id(each) not in called}
        found += [each for each in nodes if isinstance(each, ast.FunctionDef) and each.name in names]
    return found


def _parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args) if a.arg not in ("self", "cls")]
    rest = [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*names, *rest]


def _hollow(text: str, body: Body, *, of_made: bool = False) -> str:
    """A solution cell whose written functions, or those that they make, have another body."""
    tree = ast.parse(text)
    for function in _written(tree, text):
        made = _made([function]) if of_made else []
        for each in made or [function]:
            # Where other functions make functions, one that makes none returns nothing: else it would be right.
            each.body = list(body(each) if made or not of_made else _returning("None")(each))
    return f"{text.split(chr(10))[0]}\n{ast.unparse(tree)}"
