"""Write src/minigrad/machine/torch_names.txt: PyTorch's public names that minigrad leaves out, with advice.

Usage: python scripts/torch_names.py, where both are installed
"""

import importlib
from collections.abc import Iterator
from types import ModuleType

from minigrad.machine.missing import LIST

PLACES = {
    "minigrad": "torch",
    "minigrad.Tensor": "torch.Tensor",
    "minigrad.autograd": "torch.autograd",
    "minigrad.data": "torch.utils.data",
    "minigrad.func": "torch.func",
    "minigrad.nn": "torch.nn",
    "minigrad.nn.Module": "torch.nn.Module",
    "minigrad.nn.functional": "torch.nn.functional",
    "minigrad.nn.utils": "torch.nn.utils",
    "minigrad.nn.utils.rnn": "torch.nn.utils.rnn",
    "minigrad.optim": "torch.optim",
    "minigrad.optim.lr_scheduler": "torch.optim.lr_scheduler",
}
NUMPYS = "x.detach().numpy() and NumPy's {name}, if no gradient is needed"
BY_NUMPY = """
diff histc isin mode quantile std_mean var_mean
"""
TYPES = {
    "minigrad.float32": "bfloat16 float16 half",
    "minigrad.int64": "int16 int8 short uint16 uint32 uint64 uint8",
    "minigrad.tensor(data, dtype=minigrad.float32)": "FloatTensor HalfTensor",
    "minigrad.tensor(data, dtype=minigrad.float64)": "DoubleTensor",
    "minigrad.tensor(data, dtype=minigrad.int32)": "IntTensor",
    "minigrad.tensor(data, dtype=minigrad.int64)": "ByteTensor CharTensor LongTensor ShortTensor",
    "minigrad.tensor(data, dtype=minigrad.bool)": "BoolTensor",
}
ADVICE = {
    # tensors and their functions
    "absolute": "x.abs()",
    "adjoint": "x.mT",
    "baddbmm": "x + minigrad.bmm(y, z)",
    "byte": "x.long()",
    "char": "x.long()",
    "autocast": "float32 throughout, and leave autocast out",
    "column_stack": "minigrad.stack(tensors, 1) or minigrad.cat(tensors, 1)",
    "compile": "minigrad.jit(fun)",
    "cov": "x.matmul(y) of what is left after x.mean(1, keepdim=True)",
    "divide": "x.div(y)",
    "exp2": "2.0 ** x",
    "expm1": "x.exp() - 1.0",
    "fft": "numpy.fft on x.detach().numpy(), if no gradient is needed",
    "float_power": "x.double() ** y",
    "ger": "x.outer(y)",
    "greater": "x > y",
    "greater_equal": "x >= y",
    "H": "x.mT",
    "inner": "x.matmul(y.mT), or of vectors x.dot(y)",
    "less": "x < y",
    "less_equal": "x <= y",
    "mH": "x.mT",
    "linalg": "x.norm() for norms, and numpy.linalg on x.detach().numpy() for the rest, if no gradient is needed",
    "multiply": "x.mul(y)",
    "ndimension": "x.ndim",
    "negative": "x.neg()",
    "new_empty": "x.new_zeros(*shape)",
    "new_tensor": "minigrad.tensor(data, dtype=x.dtype)",
    "not_equal": "x != y",
    "positive": "x",
    "resize_": "x.reshape(*shape)",
    "row_stack": "minigrad.cat(tensors, 0)",
    "rsub": "y - x",
    "Size": "tuple, as x.shape is one",
    "subtract": "x.sub(y)",
    "take": "x.reshape(-1)[index]",
    "tensor_split": "x.chunk(chunks, dim), or x.split(sizes, dim)",
    "true_divide": "x.div(y)",
    "utils": "minigrad.data, which has Dataset and DataLoader",
    "vdot": "x.dot(y)",
    # layers and losses
    "functional": "minigrad.transforms.jacrev(fun)(x), or hessian, vjp and jvp of that module",
    "interpolate": "x.repeat_interleave(2, 2).repeat_interleave(2, 3), for images of twice the size",
    "Upsample": "x.repeat_interleave(2, 2).repeat_interleave(2, 3), for images of twice the size",
    "Dropout1d": "minigrad.nn.Dropout",
    "pack_padded_sequence": "the outputs of padded sequences at their lengths - 1, by x.gather(dim, index)",
    "pack_sequence": "minigrad.nn.utils.rnn.pad_sequence(sequences), and outputs at lengths - 1",
    # optimizers, schedules, data
    "Adamax": "minigrad.optim.Adam",
    "NAdam": "minigrad.optim.Adam",
    "RAdam": "minigrad.optim.Adam",
    "MultiplicativeLR": "minigrad.optim.lr_scheduler.LambdaLR",
    "PolynomialLR": "minigrad.optim.lr_scheduler.LambdaLR",
    **{name: NUMPYS.format(name=name) for name in BY_NUMPY.split()},
    **{name: use for use, names in TYPES.items() for name in names.split()},
}
# Advice for the names of a class, where it is another than that for the functions of the same names.
OF_CLASSES = {
    "minigrad.Tensor": {"bfloat16": "x.float()", "half": "x.float()", "short": "x.long()"},
    "minigrad.nn.Module": {
        "bfloat16": "module.float()",
        "half": "module.float()",
        "register_backward_hook": "module.register_full_backward_hook(hook)",
        "register_module": "module.add_module(name, module)",
        "type": "module.to(dtype)",
    },
}
# Where a name of another place is found, and how it is then written.
ELSEWHERE = (
    ("minigrad.Tensor", "x.{name}(...)"),
    ("minigrad", "minigrad.{name}(...)"),
    ("minigrad.nn.functional", "minigrad.nn.functional.{name}(...)"),
    ("minigrad.nn", "minigrad.nn.{name}(...)"),
)


