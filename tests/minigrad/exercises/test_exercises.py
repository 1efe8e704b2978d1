"""Installing a student's objects: every caller sees them, the quick twins stand aside, and all of it can be undone."""

import contextlib
import dataclasses
import functools
import importlib
import inspect
import math
import random

import numpy as np
import pytest

import minigrad
from minigrad import (
    Scalar,
    attention,
    autodiff,
    batching,
    datasets,
    derivatives,
    dual,
    exercises,
    fast_ops,
    flags,
    functional,
    functions,
    gradient_check,
    language,
    loops,
    mlp,
    module,
    nn,
    operators,
    precision,
    program,
    training,
    transforms,
    trees,
    workers,
)
from minigrad.checks import standins
from minigrad.errors import ExerciseNotDone, FunctionError, UnknownExercise
from minigrad.exercises import installing
from minigrad.machine import overrides

pytestmark = pytest.mark.usefixtures("library_as_it_was")


def ours(name):
    """Return the library's object of that dotted name."""
    module_name, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"minigrad.{module_name}"), attribute)


# --- one loop over all exercises --------------------------------------------------------------------------------


def use_scalars():
    """Run a program of lesson 02: the functions, by their operators."""
    x = Scalar(0.5)
    y = (-x * x + functions.Inv.apply(x)).sigmoid() + x.exp() + x.log() + x.relu() - 2.0 * (1.0 - x)
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
    assert operators.is_reduce(operators.reduce)
    operators.log_back(1.0, 2.0)
    operators.inv_back(1.0, 2.0)
    operators.relu_back(1.0, 2.0)


def use_differences():
    """Measure slopes as in lesson 01."""
    derivatives.gradient(lambda x, y: x * y, 1.0, 2.0)


def use_network():
    """Train as in lesson 03."""
    model = mlp.MLP((2, 2))
    model.eval()
    model.train()
    list(mlp.fit(model, datasets.xor(3), 2))
    optimizer = mlp.SGD(model.parameters())
    optimizer.zero_grad()
    assert autodiff.is_sort(autodiff.topological_sort, standins.leaf, standins.constant, standins.result)


def use_tensor_data():
    """Describe, permute and read an array as in lesson 04, and add arrays that broadcast."""
    data = minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2))
    data.permute(1, 0).get((1, 0))
    assert data.unfold(1, 2).shape == (2, 1, 2)
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


def hunt_maps():
    """Ask the test that lesson 07 writes."""
    assert fast_ops.is_map(fast_ops.tensor_map)


def use_gradients():
    """Differentiate what changes shapes, as in lesson 06, and check it by differences."""

    def program(x):
        return (x.permute(1, 0).contiguous().view(4) * minigrad.tensor(2.0, dtype=minigrad.float64)).sum(dim=0)

    x = minigrad.ones(2, 2, dtype=minigrad.float64, requires_grad=True)
    offset = minigrad.tensor(0.5, dtype=minigrad.float64, requires_grad=True)
    (program(x) + (x + offset).sum() + x.max(dim=0).values.sum() + (x @ x).sum()).backward()
    assert minigrad.gradcheck(program, x)


def use_flags():
    """Ask the rules of lesson 06b, and its judge of rules."""
    assert gradient_check.is_right(lambda x: x * x, lambda d, x: [2.0 * d * x], (2,))
    made = flags.flags_of_result([flags.PARAMETER])
    assert flags.gets_grad(flags.flags_after_requires_grad_(flags.CONSTANT, True))
    assert flags.flags_after_change(made, []) == flags.RESULT


def use_training():
    """Begin a layer, take the steps of both optimizers and go through batches, as in lesson 08b."""
    assert training.xavier_std((2, 2)) < training.kaiming_std((2, 2))
    for optimizer in (minigrad.optim.SGD, minigrad.optim.Adam):
        x = minigrad.ones(2, requires_grad=True)
        x.sum().backward()
        optimizer([x], **({"momentum": 0.5} if optimizer is minigrad.optim.SGD else {})).step()
    batches = minigrad.data.DataLoader([0.0, 1.0, 2.0], batch_size=2)
    assert len(batches) == len(list(batches)) == 2
    assert training.is_epoch(list(training.Batches(3, 2)), 3, 2)


