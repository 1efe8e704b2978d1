"""What a witness is given of a submission: all that an honest kernel needs, and nothing that could tamper with it."""

import ast
import time
from textwrap import dedent

import pytest
from places import ROOT

from autograder.common.python_text import free_names, names_bound, names_in, parse, walk
from autograder.course.answers import variants, wrong_answers
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.judging.plain_code import BUILTINS, fault_of
from autograder.judging.student_cells import solution_cell
from autograder.judging.watched import MAX_STATEMENTS, watched_cells
from autograder.sandbox import SandboxUnavailable, SourceCell, choose

KERNELS = ("fast_ops.", "cuda_ops.", "nn.kernels.")
MAP = "fast_ops.tensor_map"
SETUP = SourceCell("import numpy as np\nfrom numba import njit, prange", "setup", None, "setup cell 1")
PARALLEL = (ROOT / "course/variants/fast_ops.tensor_map/compiled_helpers.py").read_text()
SEQUENTIAL = PARALLEL.replace("prange", "range")


def added(source, number=1):
    return SourceCell(dedent(source).strip(), "added", None, f"added cell {number}")


def cut(*cells, objects=("sums.kernel",)):
    """The cells that are left, without the one that begins; the refusal."""
    ready = [SETUP, *(solution_cell("sums.kernel", dedent(c).strip()) if isinstance(c, str) else c for c in cells)]
    watched = watched_cells(ready, objects)
    return [cell.source for cell in watched.cells[2:]], watched.refusal


def test_only_what_is_needed_is_run():
    """Definitions that the answer needs stay on their lines, through helpers of other cells; the rest is gone."""
    helper = added("""
        import matplotlib.pyplot as plt
        BLOCK, SIZE = 8, 9
        def helper(x):
            return x * BLOCK
        plt.plot([1, 2])
        print("look")
        """)
    answer = "import sys\nprint(sys.path)\ndef kernel(out):\n    out[0] = helper(1.0)\nassert kernel is not None"
    (first, second), refusal = cut(helper, answer)
    assert refusal == ""
    assert first == "\nBLOCK, SIZE = 8, 9\ndef helper(x):\n    return x * BLOCK"
    assert second == "\n\ndef kernel(out):\n    out[0] = helper(1.0)"


