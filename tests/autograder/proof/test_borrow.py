"""What the library keeps of a cut exercise answers nothing but what is listed, and the search finds a planted leak."""

import builtins
import runpy
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import cloudpickle
import numpy as np
import pytest
from places import ROOT
from tiers import CHOICE, SPENT, Choice
from typer.testing import CliRunner

import minigrad
from autograder.building import editions
from autograder.building.slicing import slice_exercise
from autograder.cli import app
from autograder.course import Course
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.proof.borrow import searching
from autograder.proof.borrow.programs import INSIDE, TOOLS, patterns, slots_of
from autograder.proof.borrow.searching import LEAKS, Leak, Searched, search, stale
from autograder.sandbox import SandboxUnavailable, choose
from minigrad import cuda_ops
from minigrad.checks import launches

COURSE = load_course(ROOT / "course")


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> None:
    """These tests need a sandbox."""
    try:
        choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def judge() -> Iterator[Judge]:
    """A judge of the course."""
    with Judge(COURSE, shrink_seconds=0) as judge:
        yield judge


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Course]:
    """Makes the course whose exercise hides nothing, nor does an assignment, and no module says what it shows."""
    monkeypatch.setattr(editions, "shown_by", lambda _: ())

    def plant(exercise: str) -> Course:
        bare = replace(COURSE.exercise(exercise), hides=())
        assignments = {name: replace(each, hides=()) for name, each in COURSE.assignments.items()}
        exercises = {**COURSE.exercises, exercise: bare}
        return replace(COURSE, exercises=exercises, assignments=assignments, hides_later=False)

    return plant


@pytest.fixture
def choice(request: pytest.FixtureRequest) -> Choice:
    """The run's choice of tests, with the end of its time."""
    return request.config.stash[CHOICE]


@pytest.fixture
def modules(request: pytest.FixtureRequest, choice: Choice) -> frozenset[str] | None:
    """The modules that changed, as the search names them, where an edition is searched for them alone; else None."""
    if not choice.only_for_changes(request.node):
        return None
    files = [PurePosixPath(file) for file in choice.changed if file.startswith("src/minigrad/")]
    parts = [file.relative_to("src/minigrad").with_suffix("").parts for file in files]
    return frozenset(".".join(part for part in each if part != "__init__") for each in parts)


@pytest.mark.full("the editions are searched for answers, up to ten minutes each")
@pytest.mark.parametrize("exercise", [each.id for each in COURSE.exercises.values() if each.points])
def test_an_edition_keeps_no_answer(
    judge: Judge, exercise: str, modules: frozenset[str] | None, choice: Choice
) -> None:
    """A search, however fast the machine is, finds nothing that earns points and is not listed.

    It tries all functions; where only a change of the library has brought it, those of the modules that changed.
    """

    def tried(name: str) -> bool:
        return modules is None or name.partition(":")[0] in modules

    found = search(judge, COURSE.exercise(exercise), choice.left(3600.0), only=tried)
    assert found.open == ()
    if found.left and choice.until:
        pytest.skip(SPENT)
    assert found.left == 0
    assert found.programs or modules is not None


@pytest.mark.full("each starts a sandbox with all of the library", share=32)
@pytest.mark.parametrize(
    ("exercise", "source"),
    [
        ("tensor_data.strides_from_shape", "backends.geometry:contiguous_strides"),
        ("operators.elementary", "backends.numpy_forms:rectified"),
    ],
)
def test_the_search_finds_what_is_not_cut(planted: Callable[[str], Course], exercise: str, source: str) -> None:
    """Without `hides` an edition holds an answer, which the search names."""
    with Judge(planted(exercise), shrink_seconds=0) as generous:
        chosen = generous.course.exercise(exercise)
        found = search(generous, chosen, 60.0, only=lambda name: name == source)
    assert source in {leak.source for leak in found.open}


