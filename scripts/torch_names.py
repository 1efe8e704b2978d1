"""Write src/minigrad/machine/torch_names.txt: PyTorch's names and keywords that minigrad leaves out, with advice.

Usage: python scripts/torch_names.py, where both are installed
"""

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from minigrad.machine.missing import LIST

sys.path.insert(0, str(Path(__file__).parent))  # where a test runs this file from elsewhere
from torch_signatures import Parameter, signatures

PLACES = {
    "minigrad": "torch",
    "minigrad.Generator": "torch.Generator",
    "minigrad.Tensor": "torch.Tensor",
    "minigrad.autograd": "torch.autograd",
    "minigrad.backends": "torch.backends",
    "minigrad.cuda": "torch.cuda",
    "minigrad.data": "torch.utils.data",
    "minigrad.data.DataLoader": "torch.utils.data.DataLoader",
    "minigrad.func": "torch.func",
    "minigrad.nn": "torch.nn",
    "minigrad.nn.Module": "torch.nn.Module",
    "minigrad.nn.functional": "torch.nn.functional",
    "minigrad.nn.init": "torch.nn.init",
    "minigrad.nn.utils": "torch.nn.utils",
    "minigrad.nn.utils.rnn": "torch.nn.utils.rnn",
    "minigrad.optim": "torch.optim",
    "minigrad.optim.Optimizer": "torch.optim.Optimizer",
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
    "accelerator": "minigrad.cuda.is_available(), and minigrad.device('cuda')",
    "adjoint": "x.mT",
    "amp": "float32 throughout, and leave amp out",
    "baddbmm": "x + minigrad.bmm(y, z)",
    "bitwise_and": "x & y",
    "bitwise_left_shift": "x * 2**n",
    "bitwise_not": "~x",
    "bitwise_or": "x | y",
    "bitwise_right_shift": "x // 2**n",
    "bitwise_xor": "x ^ y",
    "byte": "x.long()",
    "char": "x.long()",
    "autocast": "float32 throughout, and leave autocast out",
    "column_stack": "minigrad.stack(tensors, 1) or minigrad.cat(tensors, 1)",
    "compile": "minigrad.jit(fun)",
    "cov": "x.matmul(y) of what is left after x.mean(1, keepdim=True)",
    "cudnn": "the script without it: it tunes PyTorch's own kernels",
    "distributions": "minigrad.multinomial(p, 1) to draw by chances p, and p.log() of what was drawn",
    "divide": "x.div(y)",
    "exp2": "2.0 ** x",
    "expm1": "x.exp() - 1.0",
    "fft": "numpy.fft on x.detach().numpy(), if no gradient is needed",
    "float_power": "x.double() ** y",
    "ger": "x.outer(y)",
    "greater": "x > y",
    "greater_equal": "x >= y",
    "H": "x.mT",
    "index_put": "x[index] = values, or x.index_add(dim, index, source), which adds",
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
    "sparse_coo_tensor": "a dense tensor, x[rows, columns] = values of zeros",
    "subtract": "x.sub(y)",
    "take": "x.reshape(-1)[index]",
    "tensor_split": "x.chunk(chunks, dim), or x.split(sizes, dim)",
    "to_sparse": "the dense tensor as it is",
    "true_divide": "x.div(y)",
    "utils": "minigrad.data, which has Dataset and DataLoader",
    "Variable": "the tensor itself, which has requires_grad",
    "vdot": "x.dot(y)",
    # layers and losses
    "functional": "minigrad.transforms.jacrev(fun)(x), or hessian, vjp and jvp of that module",
    "interpolate": "x.repeat_interleave(2, 2).repeat_interleave(2, 3), for images of twice the size",
    "Upsample": "x.repeat_interleave(2, 2).repeat_interleave(2, 3), for images of twice the size",
    "DataParallel": "the module itself: there is one device",
    "Dropout1d": "minigrad.nn.Dropout",
    "parallel": "the module itself: there is one device",
    "pack_padded_sequence": "the outputs of padded sequences at their lengths - 1, by x.gather(dim, index)",
    "weight_norm": "minigrad.nn.functional.linear(x, g * v / v.norm(dim=1, keepdim=True)), in a layer of your own",
    "pack_sequence": "minigrad.nn.utils.rnn.pad_sequence(sequences), and outputs at lengths - 1",
    # optimizers, schedules, data
    "Adamax": "minigrad.optim.Adam",
    "LBFGS": "minigrad.optim.Adam",
    "NAdam": "minigrad.optim.Adam",
    "RAdam": "minigrad.optim.Adam",
    "MultiplicativeLR": "minigrad.optim.lr_scheduler.LambdaLR",
    "PolynomialLR": "minigrad.optim.lr_scheduler.LambdaLR",
    **{name: NUMPYS.format(name=name) for name in BY_NUMPY.split()},
    **{name: use for use, names in TYPES.items() for name in names.split()},
}
STATE = "generator.manual_seed(seed), and the same draws"
# Advice for the names of a class, where it is another than that for the functions of the same names.
OF_CLASSES = {
    "minigrad.Generator": dict.fromkeys(["clone_state", "get_state", "initial_seed", "seed", "set_state"], STATE),
    "minigrad.Tensor": {"bfloat16": "x.float()", "half": "x.float()", "short": "x.long()"},
    "minigrad.data.DataLoader": {},
    "minigrad.nn.Module": {
        "bfloat16": "module.float()",
        "compile": "minigrad.jit(fun)",
        "half": "module.float()",
        "register_backward_hook": "module.register_full_backward_hook(hook)",
        "register_module": "module.add_module(name, module)",
        "share_memory": "the module as it is: threads share its memory",
        "type": "module.to(dtype)",
    },
    "minigrad.optim.Optimizer": {},
}
# Advice for a keyword that is left out: of one function, as "max(other)", or of every function that lacks it.
KEYWORDS = {
    "dropout(inplace)": "x.copy_(minigrad.nn.functional.dropout(x, p))",
    "from_dlpack(copy)": "minigrad.from_dlpack(...).clone()",
    "jvp(strict)": "the call without it",
    "max(other)": "x.maximum(y)",
    "min(other)": "x.minimum(y)",
    "repeat_interleave(output_size)": "the call without it: the size is counted",
    "scatter(reduce)": "x.scatter_add(dim, index, src), which adds",
    "searchsorted(out_int32)": "minigrad.searchsorted(...).int()",
    "searchsorted(sorter)": "minigrad.searchsorted(x[sorter], y)",
    "split(split_size_or_sections)": "minigrad.split(x, sizes, dim)",
    "split(tensor)": "minigrad.split(x, sizes, dim)",
    "to(other)": "x.to(y)",
    "uniform(from_)": "x.uniform_(low, high)",
    "uniform(to)": "x.uniform_(low, high)",
    "view(dtype)": "x.numpy().view(dtype), if no gradient is needed",
    "chunk_size": "the call without it: a batch is computed at once",
    "device": "{called}(...).to(device)",
    "func": "{called}(fun), the function without its name",
    "implicit": "the call without it",
    "layout": "the call without it: every tensor is strided",
    "memory_format": "the call without it: a new tensor is row-major",
    "names": "the call without it: axes have no names",
    "out": "out.copy_({called}(...))",
    "out_dtype": "{called}(...).to(dtype)",
    "pin_memory": "the call without it: no memory is pinned",
    "reduce": "reduction='sum', 'mean' or 'none'",
    "repeats": "x.repeat(*repeats)",
    "size": "x.{name}(*size)",
    "size_average": "reduction='sum', 'mean' or 'none'",
    "sparse_grad": "the call without it: every gradient is dense",
}
NOT_TAKEN = {"one_hot(tensor)", "requires_grad_(mode)"}  # names in stubs that PyTorch itself does not take
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
    if where in OF_CLASSES and where != "minigrad.Tensor":  # a function of the same name does something else
        return ""
    if where == "minigrad.nn.init":  # whose names without an underscore are those of old releases
        return f"minigrad.nn.init.{name}_(x)" if hasattr(place(where), f"{name}_") else ""
    if name in ADVICE:
        return ADVICE[name]
    for other, written in ELSEWHERE:
        if callable(getattr(place(other), name, None)):
            return written.format(name=name)
    plain = name.removesuffix("_")
    if plain != name and callable(getattr(place("minigrad.Tensor"), plain, None)):
        return f"x = x.{plain}(...)"
    return ADVICE.get(plain, "")


