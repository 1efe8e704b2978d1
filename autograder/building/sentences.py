"""The sentences that the library and the grader say to a student, found in their code: what catalogues translate.

The code has no marks around them. In the rooms that speak to students every text of at least two words is one, and of
an f-string every text with a word: ``f"got {seen}, expected {wanted}"`` is the sentence ``got {0}, expected {1}``. A
choice inside of a sentence makes several whole ones. The facts that checks are called by, and what commands say of
themselves, stand in docstrings. Words alone count where they are told: in a table, or in a constant of the type `Told`.

The grader's own are in the catalogues `reports` and `hidden`. The second has what hidden tests say: their facts, hints
and names of mistakes, and what they quote. The library, which students have, reads neither.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Formatter

from autograder.building.hints import load_hints
from autograder.building.translating import catalogue_path, faults, translation
from autograder.course import Course, CourseError
from autograder.results.because import source_of

__all__ = ["faults_of_sentences", "locale_files", "refuse_gaps", "sentences", "sentences_of_reports"]

_ROOMS = {
    "minitorch": ("working_folder/minitorch*.py", "working_folder/stricter.py", "commands/minitorch.py"),
    "checks": ("checks/*.py",),
    "messages": (
        "errors.py",
        "cli.py",
        "exercises/*.py",
        "tutor/*.py",
        "working_folder/*.py",
        "commands/*.py",
        "lab/standing.py",
    ),
}
"""The library's files that speak to students, by catalogue: a file belongs to the first that has it."""

_GRADER = Path(__file__).parents[1]

_GRADERS = {
    "reports": (
        "common/unforeseen.py", "common/wording.py", "gradebook/dates.py", "gradebook/feedback.py", "grafting/*.py",
        "judging/examples.py", "judging/judge.py", "judging/plugin.py", "judging/student.py",
        "judging/student_cells.py", "judging/watched.py", "reading/*.py", "results/__init__.py", "results/because.py",
        "results/pictures/*.py", "results/shortening.py", "sandbox/inside/cells.py", "sandbox/inside/child.py",
        "sandbox/inside/relay.py", "sandbox/inside/wire.py", "sandbox/model.py", "sandbox/session.py",
        "telling/report.py", "telling/report_diff.py",
    ),
}  # fmt: skip
"""The grader's files that speak to students. Its comparison of values says what that of the library's checks does."""

_HIDDEN = "hidden"
"""The catalogue of what hidden tests say."""

_PLACE = "\0"
"""Stands for a value."""

_WORD = re.compile(r"(?:^|(?<=[\s(\"'`]))(?:[A-Za-z][a-z']+|a)(?=$|[\s,.;:?!)\"'`])")
_NO_PROSE = re.compile(
    r"</?[a-z]+[^>]*>|[{;]\s*\n|\n\n|^#\w* |^<|^\x22{3}|^\s*[\w.]+\(.*\)$|^[a-z] = [a-z]+ \w[^,]*$|^return( [a-z])+$"
    r"|^\s*(?:from \S+ import|import|cd|minigrad|source|conda) "
)
"""HTML, styles, code, command lines, whole files."""

_HEADING = re.compile(r"(#+) (.+)")
_MISTAKE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
"""The name of a mistake, such as "upstream-forgotten"."""

_SAID_BY_TESTS = ("because", "example", "hint", "misconception", "note", "when", "word")
"""The arguments by which hidden tests say something in reports, beside their docstrings."""

_NAMED_IN_WORDS = re.compile(r"\w \w")

_NAMED = 3
"""Sentences that an error names."""

_SECTION = re.compile(r"\d\d\w? '.+'")
"""What a check calls a section of a lesson; the lesson's own catalogue has its title."""

_TELLING = frozenset({"_numbers", "_one_of", "add_row", "table_of", "told"})
"""Functions of which every argument is told."""

_UNTOLD = frozenset({"compile", "getattr", "field", "warn", "RuntimeError", "TypeError", "ValueError", "ImportError"})
"""Functions of which no argument is told. Exceptions of Python's own stay English, as the rest of the library's do."""


def sentences(course: Course) -> dict[str, list[str]]:
    """Return what the library of a course says to students, by catalogue; nothing for a library that says nothing.

    Places of values are numbered in braces; braces of the text are doubled.
    """
    if not (hints := load_hints(course)):
        return {}
    told = {"hints": [_escaped(text) for texts in hints.values() for text in texts.values()]}
    told |= _told_in(course.catalogue.parent, _ROOMS)
    told["messages"] += [_escaped(path.title) for path in course.paths.values()]
    told |= _told_in(_GRADER, _GRADERS)
    tests = [path.read_text(encoding="utf-8") for path in sorted(course.hidden.glob("test_*.py"))]
    told[_HIDDEN] = [_escaped(each) for code in tests for each in _told_by_tests(code)]
    return {catalogue: list(dict.fromkeys(each)) for catalogue, each in told.items()}