def use_layers():
    """Compute what lesson 09 adds, and its gradients."""
    x = minigrad.tensor([[[[1.0, 2.0], [3.0, 4.0]]]], requires_grad=True)
    pooled = nn.functional.max_pool2d(x, 2) + nn.functional.avg_pool2d(x, 2)
    smooth = nn.functional.softmax(x, dim=-1) + nn.functional.logsoftmax(x, dim=-1)
    (pooled + nn.functional.dropout(smooth, 0.5)).sum().backward()
    nn.loss_rules.cross_entropy_back(np.zeros((1, 2)), np.array([0]))


def use_functions_of_functions():
    """Differentiate functions as in lesson 10."""
    x = minigrad.ones(3)
    dual.jvp(lambda x: x * x / (x + 2.0).exp() + x.sin() * x.cos() + x.log() ** 2, (2.0,), (1.0,))
    functional.grad(lambda x: (x * x).sum())(x)
    functional.jacfwd(lambda x: x * x)(x)
    functional.jacrev(lambda x: x * x)(x)
    functional.hessian(lambda x: (x * x).sum())(x)
    functional.largest_bend(lambda x: (x * x).sum(), x, x, 2)


def use_trees_and_batches():
    """Compute with trees, batches and pieces, as in lesson 10b."""
    functional.checkpoint(lambda x: x * x)(minigrad.ones(3))
    trees.tree_map(lambda x: -x, {"a": [1.0, None]})
    batching.vmap(lambda x: (x + x).sum(0))(minigrad.ones(2, 3))
    assert functional.is_vmap(batching.vmap)


def use_programs():
    """Record, keep, simplify and differentiate functions, as in lesson 11."""
    x = np.ones((2, 3))
    f = program.jit(lambda x: x * 1.0 + (x * 2.0).sum())
    f(x)
    traced = program.trace(f.f, x)
    program.prune(program.merge(program.fold(traced)))
    program.backward(program.trace(lambda x: (x * 2.0).sum(), x), [0]).run(x)
    with contextlib.suppress(TypeError):
        program.trace(lambda x: bool(x > 0.0), x)


def use_loops():
    """Compile a function, and compute attention in blocks, as in lesson 11b."""
    x = np.ones((2, 3))
    assert loops.is_safe(loops.lifetimes, loops.plan_memory)
    loops.compile_program(program.trace(lambda x: x * 1.0 + (x * 2.0).sum(), x), loops.by_python)(x)
    attention.attend(x, x, x, block=1)


def use_language():
    """Count a model, take a step of training on a line, and write one, as in lesson 12."""
    assert language.is_causal(language.causal_attention)
    language.count(characters=5, window=4, width=4, blocks=1)
    training, _ = language.split(np.arange(12) % 5, 0.25)
    x, y = map(minigrad.tensor, next(language.batches(training, 4, np.random.default_rng(0), 2)))
    p = language.initial(np.random.default_rng(0), characters=5, window=4, width=4, blocks=1)
    transforms.grad(lambda p: (language.gpt(p, x, 2) * y.unsqueeze(2)).sum())(p)
    with minigrad.no_grad():
        language.generate(
            lambda tokens, caches: language.gpt(p, minigrad.tensor([tokens]), 2, caches)[0, -1].numpy(),
            [1, 2],
            2,
            lambda logits: language.sample(logits, np.random.default_rng(0)),
            [language.Cache()],
        )


def use_fewer_bits():
    """Round, scale and quantize numbers, and train a large matrix by two small ones, as in lesson 13."""
    weight = np.ones((3, 4), np.float32)
    precision.to_bfloat16(weight)
    assert precision.is_rounding(precision.to_bfloat16)
    precision.LossScaler().unscale([weight.astype(np.float16)])
    precision.quantized_product(weight, *precision.quantize(weight))
    large = minigrad.tensor(weight)
    small = precision.adapter(np.random.default_rng(0), large, 1)
    precision.adapted(large, small)


