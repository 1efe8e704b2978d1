"""Code that can do nothing to who watches it: loops, numbers, arrays, and functions of its own.

A statement is plain if every node of its syntax tree is of a kind listed here, every attribute that it reads has a
listed name, and every name that it does not bind itself is bound by another plain statement, by the lesson's setup, or
is a listed builtin. It is a list of what is harmless rather than of what is not: Python has more doors than anybody can
name. From arrays, modules and functions the listed attributes lead to nothing but arrays, numbers and functions of the
same kind: neither to frames, code, classes and modules' variables, nor to memory.

Not listed, on purpose: classes (an object that lies about its operators), try in a function (it swallows what the
detector raises), with, but for NumPy's `errstate`, patterns that look into objects, global, generators; getattr, type,
exec, eval; whatever begins with two underscores; assignment to an attribute. `functools.wraps` may only decorate, and
by one function: with other arguments it would copy any attribute. Annotations are not looked at: they are not
evaluated, which the session that runs plain code sees to.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterator

_Function = ast.FunctionDef | ast.Lambda

_ANYWHERE = (
    ast.Module, ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return,
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr,
    ast.For, ast.While, ast.If, ast.IfExp, ast.Break, ast.Continue, ast.Pass, ast.Raise, ast.Assert, ast.Expr,
    ast.Import, ast.ImportFrom, ast.alias,
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword, ast.Constant, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Dict, ast.Set,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
    ast.JoinedStr, ast.FormattedValue,
    ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence, ast.MatchStar, ast.MatchMapping,
    ast.MatchAs, ast.MatchOr, ast.With, ast.withitem,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_OUTSIDE_FUNCTIONS = (*_ANYWHERE, ast.Try, ast.ExceptHandler)

_WRAPS = ("wraps", None, "functools")
"""The function that may be imported although it may only be called: its name, no other name for it, its module."""

_ERRORS = {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}
BUILTINS = frozenset(_ERRORS) | frozenset(
    (
        "abs", "all", "any", "bool", "callable", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int",
        "isinstance", "iter", "len", "list", "map", "max", "min", "next", "pow", "print", "range", "repr", "reversed",
        "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip", "Ellipsis",
    )
)  # fmt: skip
"""The builtins that plain code may use."""

_OF_NUMBA = (
    "cuda", "njit", "jit", "prange", "types", "void", "boolean", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64", "intp", "uintp", "float32", "float64", "complex64", "complex128",
    "grid", "gridsize", "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "x", "y", "z",
    "shared", "local", "const", "array", "array_like", "syncthreads", "syncwarp", "threadfence", "atomic", "add",
    "sub", "max", "min",
)  # fmt: skip
_OF_ARRAYS = (
    "shape", "strides", "size", "ndim", "dtype", "T", "copy", "ravel", "reshape", "flatten", "transpose", "astype",
    "all", "any", "sum", "prod", "max", "min", "mean", "fill", "tolist", "item", "argmax", "argmin", "append",
)  # fmt: skip
_OF_NUMPY = (
    "newaxis", "bool_", "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like",
    "full_like", "asarray", "ascontiguousarray", "arange", "linspace", "array_equal", "dot", "matmul", "einsum",
    "tensordot", "outer", "where", "abs", "absolute", "maximum", "minimum", "subtract", "multiply", "divide",
    "negative", "floor_divide", "mod", "isnan", "isinf", "cumsum", "cumprod", "ndindex", "unravel_index",
    "ravel_multi_index", "concatenate", "stack", "sign", "clip", "flip", "broadcast_to", "broadcast_shapes",
)  # fmt: skip
_OF_PYTHON = (
    "functools", "partial", "reduce", "lru_cache", "cache", "itertools", "product", "accumulate", "operator", "mul",
    "truediv", "floordiv", "neg", "lt", "le", "eq", "ne", "ge", "gt", "math", "annotations", "Any", "Callable",
    "Sequence", "Iterable", "Iterator", "Final", "TypeAlias", "TYPE_CHECKING", "cast", "NDArray", "Optional", "Tuple",
    "List", "Union",
)  # fmt: skip
_OF_MINIGRAD = (
    "minigrad", "operators", "tensor_data", "tensor_ops", "fast_ops", "cuda_ops", "MAX_DIMS", "BLOCK_DIM",
    "THREADS_PER_BLOCK", "Kernel", "MapKernel", "ZipKernel", "ReduceKernel", "Storage", "Shape", "Strides", "Index",
    "OutIndex", "UserIndex", "UserShape", "UserStrides", "to_index", "index_to_position", "broadcast_index",
    "shape_broadcast", "strides_from_shape", "IndexingError", "inv", "relu", "sigmoid", "id",
)  # fmt: skip
_ATTRIBUTES = frozenset(
    (*_OF_NUMBA, *_OF_ARRAYS, *_OF_NUMPY, *_OF_PYTHON, *_OF_MINIGRAD, *(n for n in vars(math) if n[0] != "_"))
)
_MODULES = frozenset(
    (
        "__future__", "collections.abc", "functools", "itertools", "math", "minigrad", "minigrad.cuda_ops",
        "minigrad.fast_ops", "minigrad.operators", "minigrad.tensor_data", "minigrad.tensor_ops", "numba",
        "numba.cuda", "numpy", "numpy.typing", "operator", "typing",
    )
)  # fmt: skip


def fault_of(statement: ast.stmt) -> tuple[int, str] | None:
    """The first thing in a top-level statement that is not plain: its line, and what it is; None if all of it is.

    Names that it does not bind itself are not looked at: see `common.python_text.free_names`.
    """
    faults = ((getattr(node, "lineno", statement.lineno), what) for node, what in _faults(statement))
    return min(faults, default=None)


def _faults(statement: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    to_do: list[tuple[ast.AST, bool]] = [(statement, False)]
    while to_do:
        node, inside = to_do.pop()
        if not isinstance(node, _ANYWHERE if inside else _OUTSIDE_FUNCTIONS):
            yield node, _word_of(node)
            continue
        what = _wrong_with(node)
        if what:
            yield node, what
        inside = inside or isinstance(node, _Function)
        to_do += [(child, inside) for child in _evaluated(node)]


def _called(node: ast.AST) -> list[ast.AST]:
    """The parts of a call of `functools.wraps` or `errstate` that are to be plain; nothing of any other node.

    The two may be called in a decorator or after `with` alone, where nothing else can call what they return: that
    would take the arguments that are refused here. Neither is listed, and neither gets another name.
    """
    match node:
        case ast.Call(ast.Attribute(ast.Name() as module, "wraps"), [ast.Name() as function], []):
            return [module, function]
        case ast.Call(ast.Name("wraps"), [ast.Name() as function], []):
            return [function]
        case ast.Call(ast.Attribute(ast.Name() as module, "errstate"), [], options) if all(
            each.arg and isinstance(each.value, ast.Constant) for each in options
        ):
            return [module]
    return []


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node but for annotations."""
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "type_comment"):
            children = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)]
            called = field in ("decorator_list", "context_expr")
            yield from (part for each in children for part in (called and _called(each)) or [each])


