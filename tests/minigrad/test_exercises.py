"""Installing a student's objects: every caller sees them, the quick twins stand aside, and all of it can be undone."""

import functools
import importlib
import inspect
import json
import math
import random
from contextlib import nullcontext
from dataclasses import replace

import pytest

import minigrad
from minigrad import (
    Scalar,
    autodiff,
    datasets,
    derivatives,
    exercises,
    fast,
    functions,
    installing,
    mlp,
    module,
    nn,
    operators,
    standing_aside,
)
from minigrad.checks import run
from minigrad.errors import ExerciseNotDone, FunctionError, MinigradError, MissingPath, UnknownExercise

MODULES = {"autodiff": autodiff, "derivatives": derivatives, "functions": functions, "mlp": mlp}
MODULES |= {"module": module, "operators": operators}


def ours(name):
    """Return the library's object of that dotted name."""
    module_name, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"minigrad.{module_name}"), attribute)


def library():
    """Return every name of the library's modules and classes, with the object that stands there."""
    owners = [
        *MODULES.values(),
        *(v for m in MODULES.values() for v in vars(m).values() if isinstance(v, type)),
        Scalar,
    ]
    return {(id(o), name): value for o in owners for name, value in vars(o).items() if name != "__doc__"}


@pytest.fixture(autouse=True)
def as_it_was():
    """After each test the library is what it was, object by object."""
    before = library()
    yield
    for installation in reversed(list(installing._installed)):
        installation.undo()
    after = library()
    assert {key for key in before.keys() | after.keys() if before.get(key) is not after.get(key)} == set()
    assert Scalar.__mul__.__module__ == "minigrad.fast"


# --- one loop over all exercises --------------------------------------------------------------------------------


def use_scalars():
    """Run a program of lesson 02: the functions, by their operators."""
    x = Scalar(0.5)
    y = (-x * x + functions.Inv.apply(x)).sigmoid() + x.exp() + x.log() + x.relu()
    y = y + functions.maximum(x, 0.1) + (x < 1.0) + (x == 0.5)
    y.backward()


def use_helpers():
    """Call what lesson 00 and 02 call by name."""
    operators.is_close(1.0, 1.0)
    operators.id(1.0)
    operators.negList([1.0])
    operators.addLists([1.0], [2.0])
    operators.sum([1.0, 2.0])
    operators.prod([1.0, 2.0])
    operators.log_back(1.0, 2.0)
    operators.inv_back(1.0, 2.0)
    operators.relu_back(1.0, 2.0)


def use_differences():
    """Measure slopes as in lesson 01."""
    derivatives.gradient(lambda x, y: x * y, 1.0, 2.0)
    derivatives.forward_difference(math.sin, 1.0)


def use_network():
    """Train as in lesson 03."""
    model = mlp.MLP((2, 2))
    model.eval()
    model.train()
    list(mlp.fit(model, datasets.xor(3), 2))
    optimizer = mlp.SGD(model.parameters())
    optimizer.zero_grad()


def use_tensor_data():
    """Describe, permute and read an array as in lesson 04, and add arrays that broadcast."""
    data = minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2))
    data.permute(1, 0).get((1, 0))
    assert len(list(data.indices())) == 4
    data.shape_broadcast((2, 1), (3,))
    with minigrad.backend("python"):
        assert (minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]) + minigrad.tensor([1.0, 2.0])).tolist() == [[2, 4], [4, 6]]


def compute(backend):
    """Map, combine and fold the numbers of a tensor, as the lessons 05, 07 and 08 do by loops of their own."""

    def run():
        with minigrad.backend(backend):
            x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
            assert (-x * x).sum(dim=0).tolist() == [-10.0, -20.0]

    return run


def use_gradients():
    """Differentiate what changes shapes, as in lesson 06, and check it by differences."""

    def program(x):
        return (x.permute(1, 0).contiguous().view(4) * minigrad.tensor(2.0, dtype=minigrad.float64)).sum(dim=0)

    x = minigrad.ones(2, 2, dtype=minigrad.float64, requires_grad=True)
    offset = minigrad.tensor(0.5, dtype=minigrad.float64, requires_grad=True)
    (program(x) + (x + offset).sum() + x.max(dim=0).values.sum()).backward()
    assert minigrad.gradcheck(program, x)


def use_layers():
    """Compute what lesson 09 adds, and its gradients."""
    x = minigrad.tensor([[[[1.0, 2.0], [3.0, 4.0]]]], requires_grad=True)
    pooled = nn.functional.max_pool2d(x, 2) + nn.functional.avg_pool2d(x, 2)
    smooth = nn.functional.softmax(x, dim=-1) + nn.functional.logsoftmax(x, dim=-1)
    (pooled + nn.functional.dropout(smooth, 0.5)).sum().backward()


WORKLOADS = {
    "00_fundamentals": [use_scalars, use_helpers, use_network],
    "01_numerical_derivatives": [use_differences],
    "02_chain_rule": [use_scalars, use_helpers, use_network],
    "03_backprop": [use_network],
    "04_strides": [use_tensor_data],
    "05_broadcasting": [use_tensor_data, compute("python")],
    "06_tensor_autograd": [use_gradients],
    "07_parallel_cpu": [compute("numba")],
    "08_gpu": [compute("cuda")],
    "09_networks": [use_layers],
}


