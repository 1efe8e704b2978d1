"""The class at a glance, as one HTML page that needs no network and no other file.

Its one script, `sorting.js`, sorts and filters tables; without it they are there as they are. HTML alone has nothing
for that. The page's policy names the script by its hash, so that a browser runs this text and no other: neither what
a student wrote, nor an event handler.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from autograder.common.unforeseen import unforeseen
from autograder.results import Graded, Verdict, format_points
from autograder.results.pictures import as_svg
from autograder.telling.classreport import figures
from autograder.telling.classreport.charts import STATES, discrimination_bar, histogram, share_bar, state_bar, swatch
from autograder.telling.classreport.figures import Distribution, ExerciseFigures, Mistake
from autograder.telling.classreport.gather import ClassData
from autograder.telling.classreport.markup import Html, dotted, el, joined
from autograder.telling.classreport.side_by_side import likeness_section, outside_section
from autograder.telling.report import clean, example_rows

MOST_ROWS = 40
"""Rows of a table that stand there open: the rest is folded, or scrolls in a box where the table can be sorted."""

MOST_NAMES = 6
"""Students who are named beside a mistake, and exercises beside an event; the rest is folded."""

EASY, HARD, TELLS_LITTLE = 0.95, 0.4, 0.2

MOST_POINTS = 30_000
"""Points of single exercises that the page lists; a class of 2,000 has 22,000 in an assignment of 11 exercises."""

_SCRIPT = Path(__file__).with_name("sorting.js").read_text(encoding="utf-8")
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'"


def class_page(data: ClassData, made: str = "") -> str:
    """The whole page.

    Args:
        data: The data that `gather` read. The same data give the same page.
        made: When it was made, for its head.
    """
    title = f"{data.name}: the class at a glance"
    sections = list(_sections(data))
    head = joined(
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        el("title", title),
        Html(f"<style>\n{Path(__file__).with_name('style.css').read_text(encoding='utf-8')}</style>"),
    )
    links = el("ul", *(el("li", el("a", name, href=f"#{key}")) for key, name, _ in sections))
    body = joined(
        el("a", "Skip to the contents", class_="skip", href="#main"),
        el("header", el("h1", title), _about(data, made), el("nav", links, aria_label="Sections")),
        el("main", *(_section(*section) for section in sections), id="main"),
        Html(f"<script>{_SCRIPT}</script>"),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _section(key: str, name: str, content: Html) -> Html:
    return joined(
        el("section", el("h2", name, id=f"{key}-title"), content, id=key, aria_labelledby=f"{key}-title"), "\n"
    )


def _sections(data: ClassData) -> Iterator[tuple[str, str, Html]]:
    """Key, name and content of each section."""
    yield "marks", "Marks", _made(_marks, data)
    yield "students", "Students", _made(_roster, data)
    yield "late", "Late work and answers to be marked", _made(_late, data)
    yield "exercises", "Exercises", _made(_exercises, data)
    yield "mistakes", "Misconceptions", _made(_mistakes, data)
    yield "stuck", "Who may be stuck", _made(_stuck, data)
    yield "contained", "What sandboxes stopped", _made(_contained, data)
    yield "likeness", "Answers that are unusually alike", _made(likeness_section, data)
    yield "outside", "Answers like ones from elsewhere", _made(outside_section, data)


def _made(make: Callable[[ClassData], Html], data: ClassData) -> Html:
    """A section's content; where one text keeps it from being made, that is said, and the page has the others."""
    try:
        return make(data)
    except Exception as error:
        return el("p", unforeseen("this section", error))


def table(
    caption: object,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    numbers: frozenset[int],
    *,
    is_sortable: bool = False,
) -> Html:
    """A table whose first column names its rows. It scrolls in its own box, where it is wider than the page or long.

    Args:
        caption: Its content.
        heads: The names of its columns.
        rows: Their cells.
        numbers: Columns that hold numbers; all but the first, in a table that says so once for all.
        is_sortable: Whether the script sorts and filters its rows.
    """
    are_all = numbers == frozenset(range(1, len(heads)))
    kinds = ["n" if place in numbers and not are_all else None for place in range(len(heads))]
    head = el("tr", *(el("th", name, scope="col", class_=kind) for name, kind in zip(heads, kinds, strict=True)))
    lines = []
    for first, *others in rows:
        cells = (el("td", cell, class_=kind) for cell, kind in zip(others, kinds[1:], strict=True))
        lines.append(joined(el("tr", el("th", first, scope="row"), *cells), "\n"))
    kind = " ".join([*["numbers"] * are_all, *["sortable"] * is_sortable]) or None
    made = el("table", el("caption", caption), el("thead", head), el("tbody", *lines), class_=kind)
    box = "wide tall" if len(lines) > MOST_ROWS and is_sortable else "wide"
    return el("div", made, class_=box, tabindex=0, role="region", aria_label=str(caption)[:60])