def _wrong_with(node: ast.AST) -> str:
    """The fault of a node of a kind that may be there; its children aside."""
    if isinstance(node, ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            return f"an assignment to .{node.attr}"
        return "" if node.attr in _ATTRIBUTES else f".{node.attr}"
    if isinstance(node, ast.Name) and node.id == "wraps" and isinstance(node.ctx, ast.Load):
        return "wraps"
    if isinstance(node, ast.With) and any(each.optional_vars or not _called(each.context_expr) for each in node.items):
        return "with"
    if isinstance(node, ast.Import):
        return next((f"import {each.name}" for each in node.names if each.name not in _MODULES), "")
    if isinstance(node, ast.ImportFrom):
        names = [each.name for each in node.names if (each.name, each.asname, node.module) != _WRAPS]
        if node.level == 0 and node.module in _MODULES and set(names) <= _ATTRIBUTES | {"division"}:
            return ""
        return f"from {'.' * node.level}{node.module or ''} import {', '.join(names[:3])}"
    return next((name for name in _bound_by(node) if name.startswith("__")), "")


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Names that stand in a node itself."""
    for field in ("id", "name", "arg", "asname", "rest"):
        name = getattr(node, field, None)
        if isinstance(name, str):
            yield name


def _word_of(node: ast.AST) -> str:
    """A student's word for a node of a kind that may not be there."""
    words = {ast.ClassDef: "a class", ast.Global: "global", ast.Nonlocal: "nonlocal", ast.Try: "try in a function"}
    return words.get(type(node), type(node).__name__.lower().removeprefix("async"))