def multiply(backend):
    """Multiply two matrices on a backend."""

    def run():
        with minigrad.backend(backend):
            return (minigrad.ones(2, 3) @ minigrad.ones(3, 2)).tolist()

    return run


def slide(dimensions):
    """Slide a weight of ones over ones, in so many dimensions."""

    def run():
        convolve = nn.functional.conv1d if dimensions == 1 else nn.functional.conv2d
        return convolve(minigrad.ones(1, 1, *[3] * dimensions), minigrad.ones(1, 1, *[2] * dimensions)).tolist()

    return run


def seven_products(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
    """Write the same into every element."""
    for place in range(len(out)):
        out[place] = 7.0


def seven_sums(out, values, weight):
    """Write the same into every element."""
    out[:] = 7.0


def sevens_on_a_device(out, *rest):
    """Write the same into every element, by each thread: a race in which all of them agree."""
    for place in range(len(out)):
        out[place] = 7.0


# Kernels that are compiled as they are: none of their calls can be counted, but what they write can be seen.
COMPILED = {
    "fast_ops._tensor_matrix_multiply": (multiply("numba"), seven_products),
    "cuda_ops._tensor_matrix_multiply": (multiply("cuda"), sevens_on_a_device),
    "nn.kernels.conv1d_kernel": (slide(1), seven_sums),
    "nn.kernels.conv2d_kernel": (slide(2), seven_sums),
}
PRACTICE = {"cuda_ops._sum_practice", "cuda_ops._mm_practice"}
"""Kernels that are written to learn from and that nothing else is made of."""


def counting(function, name, calls):
    """Return the function, counting its calls."""

    @functools.wraps(function)
    def counted(*args, **kwargs):
        calls[name] = calls.get(name, 0) + 1
        return function(*args, **kwargs)

    counted.__dict__.pop("__minigrad_wrap__", None)
    return counted


def counted_class(original, name, calls):
    """Return a class like the original whose methods that a student writes count their calls; and those methods."""
    members, written = {}, []
    for member, value in vars(original).items():
        plain = getattr(value, "__func__", value)
        if inspect.isfunction(plain) and "### BEGIN SOLUTION" in inspect.getsource(plain):
            written.append(f"{name}.{member}")
            wrapped = counting(plain, f"{name}.{member}", calls)
            value = type(value)(wrapped) if plain is not value else wrapped
        if member not in ("__dict__", "__weakref__"):
            members[member] = value
    return type(original.__name__, original.__bases__, members), written


@pytest.mark.parametrize("id", COMPILED)
def test_a_kernel_that_is_installed_is_the_one_that_runs(id):
    """What a student's kernel writes is the result, and the library's afterwards."""
    run, kernel = COMPILED[id]
    before = run()
    for _ in range(2):
        with exercises.install({id: kernel}):
            assert set(numbers(run())) == {7.0}
        assert run() == before


def numbers(nested):
    """Return the numbers in lists of lists."""
    return [nested] if isinstance(nested, float) else [number for each in nested for number in numbers(each)]


@pytest.mark.parametrize("id", [id for id in exercises.catalogue() if id not in {*COMPILED, *PRACTICE}])
def test_the_workload_of_its_lesson_calls_what_is_installed(id):
    """What a student writes runs wherever the library needs it, and no longer once it is taken out."""
    exercise = exercises.get(id)
    calls, expected, objects = {}, [], {}
    for name in exercise.objects:
        if inspect.isclass(ours(name)):
            objects[name], written = counted_class(ours(name), name, calls)
            expected += written
        else:
            objects[name] = counting(ours(name), name, calls)
            expected.append(name)
    with exercises.install(objects):
        for workload in WORKLOADS[exercise.lesson]:
            workload()
    assert expected
    assert [name for name in expected if not calls.get(name)] == []
    before = dict(calls)
    for workload in WORKLOADS[exercise.lesson]:
        workload()
    assert calls == before


def test_every_exercise_has_a_solution_between_markers():
    """Each object of each exercise exists, and its source has balanced markers."""
    for exercise in exercises.catalogue().values():
        for name in exercise.objects:
            source = inspect.getsource(inspect.unwrap(ours(name)))
            assert source.count("### BEGIN SOLUTION") == source.count("### END SOLUTION") >= 1, name


# --- install ----------------------------------------------------------------------------------------------------


def test_who_holds_something_made_from_an_exercise_is_told(monkeypatch):
    """After each change of what is installed, once; what was made before is out of date then."""
    told = []
    monkeypatch.setattr(standing_aside, "_listeners", [])
    exercises.on_change(lambda: told.append((operators.add(2.0, 3.0), standing_aside.any_of("operators"))))
    with exercises.install({"operators.add": lambda a, b: 9.0}):
        assert told == [(9.0, True)]
        with exercises.install({"derivatives.gradient": lambda f, *vals: []}):
            assert standing_aside.any_of("derivatives")
        assert not standing_aside.any_of("derivatives") and standing_aside.any_of("operators")
    assert told == [(9.0, True)] * 3 + [(5.0, False)]
    with pytest.raises(TypeError):
        exercises.install({"operators.add": 9.0})
    assert told[-1] == (5.0, False) and len(told) == 5


def test_the_twins_stand_aside_and_come_back():
    """While anything is installed, Scalar's methods are the specification's; graphs made before go on working."""
    x = Scalar(3.0)
    y = x * x
    with exercises.install({"operators.add": lambda a, b: a + b}):
        assert Scalar.__mul__.__module__ == "minigrad.scalar"
        y.backward()
        z = x * 2.0
    assert Scalar.__mul__.__module__ == "minigrad.fast"
    z.backward()
    assert x.grad == 8.0


def test_wrong_answers_show():
    """A wrong operator or rule changes what the library computes."""
    x = Scalar(3.0)
    with exercises.install({"operators.mul": lambda a, b: a + b}):
        assert (x * 4.0).data == 7.0
    assert (x * 4.0).data == 12.0

    class Neg:
        """A wrong rule, in a class without a base."""

        @staticmethod
        def backward(ctx, d_output):
            """Forget the sign."""
            return d_output

        @staticmethod
        def forward(ctx, a):
            """Negate."""
            return -a

    with exercises.install({"functions.Neg": Neg}):
        (-x).backward()
    assert x.grad == 1.0


def test_installations_nest():
    """The inner one wins, and its end brings back the outer one, also with names that only one of them has."""
    values = []
    with exercises.install({"operators.add": lambda a, b: 1.0, "operators.mul": lambda a, b: 10.0}):
        with exercises.install({"operators.add": lambda a, b: 2.0}):
            values.append((operators.add(0.0, 0.0), operators.mul(0.0, 0.0)))
        values.append((operators.add(0.0, 0.0), operators.mul(0.0, 0.0)))
        assert Scalar.__mul__.__module__ == "minigrad.scalar"
    values.append((operators.add(0.0, 0.0), operators.mul(0.0, 0.0)))
    assert values == [(2.0, 10.0), (1.0, 10.0), (0.0, 0.0)]


def test_installations_of_one_class_nest():
    """A check of an exercise that `use` has installed already: both ends of the nest are as before."""

    def exp_with(factor):
        class Exp(functions.Elementwise):
            """Off by a factor."""

            kernel = "exp"
            saves_output = True

            @staticmethod
            def backward(ctx, d_output):
                """Multiply."""
                return factor * d_output * ctx.saved_values[0]

        return Exp

    def slope():
        x = Scalar(0.0)
        x.exp().backward()
        return x.grad

    with exercises.install({"functions.Exp": exp_with(2.0)}):
        with exercises.install({"functions.Exp": exp_with(3.0)}):
            assert slope() == 3.0
        assert slope() == 2.0
    assert slope() == 1.0


def test_for_good_and_undone_twice():
    """Without `with` it lasts until undo, which may be called again."""
    installation = exercises.install({"operators.add": lambda a, b: 7.0})
    assert (Scalar(1.0) + 1.0).data == 7.0
    installation.undo()
    installation.undo()
    assert (Scalar(1.0) + 1.0).data == 2.0


def test_an_exception_in_the_block_undoes():
    """The library is as it was also after an error."""
    with pytest.raises(KeyError), exercises.install({"operators.add": lambda a, b: 7.0}):
        raise KeyError
    assert operators.add(1.0, 1.0) == 2.0


def test_a_class_for_a_function_and_the_other_way_round():
    """The wrong kind of object is refused by name, and what was put in before it is taken out."""
    mine = {"operators.add": lambda a, b: 7.0}
    with pytest.raises(TypeError, match=r"functions\.Mul is a class; the object given for it is of type function"):
        exercises.install({**mine, "functions.Mul": lambda a, b: a})
    with pytest.raises(TypeError, match=r"operators\.mul is a function; the object given for it is of type float"):
        exercises.install({**mine, "operators.mul": 3.0})
    with pytest.raises(AttributeError, match="no_such"):
        exercises.install({**mine, "operators.no_such": print})
    assert operators.add(1.0, 1.0) == 2.0


def test_decorators_of_the_library_stay():
    """A student's textbook formula becomes IEEE by the decorator that the library's own has, nested or not."""

    def inv(x):
        return 1.0 / x

    def log(x):
        return math.log(x)

    with exercises.install({"operators.inv": inv, "operators.log": log}), exercises.install({"operators.inv": inv}):
        assert (operators.inv(0.0), operators.log(0.0)) == (math.inf, -math.inf)
        assert math.isnan(operators.log(-1.0))
        assert Scalar(0.0).log().data == -math.inf


def test_super_reaches_the_librarys_base():
    """super() works in every kind of method of an installed class, and in functions inside them."""

    class Exp(functions.Elementwise):
        """Uses super() everywhere."""

        kernel = "exp"
        saves_output = True

        @classmethod
        def forward(cls, ctx, *values):
            """Ask the base class."""
            return super().forward(ctx, *values)

        @staticmethod
        def backward(ctx, d_output):
            """Multiply."""
            return d_output * ctx.saved_values[0]

    class Linear(module.Module):
        """super() in __init__, a property, and a comprehension."""

        def __init__(self, in_size, out_size, rng):
            super().__init__()
            self.sizes = (in_size, out_size)

        def forward(self, inputs, *, scale=3.0):
            """Return the number of the base class's children, scaled."""
            return [scale * len(children) for children in (super(Linear, self).modules() for _ in range(1))]

        @property
        def children(self):
            """The base class's modules."""
            return super().modules()

    with exercises.install({"functions.Exp": Exp, "mlp.Linear": Linear}):
        x = Scalar(1.0)
        x.exp().backward()
        assert x.grad == pytest.approx(math.e)
        layer = mlp.Linear(2, 3, random.Random(0))
        assert (layer.sizes, layer.children, layer.parameters()) == ((2, 3), [], [])


def test_existing_objects_change_too():
    """Members are set on the library's class, so a network made before is the student's now."""
    model = mlp.MLP((2, 2))

    class Module:
        """Says something else."""

        def parameters(self):
            """Return nothing."""
            return ["mine"]

    with exercises.install({"module.Module": type("Module", (), {**vars(module.Module), **vars(Module)})}):
        assert model.parameters() == ["mine"]
    assert len(model.parameters()) == 9


def test_what_the_student_left_out_is_not_there():
    """The library's own method does not stand in for one that the student's class lacks."""

    class Mul(functions.Elementwise):
        """Has no backward."""

        kernel = "mul"

    with exercises.install({"functions.Mul": Mul}):
        y = Scalar(2.0) * Scalar(3.0)
        assert y.data == 6.0
        with pytest.raises(FunctionError, match="needs a backward"):
            y.backward()


def test_bases_of_the_students_own_come_along():
    """What a student's class inherits from a class of theirs is installed with it."""

    class Saving(functions.Elementwise):
        """Shared by the student's functions."""

        @staticmethod
        def backward(ctx, d_output):
            """Return twice the right thing."""
            (a,) = ctx.saved_values
            return 2.0 * d_output / a

    class Log(Saving):
        """The logarithm."""

        kernel = "log"

        @staticmethod
        def forward(ctx, a):
            """Save the input."""
            ctx.save_for_backward(a)
            return operators.log(a)

    x = Scalar(4.0)
    with exercises.install({"functions.Log": Log}):
        x.log().backward()
    assert x.grad == 0.5


# --- finding exercises and answers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "meant"),
    [
        ("autodiff.topological_srot", "did you mean autodiff.topological_sort"),
        ("topological_sort", "did you mean autodiff.topological_sort"),
        ("functions.Arithmetic", "did you mean functions.arithmetic"),
        ("zzzzzz", "the exercises are operators.arithmetic, "),
        (None, "there is no exercise None; "),
    ],
)
def test_an_unknown_exercise_gets_a_suggestion(id, meant):
    """The error names ids that look alike, else all of them."""
    with pytest.raises(UnknownExercise, match="there is no exercise") as caught:
        exercises.get(id)
    assert meant in str(caught.value)


