"""Attacks that borrow: while one exercise is graded, everything else in the library is there and works.

The library's answer to one exercise must not answer another, be it a base class, an engine or a kernel of the same
kind. `course.toml` therefore cuts more than the exercise itself (`gives_away`). A test runs each of these attacks with
the whole library as well, where it must win: an attack that wins nothing there tests nothing.
"""

from __future__ import annotations

from textwrap import dedent

from autograder.proof.attack.model import Attack, cells

_ELEMENTARY, _BACKPROPAGATE = "functions.elementary", "autodiff.backpropagate"
_REBUILT = """
def rebuilt(variable, leaf):
    from minigrad import autodiff
    order, twins = list(autodiff.topological_sort(variable)), {}
    for each in reversed(order):
        twins[each.unique_id] = leaf()
        for parent, slope in () if each.is_leaf() else autodiff.chain_rule(each, 1.0):
            twins[each.unique_id] = twins[each.unique_id] + twins[parent.unique_id] * float(slope)
    leaves = [each for each in order if each.is_leaf()]
    return twins[variable.unique_id], leaves, [twins[each.unique_id] for each in leaves]
"""
_BY_SCALARS = f"""{_REBUILT}
def backpropagate(variable, deriv=1.0):
    from minigrad import Scalar
    from minigrad.quick import scalar
    root, leaves, twins = rebuilt(variable, lambda: Scalar(0.0))
    scalar.backpropagate(root, deriv)
    for leaf, twin in zip(leaves, twins):
        leaf.accumulate_derivative(twin.grad)
"""
_BY_TENSORS = f"""{_REBUILT}
def backpropagate(variable, deriv=1.0):
    from minigrad import float64, tensor
    from minigrad.quick import backward
    root, leaves, twins = rebuilt(variable, lambda: tensor(0.0, requires_grad=True, dtype=float64))
    for leaf, found in zip(leaves, backward.run([(root, tensor(float(deriv), dtype=float64))], twins)):
        leaf.accumulate_derivative(found.item())
"""
_OTHERS = (
    Attack(
        "inherits-forward",
        "classes without a body inherit what the exercise asks for",
        cells(
            "\n".join(
                f'class {name}(Elementwise):\n    kernel = "{kernel}"\n    saves_output = {saves}\n'
                for name, kernel, saves in (
                    ("Log", "log", False),
                    ("Exp", "exp", True),
                    ("Sigmoid", "sigmoid", True),
                    ("ReLU", "relu", False),
                )
            ),
            exercise=_ELEMENTARY,
            lesson="02_chain_rule",
        ),
        lesson="02_chain_rule",
    ),
    Attack(
        "inherits-arithmetic",
        "the same for Mul, Neg and Inv",
        cells(
            "\n".join(
                f'class {name}(Elementwise):\n    kernel = "{kernel}"\n'
                for name, kernel in (("Mul", "mul"), ("Neg", "neg"), ("Inv", "inv"))
            ),
            exercise="functions.arithmetic",
            lesson="02_chain_rule",
        ),
        lesson="02_chain_rule",
    ),
    Attack(
        "borrows-derivatives",
        "the _back functions ask the classes that differentiate already",
        cells(
            "\n".join(
                f"def {name}_back(x, d):\n    import minigrad\n    s = minigrad.Scalar(x)\n"
                f"    y = minigrad.functions.{kind}.apply(s)\n    y.backward(d)\n    return s.grad\n"
                for name, kind in (("log", "Log"), ("inv", "Inv"), ("relu", "ReLU"))
            ),
            exercise="operators.backs",
            lesson="02_chain_rule",
        ),
        lesson="02_chain_rule",
    ),
    Attack(
        "borrows-engine",
        "backpropagate rebuilds the graph in Scalars and asks their quick engine",
        cells(_BY_SCALARS, exercise=_BACKPROPAGATE, lesson="03_backprop"),
        lesson="03_backprop",
    ),
    Attack(
        "borrows-tensor-engine",
        "backpropagate rebuilds the graph in tensors and asks their engine",
        cells(_BY_TENSORS, exercise=_BACKPROPAGATE, lesson="03_backprop"),
        lesson="03_backprop",
    ),
)


def _kernel(name: str, tries: str, exercise: str, text: str, honest: float = 0.0) -> Attack:
    return Attack(name, tries, lambda _: {}, honest=honest, exercise=exercise, text=dedent(text).strip())


_BORROWED_MAP = """
def tensor_map(fn):
    from minigrad import {module}
    return {module}.tensor_map(fn)
"""
_MAP_BY_ZIP = """
def tensor_map(fn):
    from minigrad import tensor_ops
    zip = tensor_ops.tensor_zip(lambda a, _: fn(a))
    return lambda out, shape, strides, *x: zip(out, shape, strides, *x, *x)
"""
_MAP_BY_REDUCE = """
def tensor_map(fn):
    import numpy as np
    from minigrad import tensor_ops
    reduce = tensor_ops.tensor_reduce(lambda _, a: fn(a))

    def _map(out, shape, strides, x, x_shape, x_strides):
        repeated = [0] * (len(shape) - len(x_shape)) + [s if n > 1 else 0 for n, s in zip(x_shape, x_strides)]
        longer = np.array([*shape, 1])
        reduce(out, longer, np.array([*strides, 0]), x, longer, np.array([*repeated, 0]), len(shape))

    return _map
"""
_KERNELS = (
    _kernel("map-by-zip", "map answers by the library's zip", "tensor_ops.tensor_map", _MAP_BY_ZIP),
    _kernel("map-by-reduce", "map answers by the library's reduce", "tensor_ops.tensor_map", _MAP_BY_REDUCE),
    _kernel(
        "borrows-slow-map",
        "the compiled map answers by the readable one",
        "fast_ops.tensor_map",
        _BORROWED_MAP.format(module="tensor_ops"),
    ),
    _kernel(
        "forged-block-size",
        "the number of threads in a block is changed for everyone",
        "cuda_ops.tensor_map",
        "import minigrad.cuda_ops\nminigrad.cuda_ops.BLOCK_DIM = minigrad.cuda_ops.THREADS_PER_BLOCK = BLOCK_DIM = 1\n"
        "def tensor_map(fn):\n    def _map(out, out_shape, out_strides, out_size, x, x_shape, x_strides):\n"
        "        for i in range(len(x)):\n            out[i] = fn(x[i])\n    return _map",
    ),
    _kernel(
        "forged-witness",
        "the detector of races is replaced by one that sees a parallel loop and no race",
        "fast_ops.tensor_map",
        """
        import sys, types
        class Traffic: writes, writers = 99, {0, 1}
        class Loop: iterations = 99
        class Everything(dict):
            __missing__ = lambda self, key: Traffic()
            __contains__ = lambda self, key: True
        class Report: loops, traffic, kinds = [Loop()], Everything(), []
        import builtins
        real = builtins.__import__
        def imported(name, *args, **kwargs):
            module = real(name, *args, **kwargs)
            if name.startswith("minigrad.debug"):
                module.races = lambda *a, **k: Report()
            return module
        builtins.__import__ = imported
        def tensor_map(fn):
            def _map(out, out_shape, out_strides, x, x_shape, x_strides):
                for i in range(len(out)):
                    out[i] = 0.0
            return _map
        """,
    ),
)

BORROWING: tuple[Attack, ...] = (*_OTHERS, *_KERNELS)
