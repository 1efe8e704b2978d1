"""Attacks by texts that end what reads them: parsers, tables of symbols, comparisons, and whatever prints a text.

Each stands beside right answers, which must keep their points: such a text is left in a notebook in innocence too. It
wins if grading ends with an error, takes long, or gives fewer points than the same notebook without it.
"""

from __future__ import annotations

from collections.abc import Callable

import nbformat

from autograder.proof.attack.model import LESSON, RIGHT, RIGHT_POINTS, Attack, cells, edited

GIANT = "0x" + "f" * 4000
_KERNEL, _KERNELS = "fast_ops.tensor_map", "07_parallel_cpu"
_KERNEL_POINTS = 6.0
_KERNEL_TEXT = """
to_index = njit(inline="always")(to_index)
index_to_position = njit(inline="always")(index_to_position)
broadcast_index = njit(inline="always")(broadcast_index)


def tensor_map(fn):
    fn = njit()(fn)

    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        aligned = len(out_shape) == len(in_shape)
        if aligned:
            for axis in range(len(out_shape)):
                if out_shape[axis] != in_shape[axis] or out_strides[axis] != in_strides[axis]:
                    aligned = False
        if aligned:
            for i in prange(out.size):
                out[i] = fn(in_storage[i])
            return
        for i in prange(out.size):
            out_index = np.zeros(len(out_shape), np.int32)
            in_index = np.zeros(len(in_shape), np.int32)
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return njit(parallel=True)(_map)
"""
_SYMBOLS = "def f():\n" + "".join(f" a{k}=0\n" for k in range(2000)) + " def g(): a\n" * 1900
_TWICE = "def {name}({arg}, {arg}): pass"
Node = nbformat.NotebookNode


def _beside(name: str, tries: str, *drafts: str, above: str = "") -> Attack:
    """Cells below right answers, and a text above these in their own cell."""
    return Attack(name, tries, cells(f"{above}{RIGHT}", *drafts), honest=RIGHT_POINTS, keeps=True)


def _of_kernel(name: str, tries: str, *drafts: str, above: str = "", text: str = _KERNEL_TEXT) -> Attack:
    """The same beside a right kernel, which a witness watches once its definitions were cut out."""
    hand_in = cells(f"{above}{text}", *drafts, exercise=_KERNEL, lesson=_KERNELS)
    return Attack(name, tries, hand_in, lesson=_KERNELS, honest=_KERNEL_POINTS, keeps=True)


def _edit(name: str, tries: str, change: Callable[[Node], None]) -> Attack:
    return Attack(name, tries, edited(change, RIGHT), honest=RIGHT_POINTS, keeps=True)


def _other_cell(notebook: Node) -> Node:
    """The solution cell of another exercise; the last cell of a notebook that has none."""
    cells_of_others = (
        cell
        for cell in notebook.cells
        if cell.source.startswith("# exercise: ") and not cell.source.startswith("# exercise: operators.arithmetic")
    )
    found: Node = next(cells_of_others, notebook.cells[-1])
    return found


def _conflict(notebook: Node) -> None:
    cell = _other_cell(notebook)
    one, other = (f"{cell.source}\nLARGE = {GIANT}{digit}" for digit in "01")
    cell.source = f"<<<<<<< mine\n{one}\n=======\n{other}\n>>>>>>> theirs"


def _half_characters(notebook: Node) -> None:
    for number, text in enumerate(
        ("x = '\ud800'", "\udc80", "x = 1\x00", "\x1b]0;x\x07 = '\u202e'", "\ufeffy = 1\x0c")
    ):
        cell = nbformat.v4.new_code_cell(text, id=f"half{number}", metadata={"nbgrader": {"grade_id": "\ud800"}})
        notebook.cells.append(cell)
    notebook.cells.append(nbformat.v4.new_markdown_cell("![\ud800](attachment:\udfff.png)", id="words"))
    notebook.cells[-1]["attachments"] = {"\udfff.png": {"image/png": "\ud800"}}
    notebook.metadata["minigrad"] = {"lesson": "\ud800", "stamp": "\x00"}


