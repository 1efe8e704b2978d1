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
    "minigrad.data": "torch.utils.data",
    "minigrad.nn": "torch.nn",
    "minigrad.nn.functional": "torch.nn.functional",
    "minigrad.optim": "torch.optim",
    "minigrad.optim.schedules": "torch.optim.lr_scheduler",
}
NUMPYS = "x.detach().numpy() and NumPy's {name}, if no gradient is needed"
BY_NUMPY = """
cumprod diff fmod histc isin isclose kthvalue median mode nonzero quantile searchsorted std_mean trunc unique var_mean
"""
TYPES = {
    "minigrad.float32": "bfloat16 float16 half",
    "minigrad.int64": "int int16 int32 int8 short uint16 uint32 uint64 uint8",
    "minigrad.tensor(data, dtype=minigrad.float32)": "FloatTensor HalfTensor",
    "minigrad.tensor(data, dtype=minigrad.float64)": "DoubleTensor",
    "minigrad.tensor(data, dtype=minigrad.int64)": "ByteTensor CharTensor IntTensor LongTensor ShortTensor",
    "minigrad.tensor(data, dtype=minigrad.bool)": "BoolTensor",
}
ADVICE = {
    # tensors and their functions
    "absolute": "x.abs()",
    "addmm": "x + minigrad.matmul(y, z)",
    "adjoint": "x.mT",
    "baddbmm": "x + minigrad.bmm(y, z)",
    "byte": "x.long()",
    "char": "x.long()",
    "column_stack": "minigrad.stack(tensors, 1) or minigrad.cat(tensors, 1)",
    "cov": "x.matmul(y) of what is left after x.mean(1, keepdim=True)",
    "cuda": "x.to('cuda'); the command `minigrad doctor` says which GPU there is",
    "device": "the text 'cpu' or 'cuda', as in x.to('cuda')",
    "divide": "x.div(y)",
    "dstack": "minigrad.cat(tensors, 2)",
    "e": "math.e",
    "eq": "x == y",
    "exp2": "2.0 ** x",
    "expm1": "x.exp() - 1.0",
    "float_power": "x.double() ** y",
    "ge": "x >= y",
    "ger": "x.outer(y)",
    "greater": "x > y",
    "greater_equal": "x >= y",
    "gt": "x > y",
    "H": "x.mT",
    "hstack": "minigrad.cat(tensors, 1), or of vectors minigrad.cat(tensors, 0)",
    "index_fill": "x.clone(), and then assign to it by index",
    "inf": "math.inf",
    "inference_mode": "minigrad.no_grad()",
    "inner": "x.matmul(y.mT), or of vectors x.dot(y)",
    "is_tensor": "isinstance(x, minigrad.Tensor)",
    "le": "x <= y",
    "less": "x < y",
    "less_equal": "x <= y",
    "log10": "x.log() / math.log(10.0)",
    "log2": "x.log() / math.log(2.0)",
    "logical_and": "x & y, of booleans",
    "logical_not": "~x, of booleans",
    "logical_or": "x | y, of booleans",
    "logical_xor": "x ^ y, of booleans",
    "lt": "x < y",
    "masked_select": "x[mask]",
    "mH": "x.mT",
    "moveaxis": "x.permute(*order)",
    "movedim": "x.permute(*order)",
    "multiply": "x.mul(y)",
    "mv": "x.matmul(y)",
    "nan": "math.nan",
    "ndimension": "x.ndim",
    "ne": "x != y",
    "negative": "x.neg()",
    "new_empty": "x.new_zeros(*shape)",
    "new_tensor": "minigrad.tensor(data, dtype=x.dtype)",
    "newaxis": "None, as in x[None]",
    "not_equal": "x != y",
    "pi": "math.pi",
    "positive": "x",
    "ravel": "x.reshape(-1)",
    "resize_": "x.reshape(*shape)",
    "row_stack": "minigrad.cat(tensors, 0)",
    "rsqrt": "1.0 / x.sqrt()",
    "rsub": "y - x",
    "set_grad_enabled": "minigrad.no_grad() or minigrad.enable_grad()",
    "Size": "tuple, as x.shape is one",
    "subtract": "x.sub(y)",
    "swapaxes": "x.transpose(dim0, dim1)",
    "swapdims": "x.transpose(dim0, dim1)",
    "take": "x.reshape(-1)[index]",
    "take_along_dim": "x.gather(dim, index)",
    "tan": "x.sin() / x.cos()",
    "tensor_split": "x.chunk(chunks, dim), or x.split(sizes, dim)",
    "tile": "x.repeat(*sizes)",
    "trace": "x.diag().sum()",
    "true_divide": "x.div(y)",
    "utils": "minigrad.data, which has Dataset and DataLoader",
    "vdot": "x.dot(y)",
    "vmap": "minigrad.transforms.vmap(fun)",
    "vstack": "minigrad.cat(tensors, 0)",
    # layers and losses
    "adaptive_avg_pool2d": "x.mean((2, 3)), for one number a channel",
    "AdaptiveAvgPool2d": "x.mean((2, 3)), for one number a channel",
    "Dropout1d": "minigrad.nn.Dropout",
    "Dropout2d": "minigrad.nn.Dropout",
    "Hardtanh": "x.clamp(-1.0, 1.0)",
    "hardtanh": "x.clamp(-1.0, 1.0)",
    "LeakyReLU": "minigrad.where(x > 0, x, 0.01 * x)",
    "leaky_relu": "minigrad.where(x > 0, x, 0.01 * x)",
    "ModuleDict": "minigrad.nn.ModuleList",
    "normalize": "x / x.norm(2, dim, keepdim=True)",
    "ParameterList": "minigrad.nn.Module.register_parameter(name, parameter), once for each",
    "ReLU6": "x.clamp(0.0, 6.0)",
    "relu6": "x.clamp(0.0, 6.0)",
    "SiLU": "x * x.sigmoid()",
    "silu": "x * x.sigmoid()",
    "Softplus": "x.exp().log1p()",
    "softplus": "x.exp().log1p()",
    "Unflatten": "x.unflatten(dim, sizes)",
    # optimizers, schedules, data
    "Adadelta": "minigrad.optim.Adam",
    "Adamax": "minigrad.optim.Adam",
    "NAdam": "minigrad.optim.Adam",
    "RAdam": "minigrad.optim.Adam",
    "LinearLR": "minigrad.optim.lr_scheduler.LambdaLR",
    "MultiplicativeLR": "minigrad.optim.lr_scheduler.LambdaLR",
    "MultiStepLR": "minigrad.optim.lr_scheduler.LambdaLR, or StepLR for steps of one length",
    "PolynomialLR": "minigrad.optim.lr_scheduler.LambdaLR",
    "SubsetRandomSampler": "minigrad.data.Subset, and DataLoader(..., shuffle=True)",
    **{name: NUMPYS.format(name=name) for name in BY_NUMPY.split()},
    **{name: use for use, names in TYPES.items() for name in names.split()},
}
OF_TENSORS = {"bfloat16": "x.float()", "half": "x.float()", "short": "x.long()"}
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
    if where == "minigrad.Tensor" and name in OF_TENSORS:
        return OF_TENSORS[name]
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
