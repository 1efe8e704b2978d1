"""The documentation is true where a test can tell: links, pictures, commands, programs and figures."""

import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from markdown_it import MarkdownIt

import autograder.cli
import minigrad.cli
from minigrad.checks.runner import COMPILING
from minigrad.exercises import paths, syllabus

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
README = ROOT / "README.md"
LINES = {"README.md": 120, "ARCHITECTURE.md": 120, "CONTRIBUTING.md": 200}
"""The pages that a reader begins with, and how many lines each may have at most."""
COMMANDS = 5
"""At most so many in one of its blocks."""
PICTURE_BYTES = 300_000
"""Of all its pictures together."""
WALK = ROOT / "docs" / "contributing" / "exercise.md"
"""Its blocks are parts of files, and `test_walks.py` puts them there."""

PROGRAMS = {
    "minigrad": typer.main.get_command(minigrad.cli.app),
    "autograder": typer.main.get_command(autograder.cli.app),
}
OTHERS = ("cd", "git", "make", "nbgrader", "pip", "python", "source")
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def tokens(page):
    """The page's tokens of Markdown, those inside of lines too."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = list(tokens(page))
    titles = [after.content for token, after in itertools.pairwise(found) if token.type == "heading_open"]
    return {re.sub(r"[^\w -]", "", title.replace("`", "").lower()).replace(" ", "-") for title in titles}


def targets(page):
    """The addresses of a page's links and pictures, in Markdown and in HTML."""
    for token in tokens(page):
        yield from (str(token.attrs[name]) for name in ("href", "src") if name in token.attrs)
        if token.type in ("html_block", "html_inline"):
            yield from re.findall(r'(?:href|src|srcset)="([^"]+)"', token.content)


def broken(page):
    """The links of a page that lead nowhere."""
    for target in targets(page):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or not file.is_relative_to(ROOT) or (anchor and anchor not in anchors(file)):
            yield target


def commands(page):
    """The commands of a page: lines of its blocks of commands, and code in sentences."""
    for token in tokens(page):
        if token.type == "code_inline":
            yield token.content
        elif token.type in ("fence", "code_block") and is_shell(token.content):
            yield from token.content.splitlines()


def is_shell(block):
    """A block of commands, not of output, begins with the name of a program."""
    return block.removeprefix(".venv/bin/").partition(" ")[0] in (*PROGRAMS, *OTHERS)


def fault(command):
    """The sentence that says what is wrong with a command of ours; empty for a right one."""
    words = shlex.split(command.removeprefix(".venv/bin/").removeprefix("!"), comments=True)
    if words[:1] == ["make"]:
        unknown = [word for word in words[1:] if word not in TARGETS and "=" not in word]
        return f"no target {unknown}" if unknown else ""
    if len(words) < 2 or words[0] not in PROGRAMS:
        return ""
    command, *words = PROGRAMS[words[0]], *words[1:]
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        if words[0] not in command.commands:
            return f"no command {words[0]}"
        command, *words = command.commands[words[0]], *words[1:]
    if words[:1] in (["--help"], ["-h"]):
        return ""
    context = typer.Context(command)
    try:
        _, left, _ = command.make_parser(context).parse_args(words)
    except Exception as error:  # of click, or of the click that typer brings along
        return str(error)
    return f"too many arguments: {left}" if left else ""


@each_page
def test_links_lead_somewhere(page):
    """Each relative link and picture of a page is there, and so is the heading after `#`."""
    assert list(broken(page)) == []


@each_page
def test_commands_exist(page):
    """Commands of minigrad, autograder and make have the names, options and number of arguments that exist."""
    parts = [part for command in commands(page) for part in re.split(r" && | \|\| ", command)]
    wrong = [(part, fault(part)) for part in parts if re.match(r"!?(\.venv/bin/)?(minigrad|autograder|make) ", part)]
    assert [each for each in wrong if each[1]] == []


