"""What a student's code may try, in every isolation that this machine has: contained, told in one sentence, and over.

Each test ends with a session that works, so nothing survives the one before it.
"""

import gc
import os
import re
import subprocess
import time
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from small_edition import (
    DAEMONS,
    ISOLATED,
    LIMITS,
    RIGHT,
    added,
    ask,
    available,
    outcome_of,
    run,
    solution,
    works,
    write_edition,
)

from autograder.sandbox import Sandbox, pack_probe
from autograder.sandbox.gvisor import runsc
from autograder.sandbox.inside import cells
from autograder.sandbox.inside.patience import MOST


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small library."""
    return write_edition(tmp_path_factory.mktemp("edition"))


@pytest.fixture(scope="module", params=available(ISOLATED))
def jail(request: pytest.FixtureRequest, edition: Path) -> Iterator[Sandbox]:
    """A warm sandbox of each kind that isolates."""
    with Sandbox(edition, LIMITS, request.param) as box:
        yield box


@pytest.fixture(scope="module", params=available((*ISOLATED, "none")))
def any_box(request: pytest.FixtureRequest, edition: Path) -> Iterator[Sandbox]:
    """A warm sandbox of each kind, the one that does not isolate as well: limits and containment hold there too."""
    with Sandbox(edition, LIMITS, request.param) as box:
        yield box


@pytest.fixture(scope="module")
def best(edition: Path) -> Iterator[Sandbox]:
    """A warm sandbox of the kind that is used on this machine."""
    with Sandbox(edition, LIMITS) as box:
        yield box


def assert_contained(box: Sandbox, source: str, status: str, sentence: str) -> None:
    """Assert how a hostile cell ends, and that the answer beside it keeps its points."""
    outcome = outcome_of(box, source)
    assert re.fullmatch(status, outcome.status), outcome
    assert re.search(sentence, outcome.sentence()), outcome
    assert "\n" not in outcome.sentence()


# Both frames in one write: between two of them the question could come, which the second would then answer.
AHEAD = """
import json, os, sys
frame = sys._getframe()
while type(frame.f_locals.get("self")).__name__ != "Child":
    frame = frame.f_back
child = frame.f_locals["self"]
reply = child._reply
def reply_and_answer(payload):
    if "missing" not in payload:
        return reply(payload)
    frames = b""
    for each in (payload, {"value": True}):
        said = json.dumps(each).encode()
        frames += len(said).to_bytes(4, "big") + said
    os.write(child.writes, frames)
child._reply = reply_and_answer
def double(x):
    return x + x
