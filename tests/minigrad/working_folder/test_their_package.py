"""Names that an answer finds in its own package, stand-ins for MiniTorch's machinery, and its older files."""

import builtins

import numpy as np
import pytest

from minigrad import operators, tensor_data
from minigrad.checks import run
from minigrad.errors import MinigradError
from minigrad.working_folder import minitorch
from minigrad.working_folder.minitorch_tensors import Context, Tensor, TensorBackend, TensorData, tensor
from minigrad.working_folder.their_package import Package


def package(tmp_path, folders=(), **files):
    """Write a package `minitorch`."""
    folder = tmp_path / "minitorch"
    for name, text in {**files, **dict(folders)}.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def load(folder, id, failures=None):
    task, path = minitorch.found_tasks(folder)[id]
    return minitorch.load(task, path, failures)


HELPERS = "from math import inf\nTWO = 2.0\ndef twice(x):\n    return TWO * x\ndef half(x):\n    return x / TWO\n"
FORMS = {
    "from .helpers import twice": "twice",
    "from .helpers import twice as double": "double",
    "from minitorch.helpers import twice": "twice",
    "from helpers import twice": "twice",
    "from . import helpers": "helpers.twice",
    "from . import helpers as h": "h.twice",
    "import minitorch": "minitorch.helpers.twice",
    "import minitorch.helpers": "minitorch.helpers.twice",
    "import minitorch.helpers as h": "h.twice",
    "from .helpers import *": "twice",
    "from .exports import double": "double",
    "from .exports import *": "twice",
    "from .tools import twice": "twice",
    "from .tools.deep import twice": "twice",
    "try:\n    from .nowhere import twice\nexcept Exception:\n    from .helpers import twice": "twice",
}


@pytest.mark.parametrize(
    ("line", "name", "inside"),
    [(line, name, inside) for line, name in FORMS.items() for inside in (False, True) if not (inside and "*" in line)],
)
def test_imports_in_the_package_are_resolved(tmp_path, line, name, inside):
    """Each form of import, at the top of the file and inside of a function; nothing else of the files runs."""
    body = f"    return {name}(1.5)\n"
    lines = "".join(f"    {each}\n" for each in line.splitlines())
    text = f"def inv(x):\n{lines}{body}" if inside else f"{line}\ndef inv(x):\n{body}"
    rest = "def id(x): return x\ndef exp(x): return x\ndef log(x): return x\ndef relu(x): return x\n"
    folder = package(
        tmp_path,
        operators=text + rest + "def sigmoid(x): return x\nprint(undefined)\n",
        helpers="raise RuntimeError\n" + HELPERS,
        exports="from .helpers import *\nfrom .helpers import twice as double\n",
        folders={"tools/__init__": "from .deep import twice\n", "tools/deep": "from ..helpers import twice\n"},
    )
    failures = []
    assert load(folder, "operators.elementary", failures)["inv"](1.5) == 3.0
    assert failures == []


def test_only_what_is_asked_for_runs(tmp_path):
    """A file that trains a network when it is imported lends its helper all the same, and trains nothing."""
    text = f"import pathlib\nlog = pathlib.Path({str(tmp_path / 'log')!r})\nweights = log.write_text('trained')\n"
    folder = package(
        tmp_path,
        operators="from .train import size\nfrom .train import LIMIT as most\ndef map(fn):\n"
        "    return lambda ls: [fn(x) for x in ls][: size(most)]\n"
        "def zipWith(fn):\n    return 0\ndef reduce(fn, start):\n    return 0\n",
        train=f"{text}LIMIT = 2 + 1\ndef size(n):\n    return n - 1\n",
    )
    assert load(folder, "operators.higher_order")["map"](abs)([-1, -2, -3]) == [1, 2]
    assert not (tmp_path / "log").exists()


