"""The programs that a borrower could write: an answer whose body calls one function of the library, by a pattern."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from autograder.building.slicing import BEGIN
from autograder.proof.borrow.special import SPECIAL

TOOLS = Path(__file__).with_name("tools.py").read_text(encoding="utf-8")
INSIDE = Path(__file__).with_name("inside.py").read_text(encoding="utf-8")

NUMBERS = (
    r"(operators|functions|scalar|autodiff|derivatives|tensors|tensor_functions"
    r"|quick(\.\w+)?|backends(\.\w+)?|nn(\.\w+)?):"
)
"""The rooms, as names begin, that hold functions of numbers and tensors."""

_HELPERS = ("neg", "inv", "exp", "log", "abs", "square")
_ENGINES = ("by_scalars", "by_tensors", "by_jvp", "by_grad", "by_differences")


@dataclass(frozen=True)
class Slot:
    """One function or method that a student writes; everything else in its cell is the reference.

    Attributes:
        name: Its name in the library, such as ``functions.Log.forward``.
        cell: The reference's solution cell.
        path: Its name in the cell, such as ``Log.forward``.
        params: Its parameters.
    """

    name: str
    cell: str
    path: str
    params: tuple[str, ...]

    def answered(self, body: str) -> str:
        """The solution cell with another body in this place."""
        tree = ast.parse(self.cell)
        function = _at(tree, self.path)
        function.body = ast.parse(body).body
        return ast.unparse(tree)

    def assigned(self, value: str) -> str:
        """The solution cell with the name bound to a value instead of defined; the value can name the tools."""
        tree = ast.parse(self.cell)
        owner, _, last = self.path.rpartition(".")
        body = _at(tree, owner).body if owner else tree.body
        body[body.index(_at(tree, self.path))] = ast.parse(f"{last} = borrowed").body[0]
        return f"{_with_tools(f'borrowed = {value}')}\n{ast.unparse(tree)}"

    def borrowing(self, name: str, pattern: str) -> str:
        """The solution cell that borrows a function by a pattern."""
        return self.calling(f"C = lib({name!r})\nborrowed = {pattern}")

    def calling(self, definition: str) -> str:
        """The solution cell whose body calls the function `borrowed`, which a text above it defines with the tools."""
        return f"{_with_tools(definition)}\n{self.answered(f'return borrowed({self._passed})')}"

    @property
    def is_kernel(self) -> bool:
        """Whether each thread of a grid runs it, and it gives nothing back."""
        function = _at(ast.parse(self.cell), self.path)
        gives = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function))
        return "cuda." in ast.unparse(function) and not gives

    @property
    def asking(self) -> str:
        """The solution cell of the search: the answer is whatever stands in `builtins.candidate` then."""
        return self.answered(f"import builtins\nreturn builtins.candidate({self._passed})")

    @property
    def handed(self) -> list[str]:
        """The function's arguments, and the first value that its context has saved."""
        given = [each for each in self.params if each.isidentifier() and each not in ("self", "ctx", "cls")]
        return [*given, *(["ctx.saved_values[0]"] if "ctx" in self.params else [])]

    @property
    def _passed(self) -> str:
        return ", ".join(self.params)


def _with_tools(text: str) -> str:
    """Run a text in the namespace of the tools: a student's `map` and `sum` are not theirs.

    Python can find the text, as that of a cell: whoever follows the threads of a kernel rewrites it.
    """
    return f"""import linecache
text_of_tools = {f"{TOOLS}{chr(10)}{text}{chr(10)}"!r}
linecache.cache["<tools>"] = (len(text_of_tools), None, text_of_tools.splitlines(True), "<tools>")
tools = {{}}
exec(compile(text_of_tools, "<tools>", "exec"), tools)
borrowed = tools["borrowed"]"""


def _at(tree: ast.Module, path: str) -> ast.FunctionDef | ast.ClassDef:
    body: list[ast.stmt] = tree.body
    for name in path.split("."):
        found = next(n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == name)
        body = found.body
    return found


