"""The text of the lessons: spelled, built alike, true where it names things, and its code is code."""

import ast
import functools
import importlib
import itertools
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from places import ROOT
from stated import ELSEWHERE, agrees, computed, in_code, in_output, stated, value_of
from visible import COURSE

import minigrad
from autograder.building.build import build_lesson
from autograder.building.minutes import HEAD, lesson_minutes, minutes_of, sections_of
from autograder.building.slicing import slice_exercise
from minigrad.checks import runner
from minigrad.exercises.syllabus import course, in_hours
from minigrad.tutor.hints import TIERS

FILES = sorted((ROOT / "course" / "lessons").glob("*.md"))
LESSONS = {path.stem: path.read_text(encoding="utf-8") for path in FILES}
BY_NUMBER = {name.partition("_")[0]: name for name in LESSONS}
HINTS = sorted((ROOT / "course" / "hints").glob("*.toml"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

CELL = re.compile(r"^```\{code-cell\} ipython3\n(?::tags: \[([\w, -]*)\]\n\n)?(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^((?:> ?)?)```(\S+)\n(.*?)^(?:> ?)?```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
QUESTION = re.compile(r"^:::\{question\}", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")

ABLE, NEEDED = "**You will be able to**", "**You need**"
OWNED = "What you have now"
CLOSING = ["What PyTorch and JAX do here", "Further reading"]
OURS = {module.name for module in pkgutil.iter_modules(minigrad.__path__)}
THEIRS = {"np": "numpy", **{name: name for name in ("builtins", "math", "minigrad", "numba", "sys", "torch")}}

each_lesson = pytest.mark.parametrize("name", LESSONS)


def prose(text):
    """A lesson's text without its code and what stands above its title."""
    return FENCE.sub("", CELL.sub("", text.split("---\n", 2)[2]))


def headings(text):
    """The titles of a lesson's sections, the lesson's own first."""
    return [title for _, title in HEADING.findall(prose(text))]


def section(text, title):
    """What stands below a heading of the second level."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def exercises(text):
    """The ids in the exercise cells of a lesson."""
    return re.findall(r"^# exercise: (\S+)$", text, re.MULTILINE)


def test_spelling():
    """codespell finds no misspelled word in what people read, the library's and the grader's messages included."""
    names = [*(f"course/{name}" for name in ("hidden", "hints", "lessons")), "src", "autograder"]
    names += [str(page.relative_to(ROOT)) for page in PAGES]
    result = subprocess.run(
        [sys.executable, "-m", "codespell_lib", *names], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.stdout + result.stderr == ""
    assert result.returncode == 0


@pytest.mark.parametrize("path", [*FILES, *HINTS, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_word_twice(path):
    """No word is written twice in a row, as in 'the the', which no list of misspellings contains."""
    text = path.read_text(encoding="utf-8")
    text = CODE.sub("`code`", prose(text) if path in FILES else BLOCK.sub("", text))
    assert re.findall(r"(?<![\w$\\])([A-Za-z]{2,})\s+\1(?![\w$])", text) == []


@each_lesson
def test_what_stands_first(name):
    """Why, then what one will be able to do, then what one needs, then the setup cell: in this order."""
    text = LESSONS[name]
    title, able, needed = (text.index(part) for part in ("\n# ", f"\n{ABLE}\n", f"\n{NEEDED} "))
    setup = next(cell.start() for cell in CELL.finditer(text) if cell[1] and "setup" in cell[1])
    assert title < able < needed < setup
    assert len(text[title:able].split()) > 30, "no paragraph says why"
    assert len(re.findall(r"^- ", text[able:needed], re.MULTILINE)) >= 3


COUNTS = (
    "one sitting",
    "two sittings",
    "three sittings",
    "four sittings",
    "five sittings",
    "six sittings",
    "seven sittings",
)
LONGEST = 120
"""Minutes of a sitting, at most."""


def built(name):
    """A lesson's source notebook."""
    sources = {each.id: slice_exercise(COURSE, each.id) for each in COURSE.of_lesson(name)}
    return build_lesson(COURSE, COURSE.lessons[name], sources).source


@each_lesson
def test_sittings(name):
    """A lesson tells its true hours, in sittings of at most two of them, which begin at sections of the lesson."""
    text = prose(LESSONS[name])
    told = " ".join(re.search(r"\bAllow ((?:.|\n)+?)\. ", text)[1].split())
    time, sittings, beginnings = re.match(r"(.+?), in (\w+ sittings?)(?:; the second begins at (.+))?$", told).groups()
    source = built(name)
    assert time == in_hours(lesson_minutes(COURSE, name, source)), "say so, in Chinese and in lessons.md too"
    minutes = {title: minutes_of(COURSE, cells) for title, cells in sections_of(source).items()}
    begun = [HEAD, *re.findall(r"\*([^*]+)\*", beginnings or "")]
    assert [COUNTS.index(sittings) + 1, sorted(begun, key=[*minutes].index)] == [len(begun), begun]
    places = [[*minutes].index(title) for title in begun] + [len(minutes)]
    assert max(sum([*minutes.values()][a:b]) for a, b in itertools.pairwise(places)) <= LONGEST


@each_lesson
def test_hours_in_chinese(name):
    """The Chinese text tells the same hours."""
    minutes = next(each["minutes"] for each in course()["lessons"] if each["name"] == name)
    told = in_hours(minutes).replace("h", "小时").replace("min", "分钟")
    text = (ROOT / "notebooks" / "zh_CN" / f"{name}.ipynb").read_text(encoding="utf-8")
    assert re.findall(r"请留出 ([^\uff0c]+)", text) == [told]


def test_nobody_alone_comes_to_a_lesson_before_those_that_it_needs():
    """In the order of the course, which is not that of its assignments, each lesson follows what it builds on."""
    order = [each["name"] for each in course()["lessons"]]
    needs = [(each, before) for each in course()["lessons"] for before in each["needs"]]
    assert [(each["name"], before) for each, before in needs if order.index(before) > order.index(each["name"])] == []


@each_lesson
def test_cells_fit_beside_a_file_browser(name):
    """No line of code is longer than 88 characters: JupyterLab breaks none, and a narrow window hides the rest."""
    assert [line for cell in CELL.finditer(LESSONS[name]) for line in cell[0].split("\n") if len(line) > 88] == []


@each_lesson
def test_what_stands_last(name):
    """After the exercises: an experiment, a question, what one has now, PyTorch's and JAX's files, three readings."""
    text = LESSONS[name]
    last = text.rindex("\n# exercise: ")
    assert "\n## Experiment" in text[last:]
    assert len(QUESTION.findall(text)) == len(QUESTION.findall(text[last:])) == 1
    assert re.findall(r"^## (.+)$", prose(text), re.MULTILINE)[-3:] == [OWNED, *CLOSING]
    assert re.search(r"\bBe\s+proud\b", section(text, OWNED)), "nothing to be proud of"
    here = section(text, CLOSING[0])
    assert re.search(r"`(?:aten|c10|tools|torch)/[\w/]+\.\w+`", here), "no file of PyTorch's"
    assert re.search(r"`(?:jax/[\w/]+\.py|xla/[\w/]+\.cc)`", here), "no file of JAX's or of its compiler's"
    assert len(re.findall(r"^- ", section(text, CLOSING[1]), re.MULTILINE)) == 3


@each_lesson
def test_hints(name):
    """Each exercise has its three hints, and the text says how to ask for them before the first exercise."""
    text = LESSONS[name]
    hints = tomllib.loads((ROOT / "course" / "hints" / f"{name}.toml").read_text(encoding="utf-8"))
    assert sorted(hints) == sorted(exercises(text))
    assert all(set(texts) == set(TIERS) and all(texts.values()) for texts in hints.values())
    told = re.search(r'`hint\("([\w.]+)"\)`', text)
    assert told and told.start() < text.index("\n# exercise: ")
    setup = "".join(cell[2] for cell in CELL.finditer(text) if cell[1] and "setup" in cell[1])
    assert re.search(r"^from minigrad import .*\bhint\b", setup, re.MULTILINE)


@each_lesson
def test_exercises_that_are_named_exist(name):
    """Whatever asks for an exercise by its id names one of the course, and the lesson's cells hold its own."""
    text = LESSONS[name]
    asked = [
        id for args in re.findall(r"\b(?:check|hint|needs)\(([^)]*)\)", text) for id in re.findall(r'"(.+?)"', args)
    ]
    known = {each.id for lesson in BY_NUMBER.values() for each in COURSE.of_lesson(lesson)}
    assert set(asked) <= known
    assert exercises(text) == [each.id for each in COURSE.of_lesson(name)]


@each_lesson
def test_links(name):
    """Lessons and sections that a lesson refers to exist, and so do the targets of its links."""
    text = LESSONS[name]
    numbers = [
        number
        for told in re.findall(r"\b[Ll]essons? ([\db, and-]+)", prose(text))
        for number in re.findall(r"\d\db?", told)
    ]
    assert set(numbers) <= set(BY_NUMBER)
    assert len(set(headings(text))) == len(headings(text)), "two sections of one name"
    titles = re.findall(r"\b(?:after|before|of|section) \*([A-Z][^*]+)\*", section_free(text))
    assert {" ".join(title.split()) for title in titles} <= set(headings(text))
    anchors = {"#" + title.replace(" ", "-") for title in headings(text)}  # as Jupyter makes them
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        assert target in anchors or "://" in target or (ROOT / "notebooks" / target).is_file(), target


@pytest.mark.parametrize("exercise", COURSE.exercises)
def test_what_a_check_says_to_read_again(exercise):
    """The section is in the lesson under this title."""
    for _, place in runner._tests_of(exercise):
        number, title = re.fullmatch(r"(\w+) '(.+)'", place).groups()
        assert title in headings(LESSONS[BY_NUMBER[number]])


def section_free(text):
    """A lesson's prose without the readings, whose titles are in italics as well."""
    return prose(text).partition(f"\n## {CLOSING[1]}\n")[0]


def test_sections_that_checks_send_to_exist():
    """Where a visible check sends its reader to a section of a lesson, the lesson has it."""
    for path in sorted((ROOT / "src" / "minigrad" / "checks").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        for number, title in (told.groups() for text in texts if (told := re.fullmatch(r"(\d\db?) '(.+)'", text))):
            assert title in headings(LESSONS[BY_NUMBER[number]]), f"{path.name}: {number} '{title}'"


@functools.cache
def found(dotted):
    """Whether the object of this name exists, in the library or in a package that the lessons use."""
    head, *rest = dotted.split(".")
    place = importlib.import_module(THEIRS.get(head, f"minigrad.{head}"))
    for name in rest:
        if not hasattr(place, name):
            try:
                importlib.import_module(f"{place.__name__}.{name}")
            except (ImportError, AttributeError):
                return False
        place = getattr(place, name)
    return True


@each_lesson
def test_names_that_the_text_mentions_exist(name):
    """A dotted name in backticks that begins with a module of the library, of Python or of a package is there."""
    heads = {*OURS, *THEIRS} - {"torch"}
    dotted = [
        told[1] for code in CODE.findall(prose(LESSONS[name])) if (told := re.match(r"(\w+(?:\.\w+)+)(?![\w/])", code))
    ]
    assert [each for each in dotted if each.split(".")[0] in heads and not found(each)] == []


@each_lesson
def test_files_of_the_library_that_the_text_mentions_exist(name):
    """A file `minigrad/...` exists; where the text says which name stands in it, it does."""
    text = prose(LESSONS[name])
    for path in re.findall(r"`(minigrad/[\w/]+\.\w+)`", text):
        assert (ROOT / "src" / path).is_file(), path
    for inside, path in re.findall(r"`(\w+)`\s+in\s+`(minigrad/[\w/]+\.py)`", text):
        source = (ROOT / "src" / path).read_text(encoding="utf-8")
        assert re.search(rf"^(?:def|class) {inside}\b", source, re.MULTILINE), f"{inside} in {path}"


@each_lesson
def test_files_of_pytorch_that_the_text_mentions_exist(name):
    """A file of PyTorch's which its wheel brings along is there under that name."""
    torch = Path(pytest.importorskip("torch", reason="PyTorch is not installed").__file__).parent
    for path in re.findall(r"`((?:torch|aten|c10)/[\w/]+\.(?:py|h))`", prose(LESSONS[name])):
        places = (torch.parent / path, torch / "include" / path, torch / "include" / path.removeprefix("aten/src/"))
        assert any(place.is_file() for place in places), path


@each_lesson
def test_names_of_pytorch_that_the_text_mentions_exist(name):
    """A function or class of PyTorch's exists by the name that the text gives it."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    assert [each for each in re.findall(r"`(torch(?:\.\w+)+)", prose(LESSONS[name])) if not found(each)] == []


@each_lesson
def test_numbers_that_the_text_states_come_from_somewhere(name):
    """A number in the prose stands in the lesson's code, is printed by its examples, or is computed in `stated.py`."""
    text, words = LESSONS[name], section_free(LESSONS[name])
    code = [
        *(cell[2] for cell in CELL.finditer(text)),
        *(block[3] for block in FENCE.finditer(text)),
        *CODE.findall(words),
    ]
    known, printed = in_code("\n".join(code)), in_output(name)
    elsewhere = {
        number
        for number in stated(CODE.sub("code", words))
        if value_of(number) not in known and not any(agrees(number, value) for value in printed)
    }
    assert elsewhere == ELSEWHERE.get(name, {}).keys()
    wrong = [
        f"{number}: {expression} is {computed(expression)}"
        for number, expression in ELSEWHERE.get(name, {}).items()
        if expression and not agrees(number, computed(expression))
    ]
    assert wrong == []


@each_lesson
def test_code_in_the_text_runs(name):
    """Every block of code outside the cells is Python that runs, or a picture made of letters."""
    for mark, language, code in FENCE.findall(CELL.sub("", LESSONS[name])):
        assert language in ("python", "text"), f"nothing tests what stands in a block of {language}"
        if language == "python":
            lines = [line.removeprefix(mark.rstrip()).removeprefix(" " if mark else "") for line in code.splitlines()]
            exec(compile("\n".join(lines), name, "exec"), {})


@each_lesson
def test_code_in_a_line_is_python(name):
    """What looks like a call or an assignment in backticks can be read by Python."""
    calls = re.compile(r"\w[\w.]*\(.*\)(?:\.[\w.]+(?:\(.*\))?)*|\w+(?:\.\w+)* [-+]?= .+")
    for code in CODE.findall(prose(LESSONS[name])):
        if calls.fullmatch(code):
            ast.parse(code)


def test_the_table_of_coverage():
    """Every row of course/coverage.md names a lesson and a section of it."""
    rows = re.findall(
        r"^\| (.*?) ?\| (\d\db?) \| (.+) \|$", (ROOT / "course/coverage.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(rows) > 60
    assert [row for row in rows if row[2] not in headings(LESSONS[BY_NUMBER[row[1]]])] == []
