"""Optimizers and schedules, with PyTorch's names."""

from __future__ import annotations

from minigrad.optim import schedules as lr_scheduler
from minigrad.optim.adam import Adam, AdamW
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