def test_constants_and_wrapped_helpers_are_theirs(tmp_path):
    """A constant named as one of ours, a helper named as one of ours, and one that is wrapped after its definition."""
    folder = package(
        tmp_path,
        tensor_data="MAX_DIMS = 3\ndef _base_of(x):\n    return x + MAX_DIMS\n"
        "_base_of = (lambda f: lambda x: 2 * f(x))(_base_of)\n"
        "def index_to_position(index, strides):\n    return _base_of(1)\n",
    )
    assert load(folder, "tensor_data.index_to_position")["index_to_position"]((), ()) == 8


@pytest.mark.parametrize(
    "fills",
    [
        "for k in range(3):\n    TABLE[k] = float(k)\n",
        "TABLE.update({0: 0.0, 1: 1.0})\n",
        "if True:\n    TABLE.setdefault(0, 0.0)\n",
        "class Table(dict): pass\nTABLE = Table()\nTABLE.zero = 0.0\nTABLE[0] = TABLE.zero\n",
        "TABLE[0] = 0.0\nif __name__ == '__main__':\n    TABLE.clear()\n",
    ],
)
def test_an_object_that_later_lines_fill(tmp_path, fills):
    """Statements that change what a name stands for run with it; what is run as a program does not."""
    folder = package(
        tmp_path,
        operators="from .tables import TABLE\ndef relu(x): return x if x > TABLE[0] else TABLE[0]\n"
        "def id(x): return x\ndef exp(x): return x\ndef log(x): return x\ndef inv(x): return x\n"
        "def sigmoid(x): return x\n",
        tables=f"TABLE = {{}}\n{fills}",
    )
    failures = []
    relu = load(folder, "operators.elementary", failures)["relu"]
    assert (relu(2.0), relu(-2.0), failures) == (2.0, 0.0, [])


def test_files_that_import_each_other(tmp_path):
    """Circles of imports, by name and by star, end; and other answers in them are ours."""
    folder = package(
        tmp_path,
        operators="from .helpers import *\nfrom . import helpers\n"
        "def negList(ls): return helpers.each(neg, ls)\ndef addLists(a, b): return zipWith(add)(a, b)\n"
        "def sum(ls): return reduce(add, 0.0)(ls)\ndef prod(ls): return reduce(mul, 1.0)(ls)\n"
        "def add(x, y): return 1 / 0\n",
        helpers="from .operators import *\nfrom .operators import map, neg\ndef each(fn, ls): return map(fn)(ls)\n",
    )
    failures = []
    answer = load(folder, "operators.folds", failures)
    assert (answer["negList"]([1.0, -2.0]), answer["sum"]([1.0, 2.0]), failures) == ([-1.0, 2.0], 3.0, [])


def test_files_that_ask_for_each_other_by_way_of_the_package(tmp_path):
    """`from . import a` in a file that `__init__.py` takes everything from means the file a."""
    folder = package(
        tmp_path,
        __init__="from .operators import *\nfrom .helpers import *\n",
        operators="from .third import minus\ndef map(fn): return fn\ndef negList(ls): return map(minus)(ls)\n"
        "def addLists(a, b): return []\ndef sum(ls): return 0.0\ndef prod(ls): return 1.0\n",
        helpers="from . import operators\n",
        third="from . import operators\ndef minus(x): return operators.neg(x)\n",
    )
    failures = []
    assert load(folder, "operators.folds", failures)["negList"]([1.0]) == [-1.0]
    assert failures == []


def test_a_name_that_the_package_takes_from_where_it_is_being_set(tmp_path):
    """A file sets a name by way of the package, whose `__init__.py` imports that name from it: nothing fails."""
    folder = package(
        tmp_path,
        __init__="from .choice import CHOSEN\n",
        autodiff="from .choice import CHOSEN\ndef central_difference(f, *vals, arg=0): return CHOSEN.step(f)\n",
        choice="import minitorch.steps\nCHOSEN = minitorch.steps\n",
        steps="def step(f): return f(2.0)\n",
    )
    failures = []
    answer = load(folder, "derivatives.central_difference", failures)
    assert (answer["central_difference"](lambda x: 3.0 * x), failures) == (6.0, [])