def slots_of(objects: tuple[str, ...], cell: str) -> Iterator[Slot]:
    """The places of a solution cell where a student writes."""
    tree, lines = ast.parse(cell), cell.split("\n")
    modules = {dotted.rpartition(".")[2]: dotted.rpartition(".")[0] for dotted in objects}
    for node in tree.body:
        for member in node.body if isinstance(node, ast.ClassDef) else [node]:
            is_written = isinstance(member, ast.FunctionDef) and any(
                BEGIN in line for line in lines[member.lineno - 1 : member.end_lineno]
            )
            if not is_written or not isinstance(node, ast.ClassDef | ast.FunctionDef):
                continue
            assert isinstance(member, ast.FunctionDef)
            path = member.name if member is node else f"{node.name}.{member.name}"
            arguments = member.args
            params = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            starred = [f"*{arguments.vararg.arg}"] if arguments.vararg else []
            keywords = [f"{each.arg}={each.arg}" for each in arguments.kwonlyargs]
            plain = params[: len(params) - len(arguments.kwonlyargs)]
            yield Slot(f"{modules[node.name]}.{path}", cell, path, (*plain, *starred, *keywords))


def patterns(slot: Slot) -> list[tuple[str, list[int], str]]:
    """Sources of functions of a slot's parameters, in which `C` is a function of the library.

    Beside each stand the numbers of arguments that it gives to `C`, as far as the text tells, and the rooms whose
    functions it is for: what composes functions of numbers is for these alone.
    """
    own = [each.partition("=")[0] for each in slot.params]
    head = ", ".join(own)
    bare = [each for each in own if each not in ("self", "ctx", "cls")]
    values = [each for each in bare if not each.startswith("*")]
    found = dict.fromkeys(_expressions(own, bare, values, slot), "")
    found.update((each, NUMBERS) for each in (_of_numbers(values) if values else ()) if each not in found)
    like = ", ".join(bare)
    sources = {
        f"lambda {head}: like({each}, {like})" if bare else f"lambda {head}: {each}": found[each] for each in found
    }
    return [(each, _counts(each), rooms) for each, rooms in sources.items()]


def _counts(source: str) -> list[int]:
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    calls = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "C" and not node.keywords]
    return sorted({len(node.args) for node in calls if not any(isinstance(a, ast.Starred) for a in node.args)})


def special(slot: Slot) -> Iterator[tuple[str, str]]:
    """Programs for one slot that follow no pattern, by name."""
    yield from SPECIAL.get(slot.name, {}).items()


def _expressions(own: list[str], bare: list[str], values: list[str], slot: Slot) -> Iterator[str]:
    calls = _calls(own, bare, values)
    if any("=" in each for each in slot.params):
        calls.insert(1, [each for each in slot.params if each not in ("self", "ctx")])
    yield from (f"C({', '.join(each)})" for each in calls)
    for wrap in ("tensors", "arrays", "scalars"):
        yield from (f"C({', '.join(_wrapped(each, wrap))})" for each in calls)
    context = 'lib("autodiff:Context")()'
    for each in calls[:6]:
        yield f"C.apply({', '.join(each)})"
        yield f"C.forward({', '.join([context, *each])})"
        yield from (f"C({', '.join(each)})[{index}]" for index in (0, 1, -1))
        yield f"list(C({', '.join(each)}))"
    yield from (f"C()({', '.join(each)})" for each in calls[:3])
    if values:
        yield from _of_lists(values)
        yield from _of_functions(values)
    yield from _of_slopes(own, values, slot)