def _about(data: ClassData, made: str) -> Html:
    students = {entry.student for entry in data.entries}
    contained = figures.events(data.entries)
    free = figures.not_isolated(data.entries)
    tiles = {
        "students": len(students),
        "notebooks graded": len(data.entries),
        "students who may be stuck": len({each.student for each in figures.stuck(data.entries)}),
        "students whose code a sandbox stopped": len({who for each in contained for who in each.students}),
        "notebooks graded without a sandbox": len(free),
    }
    names = ", ".join(f"{name} ({title})" for name, title in data.titles.items())
    shown = (el("div", el("dt", name), el("dd", count)) for name, count in tiles.items())
    said = f"{names}; made {made}" if made else names
    return joined(el("p", said, class_="dim"), el("dl", *shown, class_="tiles"))


def _marks(data: ClassData) -> Html:
    everyone = {entry.student for entry in data.entries}
    made = []
    for name, title in data.titles.items():
        marks = figures.distribution(data.entries, name)
        if marks.shares:
            made.append(_distribution(f"{name}: {title}", marks, len(everyone), data.by_hand.get(name, 0.0)))
    return el("div", *made, class_="charts")


def _distribution(title: str, marks: Distribution, everyone: int, by_hand: float) -> Html:
    full = sum(share >= 1 - 1e-9 for share in marks.shares)
    nothing = sum(share == 0 for share in marks.shares)
    missing = everyone - len(marks.shares)
    besides = f" (and {format_points(by_hand)} that a person gives, not counted here)" if by_hand else ""
    said = [
        f"{len(marks.shares)} student{'s' * (len(marks.shares) != 1)}, {format_points(marks.points)} points by tests"
        + besides,
        f"mean {marks.mean:.0%}, median {marks.median:.0%}",
        f"{full} with all points, {nothing} with none",
    ]
    if missing:
        said.append(f"{missing} handed in nothing")
    caption = joined(el("strong", title), Html("<br>"), "; ".join(said))
    return el("figure", el("figcaption", caption), histogram(marks))


def _roster(data: ClassData) -> Html:
    """Everyone's points: by exercise, and by assignment alone where that would be too much for a page."""
    rows: dict[str, dict[str, dict[str, Graded]]] = {name: {} for name in data.titles}
    for entry in data.entries:
        own = rows[entry.assignment].setdefault(entry.student, {})
        own.update({each.exercise: each for each in entry.submission.exercises})
    count = sum(len(own) for row in rows.values() for own in row.values())
    if len(data.titles) > 1 and count > MOST_POINTS:
        return _totals(data, rows)
    tables = []
    for name, title in data.titles.items():
        ordered = [each.exercise for each in figures.exercises(data.entries, name)]
        if ordered:
            places = {student: data.places([name], student) for student in sorted(rows[name])}
            heads = ("student", *next(iter(places.values())), "points", *map(dotted, ordered))
            lines = (_roster_row(student, where, rows[name][student], ordered) for student, where in places.items())
            caption = f"{name}: {title}. Less than all points is bold; a dash is an exercise that was not begun"
            tables.append(table(caption, heads, lines, _numbers(heads), is_sortable=True))
    return joined(*tables)


def _numbers(heads: Sequence[object]) -> frozenset[int]:
    """The columns from the points on."""
    return frozenset(range(heads.index("points"), len(heads)))


def _totals(data: ClassData, rows: Mapping[str, Mapping[str, Mapping[str, Graded]]]) -> Html:
    """Everyone's points in each assignment."""
    earned = {
        name: {student: sum(graded.earned for graded in own.values()) for student, own in row.items()}
        for name, row in rows.items()
        if row
    }
    lines = []
    for student in sorted({student for row in earned.values() for student in row}):
        own = [row.get(student) for row in earned.values()]
        cells = ("\N{EN DASH}" if each is None else format_points(each) for each in own)
        places = data.places(list(earned), student)
        where = map(clean, places.values())
        lines.append([clean(student), *where, format_points(sum(each or 0.0 for each in own)), *cells])
    caption = (
        "Points by assignment; a dash is one that was not handed in. "
        f"`autograder report {next(iter(earned))}` lists the points of single exercises"
    )
    heads = ("student", *places, "points", *earned)
    return table(caption, heads, lines, _numbers(heads), is_sortable=True)


