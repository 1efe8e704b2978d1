"""The playground: a small network that learns one of the six sets of points while one looks on.

Training runs in slices of a tenth of a second, each asked for by the page. Between them the kernel is free: other cells
run, an interrupt ends it, and so does closing the page. Start goes on where it stopped.
"""

from __future__ import annotations

import base64
import math
import struct
import threading
import time
import zlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import traitlets

from minigrad import datasets, exercises
from minigrad.datasets import DATASETS
from minigrad.draw.paper import Drawing
from minigrad.errors import ExerciseNotDone
from minigrad.layout import count
from minigrad.widgets.base import Widget, page
from minigrad.widgets.charts import Chart, ticks
from minigrad.widgets.kernel import Interrupts, in_main_thread
from minigrad.widgets.networks import ACTIVATIONS, ENGINES, OPTIMIZERS, Numbers, Trainer, trainer

LIBRARIES = ("with your answers", "reference")
POINTS, RASTER = 80, 40
MOST_LAYERS, MOST_UNITS = 4, 16

_SLICE, _MOST_LOSSES = 0.1, 300
_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def thinned(losses: Sequence[float], most: int = _MOST_LOSSES) -> list[tuple[int, float]]:
    """Return the numbers of epochs, counted from 1, with their losses: the last one, and at most so many before it.

    >>> from minigrad.widgets.playing import thinned
    >>> thinned([0.9, 0.7, 0.5, 0.4], most=2)
    [(1, 0.9), (3, 0.5), (4, 0.4)]
    """
    every = max(1, math.ceil(len(losses) / most))
    kept = [(number, losses[number - 1]) for number in range(1, len(losses) + 1, every)]
    return kept if not losses or kept[-1][0] == len(losses) else [*kept, (len(losses), losses[-1])]


def loss_picture(losses: Sequence[float]) -> Drawing:
    """Draw the loss against the number of the epoch, on a linear axis that begins at 0."""
    shown = [(n, loss) for n, loss in thinned(losses) if math.isfinite(loss)]
    top = max([0.75, *(min(loss, 3.0) for _, loss in shown)]) * 1.05
    chart = Chart("loss", (0.0, max(10.0, float(len(losses)))), (0.0, top), width=300.0, height=180.0)
    chart.axes([(t, f"{t:g}") for t in ticks(*chart.x, 5)], [(t, f"{t:g}") for t in ticks(*chart.y, 5)], "epoch", "")
    chart.curve([(float(n), loss) for n, loss in shown], "mc-one")
    told = (
        f"from {losses[0]:.3f} to {losses[-1]:.3f} in {count(len(losses), 'epoch', 'epochs')}" if losses else "none yet"
    )
    return chart.drawing(f"The mean loss: {told}.")