def test_the_index_names_every_page():
    """Each page of docs/ can be reached from its index."""
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in targets(index)}
    assert [page for page in (ROOT / "docs").rglob("*.md") if page != index and page not in linked] == []


@pytest.mark.parametrize("page", LINES)
def test_a_page_to_begin_with_is_short(page):
    """It keeps to its number of lines; details stand elsewhere."""
    assert len((ROOT / page).read_text().splitlines()) <= LINES[page]


def test_each_block_of_commands_in_the_readme_is_short():
    """A door has a few commands; more of them have a page."""
    blocks = [token.content.splitlines() for token in tokens(README) if token.type == "fence"]
    assert len(blocks) >= 4
    assert [block for block in blocks if len(block) > COMMANDS] == []


def test_the_readme_shows_small_pictures_for_both_themes():
    """Each picture comes light and dark, all that lie there are shown, and together they are small."""
    pictures = {str(file.relative_to(ROOT)) for file in (ROOT / "docs" / "pictures").glob("*.png")}
    shown = {target for target in targets(README) if target.endswith(".png")}
    assert pictures == shown
    assert {name.replace("-light", "-dark") for name in shown if "-light" in name} == {
        name for name in shown if "-dark" in name
    }
    assert sum((ROOT / name).stat().st_size for name in pictures) < PICTURE_BYTES


def test_figures_of_the_readme_are_measured():
    """Each line of the README's table of figures is one of RESULTS.md, and its figures stand there."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text().splitlines()
    rows = README.read_text().split("\n## Figures\n")[1].split("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")][1:]
    assert len(rows) >= 5
    for name, figure, meaning in rows:
        measured = next((line for line in results if f"| {name} |" in line), None)
        assert measured, f"RESULTS.md has no line {name!r}"
        for number in (figure, *re.findall(r"\d+(?:\.\d+)?(?: ms)?", meaning)):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", measured), f"{name}: {number}: {measured}"


def test_the_cost_of_a_class_is_reckoned_from_measured_seconds():
    """The model's seconds of a core to judge a submission are those of RESULTS.md, and its table follows from them."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    measured = [
        float(
            re.search(
                rf"^\| {lessons} \| autograder autograde, the whole class, cold \|.*?\|.*?\| ([\d.]+) s",
                results,
                re.MULTILINE,
            )[1]
        )
        for lessons in ("autodiff", "compiled")
    ]
    model = (ROOT / "docs" / "instructor" / "scale.md").read_text()
    interpreted, compiled = map(float, re.search(r"\| ([\d.]+) where .*?, ([\d.]+) where", model).groups())
    assert [interpreted, compiled] == [round(seconds, 1) for seconds in measured]
    judged, recorded = interpreted, float(re.search(r"so ([\d.]+) for three \|", model)[1])
    for count, hours in re.findall(r"^\| ([\d,]+) \| [^|]+\| [^|]+\| ([\d.]+) \|", model, re.MULTILINE):
        assert float(hours) == pytest.approx(int(count.replace(",", "")) * (judged + recorded) / 3600, rel=0.02)


def programs():
    """Each Python program in docs/, with the output that stands below it, or nothing."""
    for page in sorted({*(ROOT / "docs").rglob("*.md")} - {WALK}):
        blocks = [token for token in tokens(page) if token.type == "fence"]
        lines = page.read_text().splitlines()
        for number, block in enumerate(blocks):
            if block.info == "python":
                after = blocks[number + 1] if number + 1 < len(blocks) else None
                follows = after and not "".join(lines[block.map[1] : after.map[0]]).strip() and not after.info
                name = f"{page.relative_to(ROOT)}:{block.map[0] + 1}"
                yield pytest.param(block.content, after.content if follows else "", id=name)


