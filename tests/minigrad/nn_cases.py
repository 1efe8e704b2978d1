"""A call of every function of `minigrad.nn.functional`, with each of its options, to be run here and in PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

__all__ = ["CASES", "RANDOM", "Case"]

RNG = np.random.default_rng(20)
RANDOM = ("dropout", "dropout2d")
"""Functions that draw numbers, which differ from PyTorch's."""


@dataclass(frozen=True)
class Case:
    """One call.

    Attributes:
        function: The name of the function.
        tensors: Its tensors, by the names of its arguments. Floats are float64 here.
        options: Its other arguments.
        batched: The tensors whose first axis is the batch; of 0 examples in a test of empty batches.
        constant: Tensors of floats that get no gradient in PyTorch.
    """

    function: str
    tensors: dict[str, np.ndarray]
    options: dict[str, Any] = field(default_factory=dict)
    batched: tuple[str, ...] = ("input", "target")
    constant: tuple[str, ...] = ()

    def empty(self) -> Case:
        """Return the call for a batch of no examples."""
        none = {name: x[:0] if name in self.batched else x for name, x in self.tensors.items()}
        return replace(self, tensors=none)

    def is_differentiated(self, name: str) -> bool:
        """Return whether a tensor gets a gradient."""
        return self.tensors[name].dtype.kind == "f" and name not in self.constant

    def arguments(self, m: Any, dtype: str = "float64") -> dict[str, Any]:
        """Return the tensors of a library; those of floats have the type and want gradients."""
        return {
            name: m.tensor(x.astype(dtype) if x.dtype.kind == "f" else x, requires_grad=self.is_differentiated(name))
            for name, x in self.tensors.items()
        }

    def run(self, m: Any, arguments: dict[str, Any]) -> Any:
        """Call the function of a library."""
        return getattr(m.nn.functional, self.function)(**arguments, **self.options)


