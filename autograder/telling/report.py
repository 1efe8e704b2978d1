"""Reports on graded work: text for a terminal, an HTML fragment for feedback pages, JSON for programs.

A report shows the points of each group, and for each failed test its title, what was seen, the input that failed,
drawn where a picture says more, a hint, the misconception's name, the sentence that the test enforces and where to
read it again. It never shows a test's source, nor a wanted value that the test's author does not show. Text from a
student's process is cleaned of control characters and escaped, so that it can neither steer a terminal nor put markup
on a page. Sentences are exchanged as they are shown (`tongue.py`); results and JSON are English.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.text import Text

from autograder.common.unforeseen import unforeseen
from autograder.library.speaking import Told, told
from autograder.results import Example, Graded, GroupScore, Submission, Verdict, format_points
from autograder.results.because import SECTION, source_of
from autograder.results.pictures import as_svg, as_words
from autograder.telling.plain_formulas import in_plain_text

MAX_TEXT = 700
"""Longest piece of text from a student's process that a report repeats, in characters."""

EXAMPLE_BEGINS, EXAMPLE_ENDS = "<!--example-->", "<!--/example-->"
"""Between them an HTML report holds an example; students' text is escaped and holds no comments."""

# A test that takes no argument has no input to show; several answers are asked for at once.
_HINT: Told = "hint"
_QUOTED: Told = "because"
_AGAIN: Told = "read again"
_INPUT: Told = "input"
_RIGHT: Told = "right"
_TOGETHER: Told = "together"

_AT = re.compile(r" at \[(?P<place>\d{1,3})\](?= \(|$)")

_DARK = re.compile(r"@media\(prefers-color-scheme:dark\)\{(?:[^{}<]*\{[^{}<]*\})*[^{}<]*\}")

_STYLE, _PAGE_STYLE = (
    Path(__file__).with_name(name).read_text(encoding="utf-8").strip() for name in ("report.css", "page.css")
)


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """Text from a student's process, without control characters and of bounded length."""
    kept = "".join(
        character
        for character in text[: 4 * limit]
        if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
    ).strip()
    return kept if len(kept) <= limit else kept[:limit].rstrip() + " ... (cut here)"


def _said(text: str) -> str:
    """A sentence as it is shown: with what students' code said cleaned, in the language of the report."""
    return told(clean(text))