def test_a_helper_that_cannot_be_run_is_named(tmp_path):
    """The file, the line and the error are said."""
    folder = package(
        tmp_path,
        autodiff="from .helpers import step\ndef central_difference(f, *vals, arg=0): return step(f)\n",
        helpers="\nstep = undefined\n",
    )
    failures = []
    load(folder, "derivatives.central_difference", failures)
    assert failures[0] == "helpers.py, line 2, could not be run: NameError: name 'undefined' is not defined"


# What MiniTorch's own classes offer, read off its public source.
OFFERED = {
    Tensor: "__add__ __sub__ __mul__ __truediv__ __rtruediv__ __matmul__ __lt__ __eq__ __gt__ __neg__ __radd__ "
    "__rmul__ __getitem__ __setitem__ _ensure_tensor _new _tensor _type_ accumulate_derivative all backend backward "
    "chain_rule contiguous detach dims exp expand f get_data grad history is_close is_constant is_leaf item log make "
    "mean name parents permute relu requires_grad requires_grad_ shape sigmoid size sum to_numpy tuple unique_id view "
    "zero_derivative_ zero_grad_ zeros",
    TensorData: "_shape _storage _strides dims get index indices is_contiguous permute sample set shape "
    "shape_broadcast size strides to_cuda_ to_string tuple",
    TensorBackend: "neg_map sigmoid_map relu_map log_map exp_map id_map id_cmap inv_map add_zip mul_zip lt_zip eq_zip "
    "is_close_zip relu_back_zip log_back_zip inv_back_zip add_reduce mul_reduce matrix_multiply cuda",
    Context: "no_grad save_for_backward saved_tensors saved_values",
}


def test_stand_ins_offer_what_minitorchs_classes_do():
    """Every member is there."""
    x = tensor([[1.0, 2.0], [3.0, 4.0]])
    made = {Tensor: x, TensorData: x._tensor, TensorBackend: x.backend, Context: Context()}
    for kind, names in OFFERED.items():
        assert [name for name in names.split() if not hasattr(made[kind], name)] == [], kind


def test_stand_ins_compute_what_minitorchs_tensors_do():
    """Operators, maps, folds, shapes and single elements; what shares a storage there does here."""
    x, y = tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([10.0, 20.0])
    shown = {
        "sum": x + y,
        "neg": -x,
        "from the right": 1.0 / x,
        "lt": x < 2.5,
        "map": x.f.neg_map(x),
        "zip": x.backend.mul_zip(x, y),
        "fold": x.f.add_reduce(x, 0),
        "product": x @ x,
        "sigmoid": x.sigmoid(),
        "mean": x.mean(0),
        "expand": y.expand(x),
        "zeros": x.zeros((1, 2)),
    }
    wanted = {
        "sum": [[11, 22], [13, 24]],
        "neg": [[-1, -2], [-3, -4]],
        "from the right": [[1, 1 / 2], [1 / 3, 1 / 4]],
        "lt": [[1, 1], [0, 0]],
        "map": [[-1, -2], [-3, -4]],
        "zip": [[10, 40], [30, 80]],
        "fold": [[4, 6]],
        "product": [[7, 10], [15, 22]],
        "sigmoid": 1 / (1 + np.exp(-x.to_numpy())),
        "mean": [[2, 3]],
        "expand": [4, 6],
        "zeros": [[0, 0]],
    }
    for name, found in shown.items():
        np.testing.assert_allclose(found.to_numpy(), wanted[name], err_msg=name)
    assert x.permute(1, 0)._tensor.storage is x._tensor.storage
    assert (x[0, 1], x.sum().item(), x.size, x.shape, x.dims, len(x.tuple())) == (2.0, 10.0, 4, (2, 2), 2, 3)
    assert isinstance(x._tensor.permute(1, 0), tensor_data.TensorData)
    out = x.zeros()
    assert x.f.id_map(x, out) is out
    assert out[1, 1] == 4.0
    with pytest.raises(MinigradError, match="has no history"):
        x.backward()


