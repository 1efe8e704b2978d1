"""The registry of manglings, continued: conflicts, halves of files, names, exports, cells of students' own, magics."""

import copy
import difflib
import io
import zipfile

import nbformat
from manglings import (
    ARITHMETIC,
    BACKPROP,
    BACKS,
    CENTRAL,
    CHAIN,
    DERIVATIVES,
    GRADIENT,
    RULE,
    as_json,
    code,
    mangling,
    place,
    replaced,
    saved,
    solution,
)
from nbconvert import HTMLExporter, PythonExporter

from autograder.grafting.grafted import slots_of

MARKS = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> second laptop"


def merged(one, other):
    """The lines of two files as git merges them: what differs stands between its marks."""
    left, right = one.splitlines(), other.splitlines()
    lines = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += left[a:b]
        else:
            lines += ["<<<<<<< HEAD", *left[a:b], "=======", *right[c:d], ">>>>>>> second laptop"]
    return "\n".join(lines) + "\n"


def two_versions(notebooks, lesson, change):
    """The file of a lesson in which git merged a notebook with a changed one."""
    other = copy.deepcopy(notebooks[lesson])
    change(other)
    return {f"{lesson}.ipynb": merged(as_json(notebooks[lesson]), as_json(other)).encode()}


# --- conflict marks -----------------------------------------------------------------------------------------------


@mangling("git's marks around execution counts and outputs", "conflict marks")
def _conflict_in_outputs(notebooks):
    def change(other):
        for number, cell in enumerate(cell for cell in other.cells if cell.cell_type == "code"):
            cell.execution_count = number
            cell.outputs = [nbformat.v4.new_output("stream", text=f"{number}\n")]

    return two_versions(notebooks, CHAIN, change)


@mangling("git's marks, one version unfinished", "only one version says something new")
def _conflict_with_stub(notebooks):
    def change(other):
        cell = solution(other, RULE)
        cell.source = cell.source.partition("\n")[0]

    return two_versions(notebooks, CHAIN, change)


@mangling("git's marks, versions that differ in a remark", "only one version says something new")
def _conflict_in_remark(notebooks):
    def change(other):
        solution(other, RULE).source += "\n# done on the train"

    return two_versions(notebooks, CHAIN, change)


@mangling("git's marks around two different answers", "conflict marks", lost={RULE: "two versions that git"})
def _conflict(notebooks):
    def change(other):
        cell = solution(other, RULE)
        cell.source = cell.source.replace("return [", "return list() or [", 1)

    return two_versions(notebooks, CHAIN, change)


@mangling("git's marks in a cell's text, one version broken", "only one version says something new")
def _conflict_in_cell(notebooks):
    cell = solution(notebooks[CHAIN], RULE)
    head, _, rest = cell.source.partition("\n")
    cell.source = head + "\n" + MARKS.format(rest, "def chain_rule(:")


@mangling("git's marks in a cell's text around different answers", lost={GRADIENT: "two versions that git"})
def _conflict_in_cell_unclear(notebooks):
    cell = solution(notebooks[DERIVATIVES], GRADIENT)
    head, _, rest = cell.source.partition("\n")
    cell.source = head + "\n" + MARKS.format(rest, rest + "\n\nprint(1)")


@mangling("git's marks in three ways, resolved by no one", "conflict marks")
def _conflict_diff3(notebooks):
    def change(data):
        lines = data.decode().replace('"execution_count": null', '"execution_count": 1', 1).split("\n")
        at = next(i for i, line in enumerate(lines) if '"execution_count": 1' in line)
        lines[at : at + 1] = ["<<<<<<< HEAD", lines[at], "||||||| base", "", "=======", lines[at], ">>>>>>> b"]
        return "\n".join(lines).encode()

    return replaced(notebooks, CHAIN, change)


@mangling("git's marks deleted, both versions left in the file", "could be read")
def _marks_deleted(notebooks):
    def change(data):
        text = data.decode()
        first = text.index('  {\n   "cell_type"', text.index('"cells"'))
        second = text.index('  {\n   "cell_type"', first + 1)
        return (text[:second] + text[first:second].replace("},", "}") + text[second:]).encode()

    return replaced(notebooks, CHAIN, change)


# --- halves of files ----------------------------------------------------------------------------------------------