class Playground(Widget):
    """The playground.

    Attributes:
        data: The name of a set in `minigrad.datasets`. A change begins anew, as it does for the next three.
        hidden: The units of each hidden layer, at most 4 layers of at most 16 units.
        activation: "relu", "tanh" or "sigmoid".
        seed: The seed of the points and the starting values, 0 or more.
        rate: The learning rate. A change of it, or of the next three, goes on with the network as it is.
        optimizer: "SGD" or "Adam".
        engine: "scalar", "tensor python" or "tensor numba".
        library: "with your answers", as `minigrad.use` has installed them, or "reference".
        running: Whether the page asks for more.
        epoch: How many steps have been taken.
        score: The loss and the share of points on the right side, in words.
    """

    _esm = page("playing")

    options = traitlets.Dict().tag(sync=True)
    data = traitlets.Enum(list(DATASETS), "xor").tag(sync=True)
    hidden: traitlets.List[int] = traitlets.List([8, 8]).tag(sync=True)
    activation = traitlets.Enum(ACTIVATIONS, "relu").tag(sync=True)
    seed = traitlets.Int(0).tag(sync=True)
    rate = traitlets.Float(0.1).tag(sync=True)
    optimizer = traitlets.Enum(OPTIMIZERS, "SGD").tag(sync=True)
    engine = traitlets.Enum(ENGINES, "tensor numba").tag(sync=True)
    library = traitlets.Enum(LIBRARIES, LIBRARIES[0]).tag(sync=True)
    running = traitlets.Bool(False).tag(sync=True)
    epoch = traitlets.Int(0).tag(sync=True)
    slices = traitlets.Int(0).tag(sync=True)
    score = traitlets.Unicode().tag(sync=True)
    points: traitlets.List[Any] = traitlets.List().tag(sync=True)
    raster = traitlets.Bytes().tag(sync=True)

    def __init__(self, **settings: object) -> None:
        options = {
            "data": list(DATASETS), "activation": ACTIVATIONS, "optimizer": OPTIMIZERS, "engine": ENGINES,
            "library": LIBRARIES, "rate": _RATES, "layers": MOST_LAYERS, "units": MOST_UNITS,
        }  # fmt: skip
        super().__init__(title="Playground", options=options, **settings)
        self._trainer: Trainer | None = None
        self._interrupts = Interrupts()
        self._changing = threading.RLock()  # settings come in another thread than the one that trains
        self.on_msg(lambda _, content, __: in_main_thread(lambda: self._hear(content)))
        self.observe(lambda change: self.reset(), ["data", "hidden", "activation", "seed"])
        self.observe(lambda change: self._other_engine(), ["engine", "library", "optimizer"])
        self.reset()

    @traitlets.validate("hidden")
    def _layers(self, proposal: Any) -> list[int]:
        sizes = [int(size) for size in proposal["value"]]
        if len(sizes) > MOST_LAYERS or not all(1 <= size <= MOST_UNITS for size in sizes):
            raise traitlets.TraitError(
                f"playground: hidden={sizes}: at most {MOST_LAYERS} hidden layers of 1 to {MOST_UNITS} units each"
            )
        return sizes

    @traitlets.validate("rate")
    def _positive(self, proposal: Any) -> float:
        if not 0.0 < proposal["value"] <= 100.0:
            raise traitlets.TraitError(
                f"playground: the learning rate is above 0 and at most 100, not {proposal['value']}"
            )
        return float(proposal["value"])

    @traitlets.validate("seed")
    def _seed(self, proposal: Any) -> int:
        if proposal["value"] < 0:
            raise traitlets.TraitError(f"playground: seed={proposal['value']}: give a whole number of 0 or more")
        return int(proposal["value"])

    def reset(self) -> None:
        """Begin anew, with fresh points and starting values of the present seed."""
        with self._changing:
            self._begin()

    def _begin(self) -> None:
        self._points = datasets.load(self.data, POINTS, self.seed)
        self._numbers = Numbers.fresh(self.hidden, self.activation, self.seed)
        self._trainer, self._losses, self._correct = None, list[float](), 0
        with self.hold_sync():
            self.points = [[*place, y] for place, y in zip(self._points.X, self._points.y, strict=True)]
            self.running, self.epoch = False, 0
            self.score = (
                f"epoch 0, {count(sum(map(len, map(np.ravel, self._all_numbers()))), 'number', 'numbers')} to learn"
            )
            self._say()
            self._draw()

    def step(self, epochs: int = 1) -> None:
        """Take steps of the optimizer, each over all points.

        Raises:
            ExerciseNotDone: If the engine needs an exercise that is still to be written.
        """
        self._train(epochs, math.inf)

    def _train(self, epochs: float, seconds: float) -> None:
        """Take at least one step, until there are enough of them, or the time is over."""
        until, done = time.monotonic() + seconds, 0
        with self._changing, self._chosen_library():
            try:
                while done < epochs and (not done or time.monotonic() < until):
                    self._one_step()
                    done += 1
            finally:
                if self._trainer is not None:
                    self._numbers = self._trainer.numbers()
            with self.hold_sync():
                self.epoch, self.score = len(self._losses), self._scored()
                self._draw()

    def _one_step(self) -> None:
        if self._trainer is None:
            self._trainer = trainer(self.engine, self._numbers, self._points, self.optimizer)
        step = self._trainer.step(self.rate)
        self._losses.append(step.loss)
        self._correct = step.correct

    def _scored(self) -> str:
        right = f"{self._correct} of {len(self._points)} points on the right side"
        return f"epoch {len(self._losses)}, loss {self._losses[-1]:.4f}, {right}"

    def _chosen_library(self) -> AbstractContextManager[None]:
        return exercises.reference() if self.library == "reference" else nullcontext()

    def _other_engine(self) -> None:
        """Let another engine go on with the same numbers."""
        with self._changing:
            self._trainer = None
        self._say()

    def _hear(self, content: object) -> None:
        """Follow a button: "step", "slice" (as many steps as fit into a tenth of a second) or "reset"."""
        if content == "reset":
            self.reset()
        elif content == "step" or (content == "slice" and self.running):
            try:
                with self._interrupts.heard():
                    self._train(1 if content == "step" else math.inf, _SLICE)
            except KeyboardInterrupt:
                self._stop("Interrupted. Start goes on from here.")
            except ExerciseNotDone as missing:
                self._stop(f"This engine needs more than is there yet: {missing}")
            except Exception as wrong:  # the student's own code may do anything
                self._stop(f"Training stopped: {type(wrong).__name__}: {wrong}")
            if not self.running:
                self._interrupts.end()
        self.slices += 1  # the page asks for the next slice when it hears of this one

    def _stop(self, why: str) -> None:
        self.running, self.said, self._trainer = False, why, None

    @traitlets.observe("running")
    def _told(self, change: object) -> None:
        self.said = "Training." if self.running else f"Paused: {self.score}."
        if not self.running:
            in_main_thread(self._interrupts.end)

    def _say(self) -> None:
        names = exercises.installed() if self.library != "reference" else []
        written = f"{count(len(names), 'function or class', 'functions and classes')} of yours in the library"
        own = written if names else "the library as it is (minigrad.use() brings in your answers)"
        layers = " → ".join(map(str, (2, *self.hidden, 1)))
        self.said = f"A network {layers} with {self.activation}, {self.optimizer}, engine {self.engine}, {own}."

    def _all_numbers(self) -> list[Any]:
        return [*self._numbers.weights, *self._numbers.biases]

    def _draw(self) -> None:
        raster = np.nan_to_num(self._numbers.raster(RASTER), nan=0.5)
        self.raster = np.round(255.0 * raster).astype(np.uint8).tobytes()
        self.pictures = {"loss": loss_picture(self._losses).svg}

    def still(self) -> list[str]:
        """Return the boundary as it is now, and the loss."""
        side, n = 240.0, 20
        cells = np.nan_to_num(self._numbers.raster(n), nan=0.5)
        raster = base64.b64encode(_png([[_mixed(p) for p in row] for row in cells])).decode()
        parts = [
            f'<image width="{side}" height="{side}" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{raster}"/>'
        ]
        for x1, x2, y in self.points:
            # Kept 4.2 away from the border, so that no point is cut in half by it.
            x, up = (min(side - 4.2, max(4.2, side * at)) for at in (x1, 1.0 - x2))
            look = f'fill="{_CLASSES[y]}" stroke="#fff" stroke-width="1.2"'
            square = f'<rect x="{x - 3.4:.1f}" y="{up - 3.4:.1f}" width="6.8" height="6.8" {look}/>'
            parts.append(square if y else f'<circle cx="{x:.1f}" cy="{up:.1f}" r="3.6" {look}/>')
        words = f"The boundary at {self.score}."
        return [Drawing(side, side, "What the network says", words, parts).svg, *super().still()]