PERMUTES = {
    "list of items": "[int(order[i]) for i in range(order.size)]",
    "floats": "[order[i] for i in range(order.size)]",
    "storage": "order._tensor._storage.astype(int)",
    "tuple": "[int(o) for o in order.tuple()[0]]",
    "to_numpy": "order.to_numpy().astype(int).tolist()",
}
INVERSES = {
    "_new": "grad_output._new(grad_output._tensor.permute(*inverse)), 0.0",
    "method": "grad_output.permute(*inverse), order.zeros(order.shape)",
    "apply": "Permute.apply(grad_output, minitorch.tensor(inverse)), 0.0",
    "Tensor": "minitorch.Tensor(grad_output._tensor.permute(*inverse), backend=grad_output.backend), 0.0",
    "make": "minitorch.Tensor.make(grad_output.permute(*inverse).contiguous()._tensor._storage, "
    "tuple(grad_output.shape[i] for i in inverse), backend=grad_output.backend), 0.0",
    "backend": "grad_output.f.id_map(grad_output.permute(*inverse)), zeros((1,), backend=grad_output.backend)",
}


@pytest.mark.parametrize("inverse", INVERSES.values(), ids=INVERSES)
@pytest.mark.parametrize("order", PERMUTES.values(), ids=PERMUTES)
def test_permute_may_use_what_minitorch_has(tmp_path, order, inverse):
    """However it reads the order and makes its tensors, a right Permute passes."""
    text = f"""import minitorch
from .autodiff import Context
class Function:
    pass
class Permute(Function):
    @staticmethod
    def forward(ctx: Context, a: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        axes = {order}
        return a._new(a._tensor.permute(*axes))
    @staticmethod
    def backward(ctx, grad_output):
        (order,) = ctx.saved_values
        inverse = [0] * order.size
        for i in range(order.size):
            inverse[int(order[i])] = i
        return {inverse}
"""
    folder = package(tmp_path, tensor_functions=text, __init__="from .tensor import *\n")
    found = minitorch._asked_of_minitorch(run("tensor_functions.Permute", load(folder, "tensor_functions.Permute")))
    assert found.passed, str(found)


OLD = {
    "operators": "def mul(x, y):\n    return x * y\n",
    "autodiff": """
class Variable:
    pass
def wrap_tuple(x):
    return x if isinstance(x, tuple) else (x,)
class History:
    pass
class FunctionBase:
    @classmethod
    def chain_rule(cls, ctx, inputs, d_output):
        back = wrap_tuple(cls.backward(ctx, d_output))
        return [(v, v.expand(d)) for v, d in zip(inputs, back) if not is_constant(v)]
def is_constant(val):
    return not isinstance(val, Variable) or val.history is None
def topological_sort(variable):
    order, seen, stack = [], set(), [(variable, False)]
    while stack:
        v, done = stack.pop()
        if done:
            order.insert(0, v)
        elif v.unique_id not in seen and not is_constant(v):
            seen.add(v.unique_id)
            stack.append((v, True))
            if not v.is_leaf():
                stack.extend((w, False) for w in v.history.inputs)
    return order
def backpropagate(variable, deriv):
    found = {variable.unique_id: deriv}
    for v in topological_sort(variable):
        d = found[v.unique_id]
        if v.is_leaf():
            v.accumulate_derivative(d)
        else:
            for w, e in v.history.backprop_step(d):
                found[w.unique_id] = found.get(w.unique_id, 0.0) + e
""",
    "scalar": """
from .autodiff import FunctionBase, Variable, History
from . import operators
def central_difference(f, *vals, arg=0, epsilon=1e-6):
    up = [v + epsilon * (i == arg % len(vals)) for i, v in enumerate(vals)]
    down = [v - epsilon * (i == arg % len(vals)) for i, v in enumerate(vals)]
    return (f(*up) - f(*down)) / (2 * epsilon)
class ScalarFunction(FunctionBase):
    pass
class Mul(ScalarFunction):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return operators.mul(a, b)
    @staticmethod
    def backward(ctx, d_output):
        a, b = ctx.saved_values
        return b * d_output, a * d_output
class Inv(ScalarFunction):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.inv(a)
    @staticmethod
    def backward(ctx, d_output):
        a = ctx.saved_values
        return operators.inv_back(a, d_output)
class Neg(ScalarFunction):
    @staticmethod
    def forward(ctx, a):
        return operators.neg(a)
    @staticmethod
    def backward(ctx, d_output):
        return -d_output
""",
    "tensor_functions": """
from .tensor import Tensor
def make_tensor_backend(tensor_ops, is_cuda=False):
    class Backend:
        class Permute(Function):
            @staticmethod
            def forward(ctx, a, order):
                ctx.save_for_backward(order)
                return Tensor(a._tensor.permute(*order), backend=a.backend)
            @staticmethod
            def backward(ctx, grad_output):
                order = ctx.saved_values
                inverse = [order.index(i) for i in range(len(order))]
                return Tensor(grad_output._tensor.permute(*inverse), backend=grad_output.backend)
""",
}