def _late(data: ClassData) -> Html:
    """Whose mark in the gradebook is not just the points above, or is not final."""
    if data.notable is None:
        return el("p", "The gradebook was not read, so that nothing is known of lateness and of answers to be marked.")
    if not data.notable:
        return el("p", "Nobody was late by the dates of the gradebook, and no answer waits to be marked.")
    heads = ("student", "assignment", "handed in", "points", "penalty", "mark", "answers to be marked")
    rows = [[clean(each) for each in row] for row in data.notable]
    caption = "Marks of the gradebook, with penalties for lateness and what is not final"
    return joined(_left(data), table(caption, heads, rows, frozenset({6}), is_sortable=True))


def _left(data: ClassData) -> Html:
    """What each section's graders have still to mark."""
    if not data.left:
        return Html()
    caption = "Answers that wait for a person, by grader; a group's work counts once"
    return table(caption, ("grader", "section", "assignment", "answers"), data.left, frozenset({3}), is_sortable=True)


def _roster_row(
    student: str, places: Mapping[str, str], own: Mapping[str, Graded], ordered: Sequence[str]
) -> list[object]:
    cells: list[object] = []
    for exercise in ordered:
        graded = own.get(exercise)
        if graded is None or figures.untouched(graded):
            cells.append("\N{EN DASH}")
        else:
            earned = format_points(graded.earned)
            cells.append(earned if graded.full else el("b", earned))
    where = map(clean, places.values())
    return [clean(student), *where, format_points(sum(graded.earned for graded in own.values())), *cells]


def _exercises(data: ClassData) -> Html:
    legend = el("p", *(el("span", swatch(state), what, class_="key") for state, what in STATES.items()))
    intro = el(
        "p",
        "Difficulty is the mean share of the points. Discrimination is the correlation with the points of all other "
        "exercises of the assignment (item-rest correlation, Henrysson 1963): near 0 or below, those who are good at "
        "the rest do no better here, and its tests or its text deserve a look.",
    )
    tables = []
    for name, title in data.titles.items():
        rows = [_exercise_row(each) for each in figures.exercises(data.entries, name)]
        if rows:
            heads = (
                "exercise",
                "points",
                "how students did",
                "all · some · none · not begun",
                "mean",
                "discrimination",
                "remark",
            )
            tables.append(table(f"{name}: {title}", heads, rows, frozenset({1}), is_sortable=True))
    return joined(intro, legend, *tables)


def _exercise_row(each: ExerciseFigures) -> list[object]:
    counts = " · ".join(str(getattr(each, state)) for state in STATES)
    mean: object = "dropped" if each.mean is None else joined(f"{each.mean:.0%}", share_bar(each.mean))
    value = each.discrimination
    told: object = "does not vary" if value is None else joined(_signed(value), discrimination_bar(value))
    return [
        dotted(each.exercise),
        format_points(each.points),
        state_bar(each),
        counts,
        mean,
        told,
        ", ".join(_remarks(each)),
    ]