def _told_in(folder: Path, rooms: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the sentences in the files of a folder, by catalogue."""
    files, told = dict[Path, None](), {}
    for catalogue, places in rooms.items():
        mine = [path for place in places for path in sorted(folder.glob(place)) if path not in files]
        told[catalogue] = [each for path in mine for each in _told_by(path.read_text(encoding="utf-8"))]
        files |= dict.fromkeys(mine)
    return told


def faults_of_sentences(wanted: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Return what is wrong with a translation of sentences, a sentence for each fault: as `faults`, and lost places."""
    lost = [
        f"has other places in braces: {each}"
        for each in wanted
        if each in known and _places(each) != _places(known[each])
    ]
    return faults(wanted, known) + lost


def locale_files(course: Course) -> dict[Path, str]:
    """Return what the library reads in each language of the course, as JSON, by its place.

    A sentence without a translation stands there too: no other entry may be taken for it.

    Raises:
        CourseError: If a catalogue cannot be read.
    """
    found = {}
    said = {name: each for name, each in sentences(course).items() if name not in (_HIDDEN, *_GRADERS)}
    for language in course.languages if said else ():
        known = {name: translation(course, language, name) for name in said}
        content = {
            "generated": f"from {course.directory.name}/locale/{language} by `autograder build`; do not edit",
            "sentences": {each: known[name].get(each, "") for name in said for each in said[name]}
            | {english: other for name in course.lessons for english, other in _headings(course, language, name)},
        }
        place = course.catalogue.parent / "locale" / f"{language}.json"
        found[place] = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    return found


def sentences_of_reports(course: Course, language: str) -> dict[str, str]:
    """Return what a report says in a language, by the English sentences.

    Raises:
        CourseError: If a catalogue cannot be read.
    """
    known = dict[str, str]()
    for name in ("checks", *_GRADERS, _HIDDEN):
        known |= translation(course, language, name)
    return known | {english: other for name in course.lessons for english, other in _headings(course, language, name)}


def refuse_gaps(course: Course) -> None:
    """Refuse a language of the course in which a sentence is missing or stale.

    Raises:
        CourseError: If there is one; the message names the catalogue, the first sentences, and the command.
    """
    for language, (name, wanted) in itertools.product(course.languages, sentences(course).items()):
        if found := faults_of_sentences(wanted, translation(course, language, name)):
            path, first = catalogue_path(course, language, name), "; ".join(found[:_NAMED])
            raise CourseError(
                f"{path}: {len(found)} of its sentences: {first}; "
                f"`python -m book translate {language} {name}` lists them, or take {language!r} out of course.toml"
            )


def _headings(course: Course, language: str, lesson: str) -> Iterator[tuple[str, str]]:
    """Yield the title of a lesson, and its sections as checks call them, ``03 'Two paths'``, all translated."""
    number = lesson.partition("_")[0]
    for english, other in translation(course, language, lesson).items():
        both = _HEADING.fullmatch(english), _HEADING.fullmatch(other)
        if both[0] and both[1]:
            (mark, title), (_, its) = both[0].groups(), both[1].groups()
            yield (title, its) if mark == "#" else (f"{number} '{title}'", f"{number} '{its}'")


@cache
def _told_by_tests(code: str) -> tuple[str, ...]:
    """Return what the hidden tests of a module say in reports: a quotation by itself, without the place it is from."""
    module, found = ast.parse(code), list[str]()
    named = {node.targets[0].id: node.value for node in module.body
             if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}  # fmt: skip
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            found.append(" ".join((ast.get_docstring(node) or "").split("\n\n")[0].split()))
        elif isinstance(node, ast.Call) and _name(node.func) == "array":  # the name of an array in a picture
            found += filter(_NAMED_IN_WORDS.search, _texts_in(node.args[:1]))
        elif isinstance(node, ast.keyword) and node.arg in _SAID_BY_TESTS:
            value = named.get(node.value.id, node.value) if isinstance(node.value, ast.Name) else node.value
            for text in _texts_in(value.values if isinstance(value, ast.Dict) else [value]):
                is_name = node.arg == "misconception" or _MISTAKE.fullmatch(text)
                found += source_of(text)[0] if node.arg == "because" else [text.replace("-", " ") if is_name else text]
    return tuple(found)


def _texts_in(nodes: Iterable[ast.expr]) -> Iterator[str]:
    """Yield the texts that an expression chooses from."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.IfExp):
            yield from _texts_in([node.body, node.orelse])
        elif isinstance(node, ast.Tuple):
            yield from _texts_in(node.elts)


@cache
def _told_by(code: str) -> tuple[str, ...]:
    """Return the sentences in a module's code."""
    reader = _Reader()
    reader.visit(ast.parse(code))
    return tuple(reader.found)


class _Reader(ast.NodeVisitor):
    """Finds the sentences of a module, in the order of its code."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._fewest = 2  # words of a text that is told

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        said = ast.get_docstring(node) or ""
        if any(isinstance(each, ast.Call) and _name(each.func) == "visible" for each in node.decorator_list):
            self.found.append(_escaped(said.splitlines()[0]))
        elif any(isinstance(each, ast.Attribute) and _name(each.value) == "typer" for each in ast.walk(node.args)):
            self.found += [_escaped(" ".join(each.split())) for each in said.split("\n\n") if each]
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            is_told = any(_name(each) == "Told" for each in ast.walk(node.annotation))
            self._within([node.value], fewest=0 if is_told else self._fewest)

    def visit_Call(self, node: ast.Call) -> None:
        if _name(node.func) not in _UNTOLD:
            self._within([node.func, *(each.value for each in node.keywords if each.arg != "style")])
            self._within(node.args, fewest=0 if _name(node.func) in _TELLING else self._fewest)

    def visit_Dict(self, node: ast.Dict) -> None:
        self._within([each for each in node.keys if each and not isinstance(each, ast.Constant)])
        self._within(node.values, fewest=self._fewest)

    def visit_Constant(self, node: ast.Constant) -> None:
        self._note(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._note(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._note(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._note(node)

    def _within(self, nodes: Iterable[ast.AST], fewest: int = 2) -> None:
        before, self._fewest = self._fewest, fewest
        for each in nodes:
            self.visit(each)
        self._fewest = before

    def _note(self, node: ast.expr) -> None:
        """Note a text, in all its forms, and what else is said inside of it."""
        for form in _forms(node):
            words = len(_WORD.findall(form.replace(_PLACE, " ")))
            few = min(self._fewest, 1) if _PLACE in form and " " in form.strip() else self._fewest
            if (
                words >= few
                and re.search("[A-Za-z]", form)
                and not (_NO_PROSE.search(form) or _SECTION.fullmatch(form))
            ):
                self.found.append(_numbered(form))
        self._within(_values(node), fewest=2)


def _forms(node: ast.expr) -> list[str]:
    """Return what a text may say, with a mark for each value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [_marked(node.value)]
    if isinstance(node, ast.JoinedStr):
        parts = [
            _forms(each.value) if isinstance(each, ast.FormattedValue) else [_escaped(each.value)]  # type: ignore[attr-defined]
            for each in node.values
        ]
        return ["".join(each) for each in itertools.product(*parts)]
    if isinstance(node, ast.IfExp):
        return [*_forms(node.body), *_forms(node.orelse)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return ["".join(each) for each in itertools.product(_forms(node.left), _forms(node.right))]
    return [_PLACE]


def _values(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions in the places of a text."""
    if isinstance(node, ast.JoinedStr):
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                yield from _values(each.value)
    elif isinstance(node, ast.IfExp):
        yield from (*_values(node.body), *_values(node.orelse))
    elif isinstance(node, ast.BinOp):
        yield from (*_values(node.left), *_values(node.right))
    elif not isinstance(node, ast.Constant):
        yield node


def _marked(text: str) -> str:
    """Return a constant with marks where `str.format` fills it in."""
    try:
        parts = list(Formatter().parse(text))
    except ValueError:
        return _escaped(text)
    if any(name and not re.fullmatch(r"\w+", name) for _, name, _, _ in parts):
        return _escaped(text)
    return "".join(_escaped(said) + _PLACE * (name is not None) for said, name, _, _ in parts)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _numbered(form: str) -> str:
    numbers = itertools.count()
    return re.sub(f"{_PLACE}+", lambda _: f"{{{next(numbers)}}}", form)


def _places(sentence: str) -> set[str | None]:
    try:
        return {name for _, name, _, _ in Formatter().parse(sentence)} - {None}
    except ValueError:
        return {"a single brace"}


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
