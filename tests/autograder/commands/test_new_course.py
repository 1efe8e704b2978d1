"""`autograder new course` lays out a course that is complete: it is built, its tests tell right from wrong."""

import sys
from dataclasses import replace
from importlib.metadata import version

import pytest
from small_edition import ISOLATED, available
from typer.testing import CliRunner

from autograder.building.build import build
from autograder.building.slicing import slice_exercise
from autograder.cli import app
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.gradebook.settings import load_app
from autograder.judging.fingerprint import Fingerprint
from autograder.judging.judge import Judge
from autograder.proof.verify import verify
from autograder.sandbox import ProbeError, pack_probe


def run(*words):
    """Run a command; return its exit code and what it printed, on one line."""
    done = CliRunner().invoke(app, list(words), env={"COLUMNS": "300"})
    return done.exit_code, " ".join((done.output + done.stderr).split())


def test_a_new_course_is_built_and_verified(tmp_path):
    """Each file of the layout is right as it stands: no problem is found, apart from what is not recorded yet."""
    code, said = run("new", "course", str(tmp_path / "stats"))
    assert code == 0 and "autograder build" in said
    build(tmp_path / "stats")
    course = load_course(tmp_path / "stats")
    assert course.name == "stats" and "return (low + high) / 2" in slice_exercise(course, "first.middle").reference
    (checked,) = verify(course)
    assert checked.problems == () and [each.misconception for each in checked.wrong] == ["whole-numbers-only"]


def test_a_new_course_has_the_exchange_that_course_toml_names(tmp_path):
    """`exchange` counts as it does in minigrad's course; without it the exchange is a folder of the course."""
    course = tmp_path / "stats"
    run("new", "course", str(course))
    assert load_app(course, "week1").config.Exchange.root == str(course / "exchange")
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace("seed = 1", 'exchange = "/srv/exchange"\nseed = 1'))
    assert load_app(course, "week1").config.Exchange.root == "/srv/exchange"


LESSON = '''\
# %% [markdown]
# # A lesson with data

# %% tags=["setup"]
import yaml

# %%
# exercise: first.middle
def middle(low: float, high: float) -> float:
    """Return the number halfway between two numbers."""
    ### BEGIN SOLUTION
    with open("days/scale.yaml") as file:
        scale = yaml.safe_load(file)["scale"]
    return scale * (low + high)
    ### END SOLUTION


# %% tags=["check"]
assert middle(1, 4) == 2.5
'''


@pytest.fixture
def with_data(tmp_path):
    """A course whose answers use a package of its own, and a file that stands beside the notebook."""
    course = tmp_path / "stats"
    run("new", "course", str(course))
    (course / "lessons/01_first.py").write_text(LESSON)
    (course / "data/week1/days").mkdir(parents=True)
    (course / "data/week1/days/scale.yaml").write_text("scale: 0.5")
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace('package = "none"', 'requires = ["pyyaml"]\npackage = "none"'))
    return course


def earned(course, answer, isolation="auto"):
    """Return the points of an answer in a course's only exercise."""
    loaded = load_course(course)
    with Judge(loaded, hidden=loaded.hidden, isolation=isolation) as judge:
        return judge.points(loaded.exercise("first.middle"), answer)


def test_a_course_with_data_and_a_package_of_its_own(with_data):
    """Both are in the sandbox; the file is copied beside the notebooks, and is as it was for the next student."""
    report = build(with_data)
    for beside in ("source/week1", "notebooks"):
        assert (with_data / beside / "days/scale.yaml").read_text() == "scale: 0.5"
    assert with_data / "notebooks/days/scale.yaml" in [each.path for each in report.files]
    course = load_course(with_data)
    (checked,) = verify(course)
    assert checked.problems == ()
    reference = slice_exercise(course, "first.middle").reference_cell
    spoiled = 'open("days/scale.yaml", "w").write("scale: 3")\n' + reference
    assert [earned(with_data, answer) for answer in (spoiled, reference)] == [0, 2]


