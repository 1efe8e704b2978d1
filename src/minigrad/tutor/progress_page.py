"""Progress as a page of its own: what comes next, the map of the course, and the whole library that one has written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from minigrad import exercises
from minigrad.draw.course_map import Stop, course_map
from minigrad.exercises.telling import language, told
from minigrad.tutor.progress_table import as_html
from minigrad.tutor.progressing import Done, Progress, asked, progress, read

Wanted = Sequence[exercises.Exercise]
Lessons = Sequence[Mapping[str, Any]]

_STYLE = """
:root { color-scheme: light dark;
  --paper: #fff; --ink: #1f2328; --soft: #57606a; --line: #8c959f; --blue: #0550ae; --fill: #ddf4ff }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0d1117; --ink: #e6edf3; --soft: #9ea7b3; --line: #768390; --blue: #58a6ff; --fill: #0c2d4d } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; max-width: 50rem;
  margin: 2rem auto; padding: 0 1rem }
a { color: var(--blue) } code { font-size: .95em }
.scrolls { overflow-x: auto }
table { border-collapse: collapse } th, td { padding: .15rem .8rem .15rem 0; white-space: nowrap }
.course-map { width: 100%; max-width: 34rem; font-size: 14px }
.course-map text, .course-map .number { fill: var(--ink) } .course-map .number { font-weight: bold }
.course-map .remark { fill: var(--soft) } .course-map .lines { fill: none; stroke: var(--line); stroke-width: 2 }
.course-map circle { fill: var(--paper); stroke: var(--line); stroke-width: 3 }
.course-map .done { fill: none; stroke: var(--blue); stroke-width: 4 }
ul.names { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem; padding: 0; margin: .2rem 0 1rem }
ul.names li { border: 1px dashed var(--line); border-radius: 4px; padding: 0 .4rem; color: var(--soft);
  font: 13px/1.6 ui-monospace, monospace }
ul.names li.written { border: 1px solid var(--blue); background: var(--fill); color: var(--ink) }
h3 { font-size: 1rem; margin: 0 } .yours { border: 2px solid var(--blue); border-radius: 8px; padding: .5rem 1.2rem }
@media print { .no-paper { display: none } body { margin: 0 } h3, ul.names { break-inside: avoid } }
"""


def page(next_step: str, commands: Iterable[tuple[str, str]], start: Path | None = None) -> str:
    """Return the page as HTML, which needs no other file.

    Args:
        next_step: What comes next, in a sentence.
        commands: The commands for it, each with a remark.
        start: The folder to look for the working folder from. By default the current one.
    """
    found, known, wanted = progress(start), read(start), asked(start)
    lessons = _lessons(wanted)
    total = found.total
    whole = total.done == total.exercises
    listed = "".join(f"<li><code>{escape(name)}</code> {escape(told(remark))}</li>" for name, remark in commands)
    words = told(f"Map of the course: {total.done} of {total.exercises} exercises are done")
    parts = [
        f"<h1>{told('Your progress')}</h1>",
        _yours(found, known, wanted) if whole else "",
        f'<section class="no-paper"><p>{escape(told(next_step))}</p><ul>{listed}</ul></section>',
        f"<h2>{told('The course')}</h2>{course_map(_stops(found, lessons), _needs(lessons), words)}",
        f'<div class="scrolls" tabindex="0" role="region" aria-label="{told("Your progress by lesson")}">'
        f"{as_html(found)}</div>",
        f"<h2>{told('Your library')}</h2><p>{_counted(known, wanted)}</p>",
        *(_names(lesson, known, wanted) for lesson in lessons),
    ]
    return (
        f'<!DOCTYPE html><html lang="{language().replace("_", "-")}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{told('Your progress')}</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _lessons(wanted: Wanted) -> list[Mapping[str, Any]]:
    """The lessons of the exercises that are asked for, in the course's order."""
    names = {each.lesson for each in wanted}
    return [each for each in exercises.syllabus.course()["lessons"] if each["name"] in names]


def _needs(lessons: Lessons) -> dict[str, tuple[str, ...]]:
    """For each lesson those of the others that it needs."""
    names = [each["name"] for each in lessons]
    return {each["name"]: tuple(name for name in each.get("needs", ()) if name in names) for each in lessons}


def _stops(found: Progress, lessons: Lessons) -> list[Stop]:
    rows = {each.lesson: each for each in found.lessons}
    return [
        Stop(each["name"], told(each["title"]), share=row.share, remark=told(f"{row.done} of {row.exercises}"))
        for each in lessons
        for row in [rows[each["name"]]]
    ]


def _counted(known: Mapping[str, Done], wanted: Wanted) -> str:
    there, names = _written(known, wanted)
    return told(f"{there} of {names} functions and classes pass their checks: those with a solid frame are yours.")


def _written(known: Mapping[str, Done], wanted: Wanted) -> tuple[int, int]:
    """How many functions and classes pass their checks, and how many are asked for."""
    counts = [(len(each.objects), known.get(each.id, Done()).passed) for each in wanted]
    return sum(count for count, passed in counts if passed), sum(count for count, _ in counts)


def _names(lesson: Mapping[str, Any], known: Mapping[str, Done], wanted: Wanted) -> str:
    """A lesson's functions and classes, those that pass their checks in a solid frame."""
    items = "".join(
        f'<li class="written">{escape(name)}</li>' if passed else f'<li title="{told("not yet")}">{escape(name)}</li>'
        for each in wanted
        if each.lesson == lesson["name"]
        for passed in [known.get(each.id, Done()).passed]
        for name in (dotted.rpartition(".")[2] for dotted in each.objects)
    )
    return f'<h3>{escape(told(lesson["title"]))}</h3><ul class="names">{items}</ul>'


def _yours(found: Progress, known: Mapping[str, Done], wanted: Wanted) -> str:
    """The head of the page when every exercise passes: what was done, with which help."""
    whole = f'the path "{escape(told(found.path.title))}"' if found.path else "the course"
    total, last = found.total, max((done.last for done in known.values()), default="")[:10]
    names = _written(known, wanted)[1]
    helped = (
        _number(total.checks, "no checks", "{} check", "{} checks"),
        _number(total.hints, "no hints", "{} hint", "{} hints"),
        _number(len(found.solutions), "no solutions", "{} solution", "{} solutions"),
    )
    said = told(
        f"You have written all {names} functions and classes of {whole}, in {total.exercises} exercises; "
        f"the last one passed on {escape(last)}. {', '.join(helped)} seen."
    )
    return f'<section class="yours"><h2>{told("This library is yours")}</h2><p>{said}</p></section>'


def _number(count: int, none: str, one: str, many: str) -> str:
    return told((one if count == 1 else many if count else none).format(count))