@pytest.mark.full("an edition is searched for answers", share=12)
def test_on_a_slow_machine_a_batch_still_ends_in_time(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the questions take there, the sandbox is given no more work than it may do at a time."""
    recorded, asked, given = searching._recorded, searching._asked, []
    monkeypatch.setattr(searching, "_recorded", lambda *words: (recorded(*words)[0], 20.0))
    monkeypatch.setattr(searching, "_asked", lambda *words: given.append(words[1:]) or asked(*words))
    search(judge, COURSE.exercise("operators.higher_order"), 10.0, only=lambda name: name == "operators:sigmoid")
    assert [words[1][3][2] < searching.ANSWERED for words in given if words[0] == "tried"] == [True] * 3


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The cells of the search, in this process: its program among the builtins and its alarm end with the test."""
    monkeypatch.setattr(builtins, "candidate", None, raising=False)
    names: dict[str, Any] = {}
    exec(TOOLS + INSIDE, names)
    alarm = signal.getsignal(signal.SIGALRM)
    yield names
    signal.signal(signal.SIGALRM, alarm)


TURNING = ("lambda out, a, size: C(out, a, size)", [3], ""), ("lambda out, a, size: C(a)", [1], "")


def ask_for_a_turn(mg: Any) -> object:
    """Probe: a launch of a kernel that calls whatever stands in `builtins.candidate`."""

    def kernel(out: Any, a: Any, size: Any) -> None:
        builtins.candidate(out, a, size)  # type: ignore[attr-defined]

    return mg.checks.launches.turn_practice(kernel, 3)["out"]


def test_a_kernel_is_borrowed_as_a_thread_runs_it(inside: dict[str, Any]) -> None:
    """A kernel with barriers is followed, and found; what writes nothing and asks for no thread is not launched."""
    ask_for_a_turn.__module__ = "probe"
    wanted = launches.turn_practice(cuda_ops._turn_practice, 3)["wanted"]
    question = [cloudpickle.dumps(ask_for_a_turn).hex(), [], wanted]
    names = ["cuda_ops:_turn_practice", "operators:neg"]
    found = inside["tried"](minigrad, names, TURNING, [question], [60.0, 200.0, 200.0], True)
    assert found == [2, [["cuda_ops:_turn_practice", 0]], 2]
    given = inside["_given"](minigrad, [(ask_for_a_turn, [], wanted)])
    assert [np.shape(each) for each in given] == [(9,), (9,), ()]

    def launched(program: Any) -> bool:
        return bool(inside["_can_be_a_kernel"](program, program, given))

    assert launched(cuda_ops._turn_practice) and launched(lambda out, a, size: out.fill(0.0))
    assert not launched(lambda out, a, size: a + 1.0) and not launched(lambda out: None)


def test_the_judge_follows_a_borrowed_kernel(tmp_path: Path) -> None:
    """The cell that it grades has a text that can be read throughout, so that a leak earns its points there too."""
    cell = slice_exercise(COURSE, "cuda_ops._turn_practice").reference_cell
    (slot,) = slots_of(COURSE.exercise("cuda_ops._turn_practice").objects, cell)
    assert slot.is_kernel
    file = tmp_path / "borrowing.py"
    borrowing = slot.borrowing("cuda_ops:_turn_practice", TURNING[0][0])
    file.write_text(f"from typing import Any\nfrom numba import cuda\n{borrowing}")
    seen = launches.turn_practice(runpy.run_path(str(file))["_turn_practice"], 3)
    assert seen["out"] == seen["wanted"]


@pytest.mark.parametrize(
    ("exercise", "source"),
    [
        ("nn.functional.softmax", "the softmax that a cross entropy keeps"),
        ("nn.functional.logsoftmax", "the losses of a cross entropy"),
        ("engine.unbroadcast", "the sum over what NumPy's form stretched"),
        ("autodiff.backpropagate", "the engine of tensors, on a copy"),
        ("autodiff.backpropagate", "forward mode, on a copy"),
    ],
)
@pytest.mark.full("each starts a sandbox with all of the library", share=48)
def test_programs_without_a_pattern_pay_where_nothing_is_hidden(
    planted: Callable[[str], Course], exercise: str, source: str
) -> None:
    """With what `hides` cuts, each of them earns points: it borrows what it claims."""
    with Judge(planted(exercise), shrink_seconds=0) as generous:
        found = search(generous, generous.course.exercise(exercise), 10.0, only=lambda _: False)
    assert source in {leak.source for leak in found.open}


@pytest.mark.full("thousands of programs are parsed", share=32)
def test_every_answer_has_a_slot_and_its_programs_are_python() -> None:
    """For each function that students write there are patterns, in which every name is a parameter or a tool."""
    for exercise in COURSE.exercises.values():
        slots = list(slots_of(exercise.objects, slice_exercise(COURSE, exercise.id).reference_cell))
        assert slots, exercise.id
        for slot in slots:
            made = [source for source, _, _ in patterns(slot)]
            assert len(made) == len(set(made)) > 10
            for source in made:
                compile(slot.borrowing("operators:add", source), slot.name, "exec")


def test_an_entry_that_nothing_needs_is_told(tmp_path: Path) -> None:
    """The list of leaks that may stay cannot grow old unnoticed."""
    listed = tmp_path / "leaks.toml"
    listed.write_text('[[fine]]\nslots = ["a.b"]\nby = ["c:*"]\nwhy = "x"\n')
    assert stale([], listed) == ["leaks.toml: nothing leaks a.b by c:*; remove the entry"]


@pytest.mark.full("an edition is searched for answers", share=12)
def test_the_command_prints_the_table(tmp_path: Path) -> None:
    """`autograder attack --borrow` says how many programs were tried, and that an exercise is unknown."""
    options = ["--borrow", "--seconds", "1", "--course", str(ROOT / "course")]
    result = CliRunner().invoke(app, ["attack", "operators.higher_order", *options], env={"COLUMNS": "160"})
    assert result.exit_code == 0, result.output
    assert "operators.higher_order" in result.output and "programs" in result.output
    assert CliRunner().invoke(app, ["attack", "operators.nothing", *options]).exit_code == 2
    assert (COURSE.directory / LEAKS).is_file()


def test_the_command_ends_with_an_error_where_something_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leak that may not stay is printed and makes the exit code 1; one that is listed makes it 0."""
    leak = Leak("operators.relu", "operators:max", "f(x, 0.0)", 0.5)
    for leaks, code in (((leak,), 1), ((replace(leak, fine="it is the exercise's idea"),), 0)):
        found = Searched("operators.higher_order", 9, 3, 1, leaks, 0.1)
        monkeypatch.setattr("autograder.proof.borrow.searching.search", lambda *_, found=found: found)
        options = ["--borrow", "--course", str(ROOT / "course")]
        result = CliRunner().invoke(app, ["attack", "operators.higher_order", *options], env={"COLUMNS": "160"})
        assert result.exit_code == code, result.output
        assert ("operators.relu: operators:max earns 0.5 points: f(x, 0.0)" in result.output) == bool(code)
