"""`verify --mutants` makes small mistakes where students write, and says which of them no hidden test notices."""

import ast
import json
from dataclasses import replace
from textwrap import dedent, indent

import pytest
from two_lessons import make_course
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.proof.mutants import (
    EQUIVALENT,
    TABLE,
    mutants_of,
    problems_of,
    read_equivalents,
    record_table,
    run_mutants,
    share_of_equivalents,
    stale_table,
)
from autograder.proof.mutants.equivalents import Equivalent
from autograder.proof.mutants.making import mutate
from autograder.proof.mutants.running import Outcome, Tally
from autograder.proof.mutants.table import fingerprint, read_table

CELL = '''# exercise: a.f
def f(x: float, xs: list[float]) -> float:
    """Return 1 + 1."""
    given = 1 + 1
    ### BEGIN SOLUTION
{body}
    ### END SOLUTION
'''

HIDDEN = '''
import pytest
from autograder import expect


def calculate(mg, x, y):
    return [mg.operators.add(x, y), mg.operators.mul(x, y), mg.operators.neg(x)]


@pytest.mark.exercise("operators.arithmetic", group="values", because="lesson 00: add adds, mul multiplies")
def test_values(student):
    """add adds and mul multiplies."""
    expect(student(calculate, VALUES)[:2], WANTED)


@pytest.mark.exercise("operators.arithmetic", group="special", because="lesson 00: neg negates")
def test_neg(student):
    """neg negates."""
    def observe(mg, x):
        return [mg.operators.neg(x), type(mg.operators.neg(2)).__name__]
    expect(student(observe, 3.0), [-3.0, "float"])
'''
STRONG = HIDDEN.replace("VALUES", "2.5, 4.0").replace("WANTED", "[6.5, 10.0]")
WEAK = HIDDEN.replace("VALUES", "2.0, 2.0").replace("WANTED", "[4.0, 4.0]")

OTHER = '''

@pytest.mark.exercise("operators.comparison", group="order", because="lesson 01: lt compares")
def test_lt(student):
    """lt compares."""
'''

EXERCISE = "operators.arithmetic"


def made(body):
    """The mutants of a body, their lines without indentation."""
    text = CELL.format(body=indent(dedent(body).strip(), "    "))
    found = set()
    for _, mutant in mutate(text):
        written = mutant.partition("### BEGIN SOLUTION\n")[2].partition("    ### END SOLUTION")[0]
        found.add(" / ".join(line.strip() for line in written.strip().split("\n")))
    return found


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        ("x = x - 1.5", {
            "x = x + 1.5", "x = x * 1.5", "x = x", "x = 1.5", "x = 1.5 - x", "x = x - 3.0", "x = x - 0.0",
            "x = x - -1.5", "pass",
        }),
        ("x += 1", {"x -= 1", "x *= 1", "x = 1", "x += 2", "x += 0", "pass"}),
        ("return x // 2", {
            "return x / 2", "return x * 2", "return x % 2", "return x", "return 2", "return 2 // x",
            "return x // 3", "return x // 1", "return None",
        }),
        ("to = x < 0.0", {"to = x <= 0.0", "to = x > 0.0", "to = x != 0.0", "to = x < 1.0", "to = x < -1.0", "pass"}),
        ("to = x is None", {"to = x is not None", "to = x is 0.0", "pass"}),
        ("to = not x", {"to = x", "pass"}),
        ("to = x and xs", {"to = x or xs", "to = x", "to = xs", "pass"}),
        ("to = 1 if x else xs", {
            "to = 1 if not x else xs", "to = 1 if True else xs", "to = 1 if False else xs", "to = 2 if x else xs",
            "to = 0 if x else xs", "pass",
        }),
        ("to = [it for it in xs if it]", {
            "to = [it for it in xs if not it]", "to = [it for it in xs if True]", "pass",
        }),
        ("to = abs(x, xs)", {"to = abs(xs, x)", "pass"}),
        ("to = abs(x)", {"to = x", "pass"}),
        ("to = x.sum(1, key=xs)", {
            "to = x.sum(1)", "to = x", "to = x.mean(1, key=xs)", "to = x.sum(2, key=xs)", "to = x.sum(0, key=xs)",
            "pass",
        }),
        ("to = range(x)", {"to = range(x + 1)", "to = range(x - 1)", "to = range(1, x)", "to = x", "pass"}),
        ("to = xs[x]", {"to = xs[x + 1]", "to = xs[x - 1]", "pass"}),
        ("to = xs[x:]", {"to = xs[:]", "pass"}),
        ("to = xs[::-1]", {"to = xs[:]", "to = xs[::-2]", "to = xs[::-0]", "pass"}),
        ("to = [x] + [xs]", {
            "to = [x] - [xs]", "to = [x] * [xs]", "to = [x]", "to = [xs]", "to = [xs] + [x]", "pass",
        }),
        ("return x, xs", {"return xs, x", "return None"}),
        ("to = True", {"to = False", "pass"}),
        ("to = None", {"to = 0.0", "pass"}),
        ('to = "a"', {"to = ''", "pass"}),
        ('to = f"{x}_{xs}"', {"to = ''", "to = f'_{xs}'", "to = f'{x}{xs}'", "to = f'{x}_'", "pass"}),
        ("to = cuda.threadIdx.x", {"to = cuda.threadIdx.y", "to = cuda.blockIdx.x", "pass"}),
        ("raise ValueError(x - 1)", {"pass"}),
        ("to: list[1] = x", {"pass"}),
        ("a_size = b_size = x\nreturn a_size", {
            "pass / return a_size", "a_size = b_size = x / return b_size", "a_size = b_size = x / return None",
        }),
        ("for it in xs:\n    break", {
            "pass", "for it in xs: / break / break", "for it in xs: / continue", "for it in xs: / pass",
        }),
        ("while x:\n    x()", {"pass", "while x: / x() / break", "while x: / pass"}),
        ("def g() -> int:\n    return x\nreturn g", {
            "def g() -> int: / return None / return g", "def g() -> int: / return x / return None",
        }),
        ("if x:\n    return xs\nreturn x", {
            "if not x: / return xs / return x", "if True: / return xs / return x", "if False: / return xs / return x",
            "if x: / return None / return x", "if x: / pass / return x", "if x: / return xs / return None",
        }),
    ],
)  # fmt: skip
def test_what_is_changed(body, changes):
    """Each operator makes the mistakes it stands for, and the rest of the text stays as it is."""
    found = {lines.replace('"', "'") for lines in made(body)}  # which of the two depends on Python's version
    assert found == changes


