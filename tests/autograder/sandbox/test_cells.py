"""Cells run as in a notebook, values come back as plain data, and what fails says so in one line."""

import math
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from small_edition import DOUBLE, LIMITS, RIGHT, added, ask, run, solution, write_edition

from autograder.sandbox import ExerciseSpec, Limits, Sandbox, SandboxUnavailable, SourceCell, pack_probe
from autograder.sandbox.inside import child, relay, wire


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One warm sandbox of the best kind that this machine has."""
    with Sandbox(write_edition(tmp_path_factory.mktemp("edition")), LIMITS) as sandbox:
        yield sandbox


def test_the_students_function_is_what_the_library_calls(box):
    """A solution is installed in the library and reached by its other functions."""
    with run(box, RIGHT) as session:
        assert session.missing == []
        assert ask(session, 21).value == 42


WATCHED_BIRTH = """
import os, time
asked = []
def began():
    global born
    born = time.monotonic()
os.register_at_fork(after_in_child=began)
def double(x):
    asked.append(x)
    return [len(asked), time.monotonic() - born]
"""


def test_a_question_finds_its_process_ready_and_nothing_of_the_last_question(box):
    """The process is forked when the answer before it is given, from the state after the cells."""
    with run(box, solution(WATCHED_BIRTH)) as session:
        for number in range(3):
            time.sleep(0.3)
            count, age = ask(session, number).value
            assert count == 1 and age >= 0.2
    assert session.events == []  # the process that waits for a fourth question is none that the cells left


def test_a_spare_that_ends_before_it_is_asked_costs_that_question_alone(box):
    """It is said how it ended, and the next question finds another process."""
    ends = "def begun():\n    if os.path.exists('end'):\n        os.unlink('end')\n        os._exit(3)\n"
    text = WATCHED_BIRTH + ends + "open('end', 'w').close()\nos.register_at_fork(after_in_child=begun)"
    with run(box, solution(text)) as session:
        assert ask(session, 1).failure.message == "the code ended its process (exit status 3)"
        assert ask(session, 1).value[0] == 1


def test_a_large_question_reaches_its_process(box):
    """A question of several megabytes is more than a pipe takes at once."""
    with run(box, solution("def double(x):\n    return len(x)")) as session:
        assert ask(session, ["x" * 1_000_000, "y", "z"]).value == 3


OPENS_ALL = """
import os
opened = []
try:
    while True:
        opened.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    for _ in range({}):
        os.close(opened.pop())
def double(x):
    return x + x
"""


def test_a_session_whose_cells_leave_too_many_files_open_is_told_so(box):
    """No process can be asked then: each question says why, as where the cells leave too many processes."""
    for free in range(4):
        with run(box, solution(OPENS_ALL.format(free))) as session:
            for _ in range(2):
                assert "no process could be started" in ask(session, 1).failure.message
    with run(box, solution(OPENS_ALL.format(4))) as session:
        assert [ask(session, number).value for number in range(3)] == [0, 2, 4]


def test_what_a_process_lost_before_it_was_asked_does_not_lengthen_its_time(monkeypatch):
    """A limit is stretched by what the question's process is kept waiting for after the question."""
    monkeypatch.setattr(child, "waited", lambda _: 60.0)
    asker = object.__new__(child.Child)
    asker.runner = SimpleNamespace(compiling=SimpleNamespace(is_possible=False))
    sleeper = subprocess.Popen(["sleep", "100"], start_new_session=True)
    begun, (asked, ask), (read, write) = time.monotonic(), os.pipe(), os.pipe()
    answer = asker._collect(child.Spare(sleeper.pid, ask, read), wire.pack({"seconds": 0.3}))
    assert answer == {"failure": ["timeout", "no answer within 0.3 s"]}
    assert time.monotonic() - begun < 3.0
    sleeper.wait()  # it has been ended and reaped
    for descriptor in (asked, ask, read, write):
        os.close(descriptor)