"""


def test_a_cell_that_is_left_out_pays_for_no_forged_answer(best):
    """The session runs again without the cell that ended it, and may say as much less."""
    with run(best, added("import os\nos._exit(1)"), solution(AHEAD)) as session:
        assert ask(session, 4).value is None
    assert any("it forged an answer" in event for event in session.events)
    assert works(best)


@pytest.mark.full("cells that strain the system, in each kind of sandbox", share=32)
@pytest.mark.parametrize(
    ("source", "status", "sentence"),
    [
        ("sum(range(10**12))", "timeout", "did not end within 0.4 s"),
        ("import os\nos._exit(3)", "killed", r"the code ended the session's process \(exit status 3\)"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "killed", "ended by signal 9"),
        ("import ctypes\nctypes.string_at(0)", "killed", "ended by signal 11"),
        ("import os\nos.closerange(0, 256)", "killed", "gone|closed its pipes|exit status"),
        ("for _ in range(100):\n    print('x' * 10**6)", "output", "more than 20,000 characters"),
        ("x = bytearray(3 * 10**9)", "memory", "asked for more memory than it may have"),
        ("import numpy\nx = numpy.ones(4 * 10**8)", "memory|error", "(?i)memory"),
        ("with open('f', 'wb') as f:\n    f.write(b'x' * 5 * 2**20)", "error", "OSError"),
    ],
)
def test_a_cell_that_strains_the_system_costs_itself_only(any_box, source, status, sentence):
    """Time in C, ended processes, memory, files and output are bounded in every kind of isolation."""
    assert_contained(any_box, source, status, sentence)


@pytest.mark.parametrize(
    ("source", "status", "sentence"),
    [
        ("while True:\n    pass", "timeout", r"did not end within 0.4 s \(line \d: "),
        ("import time\ntime.sleep(60)", "timeout", r"did not end within 0.4 s \(line 2: time.sleep\(60\)\)"),
        ("while True:\n    try:\n        pass\n    except BaseException:\n        pass", "timeout", "0.4 s"),
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "timeout", "0.4 s"),
        ("while True:\n    try:\n        print('x' * 1000)\n    except BaseException: pass", "output|timeout", ""),
        ("raise SystemExit", "error", "the code asked the interpreter to exit"),
        ("exit = quit = None\nimport sys\nsys.exit(1)", "error", "SystemExit"),
        ("raise KeyboardInterrupt", "error", "KeyboardInterrupt"),
        ("class Own(BaseException): pass\nraise Own('mine')", "error", "Own: mine"),
        ("class Rude(Exception):\n    def __str__(self): raise SystemExit\nraise Rude", "error", "Rude"),
        ("raise ValueError('a\\nb' * 10**6)", "error", "ValueError: a ba b"),
        ("def f(): f()\nf()", "error", "RecursionError"),
    ],
)
def test_a_cell_that_strains_python_costs_itself_only(best, source, status, sentence):
    """Endless loops, exits and odd exceptions end their own cell with a sentence."""
    assert_contained(best, source, status, sentence)


@pytest.mark.parametrize(
    "source",
    [
        "import builtins\nbuiltins.len = builtins.isinstance = builtins.type = builtins.print = None",
        "import json\njson.dumps = json.loads = None\njson.JSONEncoder.encode = None",
        "import os\nfor name in dir(os):\n    setattr(os, name, None)",
        "import struct, select, signal\nstruct.Struct = select.select = signal.setitimer = None",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.settrace(lambda *a: 1/0)\nsys.setrecursionlimit(50)",
        "import gc\n[each.clear() for each in gc.get_objects() if type(each) is dict and '__name__' in each]",
    ],
)
def test_a_vandalised_interpreter_ends_with_its_session(any_box, source):
    """Redefining what everything stands on spoils at most the student's own session."""
    with run(any_box, source, RIGHT) as session:
        assert len(session.cells) == 2
        seen = ask(session, 4)
        assert seen.ok or seen.failure.message
    assert works(any_box)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("sum(range(10**12))", "timeout"),
        ("import time; time.sleep(60)", "timeout"),
        ("import os; os._exit(0)", "killed"),
        ("import os; os.abort()", "killed"),
        ("import os; os.closerange(0, 256)", "killed|error"),
        ("bytearray(3 * 10**9)", "memory"),
        ("import sys; sys.stdout.write('x' * 10**6)", "output"),
    ],
)
def test_a_hostile_answer_costs_that_observation_only(any_box, body, kind):
    """The observation fails with its kind; the next one of the same session works."""
    source = f"def double(x):\n    if x < 0:\n        {body}\n        return 0\n    return 2 * x"
    with run(any_box, solution(source)) as session:
        failure = ask(session, -1).failure
        assert failure.kind in kind.split("|"), failure
        assert ask(session, 4).value == 8
    assert works(any_box)


def test_a_dead_session_answers_killed(any_box):
    """When the code kills the process that holds its state, all later observations say so, and nobody is asked."""
    source = "import os, signal\ndouble = lambda x: os.kill(os.getppid(), signal.SIGKILL) or 1"
    with run(any_box, solution(source)) as session:
        first = ask(session, 1)
        assert first.failure.kind == "killed"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session.box, "warm", lambda: pytest.fail("a session that is gone was asked"))
            assert [ask(session, 1).failure.kind for _ in range(3)] == ["killed"] * 3
    assert works(any_box)


JUNK = """
import os, threading
def junk():
    for descriptor in range(3, 40):
        for data in (b"\\x00\\x00\\x00\\x02{}", b"\\xff" * 4096, b"junk" * 100):
            try:
                os.write(descriptor, data)
            except OSError:
                pass
"""


@pytest.mark.parametrize("where", ["cell", "answer", "before answer"])
def test_junk_on_the_pipes_is_refused(any_box, where):
    """Bytes that are no reply end the session, not the grader, and the next session is untouched by them."""
    answers = {
        "cell": "junk()\ndouble = lambda x: 2 * x",
        "answer": "def double(x):\n    junk()\n    return 2 * x",
        "before answer": "threading.Timer(0.05, junk).start()\ndouble = lambda x: 2 * x",
    }
    with run(any_box, solution(JUNK + answers[where])) as session:
        assert len(session.cells) == 1
        if where == "before answer":
            time.sleep(0.1)
        seen = ask(session, 4)
        assert seen.ok or seen.failure.message
    assert works(any_box)


def test_a_flood_of_frames_is_refused(any_box):
    """A child that writes well-formed replies for ever is ended."""
    flood = """
    import os
    def flood():
        while True:
            for descriptor in range(3, 20):
                try:
                    os.write(descriptor, b"\\x00\\x00\\x00\\x02{}")
                except OSError:
                    pass
    flood()
    """
    with run(any_box, added(flood), RIGHT) as session:
        assert not session.cells[0].ok
    assert works(any_box)


def test_forks_do_not_multiply_answers(any_box):
    """A cell and an answer that fork, both copies going on, are answered once each."""
    source = "import os\nos.fork()\ndef double(x):\n    os.fork()\n    return 2 * x"
    with run(any_box, solution(source)) as session:
        assert [cell.status for cell in session.cells] == ["ok"]
        assert [ask(session, n).value for n in range(4)] == [0, 2, 4, 6]
    assert works(any_box)