@mangling("cut off behind the last exercise", "cut off", "could be read")
def _cut_late(notebooks):
    return replaced(notebooks, CHAIN, lambda data: data[: -len(data) // 25])


@mangling("cut off in the last exercise", "cut off", "could be read", lost={RULE: "no cell for this exercise"})
def _cut(notebooks):
    return replaced(notebooks, CHAIN, lambda data: data[: data.index(b"# exercise: autodiff.chain_rule") + 200])


@mangling("a comma after the last cell", "could be read")
def _trailing_comma(notebooks):
    return replaced(notebooks, CHAIN, lambda data: data.replace(b"\n ],\n", b",\n ],\n"))


@mangling("a damaged example cell in the middle", "could be read")
def _hole(notebooks):
    def change(data):
        at = data.index(b'"cell_type"', len(data) // 3)
        return data[:at] + b"\x00\x01" + data[at + 2 :]

    return replaced(notebooks, CHAIN, change)


OF_LESSON = [BACKS, ARITHMETIC, "functions.elementary", "scalar.record", "scalar.Arithmetic", RULE]
"""The exercises of the lesson 02_chain_rule."""


@mangling("an empty file", lost=dict.fromkeys(OF_LESSON, "empty"))
def _empty(notebooks):
    return replaced(notebooks, CHAIN, lambda data: b"")


# --- names and folders --------------------------------------------------------------------------------------------


def renamed(name, *said):
    """Register a submission in which a notebook has another name."""

    @mangling(f"handed in as {name!r}", *said)
    def rename(notebooks):
        return {name: as_json(notebooks.pop(BACKPROP)).encode()}


for _name in (
    "03_backprop-Copy1.ipynb",
    "03_backprop (1).ipynb",
    "Abgabe Müller - 反向传播.ipynb",
    "03_backprop.IPYNB",
    "03_backprop-checkpoint.ipynb",
    "a/b/c/03_backprop.ipynb",
    "03_backprop.ipynb.txt",
    "03_backprop.ipynb.json",
    "03_backprop",
    f"{'x' * 240}.ipynb",
):
    renamed(_name, "recognised by its cells")


@mangling("two notebooks with each other's names", "recognised by its cells")
def _names_swapped(notebooks):
    files = saved(notebooks)
    return {f"{CHAIN}.ipynb": files[f"{BACKPROP}.ipynb"], f"{BACKPROP}.ipynb": files[f"{CHAIN}.ipynb"]}


@mangling("the untouched download beside the work in a copy", "left out", "03_backprop.ipynb")
def _copy_of_work(notebooks):
    work = as_json(notebooks[BACKPROP]).encode()
    for slot in slots_of(notebooks[BACKPROP]):
        cell = notebooks[BACKPROP].cells[slot.index]
        cell.source = RELEASED[slot.exercise]
    return {"03_backprop-Copy1.ipynb": work, f"{BACKPROP}.ipynb": as_json(notebooks[BACKPROP]).encode()}


@mangling("checkpoints, caches and side files beside it")
def _side_files(notebooks):
    broken = as_json(notebooks[BACKPROP]).replace("return", "raise").encode()
    return {
        ".ipynb_checkpoints/03_backprop-checkpoint.ipynb": broken,
        "__pycache__/minigrad.pyc": b"\x00",
        "minigrad/__init__.py": b"raise SystemExit",
        "03_backprop.py": b"# exercise: mlp.SGD\nraise SystemExit",
    }


@mangling("three lessons in one notebook", "recognised by its cells")
def _one_notebook(notebooks):
    whole = notebooks.pop(DERIVATIVES)
    for lesson in (CHAIN, BACKPROP):
        whole.cells += notebooks.pop(lesson).cells
    return {"all.ipynb": as_json(whole).encode()}


# --- exports ------------------------------------------------------------------------------------------------------


@mangling("exported as a script by nbconvert", "Python script")
def _script(notebooks):
    text, _ = PythonExporter().from_notebook_node(notebooks.pop(CHAIN))
    return {f"{CHAIN}.py": text.encode()}


@mangling("exported as a script by VS Code", "Python script")
def _script_of_vs_code(notebooks):
    cells = notebooks.pop(CHAIN).cells
    marks = {"code": "# %%", "markdown": "# %% [markdown]"}
    quoted = (c.source if c.cell_type == "code" else "# " + c.source.replace("\n", "\n# ") for c in cells)
    parts = (f"{marks[c.cell_type]}\n{text}\n" for c, text in zip(cells, quoted, strict=True))
    return {"work.py": "\n".join(parts).encode()}


@mangling("exported as a script by Colab", "Python script")
def _script_of_colab(notebooks):
    cells = notebooks.pop(DERIVATIVES).cells
    texts = (c.source if c.cell_type == "code" else f'"""{c.source}"""' for c in cells)
    return {"01.py": "\n\n".join(texts).replace("\\", "\\\\").encode()}


@mangling("a script under a notebook's name", "Python script")
def _script_as_notebook(notebooks):
    text, _ = PythonExporter().from_notebook_node(notebooks.pop(CHAIN))
    return {f"{CHAIN}.ipynb": text.encode()}


@mangling("exported as a web page", "web page")
def _page(notebooks):
    text, _ = HTMLExporter().from_notebook_node(notebooks.pop(CHAIN))
    return {f"{CHAIN}.html": text.encode()}


@mangling("zipped", "recognised by its cells")
def _zipped(notebooks):
    files = {f"module1/{name}": data for name, data in saved(notebooks).items()}
    notebooks.clear()
    return {"module1.zip": zipped({**files, "__MACOSX/module1/._03_backprop.ipynb": b"\x00\x05"})}


@mangling("a zip file under a notebook's name", "recognised by its cells")
def _zip_as_notebook(notebooks):
    data = as_json(notebooks.pop(BACKPROP)).encode()
    return {f"{BACKPROP}.ipynb": zipped({f"{BACKPROP}.ipynb": data})}


@mangling("an archive of another kind", lost={CENTRAL: "work.rar", GRADIENT: "work.rar"})
def _rar(notebooks):
    del notebooks[DERIVATIVES]
    return {"work.rar": b"Rar!\x1a\x07\x00"}


def zipped(files):
    """The bytes of a zip archive."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


# --- cells of their own, magics -----------------------------------------------------------------------------------

FREE = (
    "%matplotlib inline",
    "%timeit -n 10 sum(range(10))",
    "!pip install torch",
    "?help",
    "sum?",
    "files = !ls",
    "%%bash\necho hello",
    "%%html\n<b>hello</b>",
    "from google.colab import drive\ndrive.mount('/content/drive')",
    "1/0",
    "def broken(:",
    "for _ in range(3):\n    %time _",
)


@mangling("added cells with magics, installs and mistakes")
def _added(notebooks):
    for number, text in enumerate(FREE):
        notebooks[DERIVATIVES].cells.insert(2 + 2 * number, code(text))


@mangling("magics around solutions", "magics are ignored")
def _magics(notebooks):
    for lesson, exercise, before, after in (
        (DERIVATIVES, GRADIENT, "%%time\n", ""),
        (DERIVATIVES, CENTRAL, "%%capture out\n%matplotlib inline\n", "\n!pip list\n%timeit 1 + 1\nsum?"),
    ):
        cell = solution(notebooks[lesson], exercise)
        cell.source = before + cell.source + after


@mangling("cell magics around solutions without metadata", "found by its first line")
def _magics_bare(notebooks):
    cells = notebooks[DERIVATIVES].cells
    at = place(notebooks[DERIVATIVES], GRADIENT)
    cells[at] = code("%%time\n" + cells[at].source)


@mangling("the solution in an added cell above its blanks", "found by what it defines")
def _above_the_blanks(notebooks):
    moved_out(notebooks[CHAIN], RULE, 0)


@mangling("the solution in an added cell below its blanks", "found by what it defines")
def _below_the_blanks(notebooks):
    moved_out(notebooks[CHAIN], RULE, 1)


@mangling("each function in an added cell above the blanks", "stood in 3 other cells")
def _functions_above_the_blanks(notebooks):
    cells = notebooks[CHAIN].cells
    at = place(notebooks[CHAIN], BACKS)
    _, *parts = cells[at].source.split("\ndef ")
    cells[at].source = RELEASED[BACKS]
    cells[at:at] = [code(f"def {part}") for part in parts]


@mangling("one function in an added cell above the blanks", lost={})
def _rest_in_an_added_cell(notebooks):
    cells = notebooks[CHAIN].cells
    at = place(notebooks[CHAIN], BACKS)
    head, _, rest = cells[at].source.partition("\ndef relu_back")
    cells[at].source = head
    cells.insert(at, code(f"def relu_back{rest}"))


@mangling("a helper in an added cell that stands below what needs it", "moved up")
def _helper_below(notebooks):
    cell = solution(notebooks[DERIVATIVES], GRADIENT)
    cell.source = cell.source.replace("\ndef ", "\n@counted\ndef ", 1)
    notebooks[DERIVATIVES].cells.append(code("counts = functools.Counter() if 0 else {}"))
    notebooks[DERIVATIVES].cells.append(code("def counted(function):\n    return wrap(function)\nshown = counted(abs)"))
    notebooks[DERIVATIVES].cells.append(code("def wrap(function):\n    return function"))


@mangling("a helper in an example that was edited")
def _helper_in_example(notebooks):
    at = next(i for i, c in enumerate(notebooks[DERIVATIVES].cells) if c.cell_type == "code" and i > 2)
    notebooks[DERIVATIVES].cells[at].source = "def same(value):\n    return value"
    cell = solution(notebooks[DERIVATIVES], GRADIENT)
    head, _, rest = cell.source.rpartition("return ")
    cell.source = f"{head}return same({rest})"


RELEASED: dict[str, str] = {}
"""Solution cells as they were given out; filled in by the tests."""


def moved_out(notebook, exercise, offset):
    """Put the solution, without metadata and first line, beside its cell, which gets its blanks back."""
    at = place(notebook, exercise)
    text = notebook.cells[at].source.partition("\n")[2]
    notebook.cells[at].source = RELEASED[exercise]
    notebook.cells.insert(at + offset, code(text))