@pytest.mark.parametrize(
    ("does", "is_waited_for"), [("computes for 0.5", True), ("sleeps for 1.0", False), ("computes for 9.0", False)]
)
def test_the_end_of_a_session_waits_for_a_child_that_is_kept_waiting(monkeypatch, does, is_waited_for):
    """A child that has had no processor yet could not end what it kept for a question; one that sleeps is hung."""
    action, _, seconds = does.split()
    waits = "while time.monotonic() < end: pass" if action == "computes" else f"time.sleep({seconds})"
    text = f"import time\nend = time.monotonic() + {seconds}\nprint(flush=True)\n{waits}"
    ending = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
    ending.stdout.readline()
    over = object.__new__(relay.Relay)
    over.child, over.to_child = ending.pid, os.dup(0)
    monkeypatch.setattr(relay.Relay, "_takes_too_much", lambda _: False)
    monkeypatch.setattr(relay, "waited", lambda _: 0.0, raising=False)
    begun = time.monotonic()
    over._let_child_end()
    assert time.monotonic() - begun < 4.0
    try:
        assert (os.waitid(os.P_PID, ending.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None) is not is_waited_for
    except ChildProcessError:  # it has been reaped
        assert is_waited_for
    ending.kill()
    ending.wait()
    ending.stdout.close()


def test_an_exercise_that_no_cell_defines_is_missing(box):
    """An object that the cells do not define is named, and calling it answers not-done."""
    with run(box, "x = 1") as session:
        assert session.missing == ["sums.double"]
        failure = ask(session, 1).failure
        assert failure.kind == "not-done", failure


def test_an_import_from_the_library_defines_nothing(box):
    """A name imported from the library is not the student's work."""
    with run(box, "from minigrad.sums import double") as session:
        assert session.missing == ["sums.double"]


def test_a_cell_that_nests_too_deeply_has_taken_no_memory(box):
    """Python's parser calls it a MemoryError: it is an error of that cell, the same on every machine."""
    with run(box, RIGHT, added(f"x = {'-' * 40_000}1")) as session:
        assert ask(session, 21).value == 42
        (deep,) = [cell for cell in session.cells if not cell.ok]
        assert (deep.status, deep.error) == ("error", "RecursionError") and "nests too deeply" in deep.message


def test_a_stub_is_not_done(box):
    """NotImplementedError, which stubs raise, is not-done rather than an error."""
    with run(box, solution("def double(x):\n    raise NotImplementedError")) as session:
        assert ask(session, 1).failure.kind == "not-done"


REBINDS = """
    import minigrad.machine.overrides, minigrad.sums
    minigrad.machine.overrides.cut_names = lambda: frozenset()
    minigrad.sums.Adder.add = lambda self, x: x
"""


BINDINGS = (
    "pass",
    "add = Quick.add",
    "add = vars(Quick)['add']",
    "add = functools.partialmethod(Quick.add)",
    "add = functools.partialmethod(functools.partial(Quick().add))",
    "add = staticmethod(Quick().add)",
    "add = functools.lru_cache(Quick.add)",
    "add = property(Quick.add)",
)


@pytest.mark.parametrize(
    ("before", "body"), [("x = 1", body) for body in BINDINGS] + [(REBINDS, "pass"), (REBINDS, "add = Quick.add")]
)
def test_what_a_class_inherits_or_binds_is_no_answer(tmp_path, before, body):
    """A cut method that a student's class takes from the library is missing, whatever the cells change beforehand."""
    package = write_edition(tmp_path) / "minigrad"
    (package / "cut.txt").write_text("minigrad.sums.Adder.add\n")
    with (package / "sums.py").open("a") as file:
        file.write("\n\nclass Quick:\n    def add(self, x):\n        return x + 1\n\n\nclass Adder(Quick):\n    pass\n")
    text = f"import functools\nfrom minigrad.sums import Quick\nclass Adder(Quick):\n    {body}"
    cell = SourceCell(text, "solution", "sums.Adder", "sums.Adder")

    def add(mg, x):
        return mg.sums.Adder().add(x)

    with (
        Sandbox(tmp_path, LIMITS) as sandbox,
        sandbox.session([added(textwrap.dedent(before)), cell], ExerciseSpec("sums.Adder", ("sums.Adder",))) as session,
    ):
        failure = session.observe(pack_probe(add), [1]).failure
        assert failure is not None and failure.kind == "not-done"
        assert "Adder.add is not written: what the class inherits is not an answer" in failure.message


@pytest.mark.parametrize("add", ["staticmethod(one_more)", "one_more", "functools.lru_cache(one_more)"])
def test_what_a_class_binds_of_its_own_is_an_answer(tmp_path, add):
    """A method may be bound to a function that the student wrote elsewhere."""
    package = write_edition(tmp_path) / "minigrad"
    (package / "cut.txt").write_text("minigrad.sums.Adder.add\n")
    with (package / "sums.py").open("a") as file:
        file.write("\n\nclass Adder:\n    pass\n")
    text = f"import functools\ndef one_more(*args):\n    return args[-1] + 1\nclass Adder:\n    add = {add}"
    cell = SourceCell(text, "solution", "sums.Adder", "sums.Adder")

    def seen(mg, x):
        return mg.sums.Adder().add(x)

    with (
        Sandbox(tmp_path, LIMITS) as sandbox,
        sandbox.session([cell], ExerciseSpec("sums.Adder", ("sums.Adder",))) as session,
    ):
        assert session.observe(pack_probe(seen), [1]).value == 2


def test_cells_share_a_namespace_and_go_on_after_an_error(box):
    """A cell that raises is reported with its own line, and the cells after it run with what is there."""
    with run(box, "a = 2", "b = 1\nc = b / 0", added("d = a + b"), RIGHT) as session:
        assert [cell.status for cell in session.cells] == ["ok", "error", "ok", "ok"]
        failed = session.cells[1]
        assert (failed.error, failed.message, failed.line, failed.text) == (
            "ZeroDivisionError",
            "division by zero",
            2,
            "c = b / 0",
        )
        assert failed.sentence() == "added: ZeroDivisionError: division by zero (line 2: c = b / 0)"
        assert ask(session, 1).ok


def test_a_cell_that_does_not_parse_costs_itself_only(box):
    """A syntax error gives the line and the message, and the other cells run."""
    with run(box, "x = 1\ndef f(:\n    pass", RIGHT) as session:
        broken, right = session.cells
        assert (broken.status, broken.error, broken.line) == ("error", "SyntaxError", 2)
        assert broken.message == "invalid syntax"
        assert right.ok


def test_magics_are_dropped_and_named(box):
    """Lines that only IPython understands are dropped, those alone, and each leaves a note."""
    cell = "%matplotlib inline\nif True:\n    !ls\nseven = (15\n  % 8)\nprint?\nassert seven == 7"
    with run(box, cell) as session:
        outcome = session.cells[0]
        assert outcome.ok, outcome
        assert [note.split(": magics are ignored when grading: ") for note in outcome.notes] == [
            ["line 1", "%matplotlib inline"],
            ["line 3", "!ls"],
            ["line 6", "print?"],
        ]


def test_a_magic_that_is_assigned_is_dropped(box):
    """`name = !command` and `name = %magic` cost neither the cell nor what it defines."""
    cell = "files = !ls\nif True:\n    t, u = %timeit double(2)\ndef double(x):\n    return 2 * x"
    with run(box, solution(cell)) as session:
        outcome = session.cells[0]
        assert outcome.ok, outcome
        assert [note.rpartition(": ")[2] for note in outcome.notes] == ["files = !ls", "t, u = %timeit double(2)"]
        assert ask(session, 2).value == 4


def test_a_magic_inside_a_string_stays(box):
    """Text that begins with a percent sign inside a string is the student's data."""
    with run(box, 'text = """\n%d\n"""\nassert text == "\\n%d\\n"') as session:
        assert session.cells[0].ok
        assert session.cells[0].notes == ()


def test_future_imports_persist(box):
    """`from __future__` in one cell is in force in the later ones."""
    with run(box, "from __future__ import annotations", "def f(x: Nowhere): ...\nassert f.__annotations__") as session:
        assert [cell.status for cell in session.cells] == ["ok", "ok"]


def test_what_notebooks_provide_is_there_and_harmless(box):
    """display, get_ipython, check and hint exist and do nothing, also when imported from the library."""
    cell = """
    display(3)
    shell = get_ipython()
    assert shell.run_line_magic("matplotlib", "inline") is shell.system("ls") is None
    shell.events.register("post_run_cell", print)
    check("sums.double")
    hint("sums.double")
    from minigrad.checks import check
    check("sums.double")
    import minigrad.checks
    minigrad.checks.check("sums.double")
    __name__
    """
    with run(box, added(cell)) as session:
        assert session.cells[0].ok, session.cells[0]
        assert session.cells[0].output == ""


def test_input_raises_at_once(box):
    """Nobody answers input(): it says so instead of waiting. A line that asks is left out, and what it defines."""
    asks = "name = input('name? ')\nprint(name)\ndef double(x):\n    return 2 * x if x else input('x? ')"
    with run(box, solution(asks)) as session:
        said = "input() is not available when grading: nobody is there to answer"
        assert session.cells[0].notes == (
            f"line 1: left out, since it does not work when grading: name = input('name? ') ({said})",
            "line 2: left out, since it does not work when grading: print(name) (name 'name' is not defined)",
        )
        assert ask(session, 2).value == 4
        assert ask(session, 0).failure.message.startswith(f"RuntimeError: {said}")


def test_prints_are_kept_up_to_a_bound(box):
    """stdout and stderr of a cell come back with its outcome."""
    with run(box, "import sys\nprint('out')\nprint('err', file=sys.stderr)") as session:
        assert session.cells[0].output == "out\nerr\n"


def test_classes_and_sources_behave_as_in_a_module(box):
    """Dataclasses, pickling by name and inspect.getsource work on what a cell defines."""
    cell = """
    import inspect, pickle
    from dataclasses import dataclass
    @dataclass
    class Point:
        x: "int"
    assert pickle.loads(pickle.dumps(Point(2))) == Point(2)
    def area(point):
        return point.x
    assert inspect.getsource(area).startswith("def area")
    """
    with run(box, added(cell)) as session:
        assert session.cells[0].ok, session.cells[0]


def test_another_exercises_failure_does_not_cascade(box):
    """What another exercise's cell defines gives way to the library's own, also if that cell is broken."""
    uses_triple = solution("def double(x):\n    return triple(x) - x")
    for wrong in ("def triple(x):\n    return 0", "def triple(x:\n    broken"):
        with run(box, solution(wrong, "sums.triple"), uses_triple) as session:
            assert ask(session, 5).value == 10


def test_a_helper_in_an_added_cell_is_kept(box):
    """A student's own helper stays, even under the name of another exercise's object."""
    with run(box, "def triple(x):\n    return 30 * x", solution("def double(x):\n    return triple(x)")) as session:
        assert ask(session, 1).value == 30


def test_an_error_in_the_students_code_names_their_line(box):
    """A failure carries the last line of the student's own code, and the cell."""
    with run(box, solution("def double(x):\n    y = x\n    return y / 0")) as session:
        failure = ask(session, 1).failure
        assert failure.kind == "error"
        assert failure.message == ("ZeroDivisionError: division by zero (cell 'sums.double', line 3: return y / 0)")


def test_observations_do_not_see_each_other(box):
    """Each observation starts from the state after the cells."""
    with run(box, solution("seen = []\ndef double(x):\n    seen.append(x)\n    return len(seen)")) as session:
        assert [ask(session, 1).value for _ in range(3)] == [1, 1, 1]


def test_sessions_do_not_see_each_other(box):
    """A session's names, patches of the library and files are gone in the next one."""
    first = "import minigrad.sums, os\nminigrad.sums.left = 1\nopen('left', 'w').write('x')\nos.makedirs('a/b')"
    with run(box, first) as session:
        assert session.cells[0].ok, session.cells[0]
    check = "import minigrad.sums, os\nassert not hasattr(minigrad.sums, 'left')\nassert os.listdir('.') == []"
    with run(box, check) as session:
        assert session.cells[0].ok, session.cells[0]


@pytest.mark.parametrize(
    "value", [None, True, 0, -(10**900), 1.5, math.inf, -math.inf, "text \u00e9", [1, [2.0, "x"]], {"a": {"b": [1]}}]
)
def test_plain_data_goes_in_and_comes_back(box, value):
    """Arguments and values keep their exact types on both ways."""
    with run(box, solution("def double(x):\n    return x")) as session:
        seen = ask(session, value).value
        assert seen == value
        assert type(seen) is type(value)


def test_special_values_come_back(box):
    """NaN stays NaN, a tuple becomes a list, NumPy scalars become numbers and arrays stay arrays."""
    cell = """
    import numpy as np
    def double(x):
        return (float("nan"), np.float32(0.5), np.int64(3), np.bool_(True), np.arange(6.0).reshape(2, 3).T)
    """
    with run(box, solution(cell)) as session:
        nan, half, three, true, array = ask(session, 1).value
        assert math.isnan(nan)
        assert (half, three, true) == (0.5, 3, True)
        assert [type(half), type(three), type(true)] == [float, int, bool]
        assert array.dtype == np.float64
        assert array.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("return object()", "not-plain", "a value of type object"),
        ("return {1: 2}", "not-plain", "a key of type int"),
        ("return 1j", "not-plain", "a value of type complex"),
        ("class Equal(float):\n        __eq__ = lambda *_: True\n    return Equal(1)", "not-plain", "of type Equal"),
        ("import numpy as np\n    return np.array([object()])", "not-plain", "dtype object"),
        ("y = []\n    y.append(y)\n    return y", "not-plain", "nested deeper than 50"),
        ("return [0] * 300_000", "too-large", "more than 200,000 values"),
        ("return 'x' * 20_000_000", "too-large", "too large"),
        ("return 10 ** 5000", "too-large", "more than 1000 digits"),
        ("print('x' * 30_000)", "output", "more than 20,000 characters were printed"),
        ("raise SystemExit(0)", "error", "SystemExit: the code asked the interpreter to exit"),
        ("raise KeyboardInterrupt", "error", "KeyboardInterrupt"),
        ("raise BaseException('why')", "error", "BaseException: why"),
    ],
)
def test_what_is_no_answer_says_why(box, body, kind, words):
    """Each way not to answer has its kind and one sentence."""
    with run(box, solution(f"def double(x):\n    {body}")) as session:
        failure = ask(session, 1).failure
        assert failure.kind == kind, failure
        assert words in failure.message
        assert "\n" not in failure.message
        assert ask(session, 1).failure.kind == kind