def apart(*shape: int) -> np.ndarray:
    """Return floats in a random order, of which no two are close, and none is close to a whole number."""
    size = int(np.prod(shape))
    return RNG.permutation((np.arange(size) + 0.37 - size // 2) * (6.0 / size)).reshape(shape)


def positive(*shape: int) -> np.ndarray:
    """Return floats between 0 and 1, not close to these."""
    return RNG.uniform(0.1, 0.9, shape)


def classes(*shape: int) -> np.ndarray:
    """Return whole numbers below 3."""
    return RNG.integers(0, 3, shape)


CASES: dict[str, Case] = {}


def case(
    function: str,
    tensors: dict[str, np.ndarray],
    batched: tuple[str, ...] = ("input", "target"),
    constant: tuple[str, ...] = (),
    **options: Any,
) -> None:
    """Put a call into the table."""
    words = [*(f"{name}={value}" for name, value in options.items()), *(str(x.shape) for x in tensors.values())]
    CASES[f"{len(CASES)} {function} {' '.join(words)}"] = Case(function, tensors, options, batched, constant)


for activation in ("relu", "relu6", "sigmoid", "tanh", "gelu", "silu", "elu", "leaky_relu", "logsigmoid", "hardtanh"):
    case(activation, {"input": apart(3, 4)})
case("gelu", {"input": apart(3, 4)}, approximate="tanh")
case("elu", {"input": apart(3, 4)}, alpha=0.5)
case("leaky_relu", {"input": apart(3, 4)}, negative_slope=0.2)
case("hardtanh", {"input": apart(3, 4)}, min_val=-0.5, max_val=2.5)
case("softplus", {"input": apart(3, 4)})
case("softplus", {"input": apart(3, 4)}, beta=2.0, threshold=1.5)
case("prelu", {"input": apart(3, 4), "weight": positive(4)})
case("prelu", {"input": apart(2, 3, 2, 2), "weight": positive(3)})
for dim in (0, 1, -1):
    case("softmax", {"input": apart(3, 4, 2)}, dim=dim)
    case("log_softmax", {"input": apart(3, 4, 2)}, dim=dim)
    case("normalize", {"input": apart(3, 4, 2)}, dim=dim)
case("normalize", {"input": apart(3, 4)}, p=1.0, dim=1)
case("dropout", {"input": apart(3, 4)}, p=0.5)
case("dropout", {"input": apart(3, 4)}, p=0.5, training=False)
case("dropout2d", {"input": apart(2, 3, 2, 2)}, p=0.5)

for first, second in (((3, 4), (3, 4)), ((3, 2), (1, 2)), ((1, 4), (3, 1)), ((2, 3, 4), (4,)), ((2, 3, 4), (2, 1, 4))):
    for dim in range(-len(first), len(first)):
        case("cosine_similarity", {"x1": apart(*first), "x2": apart(*second)}, ("x1",), dim=dim)

for shape in ((5, 3), (2, 3, 4), (2, 3, 2, 2)):
    targets = classes(shape[0], *shape[2:])
    some = targets.copy()
    some.flat[:2] = -100
    for reduction in ("mean", "sum", "none"):
        for name in ("cross_entropy", "nll_loss"):
            for target in (targets, some, np.full_like(targets, -100)):
                case(name, {"input": apart(*shape), "target": target}, reduction=reduction)
            case(name, {"input": apart(*shape), "target": some}, reduction=reduction)
            own = {"input": apart(*shape), "target": some, "weight": positive(3)}
            case(name, own, constant=("weight",), reduction=reduction)
            case(
                name, {"input": apart(*shape), "target": np.full_like(targets, 1)}, reduction=reduction, ignore_index=1
            )
        for target in (some, np.full_like(some, -100)):
            own = {"input": apart(*shape), "target": target}
            case("cross_entropy", own, reduction=reduction, label_smoothing=0.2)
            own = own | {"weight": positive(3)}
            case("cross_entropy", own, constant=("weight",), reduction=reduction, label_smoothing=0.2)
        case("cross_entropy", {"input": apart(*shape), "target": positive(*shape)}, reduction=reduction)
        case(
            "cross_entropy",
            {"input": apart(*shape), "target": positive(*shape)},
            reduction=reduction,
            label_smoothing=0.2,
        )
for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy_with_logits"):
    for reduction in ("mean", "sum", "none"):
        case(name, {"input": apart(3, 4), "target": positive(3, 4)}, reduction=reduction)
case("smooth_l1_loss", {"input": apart(3, 4), "target": positive(3, 4)}, beta=0.3)
case("smooth_l1_loss", {"input": apart(3, 4), "target": positive(3, 4)}, beta=0.0)
case("huber_loss", {"input": apart(3, 4), "target": positive(3, 4)}, delta=0.3)
case("kl_div", {"input": apart(3, 4), "target": positive(3, 4)}, reduction="batchmean")
case("kl_div", {"input": apart(3, 4), "target": apart(3, 4)}, reduction="sum", log_target=True)
case("binary_cross_entropy", {"input": positive(3, 4), "target": positive(3, 4)})
LOGITS = {"input": apart(3, 4), "target": positive(3, 4)}
case("binary_cross_entropy_with_logits", LOGITS | {"weight": positive(4)}, constant=("weight",))
case("binary_cross_entropy_with_logits", LOGITS | {"pos_weight": positive(4)}, constant=("pos_weight",))
case(
    "binary_cross_entropy",
    {"input": positive(3, 4), "target": positive(3, 4), "weight": positive(4)},
    constant=("weight",),
)

case("linear", {"input": apart(3, 4), "weight": apart(2, 4), "bias": apart(2)})
case("linear", {"input": apart(2, 3, 4), "weight": apart(2, 4)})
case("conv1d", {"input": apart(2, 3, 7), "weight": apart(2, 3, 3), "bias": apart(2)}, padding=1)
case("conv2d", {"input": apart(2, 3, 5, 5), "weight": apart(2, 3, 2, 3), "bias": apart(2)}, stride=2)
case("conv2d", {"input": apart(2, 4, 5, 5), "weight": apart(4, 2, 2, 2)}, dilation=2, groups=2, padding=1)
case("conv2d", {"input": apart(2, 4, 5, 5), "weight": apart(4, 4, 2, 2)}, padding="same")
case("conv2d", {"input": apart(4, 4, 20, 20), "weight": apart(8, 4, 3, 3)})
for padding_idx in (None, 1, -1, -5):
    case("embedding", {"input": np.array([[0, 4, 1], [1, 0, 2]]), "weight": apart(5, 3)}, padding_idx=padding_idx)
case("one_hot", {"input": np.array([[0, 4, 1], [1, 0, 2]])}, num_classes=5)

COLLECTED = {"running_mean": apart(3), "running_var": positive(3)}
BATCH_NORM = {"input": apart(4, 3, 2), **COLLECTED, "weight": positive(3), "bias": apart(3)}
case("batch_norm", BATCH_NORM, constant=tuple(COLLECTED))
case("batch_norm", BATCH_NORM, constant=tuple(COLLECTED), training=True, momentum=0.3)
case("batch_norm", {"input": apart(4, 3), **COLLECTED}, constant=tuple(COLLECTED))
case("layer_norm", {"input": apart(3, 4), "weight": positive(4), "bias": apart(4)}, normalized_shape=(4,))
case("layer_norm", {"input": apart(3, 4, 2), "weight": positive(4, 2), "bias": apart(4, 2)}, normalized_shape=(4, 2))
case("rms_norm", {"input": apart(3, 4), "weight": positive(4)}, normalized_shape=(4,), eps=1e-5)
case("rms_norm", {"input": apart(3, 4, 2), "weight": positive(4, 2)}, normalized_shape=(4, 2), eps=1e-5)
case("group_norm", {"input": apart(3, 4, 2), "weight": positive(4), "bias": apart(4)}, num_groups=2)

for name in ("avg_pool2d", "max_pool2d"):
    case(name, {"input": apart(2, 3, 4, 6)}, kernel_size=2)
    case(name, {"input": apart(2, 3, 5, 6)}, kernel_size=2, stride=1)
    case(name, {"input": apart(2, 3, 6, 6)}, kernel_size=(3, 2), stride=2, padding=1)
    case(name, {"input": apart(3, 8, 20, 21)}, kernel_size=3, stride=2, padding=1)
for padding in (0, 1, (1, 0)):
    case("avg_pool2d", {"input": apart(2, 3, 6, 5)}, kernel_size=3, padding=padding, count_include_pad=False)
    case("max_pool2d", {"input": apart(2, 3, 7, 6)}, kernel_size=(2, 3), stride=1, padding=padding, dilation=(3, 2))
    case("max_pool2d", {"input": apart(2, 3, 7, 6)}, kernel_size=3, padding=padding, return_indices=True)
    for divisor in (1, 7, -2):
        case("avg_pool2d", {"input": apart(2, 3, 6, 5)}, kernel_size=2, padding=padding, divisor_override=divisor)
case("avg_pool2d", {"input": apart(3, 8, 20, 21)}, kernel_size=3, stride=2, padding=1, count_include_pad=False)
case("avg_pool2d", {"input": apart(3, 8, 20, 21)}, kernel_size=3, stride=2, padding=1, divisor_override=4)
case("max_pool2d", {"input": apart(3, 8, 20, 21)}, kernel_size=3, padding=1, dilation=2, return_indices=True)
case("max_pool2d", {"input": apart(3, 7, 6)}, (), kernel_size=3, return_indices=True)
case("avg_pool2d", {"input": apart(3, 7, 6)}, (), kernel_size=3, padding=1, count_include_pad=False)
for kernel_size, stride, padding in ((3, 2, 0), (3, 2, 1), (2, 3, 1), ((3, 2), (2, 3), (1, 0)), (4, 3, 2)):
    for size in ((6, 7), (5, 8), (4, 4)):
        image = {"input": apart(2, 2, *size)}
        own = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": True}
        case("max_pool2d", image, **own, return_indices=True)
        case("avg_pool2d", image, **own)
        case("avg_pool2d", image, **own, count_include_pad=False)
        case("avg_pool2d", image, **own, divisor_override=5)
case("max_pool2d", {"input": apart(2, 2, 8, 7)}, kernel_size=2, stride=3, dilation=(2, 3), ceil_mode=True)
case("max_pool2d", {"input": apart(3, 8, 20, 22)}, kernel_size=3, stride=2, ceil_mode=True, return_indices=True)
case("avg_pool2d", {"input": apart(3, 8, 20, 22)}, kernel_size=3, stride=2, ceil_mode=True)
case("adaptive_avg_pool2d", {"input": apart(2, 3, 5, 6)}, output_size=(2, 3))

SEEN = np.array([[True, False, True, True], [True, True, False, True]])
QKV = {"query": apart(2, 2, 3), "key": apart(2, 4, 3), "value": apart(2, 4, 5)}
case("scaled_dot_product_attention", QKV, ("query", "key", "value"))
case("scaled_dot_product_attention", QKV | {"attn_mask": SEEN}, ("query", "key", "value"))
case("scaled_dot_product_attention", QKV | {"attn_mask": apart(2, 4)}, ("query", "key", "value"), scale=0.5)
case("scaled_dot_product_attention", QKV, ("query", "key", "value"), is_causal=True)

case("pad", {"input": apart(2, 3, 4)}, pad=(1, 2))
case("pad", {"input": apart(2, 3, 4)}, pad=(1, -1, 0, 2), value=2.0)
for mode in ("reflect", "replicate", "circular"):
    for widths in ((1, 2), (2, 0), (-1, 2), (2, -1), (-1, -1), (3, 3)):
        case("pad", {"input": apart(2, 3, 5)}, pad=widths, mode=mode)
    case("pad", {"input": apart(2, 2, 3, 5)}, pad=(1, 2, 2, 1), mode=mode)
    case("pad", {"input": apart(2, 2, 4, 3, 5)}, pad=(1, 2, 2, 1, 0, 2), mode=mode)
    case("pad", {"input": apart(2, 5)}, pad=(4, 1), mode=mode)
for factor in (1, 2):
    case("pixel_shuffle", {"input": apart(2, 8, 3, 2)}, upscale_factor=factor)
    case("pixel_unshuffle", {"input": apart(2, 3, 4, 2)}, downscale_factor=factor)
case("pixel_shuffle", {"input": apart(9, 2, 3)}, (), upscale_factor=3)
