"""Hostile submissions win nothing; and what looks for their winnings would see them."""

import linecache
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.proof.attack import (
    ATTACKS,
    BORROWING,
    FAMILIES,
    SHARING,
)
from autograder.proof.attack.bounds import TOTAL_MB
from autograder.proof.attack.drafts import without_draft
from autograder.proof.attack.elsewhere import applied
from autograder.proof.attack.guessing import JUNK, passed_by, won_by_guessing
from autograder.proof.attack.model import RIGHT, WRONG, Attack, cells
from autograder.proof.attack.naive import achieved_on_naive
from autograder.proof.attack.notebooks import MARKUP
from autograder.proof.attack.running import CANARY, Arena
from autograder.proof.attack.watching import Secrets, descendants, live_markup, quick_state, secret_lines, state
from autograder.sandbox import Limits, SandboxUnavailable, choose
from minigrad.backends.gpu.launching import block_dim, launch
from minigrad.checks import launches
from minigrad.cuda_ops import BLOCK_DIM

EVERY_TIME = frozenset({
    "patched-assert", "os-exit", "writes-manual-score", "own-kernel", "skip-execution-tags", "strange-schema",
    "many-notebooks", "loopback-connection", "fork-bomb", "thread-bomb", "infinite-answer",
    "many-axes", "forged-result", "patches-wire", "answers-true", "answers-one", "inherits-arithmetic",
    "forged-witness-by-numpy", "shares-by-repr", "shares-small-block",
    "searches-memory", "drops-shared-pages", "idle-refuses-all", "draft-argument-twice", "rewrites-inherited-pages",
    "keeps-no-zombies",
})  # fmt: skip
"""Attacks of each kind; the others take turns."""

PROVED = (
    "patched-assert", "equal-to-everything", "reads-input-history", "writes-manual-score", "os-exit",
    "loopback-connection", "forged-result", "skip-execution-tags",
)  # fmt: skip


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A scratch copy of the course, with the real hidden tests."""
    try:
        choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    limits = Limits(cell_seconds=0.5, test_seconds=1, submission_seconds=4, total_mb=TOTAL_MB)
    with Arena(tmp_path_factory.mktemp("attack") / "arena", ROOT / "course", limits=limits) as arena:
        yield arena


def test_there_are_enough() -> None:
    """At least 60 attacks, each with a name and a sentence of its own."""
    assert len(ATTACKS) >= 60
    assert len({attack.tries for attack in ATTACKS.values()}) == len(ATTACKS)


def test_attacks_of_each_kind_are_made_every_time() -> None:
    """Each family has an attack that never waits for its turn."""
    assert sum(map(len, FAMILIES)) == len(ATTACKS) and set(ATTACKS) >= EVERY_TIME
    assert [family[0].name for family in FAMILIES if not EVERY_TIME & {attack.name for attack in family}] == []


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in EVERY_TIME else pytest.mark.full("one of many of its kind", share=80))
        for name in ATTACKS
    ],
)
def test_an_attack_wins_nothing(arena: Arena, name: str) -> None:
    """No points, no secrets, no changed file, no process left, and the next student's marks are right."""
    assert arena.run(ATTACKS[name]).problems == ()


@pytest.mark.full("a course is attacked, and compared with what it was", share=16)
def test_the_course_is_as_it_was(arena: Arena) -> None:
    """After all attacks the course and its gradebook are the same, byte for byte."""
    assert [path for path in arena.before if path.startswith("gradebook.db")]
    assert arena.finish() == []


def test_an_attack_on_nothing_is_refused(arena: Arena) -> None:
    """A borrowed name that the library never had is reported, however it is taken."""
    taken = {
        "from minigrad import fast_engine": "minigrad.fast_engine",
        "import minigrad\nminigrad.quick.rules": "minigrad.quick.rules",
        "import sys\nsys.modules['minigrad.debug.rumours']": "minigrad.debug.rumours",
    }
    for text, name in taken.items():
        attack = replace(hostile(""), exercise="operators.arithmetic", text=f"{text}\n{WRONG}")
        assert f"it takes {name}, which is not in the library" in run_again(arena, attack)