def test_mutants_of_a_cell():
    """Mutants are Python, differ from the answer and from each other, and change nothing outside the markers."""
    body = "    total = 0.0\n    for it in xs[1:]:\n        total += it * it * (x - 1)\n    return (total - x) / 2"
    text = CELL.format(body=body)
    head, tail = text.split(body)
    trees = [ast.dump(ast.parse(text))]
    for _, mutant in mutate(text):
        assert mutant.startswith(head) and mutant.endswith(tail)
        trees.append(ast.dump(ast.parse(mutant)))
    assert len(set(trees)) == len(trees) > 30


def test_mutants_know_their_place(root):
    """A mutant names the line of the library that it changes, and counts those that look alike."""
    course = load_course(root / "course", tree=False)
    mutants = mutants_of(course, "module.Module")
    lines = (root / "src" / "minigrad" / "module.py").read_text().split("\n")
    for mutant in mutants:
        file, number = mutant.place.split(":")
        assert file == "module.py"
        assert not mutant.before or lines[int(number) - 1].strip() == mutant.before.split("\n")[0]
    names = [(mutant.before, mutant.after, mutant.nth) for mutant in mutants]
    assert len(set(names)) == len(names) and max(mutant.nth for mutant in mutants) == 2


# The list of equivalents ----------------------------------------------------


def test_the_list_of_equivalents(tmp_path):
    """Entries name mutants by their lines, whatever the layout; several may share a proof."""
    path = tmp_path / "equivalent.toml"
    path.write_text(
        '[["a.f"]]\nbefore = "f(x)"\nafter = ["g( x )", "h(\'x\')"]\nbecause = "No matter."\n'
        '[["a.g"]]\nbefore = "f(x)"\nafter = "g(x)"\nnth = 2\nbecause = "No matter."\n'
    )
    first, second, third = read_equivalents(path)
    assert read_equivalents(path, ["a.g"]) == [third]
    (mutant, *_) = mutants_of_text()
    mutant = replace(mutant, exercise="a.f", before="f( x)", after='h("x")')
    assert second.names(mutant) and not first.names(mutant)
    mutant = replace(mutant, exercise="a.g", after="g(x)")
    assert not third.names(mutant) and third.names(replace(mutant, nth=2))
    assert read_equivalents(tmp_path / "none.toml") == []


def mutants_of_text():
    from autograder.proof.mutants.making import Mutant

    return [Mutant("a.f", "name", 1, "f(x)", "g(x)", "")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[["a.f"]]\nbefore = "x"\nafter = "y"\n', "entry 1 of 'a.f' needs before, after"),
        ('[["a.f"]]\nbefore = "x"\nafter = []\nbecause = "z"\n', "entry 1 of 'a.f' needs before, after"),
        ('[["a.f"]]\nbefore = "x"\nafter = "y"\nbecause = "z"\nwhy = 1\n', "entry 1 of 'a.f' needs before, after"),
        ('[["a.f"]]\nbefore = "x"\nafter = "y"\nbecause = " "\n', "empty because"),
        ("a =", "is not TOML"),
    ],
)
def test_entries_without_a_proof_are_refused(tmp_path, text, words):
    """An entry that is not complete, or proves nothing, is one sentence."""
    path = tmp_path / "equivalent.toml"
    path.write_text(text)
    with pytest.raises(CourseError, match=words):
        read_equivalents(path)