def use_workers():
    """Share a step and an optimizer out among two workers, and plan what travels when, as in lesson 14."""
    gradients = [[np.ones(3), np.ones((2, 2))], [np.zeros(3), np.zeros((2, 2))]]
    assert workers.is_ring(workers.all_reduce)
    workers.run(2, workers.mean_gradients, gradients, [1, 2])

    def moved(worker):
        weights = np.ones(3)
        return workers.sharded_adam_step(worker, weights, weights, workers.optimizer_state(worker, weights), 1)

    workers.run(2, moved)
    workers.schedule([1.0, 1.0], [4, 4], workers.buckets([4, 4], 8), lambda size: size / 8)


WORKLOADS = {
    "00_fundamentals": [use_scalars, use_helpers, use_network],
    "01_numerical_derivatives": [use_differences],
    "02_chain_rule": [use_scalars, use_helpers, use_network],
    "03_backprop": [use_network],
    "04_strides": [use_tensor_data],
    "05_broadcasting": [use_tensor_data, compute("python")],
    "06_tensor_autograd": [use_gradients],
    "06b_gradients_checked": [use_gradients, use_flags],
    "07_parallel_cpu": [compute("numba"), hunt_maps],
    "07b_what_a_loop_costs": [compute("numba")],
    "08_gpu": [compute("cuda")],
    "08b_training": [use_training],
    "09_networks": [use_layers],
    "10_transforms": [use_functions_of_functions],
    "10b_trees_and_batches": [use_trees_and_batches],
    "11_compiler": [use_programs],
    "11b_loops": [use_loops],
    "12_poems": [use_language],
    "13_fewer_bits": [use_fewer_bits],
    "14_many_workers": [use_workers],
}


def multiply(backend):
    """Multiply two matrices on a backend."""

    def run():
        with minigrad.backend(backend):
            return (minigrad.ones(2, 3) @ minigrad.ones(3, 2)).tolist()

    return run


def slide():
    """Slide a window of ones over an image of ones."""
    return nn.functional.conv2d(minigrad.ones(1, 1, 3, 3), minigrad.ones(1, 1, 2, 2)).tolist()


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
    "nn.kernels.conv2d_kernel": (slide, seven_sums),
}
PRACTICE = {
    "cuda_ops._pool_practice",
    "cuda_ops._scan_practice",
    "cuda_ops._sum_practice",
    "cuda_ops._turn_practice",
    "first_kernels.add_ten",
    "timing.measure",
}
"""What is written to learn from, or for the lesson's own cells, and what nothing else is made of."""


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


def test_each_lesson_that_has_exercises_has_a_workload():
    """The long test below needs one of each, and is seldom run."""
    assert {exercise.lesson for exercise in exercises.catalogue().values()} - set(WORKLOADS) == set()


@pytest.mark.full("each lesson's work is done with a student's answer", share=12)
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
    monkeypatch.setattr(overrides, "_listeners", [])
    exercises.on_change(lambda: told.append((operators.add(2.0, 3.0), overrides.any_of("operators"))))
    with exercises.install({"operators.add": lambda a, b: 9.0}):
        assert told == [(9.0, True)]
        with exercises.install({"derivatives.gradient": lambda f, *vals: []}):
            assert overrides.any_of("derivatives")
        assert not overrides.any_of("derivatives") and overrides.any_of("operators")
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
    assert Scalar.__mul__.__module__ == "minigrad.quick.scalar"
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

    def slope():
        x = Scalar(0.0)
        x.exp().backward()
        return x.grad

    with exercises.install({"functions.Exp": exp_with(2.0)}):
        with exercises.install({"functions.Exp": exp_with(3.0)}):
            assert slope() == 3.0
        assert slope() == 2.0
    assert slope() == 1.0


def exp_with(factor):
    """A class for `functions.Exp` with slopes off by a factor."""

    class Exp(functions.Elementwise):
        """Off by a factor."""

        kernel = "exp"
        saves_output = True

        @staticmethod
        def backward(ctx, d_output):
            """Multiply."""
            return factor * d_output * ctx.saved_values[0]

    return Exp