@pytest.mark.full("each program of a page runs in a process of its own", share=12)
@pytest.mark.parametrize(("program", "output"), [*programs()])
def test_programs_print_what_the_page_says(program, output):
    """A program of the documentation runs; a line `...` in its output stands for anything that follows."""
    # In a process of its own: where another test has left a shell of IPython behind, a check prints nothing.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wanted, cut, _ = output.partition("  ...\n")
    printed = done.stdout.removeprefix(f"{COMPILING}\n")  # a busy machine says that it compiles
    assert printed.startswith(wanted) if cut else not wanted or printed == wanted


@each_page
def test_files_that_are_named_exist(page):
    """A path in a page's code leads to a file; capitals mark a pattern, and the changelog names old paths too."""
    if page.name == "CHANGELOG.md":
        return
    texts = [token.content for token in tokens(page) if token.type in ("code_inline", "fence")]
    named = {
        path
        for text in texts
        for path in re.findall(r"(?<![\w/.-])(?:autograder|docs|scripts|src|tests)/[\w./-]+\.\w+", text)
    }
    made = re.compile("[A-Z]{2}|fill-in")  # a pattern, or a file that a walk lays out
    assert {path for path in named if not made.search(path) and not (ROOT / path).exists()} == set()


def test_each_assignment_is_listed_with_its_lessons():
    """The page about handing in names the lessons of every assignment, as the course divides them."""
    course = syllabus.course()
    titles = {each["name"]: f"{each['name'].partition('_')[0]} {each['title']}" for each in course["lessons"]}
    rows = {each["name"]: ", ".join(titles[lesson] for lesson in each["lessons"]) for each in course["assignments"]}
    page = (ROOT / "docs" / "student" / "hand-in.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| (.+) \|$", page, re.MULTILINE) == list(rows.items())


def rows(page):
    """The rows of all tables of a page, as lists of cells."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]


def test_hours_of_lessons():
    """The list of lessons has their order, the hours that the build counts, and their sum; the README rounds it."""
    lessons = syllabus.course()["lessons"]
    told = {cells[0]: cells[2] for cells in rows(ROOT / "docs" / "self-study" / "lessons.md")[1:]}
    counted = {each["name"].partition("_")[0]: syllabus.in_hours(each["minutes"]) for each in lessons}
    assert list(told.items()) == list(counted.items())
    whole = sum(each["minutes"] for each in lessons)
    for page in ("lessons", "paths", "README"):
        assert syllabus.in_hours(whole) in (ROOT / "docs" / "self-study" / f"{page}.md").read_text(), page
    assert f"The whole course takes {whole / 60:.0f} hours" in README.read_text()


def test_paths_are_told_as_the_course_has_them():
    """The page of paths has the exercises, sections, weeks and hours of course.toml."""
    page = ROOT / "docs" / "self-study" / "paths.md"
    text, tables = page.read_text(encoding="utf-8"), rows(page)
    for path in paths.paths().values():
        count = "Seven" if len(path.exercises) == 7 else len(path.exercises)
        assert f"{count} exercises, {syllabus.in_hours(path.minutes)}" in text, path.name
    for part in paths.paths()["weekend"].parts:
        asked = ", ".join(f"`{id}`" for id in part.exercises)
        read = "; ".join(f"*{title}*" for title in part.sections)
        assert [part.lesson.partition("_")[0], asked, read, syllabus.in_hours(part.minutes)] in tables
    titles = {each["name"]: each["title"] for each in syllabus.course()["lessons"]}
    of_lesson = {name: [each.id for each in syllabus.catalogue().values() if each.lesson == name] for name in titles}
    for week, grouped in itertools.groupby(paths.paths()["term"].parts, key=lambda part: part.week):
        parts = list(grouped)
        lessons = ", ".join(f"{part.lesson.partition('_')[0]} {titles[part.lesson]}" for part in parts)
        left = [id for part in parts for id in of_lesson[part.lesson] if id not in part.exercises]
        time = syllabus.in_hours(sum(part.minutes for part in parts))
        assert [str(week), lessons, ", ".join(f"`{id}`" for id in left), time] in tables