@pytest.mark.parametrize(
    "text",
    [
        "from numba import cuda, njit, prange\n@njit(parallel=True)\ndef kernel(x):\n    for i in prange(3): x[i] = 1",
        "import numba as nb\n@nb.njit('void(float64[:])', parallel=True)\ndef kernel(x):\n    nb.prange(3)",
        "import numba\nkernel = numba.njit(parallel=True)(lambda out: None)",
        "def njit(fn, **kwargs):\n    return numba.njit(inline='always', **kwargs)(fn)\nimport numba\n"
        "from minigrad.tensor_data import to_index\nto_index = njit(to_index)\ndef kernel(out): to_index(1, out, out)",
        "def kernel(out: np.ndarray[sys.whatever], n: 'int' = 3) -> undefined:\n    x: np.float64 = 0.0",
        "def kernel(out):\n    if out.shape[0] < 1:\n        raise ValueError(f'{out.shape} (exec)')\n    print(out)",
        "try:\n    from numba import prange\nexcept ImportError:\n    prange = range\ndef kernel(out):\n    prange(3)",
        "def kernel(out):\n    match out:\n        case (1, *_) | {0: 1, **rest}: pass\n        case _: out[0] = 1",
        "def kernel(out):\n    with np.errstate(divide='ignore'):\n        out[0] = 1 if callable(kernel) else 2",
        "import functools as f\ndef loud(fn):\n    @f.wraps(fn)\n    def told(*all): return fn(*all)\n    return told\n"
        "@loud\ndef kernel(out): out[0] = 1",
        "from functools import partial, wraps\ndef loud(fn):\n    @wraps(fn)\n    def told(*all): return fn(*all)\n"
        "    return told\n@loud\ndef kernel(out): out[0] = 1",
        "%timeit 3\ndef kernel(out):\n    %timeit 4\n    out[0] = math.exp(1.0)\nimport math",
        "import sys; size = 4\ndef kernel(out): out[0] = 1",
        "def kernel(out):\n    out[0] = type(out)\ndef kernel(out):\n    out[0] = 1.0",
        "def kernel(out, input, filter=max):\n    out[:, 0] = [sum(x for x in input), *map(float, (1, 2))]",
        "for np in [3]:\n    import sys\ndef kernel(out): out[0] = np.zeros(3).sum()",
        "import sys, numpy as np\ndef kernel(out): out[0] = np.zeros(3).sum()",
    ],
)  # fmt: skip
def test_honest_manners(text):
    """What students write in kernels, and around them, is plain."""
    sources, refusal = cut(text)
    assert refusal == ""
    assert "kernel" in sources[0]
    assert "sys." not in sources[0].partition("def")[0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import sys\ndef kernel(out): sys.max()", "`import sys` in the answer to sums.kernel, line 1"),
        ("def kernel(out):\n    import gc", "`import gc` in the answer to sums.kernel, line 2"),
        ("def kernel(out):\n    from os import path", "from os import path"),
        ("from . import debug\ndef kernel(out): debug", "from . import debug"),
        ("from minigrad.debug import races\ndef kernel(out): races", "from minigrad.debug import races"),
        ("from numpy import *\ndef kernel(out): frombuffer(out)", "from numpy import *"),
        ("def kernel(out):\n    exec('1')", "`exec` in the answer to sums.kernel, line 2"),
        ("def kernel(out):\n    x = [__import__]", "`__import__`"),
        ("def helper(f): return f\n@helper(getattr)\ndef kernel(out): pass", "`getattr` in the answer to"),
        ("def kernel(out, f=vars): pass", "`vars`"),
        ("for exec in []: pass\ndef kernel(out): exec('1')", "`exec` in the answer to sums.kernel, line 2"),
        ("def kernel(out): eval('1')\ndef eval(text): pass", "`eval`"),
        ("def kernel(out): out.__class__", "`.__class__`"),
        ("def kernel(out): out._raw", "`._raw`"),
        ("def kernel(out): (i for i in out).gi_frame", "`.gi_frame`"),
        ("def kernel(out): out.ctypes", "`.ctypes`"),
        ("def kernel(out): np.lib", "`.lib`"),
        ("np.zeros = 3\nnp.ones = kernel = 3", "an assignment to .ones"),
        ("def kernel(out): np.zeros = 3", "an assignment to .zeros"),
        ("def kernel(out): __mg__", "`__mg__`"),
        ("def kernel(out, __mg__): pass", "`__mg__`"),
        ("def kernel(out):\n    global np", "`global`"),
        ("def kernel(out):\n    class Liar: pass", "`a class`"),
        ("class kernel: pass", "`a class`"),
        ("def kernel(out):\n    try:\n        out[9] = 1\n    except IndexError:\n        pass", "`try in a function`"),
        ("def kernel(out):\n    with out: pass", "`with`"),
        ("def kernel(out):\n    yield out", "`yield`"),
        ("def kernel(out):\n    with np.errstate() as state: pass", "`with`"),
        ("def kernel(out):\n    with np.errstate(call=out): pass", "`.errstate`"),
        ("def kernel(out):\n    match out:\n        case kernel(gi_frame=frame): pass", "`matchclass`"),
        ("def kernel(out):\n    match out:\n        case {**__mg__}: pass", "`__mg__`"),
        ("def kernel(out):\n    match out:\n        case np.lib: pass", "`.lib`"),
        ("import functools\nkernel = functools.wraps", "`.wraps`"),
        ("import functools\nkernel = functools.wraps(np, ('__code__',))", "`.wraps`"),
        ("import functools\nkernel = functools.wraps(np, updated=('__globals__',))", "`.wraps`"),
        ("from functools import wraps\nkernel = wraps", "`wraps`"),
        ("from functools import wraps\nkernel = wraps(np)", "`wraps`"),
        ("import functools\nkernel = functools.wraps(np)", "`.wraps`"),
        ("def kernel(out): np.errstate(divide='ignore')", "`.errstate`"),
        ("from functools import wraps as w\nkernel = w(np)", "from functools import wraps"),
        ("from functools import wraps\nkernel = wraps(np, ('__code__',))", "`wraps`"),
        ("from functools import wraps\ndef kernel(out): map(wraps, out)", "`wraps`"),
        ("def kernel(out): np.errstate", "`.errstate`"),
        ("async def kernel(out): pass", "`functiondef`"),
        ("f = lambda: type\nkernel = f", "`type`"),
        ("import sys; kernel = sys", "`import sys`"),
        ("def kernel(out): pass\nkernel = np.load", "`.load`"),
        ("for kernel in [open]: pass", "`open`"),
        ("while True:\n    import sys\n    def kernel(out): pass", "`import sys`"),
        ("def kernel(out): f'{np.lib}'", "`.lib`"),
        ("def kernel(out): [x := out.base]", "`.base`"),
        ("def kernel(out): " + "(" * 60 + "out.flags" + ")" * 60, "`.flags`"),
    ],
)  # fmt: skip
def test_what_is_not_plain(text, what):
    """A door to something else than numbers and arrays is refused, by name and line, wherever it stands."""
    sources, refusal = cut(text)
    assert sources == []
    assert what in refusal


