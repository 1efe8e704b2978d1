"""Networks: layers, losses and their helpers, with PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.machine.first_use import first_use
from minigrad.nn import functional, init, utils
from minigrad.nn.activations import GELU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from minigrad.nn.attention import MultiheadAttention, TransformerEncoderLayer
from minigrad.nn.containers import ModuleList, Sequential
from minigrad.nn.functional_call import functional_call
from minigrad.nn.layers import Conv1d, Conv2d, Dropout, Embedding, Flatten, Identity, Linear
from minigrad.nn.losses import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss, SmoothL1Loss
from minigrad.nn.module import Module
from minigrad.nn.normalization import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm, RMSNorm
from minigrad.nn.parameter import Parameter
from minigrad.nn.pooling import AvgPool2d, MaxPool2d

__all__ = [
    "GELU",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv1d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "Identity",
    "L1Loss",
    "LayerNorm",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "Parameter",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Tanh",
    "TransformerEncoderLayer",
    "functional",
    "functional_call",
    "init",
    "utils",
]

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})
