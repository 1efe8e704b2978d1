"""Networks: layers, losses and their helpers, with PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.elementwise.entry import OPS
from minigrad.machine.first_use import first_use
from minigrad.machine.overrides import load_quick
from minigrad.nn import functional, init, utils
from minigrad.nn.activations import *  # noqa: F403 (those of the table of elementwise operations among them)
from minigrad.nn.activations import GELU, LogSoftmax, ReLU, Softmax
from minigrad.nn.attention import MultiheadAttention, TransformerEncoderLayer
from minigrad.nn.containers import ModuleDict, ModuleList, ParameterList, Sequential
from minigrad.nn.functional_call import functional_call
from minigrad.nn.layers import (
    Conv1d,
    Conv2d,
    Dropout,
    Dropout2d,
    Embedding,
    Flatten,
    Identity,
    Linear,
    Unflatten,
)
from minigrad.nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from minigrad.nn.module import Module
from minigrad.nn.normalization import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm, RMSNorm
from minigrad.nn.parameter import Parameter
from minigrad.nn.pooling import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d, PixelShuffle, PixelUnshuffle
from minigrad.nn.rectifiers import ELU, Hardtanh, LeakyReLU, LogSigmoid, PReLU, ReLU6, SiLU, Softplus
from minigrad.nn.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell

__all__ = [
    "ELU",
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AdaptiveAvgPool2d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv1d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout2d",
    "Embedding",
    "Flatten",
    "GRUCell",
    "GroupNorm",
    "Hardtanh",
    "HuberLoss",
    "Identity",
    "L1Loss",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "Parameter",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "RMSNorm",
    "RNNCell",
    "ReLU",
    "ReLU6",
    "Sequential",
    "SiLU",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "TransformerEncoderLayer",
    "Unflatten",
    "functional",
    "functional_call",
    "init",
    "utils",
    *(op.module for op in OPS.values() if op.module),
]

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})

load_quick("nn")