# The run --------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory, root):
    return make_course(tmp_path_factory.mktemp("mutants"), root)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def run(place, kept, tmp_path):
    """Run the mutants of one exercise by given tests and a given list."""

    def run(tests, equivalent="", **options):
        (tmp_path / "test_operators.py").write_text(tests)
        path = tmp_path / "equivalent.toml"
        path.write_text(equivalent)
        course = load_course(place, tree=False)
        (tally,) = run_mutants(course, [EXERCISE], hidden=tmp_path, equivalent=path, cache=kept, **options)
        return tally

    return run


def lines(tally):
    """The survivors, as what stands there now."""
    return [outcome.mutant.after for outcome in tally.survivors]


@pytest.mark.full("mutants of an exercise are judged", share=12)
def test_strong_tests_notice_every_mutant(run):
    """Tests whose inputs tell right from wrong leave no survivor; progress is told."""
    told = []
    tally = run(STRONG, begin=told.append, done=told.append)
    assert lines(tally) == []
    assert tally.count("killed") == len(tally.outcomes) == told[0] == sum(told[1:]) > 10
    assert {outcome.by for outcome in tally.outcomes} == {"test_values", "test_neg"}
    assert problems_of([tally], whole=True) == []


@pytest.mark.full("mutants are judged", share=4)
def test_weak_tests_leave_survivors(run):
    """2 + 2 is 2 * 2: such a test notices no exchange of the two, and the problem shows the line."""
    tally = run(WEAK)
    assert "return x * y" in lines(tally) and "return x + y" in lines(tally)
    assert len(tally.outcomes) == tally.count("killed") + len(tally.survivors)
    problem = next(problem for problem in problems_of([tally], whole=False) if "- return x + y" in problem)
    assert problem.startswith("operators.arithmetic: operators.py:") and problem.endswith("+ return x * y")


@pytest.mark.full("mutants are judged by two processes", share=32)
def test_two_processes_find_what_one_finds(run):
    """Results do not depend on the number of processes."""
    alone, together = run(WEAK), run(WEAK, jobs=2)
    assert [(each.mutant, each.status) for each in alone.outcomes] == [
        (each.mutant, each.status) for each in together.outcomes
    ]


def entry(before, after, **more):
    text = f'[["{EXERCISE}"]]\nbefore = "{before}"\nafter = "{after}"\nbecause = "It is so."\n'
    return text + "".join(f"{name} = {value}\n" for name, value in more.items())


@pytest.mark.full("mutants are judged", share=4)
def test_equivalents_and_stale_entries(run):
    """A listed survivor is no survivor; an entry for what is killed, or does not exist, is a problem."""
    listed = entry("return x + y", "return x * y")
    tally = run(WEAK, listed)
    assert "return x * y" not in lines(tally) and tally.equivalent == 1 and tally.stale == ()
    for stale in (run(STRONG, listed), run(STRONG, entry("return x + y", "return y"))):
        (problem,) = problems_of([stale], whole=False)
        assert stale.equivalent == 0 and "equivalent.toml lists 'return x + y'" in problem
    gone = run(STRONG, entry("return x + y", "return x - y", nth=2))
    assert "(nth = 2)" in problems_of([gone], whole=False)[0]


@pytest.mark.full("mutants of an exercise are judged", share=12)
def test_an_endless_mutant_is_told_apart(place, tmp_path):
    """A mutant that gives no answer in time counts as noticed, and is counted by itself."""
    course = load_course(place, tree=False)
    tests = STRONG.replace(
        "return [mg.operators.add(x, y)", "\n    while mg.operators.add(x, y) < 0: pass\n    return [6.5"
    )
    (tmp_path / "test_operators.py").write_text(tests)
    (tally,) = run_mutants(course, [EXERCISE], hidden=tmp_path)
    late = [outcome.mutant.after for outcome in tally.outcomes if outcome.status == "timed out"]
    assert late == ["return x - y"]


def test_too_many_equivalents(run):
    """At most a twentieth of the course's mutants may be listed, however well that is proved."""
    tally = run(STRONG)
    listed = Equivalent(EXERCISE, "a", "b", "It is so.")
    few = replace(
        tally, outcomes=(tally.outcomes[0],) * 95 + (Outcome(tally.outcomes[0].mutant, "survived", "", listed),) * 5
    )
    many = replace(few, outcomes=few.outcomes[1:])
    assert share_of_equivalents([few]) == 0.05 and problems_of([few], whole=True) == []
    assert problems_of([many], whole=True) == ["5.1% of the mutants are listed as equivalent; 5% may be"]
    assert problems_of([many], whole=False) == []