_CLASSES = ("#c4621d", "#1f5fa8")


def _mixed(probability: float) -> bytes:
    """Return white for an even chance, a light tone of a class's color for certainty: red, green and blue."""
    color = _CLASSES[bool(probability > 0.5)]
    share = 0.7 * abs(2.0 * probability - 1.0)
    channels = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
    return bytes(round(255 + share * (channel - 255)) for channel in channels)


def _png(rows: Sequence[Sequence[bytes]]) -> bytes:
    """Return a raster of colors as a PNG file: a tenth of the text that a rectangle for each cell takes.

    Source: W3C, Portable Network Graphics, section 5 (the chunks) and section 9 (a row begins with its filter).
    """
    size = struct.pack(">2I5B", len(rows[0]), len(rows), 8, 2, 0, 0, 0)  # 8 bits each of red, green and blue
    pixels = zlib.compress(b"".join(b"\0" + b"".join(row) for row in rows), 9)
    chunks = ((b"IHDR", size), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def playground(**settings: object) -> Playground:
    """Watch a small network learn, and change everything about it.

    Args:
        **settings: What to begin with, by the names of `Playground`'s attributes: ``data="spiral"``,
            ``hidden=[8, 8]``, ``activation="tanh"``, ``rate=0.03``, ``optimizer="Adam"``, ``engine="scalar"``,
            ``library="reference"``, ``seed=1``.

    Raises:
        TypeError: If there is no such setting.
        traitlets.TraitError: If a setting has no such value.
    """
    known = ("data", "hidden", "activation", "seed", "rate", "optimizer", "engine", "library")
    for name in settings:
        if name not in known:
            raise TypeError(f"playground: there is no setting {name!r}; the settings are {', '.join(known)}")
    return Playground(**settings)
