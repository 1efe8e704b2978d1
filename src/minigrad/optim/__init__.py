"""Optimizers and schedules, with PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.machine.first_use import first_use
from minigrad.machine.overrides import load_quick
from minigrad.optim import lr_scheduler
from minigrad.optim.adam import Adam, AdamW
from minigrad.optim.adaptive import Adadelta, Adagrad, RMSprop
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.sgd import SGD

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})

load_quick("optim")
