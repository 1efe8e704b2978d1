"""No module of the two packages imports itself by way of others; imports inside functions count.

The floors between the rooms stand in ARCHITECTURE.md, further contracts in pyproject.toml; `make lint` checks both.
Imports under `if TYPE_CHECKING` do not count there, nor here.
"""

import ast
import importlib.util
import re
import tomllib
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


@pytest.fixture(scope="module")
def imports():
    """Return, for each module of both packages, the modules that it imports."""
    graph = grimp.build_graph("minigrad", "autograder", exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_no_module_imports_itself_by_way_of_others(imports):
    """The modules can be put in an order in which each imports only those before it."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle of imports: {' <- '.join(error.args[1])}")


@pytest.fixture(scope="module")
def floors(root):
    """The module that reads the floors from ARCHITECTURE.md."""
    spec = importlib.util.spec_from_file_location("floors", root / "scripts" / "floors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_floors_are_read_from_the_table(floors):
    """A row has floors, lowest first; rooms of a floor know each other only where `&` joins them."""
    page = "\n## A\n| room | x |\n|---|---|\n| `a` < `b/` `c` | x |\n| `d` & `e/` | x |\n\n## B\n| `f` | x |\n"
    assert floors.floors(page, "A") == ["__main__", "d : e", "b | c", "a"]
    assert floors.floors(page, "B") == ["__main__", "f"]


@pytest.mark.parametrize(
    ("section", "row", "message"),
    [
        ("C", "| `a` | x |", "no table of rooms in a section 'C'"),
        ("A", "| `a` & `b` `c` | x |", "some rooms of a floor"),
    ],
)
def test_a_table_that_says_no_floors_is_refused(floors, section, row, message):
    """A heading without a table, and a floor of which only some rooms are joined, are errors."""
    with pytest.raises(ValueError, match=message):
        floors.floors(f"\n## A\n{row}\n", section)


def test_every_room_has_a_floor(root, floors, imports):
    """The tables name each module and folder of a package once."""
    for package, section in (("minigrad", "The library"), ("autograder", "The grader")):
        listed = [
            room for floor in floors.floors(floors.PAGE.read_text(), section) for room in re.findall(r"\w+", floor)
        ]
        rooms = {module.split(".")[1] for module in imports if module.startswith(f"{package}.")}
        assert sorted(listed) == sorted(rooms)


def test_the_top_of_the_library_is_the_syllabus(root):
    """ARCHITECTURE.md lists the modules of the exercises, by lesson, and the few beside them; there is no other."""
    course = tomllib.loads((root / "course" / "course.toml").read_text())
    top = {path.stem for path in (root / "src" / "minigrad").glob("*.py")}
    modules = dict.fromkeys(exercise["id"].partition(".")[0] for exercise in course["exercise"])
    syllabus = [module for module in modules if module in top]  # exercises of lesson 09 stand in `nn/`
    listed = re.findall(r"`(\w+)`", _the_library(root).partition("\nA room is ")[0])
    assert listed[: len(syllabus)] == syllabus
    assert set(listed) | {"__init__", "__main__", "cli"} == top


def _the_library(root):
    """The section of ARCHITECTURE.md about the library."""
    return (root / "ARCHITECTURE.md").read_text().partition("\n## The library\n")[2].partition("\n## ")[0]


EXAMPLES = ("building/hints.py", "cli.py", "commands/grade.py", "course/tables.py")
"""Modules of the grader whose help or messages show a name of minigrad's course as an example."""

HOSTILE = tuple(f"proof/attack/{name}.py" for name in ("drafts", "model", "notebooks"))
"""What is handed in against the grader: answers to exercises of minigrad, in code that makes whole notebooks of them.

`proof/attack/elsewhere.py` hands in the same in another course where that is possible.
"""

INVENTED = ("proof/demo/submissions.py",)
"""The invented class of `autograder demo`, whose mishaps are told of minigrad's first lessons."""


def test_the_grader_knows_no_course(root):
    """No module of the grader names an exercise or a lesson of minigrad's course, but for those that stand here."""
    course = tomllib.loads((root / "course" / "course.toml").read_text(encoding="utf-8"))
    names = {each["id"] for each in course["exercise"]} | {
        name for each in course["assignment"] for name in each["lessons"]
    }
    named = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)")
    files = sorted((root / "autograder").rglob("*.py"))
    knowing = {str(file.relative_to(root / "autograder")) for file in files if any(map(named.search, texts_of(file)))}
    assert knowing == {*EXAMPLES, *HOSTILE, *INVENTED}


def texts_of(file):
    """The texts and dotted names of a module's code, without its docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    homes = (ast.Module, ast.ClassDef, ast.FunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, homes) and node.body]
    docstrings = {id(each.value) for each in first if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node)