def _explanations(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """The labelled lines that follow the example of a failed test, with English labels."""
    sentences, place = source_of(verdict.because)
    counted = verdict.counted_in and f"in the group {verdict.counted_in}: it follows from the mistake there"
    named = (
        ("counted once", counted),
        (_HINT, verdict.hint),
        ("typical cause", verdict.misconception.replace("-", " ")),
        *((_QUOTED, in_plain_text(told(sentence), is_markdown=False)) for sentence in sentences),
        (_AGAIN, place),
    )
    for label, text in named:
        if text:
            yield label, _said(text)


def example_rows(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """The table of an example: what went in, what came unless it is drawn, what was right where it may be shown."""
    example = verdict.example or Example()
    if not example.given and not example.withheld and (found := _AT.search(verdict.reason)):
        said = told(f"element number {int(found['place']) + 1} of what the test asked for")
        yield told(f"at [{found['place']}]"), said
    for number, (name, value) in enumerate(example.given):
        yield "" if number else told(_INPUT), clean(f"{name} = {value}") if name else _said(value)
    if example.came and example.picture is None and example.came not in verdict.reason:
        yield told("your code gave"), clean(example.came)
    if example.wanted:
        yield told(_RIGHT), clean(example.wanted)


def _withheld(graded: Graded) -> Iterator[str]:
    """Why examples of an exercise are not shown, each reason once."""
    found = (verdict.example.withheld for verdict in graded.failures if verdict.example is not None)
    yield from dict.fromkeys(sentence for sentence in found if sentence)


def _headline(graded: Graded) -> str:
    earned, points = format_points(graded.earned), format_points(graded.points)
    return told(f"{graded.exercise}: {earned} of {points} points")


def _score(group: GroupScore) -> str:
    return told(f"{format_points(group.earned)} of {format_points(group.points)}")


def _rich_exercise(graded: Graded) -> list[Text]:
    try:
        return list(_rich_lines(graded))
    except Exception as error:  # whatever one exercise's text does, the others have their reports
        return [Text(_headline(graded)), Text(f"  {told(unforeseen('this report', error))}")]


def _rich_lines(graded: Graded) -> Iterator[Text]:
    yield Text(_headline(graded), style="bold green" if graded.full else "bold red")
    if graded.reason:
        yield Text(f"  {_said(graded.reason)}")
    for group in graded.groups if graded.verdicts else ():
        mark = "green" if group.earned == group.points else "red"
        yield Text.assemble(f"  {group.name}: ", (_score(group), mark))
    for verdict, more in _joined(graded):
        yield from _rich_verdict(verdict, more)
    for note in (*_withheld(graded), *graded.notes):
        yield Text(f"  {told('note: ')}{_said(note)}", style="yellow")


def _joined(graded: Graded) -> Iterator[tuple[Verdict, str]]:
    """Each failure, and a line on those that it stands for: tests of its group that got no answer for one reason."""
    counts = Counter((verdict.group, verdict.reason) for verdict in graded.failures if verdict.failure)
    for verdict in graded.failures:
        count = counts.pop((verdict.group, verdict.reason), 0) if verdict.failure else 1
        more = "1 more test fails" if count == 2 else f"{count - 1} more tests fail"
        if count:
            yield verdict, told(f"{more} for the same reason.") if count > 1 else ""


def _rich_verdict(verdict: Verdict, more: str) -> Iterator[Text]:
    yield Text.assemble(("  ✗ ", "red"), told(verdict.title))
    if verdict.reason:
        yield _indented(_said(verdict.reason))
    rows = list(example_rows(verdict))
    width = 2 + max((len(label) for label, _ in rows), default=0)
    for label, value in rows:
        yield _indented(f"{f'{label}:' if label else '':<{width}}{value}")
    picture = as_words(verdict.example.picture) if verdict.example is not None else []
    if picture:
        yield _indented("\n".join(f"  | {clean(line)}" for line in picture))
    for label, text in _explanations(verdict):
        yield _indented(f"{told(label)}: {text}")
    if more:
        yield _indented(more)


def _indented(text: str) -> Text:
    return Text("\n".join(f"      {line}" for line in text.splitlines()))


def as_rich(submission: Submission) -> RenderableType:
    """The report on a notebook for a terminal."""
    lines: list[RenderableType] = []
    if submission.unreadable:
        lines.append(Text(_said(submission.unreadable), style="bold red"))
    lines += [Text(f"{told('note: ')}{_said(note)}", style="yellow") for note in submission.notes]
    for graded in submission.exercises:
        lines += [Text(), *_rich_exercise(graded)] if lines else _rich_exercise(graded)
    lines += [Text(), Text(f"{submission.lesson}: {_total([submission])}", style="bold")]
    return Group(*lines)


def as_text(report: Graded | Submission) -> str:
    """The report on an exercise or a notebook as plain text."""
    renderable = Group(*_rich_exercise(report)) if isinstance(report, Graded) else as_rich(report)
    console = Console(width=100, color_system=None, force_terminal=False, soft_wrap=True)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get().rstrip("\n")


def _paragraphs(kind: str, texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield f'<p class="{kind}">{html.escape(_said(text))}</p>'


def _with_code(text: str) -> str:
    """An author's words as HTML, with code where they have backticks."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))


def _html_verdict(verdict: Verdict, more: str, lesson: str) -> str:
    title = _with_code(told(verdict.title))
    details = [f"<div>{html.escape(_said(verdict.reason))}</div>"] if verdict.reason else []
    details += [*_html_example(verdict)]
    for label, text in _explanations(verdict):
        shown = _with_code(text)
        if label == _AGAIN:
            shown = _linked(verdict.because, lesson, shown)
        details.append(f'<div><span class="dim">{told(label)}:</span> {shown}</div>')
    details += [f"<div>{more}</div>"] if more else []
    return f'<li><span class="bad">✗</span> <b>{title}</b>{"".join(details)}</li>'


def _html_example(verdict: Verdict) -> Iterator[str]:
    rows = "".join(
        f'<tr><td class="dim">{label}</td><td>{html.escape(value)}</td></tr>' for label, value in example_rows(verdict)
    )
    drawn = as_svg(verdict.example.picture) if verdict.example is not None else ""
    table = f'<table class="mg-example">{rows}</table>' if rows else ""
    picture = f'<div class="mg-picture">{drawn}</div>' if drawn else ""
    if table or picture:
        yield f"{EXAMPLE_BEGINS}{table}{picture}{EXAMPLE_ENDS}"


def _linked(because: str, lesson: str, shown: str) -> str:
    """The place to read again, as a link where it is a heading of the same notebook."""
    found = SECTION.fullmatch(because)
    if found is None or found["lesson"] != lesson[:2]:
        return shown
    title = told(f"{found['lesson']} '{found['title']}'")[4:-1]
    anchor = html.escape(title.replace(" ", "-"), quote=True)  # as nbconvert names its headings
    return f'<a href="#{anchor}">{shown}</a>'


def _html_body(graded: Graded, lesson: str) -> Iterator[str]:
    colour = "good" if graded.full else "bad"
    yield f'<p><b class="{colour}">{html.escape(_headline(graded))}</b></p>'
    if graded.reason:
        yield from _paragraphs("", [graded.reason])
    if graded.verdicts:
        rows = "".join(
            f"<tr><td>{html.escape(group.name)}</td>"
            f'<td class="{"good" if group.earned == group.points else "bad"}">'
            f"{_score(group)}</td></tr>"
            for group in graded.groups
        )
        yield f"<table>{rows}</table>"
    failed = [_html_verdict(verdict, more, lesson) for verdict, more in _joined(graded)]
    if failed:
        yield f"<ul>{''.join(failed)}</ul>"
    yield from _paragraphs("dim", [*_withheld(graded), *graded.notes])


def as_html(graded: Graded, notes: Iterable[str] = (), *, lesson: str = "") -> str:
    """The report on an exercise as a fragment that needs no other file.

    Args:
        graded: The result.
        notes: Notes above it about the notebook as a whole.
        lesson: The notebook that the fragment will stand in: it may link to its headings, and has no dark colours,
            since nbgrader's pages have none.
    """
    try:
        body = "".join([*_paragraphs("", notes), *_html_body(graded, lesson)])
    except Exception as error:  # as above
        body = "".join(_paragraphs("", [_headline(graded), unforeseen("this report", error)]))
    fragment = f'<div class="mg-report"><style>{_STYLE}</style>{body}</div>'
    return _DARK.sub("", fragment) if lesson else fragment


def contents(
    submission: Submission, anchors: Mapping[str, str], scores: Mapping[str, float], empty: Iterable[str] = ()
) -> str:
    """A table of a notebook's exercises, with their points and the first thing that each report says.

    Args:
        submission: The result of a notebook.
        anchors: The name of the place on the page where an exercise's report stands, by exercise.
        scores: The points that count, by this name, where they may be others than those of the report.
        empty: Names of places that nbgrader lists although there is nothing to read.
    """
    places = [(graded, anchors[graded.exercise]) for graded in submission.exercises]
    rows = "".join(_contents_row(graded, place, scores.get(place, graded.earned)) for graded, place in places)
    # nbgrader lists the same places as "Test cell"; what else there is to read stays.
    names = [html.escape(name, quote=True) for name in (*anchors.values(), *empty)]
    listed = ",".join(f'#toc li:has(>a[href="#{name}"])' for name in names)
    # nbgrader's own style takes the triangle from what is folded in a lesson's text.
    folded = "summary{display:list-item;cursor:pointer}"
    style = f"<style>{_STYLE}\n{listed or '#none'}{{display:none}}\n{folded}</style>"
    return _DARK.sub("", f'<div class="mg-report">{style}<table class="mg-contents">{rows}</table></div>')


def _contents_row(graded: Graded, anchor: str, earned: float) -> str:
    colour = "good" if earned >= graded.points else "bad"
    said = graded.reason or next((verdict.title for verdict in graded.failures), "")
    score = told(f"{format_points(earned)} of {format_points(graded.points)}")
    first = told(clean(said, limit=160).partition("\n")[0])
    return (
        f'<tr><td><a href="#{html.escape(anchor, quote=True)}">{html.escape(graded.exercise)}</a></td>'
        f'<td class="{colour} mg-points">{score}</td>'
        f"<td>{html.escape(first)}</td></tr>"
    )


def page(*submissions: Submission, changes: Sequence[Sequence[str]] = (), language: str = "") -> str:
    """The report on a notebook, or on several, as a whole HTML page.

    Args:
        submissions: The results.
        changes: For each of them the lines that say what has changed since the last report.
        language: The language that is spoken, such as "zh_CN"; empty for English.
    """
    lessons = [html.escape(each.lesson) for each in submissions]
    title = told(f"{', '.join(lessons)}: report")
    several = len(submissions) > 1
    links = "".join(f'<li><a href="#{name}">{name}</a></li>' for name in lessons) if several else ""
    changed = changes or [()] * len(submissions)
    sections = "".join(_lesson(*each) for each in zip(submissions, changed, strict=True))
    return (
        f'<!doctype html><html lang="{language.replace("_", "-") or "en"}"><head><meta charset="utf-8">'
        f"<title>{title}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><style>{_PAGE_STYLE}</style></head>'
        f"<body>{f'<h1>{_total(submissions)}</h1><ul>{links}</ul>' if several else ''}{sections}</body></html>\n"
    )


def _total(submissions: Iterable[Submission]) -> str:
    earned, points = (sum(getattr(each, name) for each in submissions) for name in ("earned", "points"))
    return told(f"{format_points(earned)} of {format_points(points)} points")


def together(submissions: Sequence[Submission], asked: Container[str] | None = None) -> str:
    """Return the last line for the author of the notebooks: the sum of points, and the next exercise with a gap.

    Args:
        submissions: What was graded.
        asked: The exercises that the author's path asks for; all of them by default.
    """
    total = f"{told(_TOGETHER)} {_total(submissions)}"
    graded = (each for submission in submissions for each in submission.exercises)
    gaps = (each.exercise for each in graded if each.earned < each.points and (asked is None or each.exercise in asked))
    if (gap := next(gaps, None)) is None:
        return told(f"{total}. Next: `minigrad` says what to do.")
    return told(f"{total}. Next: {gap}: `minigrad hint {gap}`, `minigrad solution {gap}`.")


def _lesson(submission: Submission, changes: Iterable[str]) -> str:
    """The report on a notebook as a section of a page."""
    name = html.escape(submission.lesson)
    notes = [submission.unreadable] if submission.unreadable else []
    changed = "".join(f"<li>{html.escape(line)}</li>" for line in changes)
    return (
        f'<section id="{name}"><h2>{name}</h2><p><b>{_total([submission])}</b></p>'
        f"{f'<ul>{changed}</ul>' if changed else ''}{''.join(_paragraphs('', [*notes, *submission.notes]))}"
        f"{''.join(as_html(graded) for graded in submission.exercises)}</section>"
    )


def as_json(*submissions: Submission) -> str:
    """The report on a notebook as JSON; a list of them for several."""
    data = [each.as_json() for each in submissions]
    return json.dumps(data[0] if len(data) == 1 else data, indent=2, ensure_ascii=False, allow_nan=False)