def _calls(own: list[str], bare: list[str], values: list[str]) -> list[list[str]]:
    """Lists of arguments: all of them, some of them, in every order."""
    found = [own, bare]
    if len(bare) <= 3:
        found += [list(each) for each in permutations(bare)]
    found += [bare[:-1], bare[1:], *([each] for each in values)]
    if "ctx" in own:
        saved = "*ctx.saved_values"
        found += [[*bare, saved], [saved, *bare], ["ctx", *bare]]
    return [each for number, each in enumerate(found) if each and each not in found[:number]]


def _wrapped(call: list[str], wrap: str) -> list[str]:
    return [
        f"*map({wrap}, {each[1:]})" if each.startswith("*") else each if "=" in each else f"{wrap}({each})"
        for each in call
    ]


def _of_lists(values: list[str]) -> Iterator[str]:
    first = values[0]
    yield f"[C(x) for x in {first}]"
    yield f"[C(*z) for z in zip({', '.join(values)})]"
    for start in ("", ", 0.0", ", 1.0"):
        yield f"functools.reduce(C, {first}{start})"
    if len(values) > 1:
        yield f"[C({values[1]}, x) for x in {first}]"
        yield f"[C(x) for x in {values[1]}]"


def _of_numbers(values: list[str]) -> Iterator[str]:
    first = values[0]
    for constant in ("0.0", "1.0", "-1.0", "math.e"):
        yield from (f"C({first}, {constant})", f"C({constant}, {first})")
        yield from (f"C(arrays({first}), {constant})", f"C(tensors({first}), {constant})")
    yield from (f"C({first}, {first})", f"C({first}, {first}, 0.0)", f"C({first}, 0.0, {first})")
    if len(values) > 2:
        return
    inner = ", ".join(values)
    for helper in _HELPERS:
        d = f'lib("operators:{helper}")'
        yield from (f"{d}(C({inner}))", f"C({', '.join(f'{d}({v})' for v in values)})")
        yield from (f"{d}(C({', '.join(f'{d}({v})' for v in values)}))", f"{d}(C({inner}, 0.0))")
        if len(values) == 2:
            a, b = values
            yield from (f"C({a}, {d}({b}))", f"C({d}({a}), {b})", f"C({a}) * {d}({b})")
    if len(values) == 2:
        a, b = values
        yield from (
            f"C(C({a}, {b}), 0.0)",
            f"1.0 - C({a}, {b})",
            f"1.0 - C({b}, {a})",
            f"C({a}) * {b}",
            f"C({a}) / {b}",
        )
        yield from (f"{b} / C({a})", f"C({a}, {b}) * C({b}, {a})", f"float(C({a}, {b}))")
    yield from (f"1.0 - C({inner})", f"-C({inner})", f"1.0 / C({inner})", f"float(C({inner}))")


def _of_functions(values: list[str]) -> Iterator[str]:
    first = values[0]
    yield f"functools.partial(C, {first})"
    yield f"lambda *z: like(C({first}, *z), *z)"
    yield f"lambda *z: list(C({first}, *z))"
    yield f"lambda *z: C({', '.join(values)})(*z)"
    yield f"lambda z: [C({first})(x) for x in z]"
    if len(values) > 1:
        yield f"C({first})({', '.join(values[1:])})"
        yield f"C({', '.join(values[1:])})({first})"
        yield f"lambda z: C({first}, z, {', '.join(values[1:])})"


def _of_slopes(own: list[str], values: list[str], slot: Slot) -> Iterator[str]:
    """Yield calls of the engines that differentiate, for the slope of a function."""
    if "ctx" in own and values:
        yield from (f"{engine}(C, {values[0]}, *ctx.saved_values)" for engine in _ENGINES)
    elif slot.path.endswith("_back"):
        yield from (f"{engine}(C, {values[1]}, {values[0]})" for engine in _ENGINES)
    elif values and values[0] in ("f", "fn", "function"):
        rest = ", ".join(f"*{each}" if f"*{each}" in own else each for each in values[1:2]) or "*vals"
        yield from (f"{engine}({values[0]}, 1.0, {rest})" for engine in _ENGINES)