def test_hostile_texts():
    """Deep nests, endless helpers and odd ends of lines are refused, not run into."""
    deep = "def kernel(out): " + "".join(f"x{i} = " for i in range(3)) + "-" * 4000 + "1"
    assert cut(deep)[0] in ([], [""])
    chain = "\n".join(f"def f{i}(): f{i + 1}()" for i in range(MAX_STATEMENTS + 5))
    assert f"more than {MAX_STATEMENTS:,} statements" in cut(chain, objects=("sums.f0",))[1]
    sources, refusal = cut("def kernel(out): 'a\x0cb'\n\x0cimport sys\rsys.exit()\n")
    assert refusal or "sys" not in sources[0]


def test_nothing_that_is_listed_leads_elsewhere():
    """The builtins that plain code may use neither run text, nor reach attributes, modules or scopes."""
    doors = "exec eval compile getattr setattr delattr vars globals locals type open object super memoryview dir input"
    assert not {*doors.split(), "breakpoint", "classmethod", "property", "hasattr", "__import__"} & BUILTINS
    assert fault_of(parse("x = operator.attrgetter").body[0]) == (1, ".attrgetter")


def test_every_known_answer_is_plain():
    """Variants and known-wrong answers of all kernels can be watched, and so are told apart as before."""
    course, seen = load_course(ROOT / "course"), 0
    for exercise in course.exercises.values():
        for known in (variants, wrong_answers) if _is_kernel(exercise.id) else ():
            for name, text in known(course.directory, exercise.id).items():
                cells = [SETUP, solution_cell(exercise.id, text)]
                assert watched_cells(cells, exercise.objects).refusal == "", (exercise.id, name)
                seen += 1
    assert seen > 100


def _is_kernel(exercise):
    return exercise.startswith(KERNELS) and exercise != "fast_ops.is_map"  # which watches kernels, and is none


@pytest.fixture(scope="module")
def course():
    return load_course(ROOT / "course")


@pytest.fixture(scope="module")
def judge(course):
    try:
        choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with Judge(course, shrink_seconds=0) as judge:
        yield judge


@pytest.fixture
def grade(judge, course):
    """Grade a kernel below the setup of its lesson, with cells around it."""

    def run(text, before=(), after=()):
        exercise = course.exercise(MAP)
        around = judge.around(exercise)
        return judge.grade_exercise(exercise, [*around, *before, solution_cell(MAP, text), *after])

    return run


@pytest.mark.full("kernels are compiled", share=4)
def test_experiments_around_a_kernel_cost_nothing(grade):
    """A notebook full of plots, magics, prints, failing asserts and patches keeps all points of a right kernel."""
    before = added("""
        %matplotlib inline
        import sys, numpy as np
        calls = []
        np.zeros = lambda *args, **kwargs: calls.append(args)
        sys.settrace(None)
        """)
    graded = grade(PARALLEL, [before], [added("assert tensor_map is None, 'an experiment'", 2)])
    assert graded.earned == graded.points
    assert any("an experiment" in note for note in graded.notes)


@pytest.mark.full("kernels are compiled", share=4)
def test_a_forger_is_judged_by_the_kernel_alone(grade):
    """A sequential kernel is seen to be one, whatever another cell did to who watches."""
    hook = added("""
        import builtins
        real = builtins.__import__
        def forged(name, *args, **kwargs):
            module = real(name, *args, **kwargs)
            if name == "minigrad.debug":
                module.races = None
            return module
        builtins.__import__ = forged
        """)
    graded = grade(SEQUENTIAL, [hook])
    assert {group.name: group.earned for group in graded.groups} == {
        "values": 1.5,
        "corners": 0.5,
        "parallel": 0,
        "aligned": 1,
    }
    assert "False" in graded.failures[0].reason


@pytest.mark.full("kernels are compiled", share=4)
def test_a_refusal_says_what_to_leave_out(grade):
    """What is not plain keeps the points for values, and the others are refused in one clear sentence."""
    graded = grade(PARALLEL.replace("    fn = njit()(fn)\n", "    fn = njit()(fn)\n    import sys\n"))
    assert {group.name: group.earned for group in graded.groups} == {
        "values": 1.5,
        "corners": 0.5,
        "parallel": 0,
        "aligned": 0,
    }
    assert graded.failures[0].failure == "unwatched"
    assert graded.failures[0].reason.startswith(
        "it could not be watched, because of `import sys` in the answer to fast_ops.tensor_map, line 11; what is "
        "watched may use loops, numbers, arrays"
    )


