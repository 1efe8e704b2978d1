"""Pictures: expressions as graphs, functions and their slopes, networks while they learn, arrays and their readers.

Everything is imported when it is first used: graphs of expressions need nothing but the library, pictures of arrays
NumPy, the rest matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.machine.first_use import first_use

if TYPE_CHECKING:
    from minigrad.draw.boundary import folding as folding
    from minigrad.draw.boundary import loss_curve as loss_curve
    from minigrad.draw.boundary import snapshot as snapshot
    from minigrad.draw.broadcasting import broadcast as broadcast
    from minigrad.draw.broadcasting import reduction as reduction
    from minigrad.draw.diagrams import fold as fold
    from minigrad.draw.diagrams import tree as tree
    from minigrad.draw.flags import kinds_of_tensors as kinds_of_tensors
    from minigrad.draw.gpu import accesses as accesses
    from minigrad.draw.gpu import blocks as blocks
    from minigrad.draw.gpu import reads as reads
    from minigrad.draw.gpu import tiles as tiles
    from minigrad.draw.gradients import jacobians as jacobians
    from minigrad.draw.gradients import matmul_shapes as matmul_shapes
    from minigrad.draw.gradients import permuted_gradient as permuted_gradient
    from minigrad.draw.graph import expression_graph as expression_graph
    from minigrad.draw.language import attention as attention
    from minigrad.draw.language import library as library
    from minigrad.draw.measured import bytes_and_seconds as bytes_and_seconds
    from minigrad.draw.measured import memory_over_time as memory_over_time
    from minigrad.draw.networks import activations as activations
    from minigrad.draw.networks import convolution as convolution
    from minigrad.draw.networks import digits as digits
    from minigrad.draw.networks import kernels as kernels
    from minigrad.draw.networks import tiled as tiled
    from minigrad.draw.numbers import bits as bits
    from minigrad.draw.numbers import magnitudes as magnitudes
    from minigrad.draw.parallel import iterations as iterations
    from minigrad.draw.parallel import races as races
    from minigrad.draw.parallel import walk as walk
    from minigrad.draw.plots import curves as curves
    from minigrad.draw.plots import decision as decision
    from minigrad.draw.plots import difference_errors as difference_errors
    from minigrad.draw.plots import elementary as elementary
    from minigrad.draw.plots import film as film
    from minigrad.draw.plots import partials as partials
    from minigrad.draw.plots import secants as secants
    from minigrad.draw.plots import sides as sides
    from minigrad.draw.programs import program as program
    from minigrad.draw.programs import rewrite as rewrite
    from minigrad.draw.shared import shared_memory as shared_memory
    from minigrad.draw.steps import memory_plan as memory_plan
    from minigrad.draw.steps import running_softmax as running_softmax
    from minigrad.draw.steps import timeline as timeline
    from minigrad.draw.storage import permute as permute
    from minigrad.draw.storage import strides as strides
    from minigrad.draw.timing import roofline as roofline
    from minigrad.draw.timing import runs as runs
    from minigrad.draw.timing import timings as timings
    from minigrad.draw.training import descents as descents
    from minigrad.draw.training import learning_curves as learning_curves
    from minigrad.draw.training import signals as signals
    from minigrad.draw.transforms import batched as batched
    from minigrad.draw.transforms import dual as dual
    from minigrad.draw.transforms import flattened as flattened
    from minigrad.draw.transforms import passes as passes
    from minigrad.draw.workers import schedule as schedule

# fmt: off
_home = {
    "boundary": ("folding", "loss_curve", "snapshot"),
    "broadcasting": ("broadcast", "reduction"),
    "diagrams": ("fold", "tree"),
    "flags": ("kinds_of_tensors",),
    "gpu": ("accesses", "blocks", "reads", "tiles"),
    "gradients": ("jacobians", "matmul_shapes", "permuted_gradient"),
    "graph": ("expression_graph",),
    "language": ("attention", "library"),
    "measured": ("bytes_and_seconds", "memory_over_time"),
    "numbers": ("bits", "magnitudes"),
    "parallel": ("iterations", "races", "walk"),
    "programs": ("program", "rewrite"),
    "networks": ("activations", "convolution", "digits", "kernels", "tiled"),
    "plots": ("curves", "decision", "difference_errors", "elementary", "film", "partials", "secants", "sides"),
    "shared": ("shared_memory",),
    "steps": ("memory_plan", "running_softmax", "timeline"),
    "storage": ("permute", "strides"),
    "timing": ("roofline", "runs", "timings"),
    "training": ("descents", "learning_curves", "signals"),
    "transforms": ("batched", "dual", "flattened", "passes"),
    "workers": ("schedule",),
}
# fmt: on
_module_of = {name: module for module, names in _home.items() for name in names}

__all__ = sorted(_module_of)

__getattr__, __dir__ = first_use(__name__, _module_of)
