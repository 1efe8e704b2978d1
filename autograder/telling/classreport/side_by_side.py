"""The section on answers that are unusually alike: both texts, side by side, and how unusual that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.telling.classreport.figures import same_notebooks
from autograder.telling.classreport.gather import ClassData
from autograder.telling.classreport.markup import MAX_CODE, Html, code, el, joined
from autograder.telling.likeness import Compared, Pair, compared, same_text
from autograder.telling.report import clean

MOST_PAIRS = 30
"""Pairs of students that are shown; the rest is counted."""

MOST_UNREAD = 10
"""Files from elsewhere that are named as not read."""

MOST_CODE = 300_000
"""Characters of answers that are shown, those of the most unusual pairs first."""

Found = Sequence[tuple[str, Pair]]
"""The exercises that a pair of students has in common, with the likeness of their answers."""


def likeness_section(data: ClassData) -> Html:
    """The section's content."""
    found = {
        exercise: compared(data.answers[exercise], data.known.get(exercise, ())) for exercise in sorted(data.answers)
    }
    intro = el(
        "p",
        "Answers are compared without names, comments, layout and what the task gives out; forms that the "
        "reference, known answers or much of the class have do not count. A likeness can have many causes, such as "
        "work in pairs, one tutor or one page on the web: read both texts before you ask. Members of a group are "
        "one author.",
    )
    parts = [intro]
    if data.unread:
        count = len(data.unread)
        what = "1 notebook was" if count == 1 else f"{count} notebooks were"
        parts.append(el("p", f"{what} changed since grading, and not compared."))
    parts += _too_long(found)
    parts += _same(data)
    nothing = "No two answers are unusually alike in this class."
    return joined(*parts, *_pairs(_by_students(found), data.answers, nothing))


def outside_section(data: ClassData) -> Html:
    """The section on answers that are unusually like ones from elsewhere."""
    if data.outside is None:
        return el(
            "p", "Compared with nothing: name folders of earlier terms or of public answers by ", el("code", "--with")
        )
    elsewhere = {exercise: data.outside.answers.get(exercise, {}) for exercise in sorted(data.answers)}
    found = {
        exercise: compared(data.answers[exercise], data.known.get(exercise, ())[:1], texts)
        for exercise, texts in elsewhere.items()
    }
    count = len({place for texts in elsewhere.values() for place in texts})
    what = "1 file" if count == 1 else f"{count} files"
    intro = (
        f"Answers of the class beside those of {what} from elsewhere, by the same measure: what many of the class or "
        "of the files have does not count. A student's own earlier try, a file in a folder of that name, is left out."
    )
    parts = [el("p", intro)]
    if data.outside.unread:
        more = len(data.outside.unread) - MOST_UNREAD
        lines = (el("li", clean(each)) for each in data.outside.unread[:MOST_UNREAD])
        parts += [el("p", "Not read:"), el("ul", *lines, *([el("li", f"and {more} more")] if more > 0 else []))]
    texts = {exercise: {**data.answers[exercise], **elsewhere[exercise]} for exercise in elsewhere}
    return joined(*parts, *_pairs(_by_students(found), texts, "No answer is unusually like one of them."))


def _pairs(
    found: Sequence[tuple[tuple[str, str], Found]], texts: Mapping[str, Mapping[str, str]], nothing: str
) -> list[Html]:
    """The most unusual pairs, as many as a page has room for, or a sentence if there are none."""
    if not found:
        return [el("p", nothing)]
    parts, left = [], MOST_CODE
    for authors, shared in found[:MOST_PAIRS]:
        shown, left = _pair(authors, shared, texts, left)
        parts.append(shown)
    rest = len(found) - MOST_PAIRS
    if rest > 0:
        parts.append(el("p", f"and {rest} more pairs, which are less unusual", class_="dim"))
    return parts


def _same(data: ClassData) -> list[Html]:
    """The notebooks that several students handed in the same, byte for byte."""
    same = same_notebooks(data.entries, data.author)
    if not same:
        return []
    said = (
        "The same notebooks, byte for byte, with every name, comment and space. In a lesson of few and short answers "
        "that can be chance:"
    )
    lines = (el("li", f"{lesson}: ", el("strong", ", ".join(map(clean, students)))) for lesson, students in same)
    return [el("p", said), el("ul", *lines)]


def _too_long(found: Mapping[str, Compared]) -> list[Html]:
    """The students whose answers could not be compared, which no answer of a lesson's kind is."""
    long = [(who, exercise) for exercise, each in found.items() for who in each.too_long]
    if not long:
        return []
    count = "1 answer" if len(long) == 1 else f"{len(long)} answers"
    names = ", ".join(f"{clean(who)} ({exercise})" for who, exercise in long[:MOST_PAIRS])
    more = f" and {len(long) - MOST_PAIRS} more" if len(long) > MOST_PAIRS else ""
    return [
        el("p", f"{count} could not be compared: too long, or too strange. Read what stands in them: {names}{more}.")
    ]


def _by_students(found: Mapping[str, Compared]) -> list[tuple[tuple[str, str], list[tuple[str, Pair]]]]:
    """Pairs of authors with what they share, those with the most unusual likeness first."""
    shared: dict[tuple[str, str], list[tuple[str, Pair]]] = {}
    for exercise, each in found.items():
        for pair in each.pairs:
            shared.setdefault((pair.one, pair.other), []).append((exercise, pair))
    return sorted(shared.items(), key=lambda item: (-sum(pair.weight for _, pair in item[1]), item[0]))


def _pair(
    authors: tuple[str, str], found: Found, answers: Mapping[str, Mapping[str, str]], left: int
) -> tuple[Html, int]:
    """A pair of authors, and how many characters of answers may still be shown after it."""
    one, other = map(clean, authors)
    names = ", ".join(exercise for exercise, _ in found)
    summary = el("summary", el("strong", f"{one} and {other}"), f": {names}")
    parts = []
    for exercise, pair in found:
        texts = [answers[exercise][author] for author in authors]
        length = sum(min(len(text), MAX_CODE) for text in texts[: 1 if texts[0] == texts[1] else 2])
        parts.append(_exercise(exercise, pair, texts if length <= left else None, same_text(*texts)))
        left -= length if length <= left else 0
    return joined(el("details", summary, *parts), "\n"), left


def _exercise(exercise: str, pair: Pair, texts: Sequence[str] | None, is_same: bool) -> Html:
    """What two answers share, and both of them; None in place of the texts where the page has enough of those."""
    said = (
        f"{pair.alike:.0%} of what tells these two answers from others is common to both: {pair.features} features, "
        f"each found in {pair.having:.1f} of {pair.answers} answers on average. "
        f"Of {pair.pairs:,} pairs it is the {_ordinal(pair.rank)} most unusual."
    )
    if is_same:
        said += " The two texts are the same to the letter, with names and comments."
    if pair.also:
        said += f" The same answer stands in {len(pair.also)} more of the files, such as {clean(pair.also[0])}."
    if texts is None:
        return joined(el("h3", exercise), el("p", said, " The page has no room for the texts."))
    names = [clean(pair.one), clean(pair.other)]
    shown = list(zip(names, texts, strict=True)) if texts[0] != texts[1] else [(" and ".join(names), texts[0])]
    columns = (el("div", el("strong", student), code(text)) for student, text in shown)
    return joined(el("h3", exercise), el("p", said), el("div", *columns, class_="pair"))


def _ordinal(number: int) -> str:
    if number == 1:
        return "single"
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