def put_in_and_taken_out(seed):
    """Install functions and a class, undo them in a random order; return what each state gives and should give."""
    draw = random.Random(seed)
    there, told = [], []
    for number in range(2, 14):
        if there and draw.random() < 0.45:
            gone = there.pop(draw.randrange(len(there)))
            with exercises.reference() if draw.random() < 0.3 else contextlib.nullcontext():
                gone[0].undo()
        else:
            names = draw.sample(("operators.add", "operators.inv", "functions.Exp"), draw.randint(1, 2))
            objects = {
                name: exp_with(number) if name == "functions.Exp" else lambda *_, n=number: float(n) for name in names
            }
            there.append((exercises.install(objects), number, set(names)))
        told.append((state_of_the_library(), state_by(there)))
    for installation, *_ in draw.sample(there, len(there)):
        installation.undo()
    told.append((state_of_the_library(), state_by([])))
    return told


def state_by(there):
    """Return what installed objects should give: the last of each name counts."""
    last = {name: number for _, number, names in there for name in sorted(names)}
    values = [last.get("operators.add", 3.0), last.get("operators.inv", 0.5), last.get("functions.Exp", 1.0)]
    return values, sorted(last)


def state_of_the_library():
    """Return a sum, an inverse and a slope, and what is said to be installed."""
    x = Scalar(0.0)
    x.exp().backward()
    return [operators.add(1.0, 2.0), operators.inv(2.0), x.grad], sorted(installing.installed())


def test_installations_are_undone_in_any_order():
    """Of the installations of a name the last one that is there holds, also after `reference`; none leaves a trace."""
    before = (operators.add, operators.inv, dict(vars(functions.Exp)))
    for seed in range(60):
        for found, wanted in put_in_and_taken_out(seed):
            assert found == wanted, seed
        assert (operators.add, operators.inv, dict(vars(functions.Exp))) == before


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


def test_slots_of_a_students_class():
    """A student's class may have __slots__, written or made by a dataclass: the library's objects have room anyway."""

    class SGD:
        """Has room for two names."""

        __slots__ = ("lr", "parameters")

        def __init__(self, parameters, lr=0.5):
            self.parameters, self.lr = parameters, lr

    @dataclasses.dataclass(slots=True)
    class Batches:
        """Written by a decorator, all but its length."""

        count: int
        batch_size: int
        rng: object = None
        drop_last: bool = False

        def __len__(self):
            """Return the number of examples."""
            return self.count

    with exercises.install({"mlp.SGD": SGD, "training.Batches": Batches}):
        assert (mlp.SGD([], 2.0).lr, mlp.SGD([]).parameters) == (2.0, [])
        made = training.Batches(6, 2)
        assert (len(made), made.rng, made.drop_last) == (6, None, False)


def test_super_below_decorators():
    """super() works below decorators, and each decorator keeps what it holds."""

    def counted(method):
        @functools.wraps(method)
        def inner(*args, **kwargs):
            inner.calls += 1
            return method(*args, **kwargs)

        inner.calls = 0
        return inner

    class Linear(module.Module):
        """super() below one decorator, and below two."""

        @counted
        def __init__(self, in_size, out_size, rng):
            super().__init__()
            self.sizes = (in_size, out_size)

        @counted
        @contextlib.contextmanager
        def forward(self, inputs):
            """Yield the base class's modules."""
            yield super().modules()

        @property
        @counted
        def children(self):
            """The base class's modules."""
            return super().modules()

    with exercises.install({"mlp.Linear": Linear}):
        layer = mlp.Linear(2, 3, random.Random(0))
        with layer.forward([]) as seen:
            assert (layer.sizes, seen, layer.children) == ((2, 3), [], [])
        assert mlp.Linear.__init__.calls == 1
    assert Linear(4, 5, None).sizes == (4, 5)  # the student's class is as it was
    with exercises.install({"mlp.Linear": Linear}), exercises.install({"mlp.Linear": Linear}):
        assert mlp.Linear(6, 7, random.Random(0)).sizes == (6, 7)


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
    with pytest.raises(UnknownExercise, match=r"'operators\.mul'; did you mean operators\.arithmetic\?"):
        exercises.get("operators.mul")
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