def test_an_exercise_that_cannot_be_installed_fails_every_observation(box):
    """An object of the wrong sort is reported with the library's own words."""
    with run(box, solution("double = 3")) as session:
        failure = ask(session, 1).failure
        assert failure.kind == "error"
        assert "sums.double is a function; the object given for it is a int" in failure.message


def test_arguments_must_be_plain_data(box):
    """The grader's own mistake is a ValueError on its side."""
    with run(box, RIGHT) as session, pytest.raises(ValueError, match="a value of type object"):
        ask(session, object())


def test_one_session_at_a_time(box):
    """A second session while one is open is refused."""
    with run(box, RIGHT), pytest.raises(RuntimeError, match="in a session already"), run(box, RIGHT):
        pass
    with run(box, RIGHT) as session:
        assert ask(session, 1).ok


def test_a_session_that_has_ended_answers_killed(box):
    """Observing after the end is answered, not raised."""
    with run(box, RIGHT) as session:
        pass
    assert ask(session, 1).failure.kind == "killed"


def test_an_edition_that_cannot_be_imported_is_said(tmp_path):
    """A broken or missing edition is one clear sentence."""
    with pytest.raises(SandboxUnavailable, match="no edition of the library can be read at"):
        Sandbox(tmp_path, LIMITS).warm()
    broken = tmp_path / "minigrad"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise RuntimeError('broken edition')")
    with pytest.raises(SandboxUnavailable, match="does not start here: RuntimeError: broken edition"):
        Sandbox(tmp_path, LIMITS).warm()