def both(ours: str, theirs: str) -> Iterator[tuple[str, list[Parameter], list[list[Parameter]]]]:
    """Yield each function or class of a place that both have: its name, our parameters, PyTorch's of each overload."""
    here, there = place(ours), place(theirs)
    for name in public_names(there):
        mine = getattr(here, name, None)
        if not callable(mine) or not callable(getattr(there, name)):
            continue
        # A function that is made of a method is called with the method's arguments, others with their own.
        taken = [*inspect.signature(mine, follow_wrapped=ours != "minigrad.nn.functional").parameters.values()]
        is_method = isinstance(here, type)
        if taken and taken[0].name == "self":
            taken[:1] = [] if is_method else [taken[0].replace(name="input")]
        yield name, taken, [[*each.parameters.values()][is_method:] for each in signatures(theirs, there, name)]


def keywords_left_out(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    """Yield each function or class of a place that both have, with a keyword that only PyTorch's takes."""
    for name, taken, overloads in both(ours, theirs):
        known = {x.name for x in taken if x.kind is not x.VAR_POSITIONAL} | {"self"}
        if any(x.kind is x.VAR_KEYWORD for x in taken):
            continue
        named = [x for each in overloads for x in each if x.kind in (x.POSITIONAL_OR_KEYWORD, x.KEYWORD_ONLY)]
        for keyword in dict.fromkeys(x.name for x in named if not x.name.startswith("_")):
            if keyword not in known and f"{name}({keyword})" not in NOT_TAKEN:
                yield name, keyword


def misplaced(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    """Yield each function or class of a place that both have, with the first argument by place that differs."""
    for name, taken, overloads in both(ours, theirs):
        mine = [x.name for x in taken if x.kind is x.POSITIONAL_OR_KEYWORD]
        for each in overloads:
            asked = [x.name for x in each if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
            differ = [pair for pair in zip(asked, mine, strict=False) if pair[0] != pair[1]]
            if differ:
                yield name, f"{differ[0][0]} is {differ[0][1]}"


def other_defaults(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    """Yield each function or class of a place that both have, with an argument that has another value by default."""
    for name, taken, overloads in both(ours, theirs):
        for mine in taken:
            asked = [x.default for each in overloads for x in each if x.name == mine.name]
            known = [x for x in asked if x is not Parameter.empty and x is not ...]
            if known and mine.default not in known and str(mine.default) not in map(str, known):
                yield name, f"{mine.name}={mine.default!r} is {known[0]!r}"


def keyword_advice(ours: str, name: str, keyword: str) -> str:
    """Return what to do without a keyword, or nothing."""
    called = "x." + name if ours == "minigrad.Tensor" else f"{ours}.{name}"
    for key in (f"{ours}.{name}({keyword})", f"{name.rstrip('_')}({keyword})", keyword):
        if key in KEYWORDS:
            return KEYWORDS[key].format(called=called, name=name)
    return ""


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
        for name, keyword in keywords_left_out(ours, theirs):
            advice = keyword_advice(ours, name, keyword)
            found.append(f"{ours}.{name}({keyword}): {advice}" if advice else f"{ours}.{name}({keyword})")
    return sorted(found)


def text() -> str:
    """Return the list as it is written."""
    version = ".".join(importlib.import_module("torch").__version__.split(".")[:2])
    head = [
        f"# PyTorch {version}: what minigrad leaves out, and what to use instead. Generated by scripts/torch_names.py."
    ]
    return "\n".join([*head, *lines()]) + "\n"


if __name__ == "__main__":
    LIST.write_text(text(), encoding="utf-8")