def test_a_function_in_the_place_of_an_id():
    """The sentence says what to write."""
    with pytest.raises(UnknownExercise, match=r'write "autodiff\.topological_sort", with the quotes'):
        exercises.get(autodiff.topological_sort)
    with pytest.raises(UnknownExercise, match=r'write "tensor_ops\.tensor_map" or "fast_ops\.tensor_map" or "cuda'):
        exercises.get(tensor_map)
    with pytest.raises(UnknownExercise, match=r'write "autodiff\.chain_rule", for example, with'):
        exercises.get(print)
    with pytest.raises(UnknownExercise, match=r"no exercise \['autodiff\.chain_rule'\]; one is named by a text"):
        exercises.get(["autodiff.chain_rule"])


def tensor_map():
    """A function whose name three exercises ask for."""


def test_collect_takes_the_students_objects_only():
    """Objects are found by their last name; a missing one, or the library's own, is not done."""

    def topological_sort(variable):
        return [variable]

    mine = {"topological_sort": topological_sort, "other": 3}
    assert exercises.collect("autodiff.topological_sort", mine) == {"autodiff.topological_sort": topological_sort}
    for namespace in ({}, {"topological_sort": autodiff.topological_sort}):
        with pytest.raises(ExerciseNotDone, match=r"autodiff\.topological_sort is not written yet"):
            exercises.collect("autodiff.topological_sort", namespace)
    with pytest.raises(ExerciseNotDone):
        exercises.collect("functions.arithmetic", {"Mul": functions.Mul, "Neg": functions.Neg, "Inv": functions.Inv})
    with pytest.raises(ExerciseNotDone):
        exercises.collect("operators.arithmetic", {"add": lambda a, b: a, "mul": lambda a, b: a})