def _signed(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")


def _remarks(each: ExerciseFigures) -> Iterator[str]:
    if each.mean is None:
        return
    if each.mean <= HARD:
        yield "hard"
    if each.mean >= EASY:
        yield "easy"
    elif each.discrimination is not None and each.discrimination < TELLS_LITTLE:
        yield "tells little" if each.discrimination >= 0 else "against the rest"


def _mistakes(data: ClassData) -> Html:
    known, (unknown, aside) = figures.mistakes(data.entries), figures.unexplained(data.entries)
    parts = []
    if known:
        heads = ("misconception", "exercise", "students", "for example")
        caption = "Named where what was seen is what the known mistake gives"
        parts.append(_long(caption, heads, [_mistake_row(each) for each in known], frozenset({2})))
    else:
        parts.append(el("p", "No failed test shows a mistake that is known by name."))
    heads = ("test", "exercise", "students", "for example")
    caption = "Failed tests of answers that show no known mistake"
    if unknown or aside:
        parts.append(el("h3", "Failures of no known kind"))
    if unknown:
        parts.append(_long(caption, heads, [_mistake_row(each) for each in unknown], frozenset({2})))
    if aside:
        who = sorted({student for each in aside for student in each.students})
        said = (
            f"{len(aside)} more, only of who forged an answer or fails nearly everything: {', '.join(map(clean, who))}"
        )
        rows = [_mistake_row(each) for each in aside]
        parts.append(_folded(said, table(caption, heads, rows, frozenset({2}))))
    return joined(*parts)


def _long(caption: str, heads: Sequence[str], rows: Sequence[Sequence[object]], numbers: frozenset[int]) -> Html:
    """A table, of which the end is folded where it is long."""
    first, rest = rows[:MOST_ROWS], rows[MOST_ROWS:]
    shown = table(caption, heads, first, numbers)
    return joined(shown, _folded(f"and {len(rest)} more", table(caption, heads, rest, numbers))) if rest else shown


def _folded(summary: str, content: object) -> Html:
    return el("details", el("summary", summary), content, class_="more")


def _mistake_row(each: Mistake) -> list[object]:
    verdict = each.example
    named = each.name == verdict.misconception
    lines: list[str | Html] = [
        verdict.title if named else "",
        clean(verdict.reason),
        f"hint: {clean(verdict.hint)}" if verdict.hint else "",
    ]
    said = [
        el("p", line, class_=kind) if line else Html() for line, kind in zip(lines, (None, None, "dim"), strict=True)
    ]
    return [
        each.name.replace("-", " ") if named else each.name,
        dotted(each.exercise),
        len(each.students),
        joined(*said[:2], _example(verdict), *said[2:], el("div", _named(each.students), class_="dim")),
    ]


def _example(verdict: Verdict) -> Html:
    """The input that failed, and the picture of what came."""
    rows = [
        el("tr", el("td", label.replace("your", "the"), class_="dim"), el("td", value))
        for label, value in example_rows(verdict)
    ]
    drawn = as_svg(verdict.example.picture) if verdict.example is not None else ""
    return joined(
        el("table", el("tbody", *rows), class_="inputs") if rows else Html(),
        el("div", Html(drawn), class_="drawn") if drawn else Html(),
    )


def _named(names: Sequence[str]) -> Html:
    """Names; where they are many, the first of them with the rest folded."""
    first, rest = (", ".join(map(clean, part)) for part in (names[:MOST_NAMES], names[MOST_NAMES:]))
    return _folded(f"{first} and {len(names) - MOST_NAMES} more", rest) if rest else joined(first)


def _stuck(data: ClassData) -> Html:
    found = figures.stuck(data.entries)
    if not found:
        return el("p", "Nobody: everyone has points, has begun most of it, and does not fail most of what was tried.")
    heads = ("student", "assignment", "why", "points", "begun", "tried in vain")
    rows = (
        [
            clean(each.student),
            each.assignment,
            each.why,
            f"{format_points(each.earned)} of {format_points(each.points)}",
            f"{each.tried} of {each.exercises}",
            ", ".join(each.failing),
        ]
        for each in found
    )
    caption = "No points, most of it not begun, or most of what was tried below half of its points; lowest mark first"
    return table(caption, heads, rows, frozenset({3, 4}), is_sortable=True)


def _contained(data: ClassData) -> Html:
    contained, free = figures.events(data.entries), figures.not_isolated(data.entries)
    parts = []
    if contained:
        rows = [[clean(each.event), _named(each.students), _named(each.exercises)] for each in contained]
        caption = (
            "What sandboxes stopped while submissions were graded; an endless loop is an accident, "
            "a forged answer is not"
        )
        parts.append(_long(caption, ("what happened", "students", "exercises"), rows, frozenset()))
    else:
        parts.append(el("p", "No sandbox had to stop anything."))
    if free:
        free_rows = ([clean(student), lesson] for student, lesson in free)
        parts.append(el("h3", "Graded without a sandbox"))
        caption = "These marks were made with --isolation none: the code could reach the grader's machine"
        parts.append(table(caption, ("student", "lesson"), free_rows, frozenset()))
    else:
        parts.append(el("p", "Every notebook was graded in a sandbox."))
    if failed := figures.ungraded(data.entries):
        failed_rows = ([clean(student), exercise, clean(said)] for student, exercise, said in failed)
        parts.append(el("h3", "Where the grader itself failed"))
        caption = "Each counts as 0 until it is graded again, which the next run of the same command does"
        parts.append(table(caption, ("student", "exercise", "what it said"), failed_rows, frozenset()))
    return joined(*parts)