def living(box: Sandbox) -> int:
    """How many processes there are below the sandbox's first one, seen from outside."""
    import psutil

    if box.isolation.name == "gvisor":  # of which the machine sees none; a headline and the worker are not below it
        command = runsc(box.warm().home, os.geteuid() == 0, "ps")
        return len(subprocess.run(command, capture_output=True, check=True).stdout.splitlines()) - 2
    return len(psutil.Process(box.warm().process.pid).children(recursive=True))


@pytest.mark.parametrize("nap", [0, 100])
def test_daemons_end_with_their_session(any_box, nap):
    """Processes that left the session's group and lost their parents are gone when the session ends."""
    limits = replace(LIMITS, cell_seconds=10.0, test_seconds=10.0)  # gVisor forks fifty times a second
    with Sandbox(any_box.edition, limits, any_box.isolation.name) as box:
        before = living(box)
        with run(box, DAEMONS.format(nap=nap), RIGHT) as session:
            assert session.cells[0].ok, session.cells[0]
            assert ask(session, 4).value == 8
            assert living(box) >= before + 5
        assert session.events == ["it left processes running, which were ended"]
        assert living(box) == before
        assert works(box)


def test_a_thread_left_running_costs_no_honest_mark(any_box):
    """Threads that print or spin after their cell do not change an answer."""
    cell = """
    import threading
    def spin():
        while True:
            print(sum(range(1000)))
    for _ in range(2):
        threading.Thread(target=spin, daemon=True).start()
    """
    with run(any_box, added(cell), RIGHT) as session:
        assert session.cells[0].status in {"ok", "output"}
        assert [ask(session, n, seconds=2.0).value for n in range(3)] == [0, 2, 4]


def test_the_stream_of_a_cell_outlives_it():
    """A thread that prints when its cell has ended must find the stream, which Python holds no reference to.

    What was printed does not outlive the next cell: hundreds of cells may print as much as they like.
    """
    with cells.capture(100) as output:
        stream = weakref.ref(output)
        print("x" * 90)
    with cells.capture(100):
        assert output.text() == ""
    del output
    gc.collect()
    assert stream() is not None


def test_a_fork_bomb_is_bounded(jail):
    """Processes stop at the limit, and all of them end with the session."""
    # An ordinary user's processes are counted together behind landlock: there is room for what else the user runs.
    spare = 500 if jail.isolation.name == "landlock" and os.getuid() else 0
    # In gVisor the relay and the session's first process are the worker's, and not counted with the session's.
    spare = 2 if jail.isolation.name == "gvisor" else spare
    before = living(jail)
    bomb = """
    import os, time
    count = 0
    try:
        while count < 1000:
            if os.fork() == 0:
                time.sleep(100)
            count += 1
    except BlockingIOError:
        print(count)
    """
    with run(jail, added(bomb)) as session:
        assert session.cells[0].ok, session.cells[0]
        # On a busy machine Python may also say that it could not call what a fork calls.
        (count,) = [int(line) for line in session.cells[0].output.splitlines() if line.isdigit()]
        assert 0 < count <= LIMITS.processes + spare
        assert before < living(jail) <= before + LIMITS.processes + spare
    assert living(jail) == before
    with run(jail, "import os\nwhile True:\n    os.fork()", RIGHT) as session:
        assert session.cells[0].status in {"error", "killed", "timeout"}, session.cells[0]
    assert living(jail) == before
    assert works(jail)


@pytest.mark.full("cells strain the system, in each kind of sandbox", share=12)
def test_a_submission_has_a_time_of_its_own(edition):
    """However the time is split over cells and answers, a session ends when it is used up."""
    with Sandbox(edition, replace(LIMITS, submission_seconds=1.2)) as box:
        begun = time.monotonic()
        with run(box, *["while True: pass"] * 14, solution("def double(x):\n    while True: pass")) as session:
            assert [cell.status for cell in session.cells[:1]] == ["timeout"]
            assert session.cells[-1].message.startswith("not run: the submission used up its 1.2 s")
            assert ask(session, 1).failure.kind in {"timeout", "killed"}
        assert time.monotonic() - begun < MOST * 1.2 + 3  # on a busy machine a limit is stretched, and not for ever
        assert works(box)


@pytest.mark.full("cells strain the system, in each kind of sandbox", share=12)
def test_what_watches_cannot_be_replaced(best: Sandbox) -> None:
    """A probe that asks the race detector asks the library's own, whatever a cell put in its place."""
    forged = added("import minigrad.debug\nminigrad.debug.races = lambda: 'forged'")

    def observe(mg):  # type: ignore[no-untyped-def]
        import minigrad.debug
        from minigrad.debug import races

        return [races(), minigrad.debug.races()]

    with run(best, forged, RIGHT) as session:
        assert session.observe(pack_probe(observe), []).value == ["what was seen", "what was seen"]