def place(name: str) -> object:
    """Return a module, or a class of one, by its full name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last) if module else importlib.import_module(name)


def public_names(of: object) -> Iterator[str]:
    """Yield PyTorch's public names of a module or class, without what it only imports."""
    for name in dir(of):
        value = getattr(of, name, None)
        source = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        is_own = source is None or str(source).startswith("torch")
        if not name.startswith("_") and is_own and not isinstance(value, bool):
            yield name


def advice_for(name: str, where: str) -> str:
    """Return what to use in place of a name of a module or class, or nothing."""
    if name in OF_CLASSES.get(where, {}):
        return OF_CLASSES[where][name]
    if name in ADVICE:
        return ADVICE[name]
    for other, written in ELSEWHERE:
        if callable(getattr(place(other), name, None)):
            return written.format(name=name)
    plain = name.removesuffix("_")
    if plain != name and callable(getattr(place("minigrad.Tensor"), plain, None)):
        return f"x = x.{plain}(...)"
    return ADVICE.get(plain, "")


def lines() -> list[str]:
    """Return the lines of the list: a name in its place, and the advice behind a colon."""
    found = []
    for ours, theirs in PLACES.items():
        there = place(ours)
        for name in public_names(place(theirs)):
            # An instance's names: a class has some of its metaclass's besides.
            if not (name in dir(there) or hasattr(there, name)):
                advice = advice_for(name, ours)
                found.append(f"{ours}.{name}: {advice}" if advice else f"{ours}.{name}")
    return sorted(found)


def text() -> str:
    """Return the list as it is written."""
    version = ".".join(importlib.import_module("torch").__version__.split(".")[:2])
    head = [
        f"# PyTorch {version}: names that minigrad leaves out, and what to use. Generated by scripts/torch_names.py."
    ]
    return "\n".join([*head, *lines()]) + "\n"


if __name__ == "__main__":
    LIST.write_text(text(), encoding="utf-8")
