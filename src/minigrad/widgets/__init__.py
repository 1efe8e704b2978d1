"""Widgets to play with, for JupyterLab, VS Code and other programs that show Jupyter's widgets.

    from minigrad import widgets

    widgets.backprop(z, a=a, b=b)                 # backpropagation, one variable at a time
    widgets.index_explorer(array)                 # the place of a view's element, and others that show it
    widgets.broadcast_explorer((4, 1), (3,))      # shapes side by side, and the sources of each element
    widgets.derivative_explorer("sin", 1.0)       # the error of a difference against the length of its step
    widgets.memory_puzzle()                       # values in a block of memory, moved by hand
    widgets.playground()                          # a small network that learns while one looks on

All of them work with the mouse and with the keyboard alone. What is computed is computed in Python, by plain functions
of each module; the pages draw it and say what was pressed. anywidget is imported when the first of them is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.machine.first_use import first_use

if TYPE_CHECKING:
    from minigrad.widgets.broadcasting import broadcast_explorer as broadcast_explorer
    from minigrad.widgets.differences import derivative_explorer as derivative_explorer
    from minigrad.widgets.indexing import index_explorer as index_explorer
    from minigrad.widgets.playing import playground as playground
    from minigrad.widgets.puzzle import memory_puzzle as memory_puzzle
    from minigrad.widgets.stepper import backprop as backprop

_module_of = {
    "backprop": "stepper",
    "broadcast_explorer": "broadcasting",
    "derivative_explorer": "differences",
    "index_explorer": "indexing",
    "memory_puzzle": "puzzle",
    "playground": "playing",
}

__all__ = sorted(_module_of)

__getattr__, __dir__ = first_use(__name__, _module_of)