def test_modules_can_be_preloaded(tmp_path):
    """What `preload` names is imported before the first session."""
    cell = "import sys\nassert 'colorsys' in sys.modules\nassert 'numba' not in sys.modules"
    box = Sandbox(write_edition(tmp_path), LIMITS, preload=["colorsys"])
    with box, run(box, cell) as session:
        assert session.cells[0].ok, session.cells[0]


def test_limits_are_checked():
    """An unknown or impossible limit is a ValueError that names it."""
    assert Limits.from_mapping({"cell_seconds": 3}).cell_seconds == 3
    with pytest.raises(ValueError, match="unknown limit 'cells'"):
        Limits.from_mapping({"cells": 3})
    for bad in ({"memory_mb": 0}, {"processes": 1.5}, {"cell_seconds": "3"}, {"file_mb": True}):
        with pytest.raises(ValueError, match=f"limit {next(iter(bad))} is"):
            Limits.from_mapping(bad)


def test_without_fork_the_same_answers_come(tmp_path):
    """Where a system has no fork, one process runs cells and observations, and ends with its session."""
    with Sandbox(write_edition(tmp_path), LIMITS, "none", forks=False) as sandbox:
        for _ in range(2):
            cells = [SourceCell("x = 1", "setup", None, "setup"), added("1 / 0"), RIGHT]
            with sandbox.session(cells, DOUBLE) as session:
                assert [cell.status for cell in session.cells] == ["ok", "error", "ok"]
                assert ask(session, 3).value == 6
                assert ask(session).failure.kind == "error"
        assert not sandbox.isolation.isolated