def test_another_file_is_another_mark(with_data):
    """What is kept of a result is not used after a change of the data."""
    course = load_course(with_data)
    before = Fingerprint(course, course.hidden, "auto", 1.0).state("01_first")
    (with_data / "data/week1/days/scale.yaml").write_text("scale: 2")
    assert Fingerprint(course, course.hidden, "auto", 1.0).state("01_first") != before


@pytest.mark.parametrize(
    ("file", "size", "limit", "said"),
    [
        ("scale.yaml", 1, "", "data/scale.yaml: belongs to no assignment; move it to data/week1/, or"),
        ("weak1/a.csv", 1, "", "data/weak1: belongs to no assignment"),
        ("week1/a.csv", 2**20, "file_mb = 1", "data/week1: holds 1.0 MiB, more than half of the 1 that a session of"),
        ("week1/01_first.ipynb", 1, "", "01_first.ipynb: has the name of a notebook that the build makes; rename it"),
    ],
)
def test_data_that_cannot_be_there_are_refused(with_data, file, size, limit, said):
    """One sentence says why, before anything is written."""
    (with_data / "data" / file).parent.mkdir(exist_ok=True)
    (with_data / "data" / file).write_bytes(bytes(size))
    with (with_data / "course.toml").open("a") as toml:
        toml.write(f"\n[limits]\n{limit}\n")
    code, output = run("build", "--quick", "--course", str(with_data))
    assert code == 2 and said in output
    assert not (with_data / "notebooks").exists()


def test_a_coroutine_is_no_exercise(with_data):
    """It is there, so the sentence does not say that it is missing."""
    lesson = with_data / "lessons/01_first.py"
    lesson.write_text(lesson.read_text().replace("def middle", "async def middle"))
    code, output = run("build", "--quick", "--course", str(with_data))
    assert code == 2 and "first.middle: 'first.middle' is an 'async def', which cannot be named here; name a" in output


def test_too_many_files_are_refused(with_data):
    """A session may have a number of files, and needs some for its work."""
    for number in range(5):
        (with_data / f"data/week1/{number}").touch()
    with (with_data / "course.toml").open("a") as toml:
        toml.write("\n[limits]\nfiles = 10\n")
    code, output = run("build", "--quick", "--course", str(with_data))
    assert code == 2 and "data/week1: holds 6 files, more than half of the 10 that a session of first.middle" in output


def test_two_files_for_one_place_are_refused(with_data):
    """All notebooks lie in one folder, where the same name can mean one file alone; the same file may come twice."""
    toml = with_data / "course.toml"
    text = toml.read_text() + '\n[[assignment]]\nname = "week2"\ntitle = "More"\nlessons = ["02_more"]\n'
    toml.write_text(text)
    (with_data / "lessons/02_more.py").write_text("# %% [markdown]\n# # More\n")
    (with_data / "data/week2/days").mkdir(parents=True)
    other = with_data / "data/week2/days/scale.yaml"
    other.write_text("scale: 0.5")
    assert run("build", "--quick", "--course", str(with_data))[0] == 0
    other.write_text("scale: 1")
    code, output = run("build", "--quick", "--course", str(with_data))
    assert code == 2 and "data/week2/days/scale.yaml: differs from data/week1/days/scale.yaml, and both" in output


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("days/scale.yaml", "days/none.yaml", "put the file that it reads into data/week1/"),
        ("import yaml", "import sqlalchemy, yaml", "add what it imports to 'requires' in [library] of course.toml"),
    ],
)
def test_the_build_says_what_is_missing(with_data, old, new, said):
    """A reference that finds no file or no package loses its points, and the message says where they belong."""
    lesson = with_data / "lessons/01_first.py"
    lesson.write_text(lesson.read_text().replace(old, new))
    code, output = run("build", "--course", str(with_data))
    assert code == 2 and "the reference earns 0 of 2 points (" in output and said in output