DRAFTS = (
    "def kernel(out, out): pass",
    "def kernel(out):\n    return [out := 1 for out in out]",
    "def kernel(out):\n    return [x for x in (y := out)]",
    "kernel = 1\ndef helper():\n    nonlocal y",
    f"kernel = {'9' * 5000}",
)
"""Drafts that no cell can run, so that they define nothing."""


@pytest.mark.parametrize("draft", DRAFTS, ids=lambda text: text[:40])
@pytest.mark.parametrize("is_last", [False, True])
def test_a_draft_that_no_cell_runs_counts_for_nothing(draft, is_last):
    """It ends neither the judge nor the watching of a right answer, above or below which it stands."""
    answer = "def kernel(out):\n    out[0] = 1"
    cells = [answer, added(draft)] if is_last else [added(draft), answer]
    kept, refusal = cut(*cells)
    assert (sorted(kept), refusal) == (["", answer], "")


@pytest.mark.parametrize("above", ["LARGE = {huge}\n", "def other():\n    return {huge}\nLARGE = 1\n"])
def test_a_number_without_decimal_digits_is_a_number(above):
    """A constant of 4,000 hexadecimal digits is as plain as any other."""
    text = above.format(huge="0x" + "f" * 4000) + "def kernel(out):\n    out[0] = LARGE"
    (kept,), refusal = cut(text)
    assert (kept.lstrip(), refusal) == (text if text.startswith("LARGE") else text[text.index("LARGE") :], "")


@pytest.mark.full("45,000 statements are read twice; hostile texts are read every time", share=4)
def test_a_name_that_is_bound_too_often_is_refused_before_each_place_is_looked_at():
    """Of 45,000 statements that bind it, what is one too many is not looked at."""
    cells = [added("a = 1\n" * 9000, number) for number in range(5)]
    reading = time.thread_time()
    for cell in cells:
        ast.parse(cell.source)
    begun = time.thread_time()
    _, refusal = cut(*cells, "def kernel(out):\n    out[0] = a")
    assert "more than 2,000 statements that need each other" in refusal
    assert time.thread_time() - begun < 15 * (begun - reading)


def test_annotations_need_nothing():
    """The names of types are not names that a definition needs, whether they stand outside, inside or not at all."""
    typed = "def f(x: A, *y: B, z: C = d) -> E:\n    u: F = g(x)\n    v: G\n    return u"
    bare = "def f(x, *y, z=d):\n    u = g(x)\n    return u"
    assert free_names(typed) == free_names(bare) == {"d", "g"}
    assert free_names("limit: H = d") == {"d"}


@pytest.mark.parametrize("file", sorted((ROOT / "autograder/judging").glob("*.py")), ids=lambda file: file.stem)
def test_the_shorter_walk_passes_every_name(file):
    """Leaving out what is below names and constants leaves out no name."""
    text = file.read_text()
    tree = parse(text)

    def names(nodes):
        return sorted((node.lineno, node.col_offset, node.id) for node in nodes if isinstance(node, ast.Name))

    assert names(walk(tree)) == names(ast.walk(tree))
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assert names_in(text) == (names_bound(tree), read)


@pytest.mark.full("kernels are compiled", share=16)
def test_definitions_that_need_the_rest(grade):
    """Where definitions do not work by themselves the reason is said, and the points for values stay."""
    before = "width = None\nfor place in [open]:\n    width = 3\nlimit = width + 1\n"
    graded = grade(before + PARALLEL.replace("    fn = njit()(fn)\n", "    fn = njit()(fn)\n    here = limit\n"))
    assert graded.groups[0].earned == 1.5
    assert "do not work without the rest" in graded.failures[0].reason
    assert "TypeError" in graded.failures[0].reason


@pytest.mark.full("kernels are compiled", share=16)
def test_compiled_code_reaches_nothing_but_its_arrays(grade):
    """An index beyond the end, which compiled code would follow into memory, is an error."""
    poke = "def poke(x):\n    x[5] = 1.0\n    return 1\nwidth = njit(poke)(np.zeros(9)[:1])\n"
    graded = grade(poke + PARALLEL.replace("    fn = njit()(fn)\n", "    fn = njit()(fn)\n    here = width\n"))
    assert "IndexError" in graded.failures[0].reason