# --- use ------------------------------------------------------------------------------------------------------------

ANSWER = "# exercise: operators.arithmetic\n%time\ndef add(x, y):\n    return x + y + OFFSET\n\n\n"
ANSWER += "def mul(x, y):\n    return (x\n    * y\n    % 1000.0)\n\n\ndef neg(x):\n    return -x\n"
RAISES = "raise NotImplementedError()"
ADDING = "def add(x, y):\n    return x + y\n\n\ndef mul(x, y):\n    return x * y\n\n\ndef neg(x):\n    {}\n"
ADDED = f"# exercise: operators.arithmetic\n{ADDING.format('return -x')}"
STUB = "# exercise: autodiff.chain_rule\ndef chain_rule(variable, d_output):\n    # YOUR CODE HERE\n"
STUB += "    raise NotImplementedError()\n"


def notebook(path, *cells):
    """Write a notebook of code cells, each a source or a pair of source and tags."""
    made = [c if isinstance(c, tuple) else (c, []) for c in cells]
    body = [
        {"cell_type": "code", "source": s.splitlines(keepends=True), "metadata": {"tags": t}, "outputs": []}
        for s, t in made
    ]
    markdown = {"cell_type": "markdown", "source": "# exercise: not code", "metadata": {}}
    path.write_text(json.dumps({"cells": [markdown, *body], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def states(capsys):
    """Return what `use` said of each exercise, and its other lines."""
    lines = capsys.readouterr().out.splitlines()
    ids = list(exercises.catalogue())
    said = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if line.split()[0] in ids}
    return said, [line for line in lines if line.split()[0] not in ids]


def test_use_installs_the_answers_of_a_folder(tmp_path, capsys):
    """Setup cells and answers run, everything else does not; a stub is the reference; each exercise has a line."""
    notebook(
        tmp_path / "00.ipynb",
        ("OFFSET = 0.5\n", ["setup"]),
        "raise SystemError('a worked example does not run')",
        ANSWER,
    )
    notebook(tmp_path / "02.ipynb", STUB)
    exercises.use(tmp_path, namespace={})
    said, others = states(capsys)
    assert list(said) == [each.id for each in exercises.catalogue().values() if not each.draft]
    assert said["operators.arithmetic"] == "yours, from 00.ipynb"
    assert {state for id, state in said.items() if id != "operators.arithmetic"} == {"reference"}
    assert others == []
    assert (Scalar(1.0) + 2.0).data == 3.5
    assert (Scalar(50.0) * 30.0).data == 500.0


def test_use_finds_the_lessons_of_the_folders_beside(tmp_path, monkeypatch, capsys):
    """Without a path, a lesson in another assignment's folder counts, after this folder's; other files there do not."""
    for folder in ("module0", "module1", "module2"):
        (tmp_path / folder).mkdir()
    notebook(tmp_path / "module0" / "00_fundamentals.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    notebook(tmp_path / "module2" / "notes.ipynb", "# exercise: operators.folds\nraise SystemError")
    monkeypatch.chdir(tmp_path / "module1")
    exercises.use(namespace={})
    said, others = states(capsys)
    assert said["operators.arithmetic"] == "yours, from module0/00_fundamentals.ipynb"
    assert others == []


def test_use_says_nothing_of_drafts(tmp_path, monkeypatch, capsys):
    """An exercise whose lesson is still being written has a line only where someone has done it all the same."""
    known = exercises.catalogue()
    drafts = {id: replace(known[id], draft=True) for id in ("operators.arithmetic", "operators.folds")}
    monkeypatch.setattr(exercises, "catalogue", lambda: {**known, **drafts})
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={})
    said, others = states(capsys)
    assert said["operators.arithmetic"] == "yours, from 00.ipynb"
    assert "operators.folds" not in said and others == []


def test_a_name_that_two_lessons_ask_for(tmp_path, monkeypatch, capsys):
    """What stands in the cell of one exercise is no answer to another that asks for a function of that name."""
    known = exercises.catalogue()
    twin = replace(known["operators.folds"], id="other.folds", objects=("derivatives.gradient",))
    monkeypatch.setattr(exercises, "catalogue", lambda: {**known, "other.folds": twin})
    cell = "# exercise: {}\ndef gradient(f, *vals):\n    return [7.0]"
    notebook(tmp_path / "05.ipynb", cell.format("derivatives.gradient"))
    exercises.use(tmp_path / "05.ipynb", namespace={})
    said, _ = states(capsys)
    assert (said["derivatives.gradient"], said["other.folds"]) == ("yours, from 05.ipynb", "reference")
    notebook(tmp_path / "07.ipynb", cell.format("other.folds"))
    exercises.use(tmp_path, namespace={})
    said, _ = states(capsys)
    assert (said["derivatives.gradient"], said["other.folds"]) == ("yours, from 05.ipynb", "yours, from 07.ipynb")


def test_a_stub_in_an_inner_function_is_no_answer(tmp_path, capsys):
    """A function that only makes an unwritten function is not written either."""
    notebook(
        tmp_path / "01.ipynb",
        "# exercise: derivatives.gradient\ndef gradient(f, *vals):\n    def inner():\n"
        "        raise NotImplementedError()\n    return inner",
    )
    exercises.use(tmp_path, namespace={})
    assert states(capsys)[0]["derivatives.gradient"] == "reference"


def test_what_a_later_notebook_imports_is_the_students(tmp_path):
    """Each notebook's answers are in the library before the next one runs, whose setup cell may import them by name."""
    notebook(tmp_path / "01.ipynb", "# exercise: derivatives.gradient\ndef gradient(f, *vals):\n    return [7.0]")
    later = "# exercise: derivatives.forward_difference\ndef forward_difference(f, *vals):\n    return gradient(f)[0]"
    notebook(tmp_path / "02.ipynb", ("from minigrad.derivatives import gradient", ["setup"]), later)
    exercises.use(tmp_path, namespace={})
    assert derivatives.forward_difference(abs, 1.0) == 7.0


def test_an_answer_that_calls_a_stub_gets_the_librarys_function(tmp_path, monkeypatch, capsys):
    """What is still a stub means the library's function, in its own notebook too; its exercise stays to be done."""
    sort = "# exercise: autodiff.topological_sort\ndef topological_sort(variable):\n    # YOUR CODE HERE\n"
    walk = "# exercise: autodiff.backpropagate\ndef backpropagate(variable, deriv):\n"
    walk += "    for each in topological_sort(variable):\n        each.is_leaf() and each.accumulate_derivative(7.0)\n"
    notebook(tmp_path / "03.ipynb", f"{sort}    raise NotImplementedError()\n", walk)
    exercises.use(tmp_path, namespace={})
    said, _ = states(capsys)
    assert (said["autodiff.topological_sort"], said["autodiff.backpropagate"]) == ("reference", "yours, from 03.ipynb")
    x = Scalar(2.0)
    (x * x).backward()
    assert x.grad == 7.0

    def cut(variable):
        raise ExerciseNotDone("autodiff.topological_sort")

    monkeypatch.setattr(autodiff, "topological_sort", cut)
    here = {}
    for cell in (f"{sort}    raise NotImplementedError()\n", walk):
        exec(cell, here)
    exercises.use(tmp_path / "03.ipynb", namespace=here)
    with pytest.raises(ExerciseNotDone, match=r"autodiff\.topological_sort is not written yet"):
        (x * x).backward()
    assert here["topological_sort"] is cut


def test_use_takes_several_folders(tmp_path, capsys):
    """What the first folder does not have may come from the second."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    notebook(tmp_path / "b" / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path / "a", tmp_path / "b", namespace={})
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from 00.ipynb"


def test_notebooks_of_one_name_keep_their_own_text(tmp_path):
    """A compiler reads a function's source by its file's name: that of another folder's notebook is another one."""
    for folder, factor in (("a", 2), ("b", 3)):
        (tmp_path / folder).mkdir()
        notebook(
            tmp_path / folder / "00.ipynb", f"# exercise: operators.folds\ndef times(x):\n    return {factor} * x\n"
        )
    found = [exercises.namespace_of(tmp_path / folder / "00.ipynb")["times"] for folder in ("a", "b")]
    assert [inspect.getsource(times).split()[-3] for times in found] == ["2", "3"]


def test_use_prefers_the_running_notebook(tmp_path, capsys):
    """What the running notebook defines comes first."""
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    namespace = {"add": lambda x, y: 9.0, "mul": lambda x, y: 9.0, "neg": lambda x: 9.0}
    exercises.use(tmp_path, namespace=namespace)
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from this notebook"
    assert (Scalar(1.0) + 2.0).data == 9.0


def test_use_takes_no_number_for_an_answer(tmp_path, capsys):
    """A number that a notebook happens to give an exercise's name is not installed."""
    exercises.use(tmp_path, namespace={"gradient": -6.0})
    assert states(capsys)[0]["derivatives.gradient"] == "reference"


def test_use_takes_one_notebook(tmp_path, capsys):
    """A path may name a notebook; its siblings are left alone."""
    notebook(tmp_path / "a.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    notebook(tmp_path / "b.ipynb", "raise SystemError")
    exercises.use(tmp_path / "a.ipynb", namespace={})
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from a.ipynb"


@pytest.mark.parametrize("bad", ["raise ValueError('no')", "exit()", "def add(:", "1 / 0", "OFFSET"])
def test_a_cell_that_fails_is_left_out_with_a_line(bad, tmp_path, capsys):
    """A cell that raises, exits or does not parse costs itself alone."""
    notebook(tmp_path / "00.ipynb", f"# exercise: operators.folds\n{bad}", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={})
    said, others = states(capsys)
    assert said["operators.arithmetic"] == "yours, from 00.ipynb"
    assert [line.split(":")[:2] for line in others] == [["00.ipynb", " the cell of operators.folds was left out"]]
    if bad == "def add(:":
        assert others[0].endswith("SyntaxError: invalid syntax (line 2)")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"cells": 3}',
        '{"cells": [3]}',
        '{"cells": [{"cell_type": "code"}]}',
        '{"cells": [{"cell_type": "code", "source": "x", "metadata": []}]}',
        '{"cells": [{"cell_type": "code", "source": 3, "metadata": {}}]}',
        '{"cells": [{"cell_type": "code", "source": "x", "metadata": {"tags": 3}}]}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_notebook_costs_itself_alone(text, tmp_path, capsys):
    """In a folder a broken notebook is one line; asked for by itself it is an error."""
    (tmp_path / "broken.ipynb").write_text(text)
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={})
    said, others = states(capsys)
    assert said["operators.arithmetic"] == "yours, from 00.ipynb"
    assert others == ["left out: broken.ipynb is not a notebook that can be read"]
    with pytest.raises(MinigradError, match=r"broken\.ipynb is not a notebook that can be read"):
        exercises.namespace_of(tmp_path / "broken.ipynb")


def test_use_refuses_a_folder_that_is_not_there(tmp_path):
    """The error names the path and says what to give."""
    with pytest.raises(FileNotFoundError, match=r"use: there is no '.*missing'; give a folder with notebooks"):
        minigrad.use(tmp_path / "missing", namespace={})


def test_use_shows_a_notebook_one_sentence(tmp_path):
    """What Jupyter shows of a folder that is not there has no frames of the library in it."""
    with pytest.raises(MinigradError) as caught:
        exercises.use(tmp_path / "missing", namespace={})
    (line,) = caught.value._render_traceback_()
    assert line.startswith("MissingPath: use: there is no ")


@pytest.mark.parametrize("tags", [["setup"], []])
def test_use_in_a_cell_that_is_read_for_answers(tags, tmp_path, monkeypatch, capsys):
    """It is at work already: the call in the cell does nothing, and every exercise has one line."""
    monkeypatch.chdir(tmp_path)
    call = "from minigrad import use\nuse()\n"
    notebook(tmp_path / "00.ipynb", (f"{call}OFFSET = 0.5\n" if tags else "OFFSET = 0.5\n", ["setup"]), ANSWER + call)
    exercises.use(namespace={})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len([each for each in exercises.catalogue().values() if not each.draft])
    assert "yours, from 00.ipynb" in lines[0]
    exercises.use(namespace={})  # and the next one does again what it should
    assert "yours, from 00.ipynb" in capsys.readouterr().out.splitlines()[0]


def test_use_knows_what_was_imported_after_it(tmp_path, capsys):
    """A function of another notebook, imported when it was installed, is not this notebook's, and does not stay."""
    cell = "# exercise: derivatives.gradient\ndef gradient(f, *vals):\n    return [{}]"
    notebook(tmp_path / "01.ipynb", cell.format(7.0))
    exercises.use(tmp_path, namespace={})
    here = {"__name__": "__main__"}
    exec("from minigrad.derivatives import gradient", here)
    notebook(tmp_path / "01.ipynb", cell.format(8.0))
    capsys.readouterr()
    exercises.use(tmp_path, namespace=here)
    said, _ = states(capsys)
    assert said["derivatives.gradient"] == "yours, from 01.ipynb"
    assert derivatives.gradient(abs, 1.0) == [8.0]
    assert here["gradient"](abs, 1.0) == [8.0]


def test_use_takes_an_answer_back(tmp_path, capsys):
    """An answer that is a stub again is used no longer, and no call piles installations on those of another."""
    stub, answer = (f"# exercise: operators.arithmetic\n{ADDING.format(neg)}" for neg in (RAISES, "return 7.0"))
    here = {}
    exec(stub, here)
    for text, state, negative in ((stub, "reference", -1.0), (answer, "yours, from 00.ipynb", 7.0)) * 2:
        notebook(tmp_path / "00.ipynb", text)
        exercises.use(tmp_path, namespace=here)
        assert states(capsys)[0]["operators.arithmetic"] == state
        assert (operators.neg(1.0), here["neg"](1.0)) == (negative, negative)
        assert len(installing._installed) == (state != "reference")
    with pytest.raises(MissingPath):
        exercises.use(tmp_path / "missing", namespace=here)
    assert operators.neg(1.0) == 7.0  # a call that says what is wrong takes nothing away


def test_what_was_installed_after_use_stays(tmp_path):
    """`use` takes out its own installations, wherever they lie among others."""
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={})
    exercises.install({"operators.neg": lambda x: 9.0})
    exercises.use(namespace={"gradient": -6.0})
    assert (operators.neg(1.0), operators.add(1.0, 1.0)) == (9.0, 2.0)