def test_a_probe_may_use_whitelisted_modules_inside(box):
    """numpy and math travel by name."""

    def observe(mg, x):
        return math.sqrt(x) + float(np.sum(np.ones(2)))

    with run(box, RIGHT) as session:
        assert session.observe(pack_probe(observe), [9.0]).value == 5.0


AWAITS = """
    import asyncio

    async def later(x):
        await asyncio.sleep(0.001)
        return x

    seven = await later(7)
    async with asyncio.timeout(1):
        eight = [each async for each in Numbers()]
    assert (seven, eight) == (7, [1, 2])
"""


def test_await_at_the_top_level(box):
    """Jupyter runs it, and so does grading; later cells go on with what was awaited, in the same event loop."""
    numbers = """
    class Numbers:
        async def __aiter__(self):
            yield 1
            yield 2
    """
    later = "assert seven == 7\nawait later(1)\ndef double(x):\n    return 2 * x"
    with run(box, numbers, AWAITS, solution(later)) as session:
        assert [(cell.status, cell.message) for cell in session.cells] == [("ok", "")] * 3
        assert ask(session, 21).value == 42


def test_an_endless_await_ends(box):
    """A cell that waits for ever has the time limit of every cell; the next one runs."""
    cell = "import asyncio\nwhile True:\n    await asyncio.sleep(0.01)"
    with run(box, cell, RIGHT) as session:
        assert [each.status for each in session.cells] == ["timeout", "ok"]
        assert ask(session, 2).value == 4