@pytest.mark.full("an edition without a cut is made for each", share=16)
@pytest.mark.parametrize("name", [each.name for each in BORROWING if not each.name.startswith("forged-")])
def test_borrowing_pays_where_nothing_is_cut(arena: Arena, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the whole library in the sandbox each of these attacks earns points: it reaches what it borrows."""
    monkeypatch.setattr("autograder.judging.fingerprint.graded_without", lambda *_: [])
    attack = replace(ATTACKS[name], name="custom")
    with Judge(arena.course, shrink_seconds=0) as generous:
        monkeypatch.setattr(arena, "judge", generous)
        won = run_again(arena, attack)
    assert any(problem.endswith("points for what is worth 0") for problem in won), won


LAUNCHED = [attack.name for attack in SHARING if attack.name != "shares-by-function-attribute"]
"""A launch copies functions without their attributes, which ends that one by itself."""


@pytest.mark.parametrize("name", LAUNCHED)
def test_sharing_pays_where_results_are_compared(name: str) -> None:
    """Each of these kernels gives what a right one gives: a grader that looks at results gives it full marks."""
    attack = ATTACKS[name]
    setup = "import numpy as np\nfrom minigrad.cuda_ops import BLOCK_DIM, cuda, numba\n"
    names: dict[str, Any] = {"__name__": "__main__"}
    file = f"<{name}>"
    linecache.cache[file] = (len(setup + attack.text), None, (setup + attack.text).splitlines(True), file)
    exec(compile(setup + attack.text, file, "exec", dont_inherit=True), names)
    kernel = names[attack.exercise.partition(".")[2]]
    size, values = block_dim(kernel, BLOCK_DIM), launches.numbers(13)
    blocks = -(-13 // size)
    if attack.exercise.endswith("_pool_practice"):
        out = np.zeros(13)
        wanted = np.array([values[max(0, i - 2) : i + 1].sum() for i in range(13)])
    else:
        out = np.zeros(blocks)
        wanted = np.array([values[k * size : (k + 1) * size].sum() for k in range(blocks)])
    launch(kernel, blocks, size, out, values, 13)
    assert out.tolist() == wanted.tolist()


def hostile(text: str, **options: float) -> Attack:
    """An attack of one cell."""
    return Attack("custom", "something of its own", cells(text), **options)


def run_again(arena: Arena, attack: Attack) -> tuple[str, ...]:
    """What a further attack won."""
    for folder in (arena.classroom.out / "handed-in", arena.root / "submitted", arena.root / "originals"):
        shutil.rmtree(folder / "custom", ignore_errors=True)
    return arena.run(attack).problems


@pytest.mark.full("a course is attacked", share=16)
@pytest.mark.parametrize("name", ["draft-argument-twice", "draft-of-a-kernel"])
def test_right_answers_earn_their_points_where_no_draft_stands(arena: Arena, name: str) -> None:
    """The control of the attacks by drafts, without a kernel and with one that is watched."""
    assert arena.run(without_draft(ATTACKS[name])).problems == ()


def test_points_that_right_answers_lose_are_seen(arena: Arena) -> None:
    """An attack on answers that must keep their points is reported where they lose them."""
    lost = ("0 points for right answers worth 3",)
    assert run_again(arena, replace(hostile(WRONG, honest=3.0), keeps=True)) == lost


def test_points_above_the_honest_value_are_seen(arena: Arena) -> None:
    """A right answer that is said to be worth nothing is reported."""
    assert run_again(arena, hostile(RIGHT)) == ("3 points for what is worth 0",)


def test_shown_secrets_are_seen(arena: Arena) -> None:
    """A line of a neighbour's work or of a hidden test in an error message is reported."""
    line = next(line for line in sorted(secret_lines(arena.judge.hidden)) if 40 < len(line) < 60 and "'" not in line)
    for secret in (CANARY, line):
        said = run_again(arena, hostile(f"def add(x, y): raise ValueError({secret!r})\nmul = neg = add"))
        assert any("a report shows" in problem for problem in said), secret


def test_changes_and_processes_are_seen(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is changed while an attack is graded, and a process that is left, are reported."""
    grade, left, before = arena.judge.grade, [], set(descendants())

    def graded(*args: object) -> object:
        (arena.root / "source" / "left-behind").write_text("x")
        command = [sys.executable, "-c", "import subprocess, sys; subprocess.run([*sys.argv[1:]])"]
        deep = [*command, sys.executable, "-c", "import time; time.sleep(60)"]
        left.append(subprocess.Popen([*command, *deep], stdout=subprocess.DEVNULL))
        while not set(descendants(2)) - before:
            pass
        return grade(*args)

    monkeypatch.setattr(arena.judge, "grade", graded)
    try:
        problems = run_again(arena, hostile(WRONG))
    finally:
        for pid in set(descendants()) - before:
            os.kill(pid, 9)
        left[0].wait()
        (arena.root / "source" / "left-behind").unlink()
    assert "files of the course were changed" in problems
    assert any("processes are left" in problem for problem in problems)


def test_markup_that_would_run_is_seen() -> None:
    """Scripts, handlers and links are told from their text."""
    script = f"<script>{MARKUP}</script>"
    assert live_markup(f"<p>{script}</p>", MARKUP) == ["<script>"]
    assert live_markup(f'<img src=x onerror="{MARKUP}"><a href="javascript:{MARKUP}">', MARKUP) == [
        "<img onerror>",
        "<a href>",
    ]
    assert live_markup("<p>&lt;script&gt;" + MARKUP + "</p>", MARKUP) == []


QUESTION = "\n\n# %% [markdown]\n# :::{question} why-sets\n# :points: 2\n#\n# Why sets?\n# :::\n"


@pytest.mark.full("a course with a question is built and attacked", share=16)
def test_an_answer_for_a_person_is_looked_at_as_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Formgrader and feedback pages clean what was written, so that markup wins nothing; without that it would."""
    course = tmp_path / "structures"
    shutil.copytree(ROOT / "examples" / "structures", course)
    lesson = course / "lessons" / "01_structures.py"
    lesson.write_text(lesson.read_text() + QUESTION)
    with Arena(tmp_path / "arena", course) as arena:
        (attack,) = applied([ATTACKS["markup-in-cells"]], arena.target, arena.released)
        assert arena.run(attack).problems == ()
        monkeypatch.setattr("autograder.gradebook.harmless._markdown", lambda source, _: source)
        won = run_again(arena, replace(attack, name="custom"))
        assert "a page would run its script: <script>" in won and "a page would run its script: <img onerror>" in won


def test_secrets_are_found_however_a_report_writes_them() -> None:
    """In one line, with entities, but not what everyone knows."""
    secrets = Secrets(
        ["assert add(2.0, 3.0) == 5.0", "something that all may read"], ["# something that all may  read"]
    )
    assert list(secrets.in_text("... assert   add(2.0,\n 3.0) == 5.0 ...")) == ["assert add(2.0, 3.0) == 5.0"]
    assert list(secrets.in_text("a &lt; b; assert add(2.0, 3.0) == 5.0")) == ["assert add(2.0, 3.0) == 5.0"]
    assert list(secrets.in_text("something that all may read; assert add(2.0, 3.0)")) == []


def test_states_tell_every_change(tmp_path: Path) -> None:
    """Content, mode, links and names count; folders that may grow do not."""
    (tmp_path / "a").write_text("1")
    (tmp_path / "growing").mkdir()
    before, quick = state(tmp_path, ["growing"]), quick_state(tmp_path, ["growing"])
    (tmp_path / "growing" / "b").write_text("1")
    assert (state(tmp_path, ["growing"]), quick_state(tmp_path, ["growing"])) == (before, quick)
    stamp = (tmp_path / "a").stat()
    (tmp_path / "a").write_text("2")
    os.utime(tmp_path / "a", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert state(tmp_path, ["growing"]) != before
    assert quick_state(tmp_path, ["growing"]) != quick


def test_attacks_win_on_a_naive_grader(arena: Arena) -> None:
    """They are real: where a notebook runs beside its tests, each of these gets what it is after."""
    if choose().name != "bubblewrap":
        pytest.skip("a naive grader is attacked behind bubblewrap only, which is not to be had here")
    chosen = [ATTACKS[name] for name in PROVED]
    achieved = achieved_on_naive(chosen, arena.released)
    assert {name: attack.naive in achieved[name] for name, attack in zip(PROVED, chosen, strict=True)} == dict.fromkeys(
        PROVED, True
    )


def test_an_honest_notebook_wins_nothing_on_the_naive_grader_either(arena: Arena) -> None:
    """What the naive grader says of an attack is the attack's doing."""
    if choose().name != "bubblewrap":
        pytest.skip("a naive grader is attacked behind bubblewrap only, which is not to be had here")
    wrong, right = (replace(hostile(text), name=text[:9], naive="points") for text in (f"# wrong\n{WRONG}", RIGHT))
    achieved = achieved_on_naive([wrong, right], arena.released)
    assert set(achieved[wrong.name]) <= {"leak"}  # a failed assertion shows its test there
    assert achieved[right.name] == ["points"]


@pytest.mark.full("every hidden test of the course, many times", share=32)
@pytest.mark.no_cover  # twice as quick; the test after the next runs the same lines
def test_no_points_can_be_guessed() -> None:
    """For no group of any exercise is every hidden test content with a guess."""
    course = load_course(ROOT / "course", tree=False)
    assert [problem for _, won in won_by_guessing(course) for problem in won] == []


WEAK = '''
import pytest
from autograder import expect


@pytest.mark.exercise("operators.arithmetic", group="values", because="it is so")
def test_add(student):
    """add adds."""
    expect(student(lambda mg: mg.operators.add(1.0, 1.0) == 2.0), True)


@pytest.mark.exercise("operators.arithmetic", group="special", because="it is so")
def test_neg(student):
    """neg negates."""
    expect(student(lambda mg: mg.operators.neg(1.25)), -1.25)
'''


def test_a_test_that_can_be_guessed_is_named(tmp_path: Path) -> None:
    """A lone True is what a forger says first."""
    (tmp_path / "test_operators.py").write_text(WEAK)
    course = load_course(ROOT / "course", tree=False)
    passed = passed_by(course, course.exercise("operators.arithmetic"), {"True": lambda _: True}, tmp_path)
    assert passed == {"values": {"test_add": ["True"]}, "special": {"test_neg": []}}


@pytest.mark.full("every hidden test of the course", share=32)
def test_junk_is_judged_and_earns_nothing() -> None:
    """Values of no sensible form or size end every hidden test with a verdict, soon."""
    course = load_course(ROOT / "course", tree=False)
    turns = iter(range(10**9))
    junk = list(JUNK.values())
    rotating = {"junk": lambda args: junk[next(turns) % len(junk)](args)}
    for exercise in course.exercises.values():
        by_group = passed_by(course, exercise, rotating)
        assert not any(tests and all(tests.values()) for tests in by_group.values()), exercise.id


@pytest.mark.full("a course is attacked by the command", share=16)
def test_the_command(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """It prints a row for each attack, and ends with 1 if one wins, with 2 for a name that is none."""
    monkeypatch.setattr("autograder.proof.attack.running.Arena", lambda *_: arena)  # as it is made takes seconds

    def run(*words: str) -> tuple[int, str]:
        shutil.rmtree(arena.classroom.out / "handed-in", ignore_errors=True)
        for folder in ("submitted", "originals"):
            shutil.rmtree(arena.root / folder / "answers-true", ignore_errors=True)
        done = CliRunner().invoke(app, ["attack", *words])
        return done.exit_code, done.output

    code, said = run("answers-true")
    assert (code, "1 attack: none won" in said) == (0, True), said
    monkeypatch.setitem(ATTACKS, "answers-true", replace(ATTACKS["answers-true"], honest=-1.0))
    code, said = run("answers-true")
    assert (code, "answers-true: 0 points for what is worth -1" in said) == (1, True), said
    code, said = run("fork-bom")
    assert (code, "did you mean fork-bomb" in said) == (2, True), said
    code, said = run("--isolation", "none")
    assert (code, "in a sandbox only" in said) == (2, True), said
