"""What the checks of an exercise do not look at, so that passing them does not promise every point.

A test holds this list against the known wrong answers: the checks refuse each one that has no entry here.
"""

from __future__ import annotations

from collections.abc import Mapping

from minigrad.exercises.telling import told

UNSEEN: Mapping[str, Mapping[str, str]] = {
    "operators.arithmetic": {"results-are-rounded": "the last digits"},
    "operators.comparison": {
        "is-close-includes-the-bound": "a distance of exactly 0.01",
        "is-close-lets-nan-through": "nan in lt, eq and is_close",
        "nan-falls-through": "nan in lt, eq and is_close",
        "max-by-arithmetic": "very large numbers",
    },
    "operators.higher_order": {
        "arguments-are-changed": "whether the arguments stay as they were",
        "counts-instead-of-iterating": "generators as arguments",
    },
    "operators.folds": {
        "empty-sum-is-an-int": "the type of an empty sum",
        "neg-list-changes-its-argument": "whether the arguments stay as they were",
        "sum-empties-the-list": "whether the arguments stay as they were",
    },
    "operators.is_reduce": {
        "copies-of-the-list": "functions with other mistakes",
        "differences-only": "functions with other mistakes",
        "lists-only": "functions with other mistakes",
        "more-than-promised": "right functions in other words",
        "neutral-start": "functions with other mistakes",
        "never-empty": "functions with other mistakes",
        "sums-only": "functions with other mistakes",
        "symmetric-fn": "functions with other mistakes",
    },
    "module.Module": {
        "mode-is-toggled": "train() and eval() called twice",
        "parameters-lost-by-name": "equal names in different modules",
        "register-is-changed": "whether asking changes anything",
    },
    "derivatives.central_difference": {"moves-are-rounded": "arguments that are ints"},
    "derivatives.gradient": {"gradient-of-three-only": "more than three arguments"},
    "functions.arithmetic": {"saved-intermediate": "second derivatives"},
    "functions.elementary": {"saved-intermediate": "second derivatives"},
    "autodiff.chain_rule": {
        "derivative-made-float": "second derivatives",
        "rule-asked-unrecorded": "second derivatives",
    },
    "autodiff.topological_sort": {"sorted-by-id": "variables in any order of their ids"},
    "autodiff.backpropagate": {
        "derivative-made-float": "second derivatives",
        "result-is-never-leaf": "backward of a leaf",
        "zipped-with-parents": "constants in the graph",
    },
    "tensor_ops.tensor_map": {
        "at-most-two-axes": "more than two axes",
        "empty-tensor-breaks": "tensors without elements",
        "needs-an-axis": "tensors without axes",
    },
    "tensor_ops.tensor_zip": {
        "at-most-two-axes": "more than two axes",
        "empty-tensor-breaks": "tensors without elements",
        "needs-an-axis": "tensors without axes",
        "index-of-a-for-b": "two inputs that are both broadcast",
        "position-is-not-ordinal": "results that are not contiguous",
    },
    "tensor_ops.tensor_reduce": {
        "empty-axis-breaks": "axes without elements",
        "position-is-not-ordinal": "results that are not contiguous",
    },
    "fast_ops.tensor_map": {
        "needs-an-axis": "tensors without axes",
        "position-is-not-ordinal": "results that are not contiguous",
        "ranks-not-compared": "inputs with fewer axes",
    },
    "fast_ops.is_map": {
        "always-an-axis": "maps with other mistakes",
        "contiguous-inputs": "maps with other mistakes",
        "contiguous-outputs": "maps with other mistakes",
        "equal-ranks": "maps with other mistakes",
        "identity": "maps with other mistakes",
        "never-aligned": "maps with other mistakes",
        "never-broadcast": "maps with other mistakes",
        "ranks-always-differ": "maps with other mistakes",
    },
    "fast_ops.tensor_reduce": {
        "all-in-one-iteration": "how the work is shared out",
        "empty-axis-breaks": "axes without elements",
        "position-is-not-ordinal": "results that are not contiguous",
        "work-beside-the-parallel-loop": "how the work is shared out",
    },
    "fast_ops._tensor_matrix_multiply": {
        "all-in-one-iteration": "how the work is shared out",
        "starts-from-the-first-product": "an inner size of 0",
        "work-beside-the-parallel-loop": "how the work is shared out",
    },
    "tensor_data.unfold": {
        "copied-if-there-are-steps": "whether windows with steps are copied",
        "last-axis-of-many": "more than three axes",
        "stored-as-float64": "the type of the storage",
        "unfolded-in-place": "whether the arguments stay as they were",
    },
    "timing.measure": {
        "mean-ends-the-search": "rounds that are held up for very long",
        "rounds-of-all-numbers": "programs that become faster while they are measured",
        "shortest-round-ends-the-search": "how many calls a round has",
        "ten-times-as-many": "how many calls a round has",
    },
    "cuda_ops._pool_practice": {"single-precision": "digits beyond float32"},
    "cuda_ops._scan_practice": {"single-precision": "digits beyond float32"},
    "cuda_ops._sum_practice": {"single-precision": "digits beyond float32"},
    "nn.functional.dropout": {
        "same-holes-every-time": "whether two calls differ",
        "scaled-by-the-wrong-part": "rates other than one half",
    },
    "nn.kernels.conv2d_kernel": {
        "all-in-one-iteration": "how the work is shared out",
        "prange-over-the-sum": "how the work is shared out",
        "work-beside-the-parallel-loop": "how the work is shared out",
    },
    "dual.Dual": {"measured": "places far from 0"},
    "dual.jvp": {
        "result-not-lifted": "results that move at an outer level only",
        "zero-without-shape": "tensors that do not move",
    },
    "functional.grad": {
        "none-in-place-of-zeros": "arguments that play no part",
        "one-element-accepted": "vectors of one element",
        "tuple-of-one-unpacked": "a tuple of one place",
    },
    "functional.jacfwd": {"single-precision": "the type of the result"},
    "functional.hvp": {
        "one-step-ahead": "the number of steps",
        "table-first": "how often the function is run",
    },
    "functional.checkpoint": {"history-cut": "second derivatives"},
    "batching.vmap": {"value-taken": "results that are the same for all examples, and several results"},
    "functional.is_vmap": {
        "all-given-as-arguments": "functions with other mistakes",
        "an-axis-for-each": "functions with other mistakes",
        "counted-from-the-front": "functions with other mistakes",
        "equal-ranks": "functions with other mistakes",
        "errors-not-asked": "functions with other mistakes",
        "examples-alike": "functions with other mistakes",
        "how-not-what": "right functions that are made in another way",
        "no-axis-named": "functions with other mistakes",
        "none-counts-not-asked": "functions with other mistakes",
        "one-result": "functions with other mistakes",
        "shapes-not-compared": "functions with other mistakes",
        "two-axes-at-most": "functions with other mistakes",
        "values-only": "functions with other mistakes",
    },
    "program.trace": {
        "constants-too-early": "captured arrays among the results",
        "anything-is-a-number": "lists among the results",
        "foreign-symbol-taken": "symbols of another recording",
        "numpy-numbers-as-floats": "numbers of NumPy",
    },
    "program.jit": {"zeros-are-one": "negative zeros"},
    "program.simplify": {
        "draws-folded": "random numbers like a constant",
        "equal-numbers-merged": "equal numbers of different types",
        "minus-a-negative-zero": "negative zeros",
        "plus-zero-removed": "negative zeros",
    },
    "program.backward": {
        "always-double": "the type of a gradient",
        "once-for-each-path": "how many equations are written",
        "vector-taken": "losses of several numbers",
    },
    "loops.fuse": {"equations-asked-alone": "groups of equations that do not know each other"},
    "loops.is_safe": {
        "computed-with-once": "plans that lose something else",
        "equal-sizes": "plans that lose something else",
        "multiples-not-asked": "plans that lose something else",
        "neighbours-not-asked": "plans that lose something else",
        "never-a-view": "plans that lose something else",
        "no-view-of-a-view": "plans that lose something else",
        "one-result-each": "plans that lose something else",
        "outputs-not-asked": "plans that lose something else",
        "shown-outputs-not-asked": "plans that lose something else",
        "sizes-believed": "plans that lose something else",
    },
    "precision.is_rounding": {
        "between-one-and-two": "functions with other mistakes",
        "copies-handed-over": "functions with other mistakes",
        "even-ties-only": "functions with other mistakes",
        "never-a-tie": "functions with other mistakes",
        "never-too-large": "functions with other mistakes",
        "odd-ties-only": "functions with other mistakes",
        "one-kind-of-nan": "functions with other mistakes",
        "positive-only": "functions with other mistakes",
        "ties-without-neighbours": "functions with other mistakes",
    },
    "language.batches": {
        "minus-zero": "a share of 0",
        "own-randomness": "equal seeds",
        "pieces-in-order": "whether places are drawn by chance",
        "share-rounded-down": "shares that are no whole numbers",
    },
    "language.Embed": {"cut-off-the-graph": "second derivatives"},
    "language.is_causal": {
        "as-many-queries": "leaks in other places",
        "fewer-queries-always": "leaks in other places",
        "first-output-only": "leaks in other places",
        "first-text-only": "leaks in other places",
        "keys-kept": "leaks in other places",
        "last-token-changed": "leaks in other places",
        "newest-output-only": "leaks in other places",
        "queries-kept": "leaks in other places",
        "tolerance-too-large": "leaks in other places",
    },
    "language.sample": {"ties-kept": "ties at the edge of top_k"},
    "precision.to_bfloat16": {
        "clipped-to-the-largest": "the largest numbers of float32",
        "input-changed": "whether the argument stays as it was",
        "nan-carries": "nan with other bits",
    },
    "precision.LossScaler": {
        "count-goes-on": "good steps before and after a skipped one",
        "divided-by-the-next-scale": "the gradients of a step that doubles the scale",
    },
    "precision.adapter": {
        "changed-in-place": "whether the weight stays as it was",
        "float64": "the type of the numbers",
        "not-divided": "the spread of down",
    },
    "workers.is_ring": {
        "bytes-of-the-first": "functions with other mistakes",
        "copies-handed-over": "functions with other mistakes",
        "divisible-only": "functions with other mistakes",
        "first-worker-only": "functions with other mistakes",
        "float64-only": "functions with other mistakes",
        "large-arrays-only": "functions with other mistakes",
        "messages-counted": "functions with other mistakes",
        "nearly-equal": "functions with other mistakes",
        "never-alone": "functions with other mistakes",
        "one-axis": "functions with other mistakes",
        "parts-not-rounded-up": "functions with other mistakes",
        "sum-not-looked-at": "functions with other mistakes",
        "totals-compared": "functions with other mistakes",
    },
    "workers.mean_gradients": {
        "changed-in-place": "whether the gradients stay as they were",
        "nan-of-nothing": "workers without examples",
    },
    "workers.schedule": {"cost-of-each": "what a bucket of several gradients costs"},
    "workers.sharded_adam_step": {
        "always-the-first-step": "more than one step",
        "changed-in-place": "whether the weights stay as they were",
    },
}
"""By exercise and mistake: what the checks leave to the hidden tests, in words that follow "not looked at"."""


def unseen(exercise: str) -> str:
    """Return one sentence on what the checks of an exercise leave out; the empty string if nothing is known."""
    named = dict.fromkeys(UNSEEN.get(exercise, {}).values())
    return f"Not looked at here: {'; '.join(map(told, named))}." if named else ""