def _copies(notebook: Node) -> None:
    """Later copies of the answer's cell, each of which has a tree and cannot be compiled."""
    for number in range(5):
        source = "# exercise: operators.arithmetic\n" + "\n".join(
            _TWICE.format(name=name, arg="x") for name in ("add", "mul", "neg")
        )
        notebook.cells.append(nbformat.v4.new_code_cell(source, id=f"copy{number}"))


DRAFTS: tuple[Attack, ...] = (
    _beside("draft-argument-twice", "a draft with the same argument twice", _TWICE.format(name="add", arg="x")),
    _beside(
        "draft-walrus",
        "drafts with := where a comprehension has none",
        "[add := 1 for add in [1]]",
        "def helper(d):\n    return [y for y in (z := d)]",
    ),
    _beside(
        "draft-of-giants",
        "numbers that have no decimal digits, in every place of a cell",
        f"def helper(x={GIANT}):\n    return {{{GIANT}: -{GIANT}}}",
        f"raise ValueError({GIANT})",
        f"match {GIANT}:\n    case {GIANT}: pass",
        above=f"LARGE = {GIANT}\n\n\n",
    ),
    _edit("draft-conflict", "another exercise's cell holds a conflict of git between two such numbers", _conflict),
    _edit("draft-half-characters", "half characters and controls in texts, ids and names", _half_characters),
    _edit("draft-copies", "later copies of the answer that have a tree and no code", _copies),
    _beside(
        "draft-too-deep",
        "sums, signs, attributes, brackets and branches that nest too deeply to compile",
        f"x = {'+'.join(['1'] * 12000)}",
        f"x = {'-' * 40000}1",
        f"x = a{'.b' * 12000}",
        f"x = {'(' * 5000}{')' * 5000}",
        "if a: pass\n" + "elif a: pass\n" * 3000,
        f"x = {'f(' * 150}{')' * 150}",
    ),
    _beside("draft-symbols", "four functions whose tables of symbols take seconds each", *[_SYMBOLS] * 4),
    _beside(
        "draft-of-warnings",
        "escapes, comparisons and calls of which Python warns, under a filter that makes errors of warnings",
        "import warnings\nwarnings.simplefilter('error')",
        "x = '\\d\\q'\ny = 1 is 1\nassert (x, 'y')",
        "'a'()\n[1][1, 2]\n0x1for y in x",
    ),
    _beside(
        "draft-of-long-names",
        "names of 20,000 letters, and errors that repeat them",
        f"def {'a' * 20000}(x): pass",
        f"raise KeyError({'b' * 20000})",
        f"nonlocal {'c' * 20000}",
    ),
    _beside("draft-of-magics", "thousands of lines that only IPython reads", "%x\n" * 8000, "x?\n" * 5000),
    _beside(
        "draft-of-other-ages",
        "encodings, line ends and statements of other ages and programs",
        "# -*- coding: rot13 -*-\nprint 1",
        "x = 1\x0c\ny = 2\x0b\x1c\x85\u2028\u2029z = 3",
        "from __future__ import braces",
        "exec 'x' in y; print >>f, `x`",
    ),
    _of_kernel(
        "draft-of-a-kernel", "drafts of a watched kernel that have a tree and no code, above and below it",
        _TWICE.format(name="tensor_map", arg="fn"), "def to_index(a):\n    nonlocal b", "[tensor_map := 1 for x in a]",
    ),
    _of_kernel(
        "draft-giant-of-a-kernel", "a watched kernel's module holds a number without decimal digits that it needs",
        above=f"STEP = {GIANT} % 2\n\n\n",
        text=_KERNEL_TEXT.replace("range(len(out_shape))", "range(0, len(out_shape), STEP)"),
    ),
    _of_kernel("draft-symbols-of-a-kernel", "functions beside a watched kernel that it seems to need", *[_SYMBOLS] * 3),
)  # fmt: skip


def without_draft(attack: Attack) -> Attack:
    """The same right answers without the draft, as a control: they earn what the attack must leave them."""
    if attack.lesson == LESSON:
        return Attack("no-draft", "right answers", cells(RIGHT), honest=RIGHT_POINTS, keeps=True)
    hand_in = cells(_KERNEL_TEXT, exercise=_KERNEL, lesson=_KERNELS)
    return Attack("no-draft-of-a-kernel", "a right kernel", hand_in, _KERNELS, _KERNEL_POINTS, keeps=True)