# The record, and the command ------------------------------------------------


def test_the_record_goes_stale(place, tmp_path):
    """The record follows answer, tests and list of an exercise, and nothing else."""
    course = load_course(place, tree=False)
    hidden, listed, table = tmp_path / "test_a.py", tmp_path / "equivalent.toml", tmp_path / "table.json"
    hidden.write_text(STRONG)
    places = {"hidden": tmp_path, "equivalent": listed}
    tallies = [Tally(each, tuple(Outcome(m, "killed") for m in mutants_of(course, each))) for each in course.exercises]
    assert len(stale_table(course, table, **places)) == 2
    assert record_table(course, tallies[:1], table, **places)
    assert [EXERCISE in problem for problem in stale_table(course, table, **places)] == [False]
    assert record_table(course, tallies[1:], table, **places)
    assert not record_table(course, tallies, table, **places)
    assert stale_table(course, table, **places) == []
    # Another exercise's test in the same file says nothing of this one.
    hidden.write_text(STRONG + OTHER)
    (problem,) = stale_table(course, table, **places)
    assert "operators.comparison" in problem and "autograder verify --mutants --record" in problem
    hidden.write_text(STRONG.replace("4.0", "5.0"))
    assert fingerprint(course, EXERCISE, **places) != read_table(table)[EXERCISE]["of"]
    hidden.write_text(STRONG)
    listed.write_text(entry("a", "b"))
    assert len(stale_table(course, table, **places)) == 1
    listed.write_text("")
    # A row whose number of mutants is another one was made by other operators.
    data = json.loads(table.read_text())
    data["exercises"][EXERCISE]["mutants"] += 1
    table.write_text(json.dumps(data))
    assert len(stale_table(course, table, **places)) == 1


def test_the_answer_counts(place, tmp_path):
    """Another answer makes the record stale; its docstring does not."""
    course = load_course(place, tree=False)
    source = course.source / "operators.py"
    text = source.read_text()
    before = fingerprint(course, EXERCISE, tmp_path, tmp_path / "none")
    try:
        source.write_text(text.replace('"""Return x + y."""', '"""Return the sum."""'))
        assert fingerprint(course, EXERCISE, tmp_path, tmp_path / "none") == before
        source.write_text(text.replace("return x + y\n", "return y + x\n"))
        assert fingerprint(course, EXERCISE, tmp_path, tmp_path / "none") != before
    finally:
        source.write_text(text)


@pytest.mark.full("mutants of an exercise are judged", share=12)
def test_the_command(place, tmp_path):
    """The command prints the table, shows survivors, records on demand, and its exit code says whether all is well."""
    table = place / TABLE
    command = ["verify", "--mutants", EXERCISE, "--course", str(place), "--hidden", str(tmp_path), "--jobs", "1"]
    (tmp_path / "test_operators.py").write_text(WEAK)
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1 and "+ return x * y" in result.output and "operators.arithmetic" in result.output
    assert not table.exists()
    (tmp_path / "test_operators.py").write_text(STRONG)
    result = CliRunner().invoke(app, [*command, "--record"])
    assert result.exit_code == 0 and "all others are noticed" in result.output
    assert read_table(table)[EXERCISE]["survivors"] == 0


# The course -----------------------------------------------------------------

QUICK = ("operators.folds", "derivatives.gradient", "tensor_data.strides_from_shape")


@pytest.mark.full("the records of all mutants are compared with the course", share=12)
@pytest.mark.no_cover  # twice as quick; the test above runs the same lines
def test_the_course_leaves_no_survivor(root):
    """The record covers every exercise as it is now, without a survivor and with few equivalents."""
    course = load_course(root / "course", tree=False)
    assert stale_table(course) == []
    rows = read_table(course.directory / TABLE).values()
    assert {row["survivors"] for row in rows} == {0}
    assert sum(row["equivalent"] for row in rows) <= 0.05 * sum(row["mutants"] for row in rows)
    assert {each.exercise for each in read_equivalents(course.directory / EQUIVALENT)} <= set(course.exercises)


@pytest.mark.full("mutants of real exercises are judged", share=96)
@pytest.mark.no_cover  # three times as quick; exercises of a small course run the same lines
def test_the_record_is_what_a_run_finds(root, tmp_path):
    """A run over a few quick exercises finds what the record says of them."""
    course = load_course(root / "course", tree=False)
    table = tmp_path / "table.json"
    table.write_text((course.directory / TABLE).read_text())
    tallies = run_mutants(course, QUICK)
    assert problems_of(tallies, whole=False) == []
    assert not record_table(course, tallies, table)