def test_the_layout_of_2021(tmp_path):
    """Functions in scalar.py, chain_rule in FunctionBase, steps taken by a History, Permute inside of a function."""
    folder = package(tmp_path, **OLD)
    found = minitorch.found_tasks(folder)
    assert minitorch.version(folder) == minitorch.OLD
    assert list(found) == [
        "derivatives.central_difference",
        "functions.arithmetic",
        "autodiff.chain_rule",
        "autodiff.topological_sort",
        "autodiff.backpropagate",
        "tensor_functions.Permute",
    ]
    for id in found:
        report = minitorch._asked_of_minitorch(run(id, load(folder, id)))
        assert report.passed, str(report)


def test_the_reduce_of_2020_is_refused(tmp_path):
    """Its arguments are named, and which versions can be read."""
    text = "def tensor_reduce(fn):\n    def _reduce(out, a, reduce_shape, reduce_size): pass\n    return _reduce\n"
    folder = package(tmp_path, tensor_ops=text)
    assert minitorch.version(folder) == minitorch.NEW
    with pytest.raises(MinigradError, match="takes reduce_shape and reduce_size, as in MiniTorch of 2020"):
        load(folder, "tensor_ops.tensor_reduce")


@pytest.mark.parametrize("name", dict.fromkeys(task.file for task in minitorch.TASKS))
def test_names_of_python_stay_pythons(tmp_path, name):
    """A file that defines no `max`, `sum` or `map` means Python's; another file that asks it for one gets ours."""
    path = tmp_path / name
    path.write_text("def add(x, y):\n    return x + y\n")
    file = Package(tmp_path, ("minitorch",), minitorch._given).file(path)
    for each in dir(builtins):
        file.bind(each)
    assert [each for each in file.scope if hasattr(builtins, each) and not each.startswith("__")] == []
    if name == "operators.py":
        assert file.module.max is operators.max


def test_an_answer_may_call_what_python_has(tmp_path):
    """Built-in functions under names of MiniTorch's tasks, in a file that does not define them."""
    folder = package(
        tmp_path,
        operators="def map(fn):\n    return lambda ls: [fn(x) for x in ls]\n\n\n"
        "def zipWith(fn):\n    return lambda a, b: [fn(a[i], b[i]) for i in range(min(len(a), len(b)))]\n\n\n"
        "def reduce(fn, start):\n    def fold(ls):\n        total = max(start, start, key=abs)\n"
        "        for x in ls:\n            total = fn(total, x)\n        return total + sum((), 0) * pow(2, 3, 5)\n"
        "    return fold\n",
    )
    report = run("operators.higher_order", load(folder, "operators.higher_order"))
    assert report.passed, str(report)