def test_files_that_are_only_released_are_told(with_data):
    """What someone put into nbgrader's source, or took out of the data, reaches students and no sandbox."""
    assert "is released" not in run("build", "--quick", "--course", str(with_data))[1]
    (with_data / "data/week1/days/scale.yaml").rename(with_data / "data/week1/scale.yaml")
    code, output = run("build", "--quick", "--course", str(with_data))
    assert code == 0 and "source/week1/days/scale.yaml: is released, and graded code does not find it" in output
    assert "move it to data/week1/, or delete it" in output


KINDS = available(ISOLATED)
OTHERS = [kind for kind in KINDS if isinstance(kind, str)][1:]


@pytest.mark.parametrize(
    "isolation",
    [
        pytest.param(kind, marks=pytest.mark.full("a course is built for each kind of wall", share=4))
        if kind in OTHERS
        else kind
        for kind in KINDS
    ],
)
def test_every_isolation_shows_both(with_data, isolation):
    """A package of the course and its data are there behind each kind of wall, and one that is not named is not."""
    build(with_data)
    reference = slice_exercise(load_course(with_data), "first.middle").reference_cell
    assert earned(with_data, reference, isolation) == 2
    assert earned(with_data, reference.replace("    with", "    import sqlalchemy\n    with"), isolation) == 0


def test_another_version_of_a_package_is_another_mark(with_data, monkeypatch):
    """A result that is kept is of the version it was found with; other machines of a cluster need the same one."""
    course = load_course(with_data)
    before = Fingerprint(course, course.hidden, "auto", 1.0).state("01_first")
    assert Fingerprint(course, course.hidden, "auto", 1.0).state("01_first") == before
    monkeypatch.setattr("autograder.sandbox.packages.version", lambda name: "0.1")
    assert Fingerprint(course, course.hidden, "auto", 1.0).state("01_first") != before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no-such-package", f"not installed here; install it by `{sys.executable} -m pip install no-such-package`, or"),
        pytest.param(
            "yaml",
            "a name to import; write 'PyYAML', as pip does",
            marks=pytest.mark.full("a course is built, and looked at by the doctor, for each", share=4),
        ),
    ],
)
def test_a_package_that_cannot_be_shown(with_data, name, said):
    """The sentence says where it is named and what to do, whatever command meets it first; so does a worker's."""
    toml = with_data / "course.toml"
    toml.write_text(toml.read_text().replace("pyyaml", name))
    for command in ("build", "doctor"):
        code, output = run(command, "--course", str(with_data))
        assert code == 2 and f"course.toml: [library]: 'requires' names {name!r}, which is {said}" in output
    course = load_course(with_data, tree=False)  # as a worker of a cluster does
    with pytest.raises(CourseError, match=f"'requires' names {name!r}"):
        Judge(course)


def test_the_doctor_names_the_packages(with_data):
    """Those of every sandbox, and those of the course with their versions."""
    code, output = run("doctor", "--course", str(with_data))
    assert code == 0 and "packages in a sandbox: numpy, numba, matplotlib" in output
    assert f"{with_data / 'course.toml'}: pyyaml {version('pyyaml')}" in output


def test_an_observing_function_may_import_what_the_course_requires(with_data):
    """And matplotlib, for plots; not what a package of the course needs in its turn."""

    def observe(answers):
        import matplotlib.pyplot
        import yaml

        return yaml.safe_load("1"), matplotlib.pyplot.get_backend()

    def reach(answers):
        import markupsafe

        return markupsafe

    library = replace(load_course(with_data).library, requires=("pyyaml", "jinja2"))
    assert pack_probe(observe, library)
    with pytest.raises(ProbeError, match="imports markupsafe"):
        pack_probe(reach, library)
    with pytest.raises(ProbeError, match="imports yaml"):
        pack_probe(observe)


@pytest.mark.parametrize(
    ("name", "said"),
    [("full", "is there already, and not empty; name a new folder"), ("a b", "a course is named after its folder")],
)
def test_a_folder_that_cannot_be_a_new_course_is_refused(tmp_path, name, said):
    """Nothing is written over what someone has there."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    code, output = run("new", "course", str(tmp_path / name))
    assert code == 2 and said in output
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["thesis.txt"]
