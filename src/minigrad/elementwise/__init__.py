"""Elementwise operations, each of them one entry of `table`: everything else about an op is derived from its entry.

An entry holds the kernel, its quick forms, the rule, an example and the names. `minigrad.operators` takes the kernel
from it, `minigrad.functions` the class and the function, `Scalar` and `Tensor` their methods, the tests their samples.
What students write stands in those modules; its entries hold names and examples only.

Type checkers read `derived*.pyi`, which `scripts/types_of_names.py` writes.
"""