def test_asyncio_in_an_answer(box):
    """`asyncio.run` needs no socket, also while an answer is observed; sockets themselves stay refused."""
    answer = """
    import asyncio, socket

    async def doubled(x):
        one, other = await asyncio.gather(asyncio.to_thread(lambda: x), asyncio.sleep(0, x))
        return one + other

    def double(x):
        if x:
            return asyncio.run(doubled(x))
        try:
            return socket.socketpair()
        except PermissionError:
            return "refused"
    """
    with run(box, solution(answer)) as session:
        assert ask(session, 21).value == 42
        assert ask(session, 0).value == "refused"


def test_an_import_that_fails_costs_itself(box):
    """A package that is not there takes no other name and no statement below with it, and each line is named."""
    cell = """
    import json, torch_not_there as torch, math
    from minigrad.sums import triple, tripple, use_double
    from nowhere_at_all import *
    def double(x):
        assert json and math and triple(1) == 3 and use_double
        return 2 * x
    """
    with run(box, solution(cell)) as session:
        (outcome,) = session.cells
        assert outcome.ok, outcome
        assert [note.split(": left out, since it does not work when grading: ") for note in outcome.notes] == [
            ["line 1", "import torch_not_there as torch (No module named 'torch_not_there')"],
            ["line 2", outcome.notes[1].rpartition("grading: ")[2]],
            ["line 3", "from nowhere_at_all import * (No module named 'nowhere_at_all')"],
        ]
        assert "from minigrad.sums import tripple (cannot import name 'tripple'" in outcome.notes[1]
        assert ask(session, 2).value == 4


