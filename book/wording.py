"""The book's own words: titles of boxes around exercises, the sentences in them, a note in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

__all__ = ["BOXES", "Said", "Say", "in_english", "say_with"]


BOXES = "boxes"
"""The catalogue of all this."""


class Said(StrEnum):
    """A title or a sentence, with the names of what it is filled in with. A language has a catalogue of these."""

    RUN = "Run it here, in the browser"
    CELLS_OPEN = "Run the cells here"
    CELLS_ALL = "Run all cells"
    CELLS_RUN = "Run"
    CELLS_STOP = "Stop"
    CELLS_BACK = "Back to the site's text"
    CELLS_CODE = "Code of cell {number}"
    CELLS_CHANGED = "This cell has changed on the site since you wrote in it."
    CELLS_MINE = "Show what you wrote"
    CELLS_STARTING = "Python is starting; this takes some seconds."
    CELLS_READY = "Python is ready. Change a cell and run it; what it needs from the cells above runs first."
    CELLS_RUNNING = "Cell {number} runs."
    CELLS_ABOVE = "Cell {number} failed, so the cell that needs it did not run."
    CELLS_STOPPED = "Python was stopped and starts anew. What you wrote is still there."
    CELLS_FAILED = "Python did not start:"
    CELLS_NOT_KEPT = "This browser does not keep what you write."
    CELLS_TRACEBACK = "Where it happened"
    EXPLORER_BACK = "Back"
    EXPLORER_FORWARD = "Forward"
    EXPLORER_BACKPROP = "Backpropagation, step by step"
    EXPLORER_BROADCAST = "Broadcasting explorer"
    EXPLORER_DERIVATIVE = "Derivative explorer"
    EXPLORER_INDEX = "Index explorer"
    EXPLORER_PLAYGROUND = "Playground"
    EXPLORER_PUZZLE = "Memory puzzle"
    EXPLORER_FUNCTION = "function"
    EXPLORER_LOOK_AT = "look at"
    EXPLORER_VIEW = "an index of the view"
    EXPLORER_STORAGE = "a position in the storage"
    EXPLORER_SHAPES = "shapes"
    EXPLORER_STEP = "step"
    EXPLORER_EPSILON = "epsilon"
    EXPLORER_AT = "at"
    EXPLORER_ELEMENT = "element"
    EXPLORER_EPOCH = "epoch"
    EXPLORER_NOTE_BACKPROP = "In the notebook you can step through an expression of your own."
    EXPLORER_NOTE_DERIVATIVE = "In the notebook you can choose another place than x = {x}, and steps between these."
    EXPLORER_NOTE_INDEX = "In the notebook you can explore any array."
    EXPLORER_NOTE_BROADCAST = "In the notebook you can type any two shapes."
    EXPLORER_NOTE_PUZZLE = (
        "The boxes can be moved in the notebook only: they can lie in more ways than a page has room for."
    )
    EXPLORER_NOTE_PLAYGROUND = (
        "In the notebook it learns while you look on, and you can change points, layers, rate, optimizer and engine."
    )
    LESSON = "Lesson {number} of {title}: {count} exercises, {points}. {notebook}, {mistakes}"
    NOTEBOOK = "notebook"
    KNOWN_MISTAKES = "known mistakes"
    ONE_POINT = "1 point"
    POINTS = "{number} points"
    IMPORTED = "What is imported"
    EXERCISE = "Exercise: `{id}`, {points}"
    GROUPS = "Points of the hidden tests by group: {groups}."
    BUILDS_ON = "Builds on {exercises}."
    CHECKS = "Visible checks ({count})"
    ASKS = '`check("{id}")` in the notebook asks:'
    REPORT = "It says of the solution below:"
    CODE_OF_CHECKS = "The code of these checks"
    NUDGE = "Hint 1: a nudge"
    IDEA = "Hint 2: the idea"
    OUTLINE = "Hint 3: an outline"
    SOLUTION = "Solution and commentary"
    VARIANTS = "**Right in another way.** The grader knows these too, and gives them all points:"
    MISTAKES = "**What goes wrong here.** Mistakes that the grader knows; each leads to its counter-example:"
    QUESTION = "Question"
    GOOD_ANSWER = "A good answer"
    ON_THIS_PAGE = "On this page"  # these are the theme's, which knows no other language
    NEXT = "Next"
    PREVIOUS = "Previous"
    HOME = "Home"
    TO_TOP = "Back to top"
    SEARCH = "Search"
    IN_A_BROWSER = (
        "**In a browser.** Python runs in this page. The first cell waits some seconds for Python and the library. "
        "What you write is kept in this browser, on this computer. `browser.pack()` makes one zip of all your "
        "notebooks: download it, unpack it at home, and `minigrad start my-notebooks` goes on there. A browser has one "
        "processor and no Numba: training takes several times as long as on your own computer, and a check that needs "
        "Numba is left out and says so."
    )
    WITHOUT_PACKAGES = (
        "This site was made without {packages}. Cells that need them fail and say so; before lesson 04 these are only "
        "some pictures."
    )


Say = Callable[..., str]
"""Returns a sentence in a language: ``say(Said.CHECKS, count=3)``."""


def in_english(said: Said, **filled: object) -> str:
    """Return a sentence as it stands, filled in.

    >>> in_english(Said.CHECKS, count=3)
    'Visible checks (3)'
    """
    return said.format(**filled)


def say_with(known: Mapping[str, str]) -> Say:
    """Return a function that says a sentence in another language.

    >>> say_with({Said.POINTS: "{number} Punkte"})(Said.POINTS, number=3)
    '3 Punkte'
    """
    return lambda said, **filled: known[said].format(**filled)