def test_a_class_that_is_written_again_is_the_one_that_is_used(tmp_path):
    """Running the cell of a class again between two calls leaves the name to the newer class."""
    here = {"__name__": "__main__"}
    for value in (1.5, 2.5):
        exec(f"class SGD:\n    def step(self):\n        return {value}", here)
        exercises.use(tmp_path, namespace=here)
        assert (here["SGD"], here["SGD"]().step()) == (MODULES["mlp"].SGD, value)


def test_use_finds_the_usual_folder(tmp_path, monkeypatch, capsys):
    """From the folder around it, `my-notebooks` is meant, unless there are lessons here."""
    (tmp_path / "course" / "my-notebooks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "course")
    lesson = notebook_of_one(tmp_path / "course" / "my-notebooks")
    exercises.use(namespace={})
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from 00_fundamentals.ipynb"
    (tmp_path / "course" / "00_fundamentals.ipynb").write_text(lesson.read_text().replace("operators.arith", "x.arith"))
    lesson.write_text(lesson.read_text().replace("return x + y", "raise NotImplementedError()"))
    exercises.use(namespace={})
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from 00_fundamentals.ipynb"


def notebook_of_one(folder):
    """Write a lesson with one answer."""
    notebook(folder / "00_fundamentals.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    return folder / "00_fundamentals.ipynb"


def test_a_check_after_use_still_sees_the_stub(tmp_path):
    """What `use` lets the name of a stub mean is not the answer, nor does it take the rest of the answer away."""
    here = {"__name__": "__main__"}
    stub = "raise NotImplementedError()"
    exec(f"def add(x, y):\n    return x + y\ndef mul(x, y):\n    return x * y\ndef neg(x):\n    {stub}", here)
    before = run("operators.arithmetic", here)
    exercises.use(tmp_path, namespace=here)
    assert here["neg"] is operators.neg
    after = run("operators.arithmetic", here)
    assert 0.0 < before.earned == after.earned
    exec("def neg(x):\n    return -1.0 * x", here)
    assert run("operators.arithmetic", here).passed


def test_half_an_answer_is_no_stub(tmp_path):
    """A name whose function does something before it gives up keeps it."""
    here = {"__name__": "__main__"}
    exec("def relu(x):\n    if x > 0:\n        return x\n    raise NotImplementedError('negative')", here)
    written = here["relu"]
    exercises.use(tmp_path, namespace=here)
    assert here["relu"] is written


def test_a_function_in_the_place_of_a_class_costs_itself_alone(tmp_path, capsys):
    """In the running notebook or in another: one line says so, and all other answers are installed."""
    notebook(tmp_path / "00.ipynb", "# exercise: module.Module\ndef Module():\n    pass", ADDED)
    functions_too = {"Mul": lambda: 0, "Neg": functions.Neg, "Inv": functions.Inv, "gradient": lambda f, *vals: [7.0]}
    exercises.use(tmp_path, namespace={**functions_too, "Neg": type("Neg", (), {}), "Inv": type("Inv", (), {})})
    said, others = states(capsys)
    assert others == [
        "left out: this notebook: functions.Mul is a class; the object given for it is of type function",
        "left out: 00.ipynb: module.Module is a class; the object given for it is of type function",
    ]
    assert {id: state for id, state in said.items() if state != "reference"} == {
        "operators.arithmetic": "yours, from 00.ipynb",
        "derivatives.gradient": "yours, from this notebook",
    }
    assert installing.installed() == ["derivatives.gradient", "operators.add", "operators.mul", "operators.neg"]


REASON = "raise NotImplementedError('only for floats')"
GIVEN = ["raise NotImplementedError", "raise NotImplementedError()"]


@pytest.mark.parametrize(
    ("body", "done"),
    [
        *((line, False) for line in [*GIVEN, REASON]),  # nothing is computed, whatever it says
        *((f"if x > 0:\n        return x\n    {line}", False) for line in GIVEN),
        *((f"try:\n        return inv(x)\n    finally:\n        {line}", False) for line in GIVEN),
        (f"if x < 0:\n        {REASON}\n    return x", True),
        ("if x < 0:\n        raise NotImplementedError(*x)\n    return x", True),
        ("try:\n        return inv(x)\n    except NotImplementedError:\n        return x", True),
    ],
)
def test_the_line_of_the_stub_says_what_is_not_done(body, done, tmp_path, capsys):
    """An error that gives its reason is part of an answer; the given line is not, wherever it can be reached."""
    here = {"exercises": exercises}
    exec(ADDING.format("return -x").replace("return x + y", body), here)
    exercises.use(tmp_path, namespace=here)
    assert states(capsys)[0]["operators.arithmetic"] == ("yours, from this notebook" if done else "reference")
    exec(ADDING.format("return -x").replace("return x + y", body), here)
    with nullcontext() if done else pytest.raises(ExerciseNotDone, match="arithmetic is not written yet"):
        exec("exercises.needs('operators.arithmetic')", here)


@pytest.mark.parametrize(("line", "done"), [(GIVEN[0], False), (GIVEN[1], False), (REASON, True)])
def test_a_class_is_done_when_no_method_is_a_stub(line, done, tmp_path, capsys):
    """A method that must be overridden may say so, with a reason."""
    here = {}
    exec(f"class SGD:\n    def step(self):\n        return 1\n    def zero_grad(self):\n        {line}", here)
    exercises.use(tmp_path, namespace=here)
    assert states(capsys)[0]["mlp.SGD"] == ("yours, from this notebook" if done else "reference")


def test_use_of_an_empty_folder_is_the_reference(tmp_path, capsys):
    """Nothing is installed, and the quick engine stays."""
    exercises.use(tmp_path, namespace={})
    said, others = states(capsys)
    assert set(said.values()) == {"reference"}
    assert (others, installing._installed) == ([], [])


def test_use_does_nothing_while_a_grader_decides(monkeypatch, tmp_path, capsys):
    """In the sandbox use() installs nothing and prints nothing."""
    monkeypatch.setenv("MINIGRAD_SANDBOX", "1")
    exercises.use(tmp_path, namespace={"add": print, "mul": print, "neg": print})
    assert (capsys.readouterr().out, installing._installed) == ("", [])


def test_an_answer_cut_from_the_edition_is_missing(monkeypatch, tmp_path, capsys):
    """Where the library's own body is cut, an exercise that is not done is missing."""

    def cut(variable):
        raise ExerciseNotDone("autodiff.topological_sort")

    monkeypatch.setattr(autodiff, "topological_sort", cut)
    exercises.use(tmp_path, namespace={})
    assert states(capsys)[0]["autodiff.topological_sort"] == "missing"
    monkeypatch.undo()
    assert fast.backpropagate is Scalar._backpropagate


def test_needs_says_which_exercise_is_still_to_do():
    """A cell that builds on the reader's own work stops with the exercise's name, until it is written."""
    namespace = {"exercises": exercises}
    for cell in ("pass", STUB):
        exec(cell, namespace)
        with pytest.raises(ExerciseNotDone, match=r"autodiff\.chain_rule is not written yet"):
            exec("exercises.needs('autodiff.chain_rule')", namespace)
    exec("def chain_rule(variable, d_output):\n    return []\nexercises.needs('autodiff.chain_rule')", namespace)


def test_the_exercises_placed_in_a_notebook(tmp_path):
    """placed_in lists the known ids of the answer cells, in their order."""
    notebook(tmp_path / "a.ipynb", STUB, "# exercise: no.such\n", ANSWER, ("OFFSET = 1", ["setup"]))
    assert exercises.placed_in(tmp_path / "a.ipynb") == ["autodiff.chain_rule", "operators.arithmetic"]
