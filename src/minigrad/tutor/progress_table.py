"""Progress as a table of a notebook: readable on light and dark pages, and by a screen reader."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from minigrad.exercises.telling import Told, told

if TYPE_CHECKING:
    from minigrad.tutor.progressing import LessonProgress, Progress

_BAR = (
    '<div role="img" aria-label="{label}" style="width:5em;height:.7em;border:1px solid '
    'currentColor;border-radius:3px"><div style="width:{percent}%;height:100%;background:#1f77b4"></div></div>'
)
_HEADS: tuple[Told, ...] = ("lesson", "exercises done", "points", "checks", "hints", "time", "")


def as_html(progress: Progress) -> str:
    """Return the table. Colours are the page's own, but for the bars."""
    heads = "".join(f'<th scope="col" style="text-align:left">{told(each)}</th>' for each in _HEADS)
    rows = "".join(_row(each) for each in progress.lessons)
    reached = "".join(f"<li>{escape(each)}</li>" for each in progress.milestones)
    return (
        '<table class="minigrad-progress" style="color:inherit;background:transparent">'
        f'<caption style="text-align:left;color:inherit"><b>{told("Your progress")}</b></caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody><tfoot>{_row(progress.total)}</tfoot></table>"
        f"<small>{escape(progress.note)}</small>{f'<ul>{reached}</ul>' if reached else ''}"
    )


def _row(each: LessonProgress) -> str:
    head = f'<th scope="row" style="text-align:left">{escape(told(each.lesson))}</th>'
    middle = "".join(f'<td style="text-align:left">{text}</td>' for text in each.cells)
    percent = round(100 * each.share)
    bar = _BAR.format(percent=percent, label=told(f"{percent} percent of the points"))
    return f"<tr>{head}{middle}<td>{bar}</td></tr>"
