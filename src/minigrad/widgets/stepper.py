"""A stepper through backpropagation: one variable at a time, with complete gradients and those that still wait.

The stepper shows the library's present engine: with your own engine in the library, your engine.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import traitlets

from minigrad.draw.graph import ExpressionGraph, describe, number
from minigrad.draw.watching import Watched, check_variables
from minigrad.widgets.base import Widget, page
from minigrad.widgets.steps import Moment, Recording, record

_STATES = {"constant": "", "waits": "waits for", "complete": "complete", "visited": "visited", "early": "too early"}

_STYLE = """<style>
.ms-waits .mg-box{fill:none;stroke-dasharray:4 3}.ms-complete .mg-box{fill:#ddf4ff;stroke:#0550ae}
.ms-visited .mg-box{fill:#eaeef2;stroke:#57606a}.ms-early .mg-box{fill:#fff;stroke:#b42318;stroke-width:2.4}
.ms-now .mg-box{stroke:#a33a00;stroke-width:3.2;stroke-dasharray:none}
.ms-fresh .mg-edge{stroke:#a33a00;stroke-width:2.6}
@media(prefers-color-scheme:dark){.ms-complete .mg-box{fill:#0c2d4d;stroke:#58a6ff}
.ms-visited .mg-box{fill:#2d333b;stroke:#9ea7b3}.ms-early .mg-box{fill:#161b22;stroke:#ff7b72}
.ms-now .mg-box,.ms-fresh .mg-edge{stroke:#ffa657}}
</style>"""


class MomentPicture(ExpressionGraph):
    """The graph as it is after so many steps of an engine.

    Args:
        moment: The state.
    """

    def __init__(self, moment: Moment) -> None:
        super().__init__(moment.graph, moment.recording.names, gradients=True)
        self._moment = moment
        run = moment.recording
        first, last = Moment(run, 0), Moment(run, len(run.visits))
        # Boxes are as wide in every picture: for the longest list of who is waited for, and for each gradient.
        self.least = max(
            len(line)
            for key in run.variables
            for line in (_waiting(first, key), f"{_gradient_line(last, key)} so far", *self._first_lines(key))
        )
        self._all_texts = [text for edge in range(len(self._edges)) for text in self._label_of(edge, last)]

    @property
    def description(self) -> str:
        """The picture in words: one sentence for each variable."""
        run = self._moment.recording
        said = [f"{run.called(key)}: {_value(run, key)}, {_told(self._moment, key)}." for key in run.variables]
        return " ".join(said)

    def _first_lines(self, key: int) -> list[str]:
        """The lines that stay: name and operation, and the value."""
        lines = ExpressionGraph._lines(self, self._moment.recording.graph[key])
        return [line for line in lines if not line.startswith("grad ")]

    def _lines(self, node: Watched) -> list[str]:
        key = node.unique_id
        lines = self._first_lines(key)
        if node.is_constant():
            return lines
        state = self._moment.state(key)
        told = _waiting(self._moment, key) if state == "waits" else _STATES[state]
        so_far = " so far" if self._moment.gradient(key) is not None and self._moment.waits_for(key) else ""
        return [*lines, _gradient_line(self._moment, key) + so_far, told]

    def _box(self, key: int, centre: tuple[float, float], width: float, height: float, lines: list[str]) -> str:
        box = super()._box(key, centre, width, height, lines)
        now = " ms-now" if key == self._moment.now else ""
        return f'<g class="ms-{self._moment.state(key)}{now}" data-part="{key}">{box}</g>'

    def _edge(self, number: int, points: list[tuple[float, float]], width: float) -> str:
        edge = super()._edge(number, points, width)
        start, user = self._edges[number]
        handed_now = user == self._moment.now and not self._graph[start].is_constant()
        return f'<g class="ms-fresh">{edge}</g>' if handed_now else edge

    def _texts(self, number: int) -> list[tuple[str, str]]:
        return self._label_of(number, self._moment)

    def _slopes(self) -> list[str]:
        return [text for style, text in self._all_texts if style == "mg-text" or text[0] in "[("]

    def _label_of(self, edge: int, moment: Moment) -> list[tuple[str, str]]:
        """The slope of an edge, and the gradient that was handed back along it."""
        _, user = self._edges[edge]
        place = edge - next(i for i, (_, other) in enumerate(self._edges) if other == user)
        run = moment.recording
        texts = []
        if (user, place) in run.slopes:
            texts.append(("mg-text", f"× {number(run.slopes[user, place], 4, 3)}"))
        parts = [number(part, 4, 3) for visit in moment.visits for each, _, part in run.parts_of(visit)
                 if each == (user, place)]  # fmt: skip
        return [*texts, ("mg-back", ", ".join(parts))] if parts else texts

    def _document(self, width: float, height: float, parts: Iterable[str]) -> str:
        return super()._document(width, height, [_STYLE, *parts])


def _value(run: Recording, key: int) -> str:
    return describe(run.graph[key], run.names)[2]


def _gradient(moment: Moment, key: int) -> str:
    gradient = moment.gradient(key)
    return "none" if gradient is None else number(gradient)


def _gradient_line(moment: Moment, key: int) -> str:
    return f"grad {_gradient(moment, key)}"


def _users(moment: Moment, key: int) -> str:
    return _listed([moment.recording.called(user) for user in moment.waits_for(key)])


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _waiting(moment: Moment, key: int) -> str:
    """Return the names of the users that a variable waits for, short enough for a box."""
    users = moment.waits_for(key)
    names = [describe(moment.recording.graph[user], moment.recording.names)[0] for user in users]
    if len(users) > 2 or not all(names):
        return f"waits for {len(users)} result{'s' * (len(users) > 1)}"
    return f"waits for {' and '.join(names)}"


def _told(moment: Moment, key: int) -> str:
    """Where a variable stands, in words."""
    state, gradient = moment.state(key), _gradient(moment, key)
    if state == "waits":
        so_far = f"has {gradient} so far and " if gradient != "none" else ""
        return f"{so_far}waits for {_users(moment, key)}"
    if state == "early":
        return f"was visited before its gradient was complete, which is {gradient} now"
    return f"gradient {gradient}, {state}"


def rows(moment: Moment) -> list[dict[str, Any]]:
    """Return the state of every variable, the result first, as a page shows it in a table.

    Returns:
        For each variable its key as text, its name, value, gradient so far, state, whom it waits for, whether it was
        visited last, and after how many steps it has been visited (0: it never is).
    """
    run = moment.recording
    visits = [visit.key for visit in run.visits]
    return [
        {
            "key": str(key),
            "name": run.called(key),
            "value": _value(run, key),
            "gradient": _gradient(moment, key),
            "state": moment.state(key),
            "waits": _users(moment, key),
            "now": key == moment.now,
            "visit": visits.index(key) + 1 if key in visits else 0,
        }
        for key in run.variables
    ]


def sentence(moment: Moment) -> str:
    """Return a sentence on the last step and its effect."""
    run, steps = moment.recording, len(moment.recording.visits)
    lines = [_last_step(moment)] if moment.visits else [_beginning(moment)]
    if moment.step == steps and (run.error or steps):
        lines.append(run.error or _end(moment))
    return "\n".join(lines)


def _beginning(moment: Moment) -> str:
    run = moment.recording
    result = run.called(run.result)
    return f"Before the first step: {result} is the result, its gradient {number(run.start)} is complete. Others wait."


def _last_step(moment: Moment) -> str:
    run, visit = moment.recording, moment.visits[-1]
    name, start = run.called(visit.key), f"Step {moment.step} of {len(run.visits)}: "
    before = Moment(run, moment.step - 1)
    users = _users(before, visit.key)
    told = f"{start}{name} is visited with {number(visit.arrived)}, "
    told += f"too early: it still waits for {users}. " if users else "which is complete. "
    if run.graph[visit.key].is_leaf():
        return f"{told}It is a leaf and keeps it."
    return told + " ".join(_handing(moment, before, edge, key, part) for edge, key, part in run.parts_of(visit))


def _handing(moment: Moment, before: Moment, edge: tuple[int, int], key: int, part: object) -> str:
    """Return a sentence on the gradient handed to one input, and its effect."""
    run, name = moment.recording, moment.recording.called(key)
    slope = run.slopes.get(edge)
    factors = f"{number(moment.visits[-1].arrived)} × {number(slope, 4)} = " if slope is not None else ""
    told = f"It hands {factors}{number(part, 4)} to {name}"
    if before.state(key) in ("visited", "early"):
        return f"{told}, which has been visited before."
    users = _users(moment, key)
    return f"{told}, which still waits for {users}." if users else f"{told}, which is now complete."


def _end(moment: Moment) -> str:
    """Say whether all is well after the last step."""
    run = moment.recording
    left = [run.called(key) for key in run.variables if moment.state(key) in ("waits", "complete")]
    if left:
        return f"The engine has ended, but never visited {_listed(left)}."
    early = [run.called(key) for key in run.variables if moment.state(key) == "early"]
    if early:
        return f"The engine has ended; it visited {_listed(early)} too early: look at what came of that."
    if len(run.visits) > len(run.variables):
        return f"All parts have arrived, in {len(run.visits)} visits to {len(run.variables)} variables."
    return "Every variable was visited once, with its whole gradient."


class Backprop(Widget):
    """The stepper.

    Args:
        result: The variable at the right end of the graph.
        gradient: The derivative to start from.
        names: Of variables, by unique id.

    Attributes:
        step: How many steps are done: set it, and the picture follows.
        last: How many there are.
        rows: The state of every variable (see `rows`).
    """

    _esm = page("stepper")

    step = traitlets.Int(0).tag(sync=True)
    last = traitlets.Int(0).tag(sync=True)
    rows: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)

    def __init__(self, result: object, gradient: object, names: dict[int, str]) -> None:
        super().__init__(title="Backpropagation, step by step")
        self._asked = result, gradient, names
        self.on_msg(lambda _, content, __: self.again() if content == "again" else None)
        self.again()

    def again(self) -> None:
        """Let the engine that is in the library now run once more, and go back to the beginning."""
        result, gradient, names = self._asked
        self.recording = record(result, gradient, names)
        self.last = len(self.recording.visits)
        self.step = 0
        self._show()

    @traitlets.validate("step")
    def _within(self, proposal: Any) -> int:
        return max(0, min(int(proposal["value"]), self.last))

    @traitlets.observe("step")
    def _stepped(self, change: object) -> None:
        if hasattr(self, "recording"):
            self._show()

    def _show(self) -> None:
        moment = Moment(self.recording, self.step)
        with self.hold_sync():
            self.pictures = {"graph": MomentPicture(moment).svg}
            self.rows = rows(moment)
            self.said = sentence(moment)


def backprop(result: Any, /, *, gradient: Any = 1.0, **names: Any) -> Backprop:
    """Step through backpropagation over the graph behind a result.

    Args:
        result: The variable at the right end: a Scalar, or a small Tensor.
        gradient: The derivative to start from. For a tensor of several elements it is a tensor of its shape.
        **names: Names to show, ``a=a`` for the variable a.

    Raises:
        TypeError: If the result, or a named object, is no variable.
        ValueError: If the graph is too large to be read, or the result is a constant.
    """
    check_variables("backprop", result, names)
    if result.is_constant():
        raise ValueError(
            f"backprop: {reprlib.repr(result)} is a constant, from which no step leads back; take a result of Scalars, "
            "or of tensors with requires_grad=True"
        )
    return Backprop(result, gradient, {variable.unique_id: name for name, variable in names.items()})