def test_what_a_missing_package_is_needed_for_is_left_out(box):
    """A line that uses a name of it, or a name of such a line, costs itself, also in a later cell."""
    first = """
    import torch_not_there as torch
    device = torch.device("cpu")
    for seed in range(3):
        torch.manual_seed(seed)
    def seeded():
        torch.manual_seed(0)
    seeded()
    """
    second = "x, y = 1, device\nprint(y)\ndef double(x):\n    return 2 * x"
    with run(box, added(first), solution(second)) as session:
        assert [cell.status for cell in session.cells] == ["ok", "ok"]
        left_out = [note.partition("grading: ")[2] for cell in session.cells for note in cell.notes]
        assert left_out == [
            "import torch_not_there as torch (No module named 'torch_not_there')",
            "device = torch.device('cpu') (name 'torch' is not defined)",
            "for seed in range(3): torch.manual_seed(seed) (name 'torch' is not defined)",
            "seeded() (name 'torch' is not defined)",
            "x, y = (1, device) (name 'device' is not defined)",
            "print(y) (name 'y' is not defined)",
        ]
        assert ask(session, 2).value == 4


@pytest.mark.parametrize(
    "lines",
    [
        "x = torch_not_there.zeros(3)",  # nothing above was left out
        "import torch_not_there as torch\nx = no_such_name",
        "import torch_not_there as torch\n@torch.compile\ndef helper(x):\n    return x",
        "import torch_not_there as torch\ndouble = torch.double",
        "import math\nmath.sqrt(-1.0)",
    ],
)
def test_other_mistakes_end_the_cell(box, lines):
    """A name that no left-out line defines ends the cell, and so does one that an answer or a function needs."""
    with run(box, solution(f"{lines}\ndef double(x):\n    return 2 * x")) as session:
        assert [cell.status for cell in session.cells] == ["error"]
        assert session.missing == ["sums.double"]


def test_a_name_that_was_left_out_is_said(box):
    """A failure in an answer, and a cell that ends, say of a lost name where it went."""
    lost = "; the line that would define it was left out"
    answer = "from tqdm_not_there import tqdm\ndef double(x):\n    return sum(x for _ in tqdm(range(2)))"
    with run(box, solution(answer), added("@tqdm\ndef f(): ...")) as session:
        assert session.cells[1].message == f"name 'tqdm' is not defined{lost}"
        assert ask(session, 2).failure.message.startswith(f"NameError: name 'tqdm' is not defined{lost} (cell ")
