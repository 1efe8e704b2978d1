"""Hidden tests of training: where weights begin, steps of optimizers, batches, and the law that they obey."""

import functools
import math

import numpy as np
import pytest

from autograder import expect

initialization = functools.partial(pytest.mark.exercise, "training.initialization")
sgd_step = functools.partial(pytest.mark.exercise, "training.sgd_step")
adam_step = functools.partial(pytest.mark.exercise, "training.adam_step")
batches = functools.partial(pytest.mark.exercise, "training.Batches")
is_epoch = functools.partial(pytest.mark.exercise, "training.is_epoch")


# --- training.initialization --------------------------------------------------------------------------------


def fans_of(mg, shapes):
    """Probe: fan_in and fan_out of weights of some shapes, or "failed"."""
    try:
        return [[int(fan) for fan in mg.training.fans(shape)] for shape in shapes]
    except (IndexError, TypeError, ValueError):
        return "failed"


@initialization(
    group="fans", because="training.fans: 'Of the weights: (outputs, inputs) for a linear layer, and (outputs,'"
)
def test_fans_of_a_linear_layer(student):
    """A linear layer with 3 outputs and 5 inputs adds 5 products to an output, and an input takes part in 3."""
    expect(
        student(fans_of, [(3, 5), (1, 64)]),
        [[5, 3], [64, 1]],
        hint="a linear layer has no window: the product of no sizes is 1",
        misconception="window-always-expected",
        when={((3, 5), (1, 64)): ("fans-exchanged", "the shape begins with the outputs, and fan_in counts the inputs")},
    )


@initialization(group="fans", because="training.fans: 'window of weights for each output and input.'")
def test_fans_of_a_convolution(student):
    """A window of weights counts with all its places, whatever its axes."""
    expect(
        student(fans_of, [(8, 3, 5, 5), (4, 2, 3), (2, 6, 3, 2), (2, 3, 2, 3, 4)]),
        [[75, 200], [6, 12], [36, 12], [72, 48]],
        hint="each of the window's places is one more product: multiply with all sizes after the first two",
        misconception="window-ignored",
        when={
            ((3, 200), (2, 12), (6, 12), (3, 48)): ("window-at-fan-out-only", "an output needs all of the window, too"),
            ((75, 200), (6, 12), (54, 18), (12, 8)): ("window-taken-for-square", "a window may be no square"),
        },
    )


def deviations_of(mg, kind, shapes):
    """Probe: the standard deviations for weights of some shapes."""
    return [float(getattr(mg.training, kind)(shape)) for shape in shapes]


SHAPES = [(300, 100), (16, 8, 3, 3)]
FANS = [(100, 300), (72, 144)]


def by_fans(formula):
    """What a formula of both fans gives for the shapes."""
    return tuple(formula(*fans) for fans in FANS)


@initialization(
    group="deviations", because="training.xavier_std: 'The variance is 1 over the mean of fan_in and fan_out.'"
)
def test_xavier(student):
    """Xavier's deviation is the root of 2 over the sum of both fans."""
    expect(
        student(deviations_of, "xavier_std", SHAPES),
        list(by_fans(lambda i, o: math.sqrt(2.0 / (i + o)))),
        hint="the root of 1 over the mean: both fans count, and so does the window",
        misconception="xavier-without-fan-out",
        when={
            by_fans(lambda i, o: 2.0 / (i + o)): ("variance-returned", "the deviation is the root of the variance"),
            by_fans(lambda i, o: math.sqrt(1.0 / (i + o))): ("sum-for-mean", "the mean of two is half of their sum"),
        },
    )


@initialization(
    group="deviations",
    because="training.kaiming_std: 'the mean square that the ReLU leaves of a signal of mean square 1.'",
)
def test_kaiming(student):
    """Behind a ReLU the deviation is the root of 2 over fan_in."""
    expect(
        student(deviations_of, "kaiming_std", SHAPES),
        list(by_fans(lambda i, o: math.sqrt(2.0 / i))),
        hint="ReLU leaves half of the mean square, so the variance of the weights is twice 1 / fan_in",
        misconception="gain-forgotten",
        when={
            by_fans(lambda i, o: 2.0 / i): ("variance-returned", "the deviation is the root of the variance"),
            by_fans(lambda i, o: math.sqrt(2.0 / o)): ("fan-out-taken", "forward, an output adds up fan_in products"),
        },
    )


def kaiming_of_slopes(mg, shape, slopes):
    """Probe: Kaiming's standard deviation for some slopes."""
    return [float(mg.training.kaiming_std(shape, slope)) for slope in slopes]


@initialization(
    group="deviations",
    because="training.kaiming_std: 'Half of the signal is positive and kept, the other half is multiplied'",
)
def test_kaiming_of_leaky_relus(student):
    """A leaky ReLU leaves more of the signal, so the weights are smaller."""
    slopes = [0.5, 1.0, 0.01]
    expect(
        student(kaiming_of_slopes, (10, 50), slopes),
        [math.sqrt(2.0 / ((1.0 + a * a) * 50.0)) for a in slopes],
        hint="half of the squares stay, the other half are multiplied with the square of the slope",
        misconception="slope-ignored",
        when={
            tuple(math.sqrt(2.0 / ((1.0 + a) * 50.0)) for a in slopes): (
                "slope-not-squared",
                "a signal that is multiplied by the slope has its mean square multiplied by the square of it",
            )
        },
    )


# --- training.sgd_step --------------------------------------------------------------------------------------


def walk_with_momentum(mg, p, grads, lr, momentum):
    """Probe: the parameter and the velocity after each step, from a velocity of 0."""
    velocity, seen = p * 0.0, []
    for grad in grads:
        p, velocity = mg.training.sgd_step(p, grad, velocity, lr, momentum)
        seen.append([[float(x) for x in p], [float(x) for x in velocity]])
    return seen


P, GRADS = np.array([2.0, -1.0]), [np.array([1.0, 4.0]), np.array([3.0, -2.0]), np.array([0.0, 1.0])]


def walked(rule):
    """What a rule (p, grad, velocity) -> (p, velocity) gives along the gradients."""
    p, velocity, seen = P, P * 0.0, []
    for grad in GRADS:
        p, velocity = rule(p, grad, velocity)
        seen.append((tuple(p.tolist()), tuple(velocity.tolist())))
    return tuple(seen)


def _taken(v):
    return 0.1 * v


@sgd_step(group="steps", because="training.sgd_step: 'The parameter moves against the new velocity, by lr times it.'")
def test_momentum(student):
    """Three steps: the velocity takes the gradient in, and the parameter follows it."""
    expect(
        student(walk_with_momentum, P, GRADS, 0.1, 0.5),
        [[list(p), list(v)] for p, v in walked(lambda p, g, v: (p - _taken(0.5 * v + g), 0.5 * v + g))],
        hint="first the velocity: momentum times the old one plus the gradient; then the step along the new one",
        misconception="old-velocity-used",
        when={
            walked(lambda p, g, v: (p + _taken(0.5 * v + g), 0.5 * v + g)): ("uphill", "against the velocity: p - ..."),
            walked(lambda p, g, v: (p - 0.5 * v - _taken(g), 0.5 * v + _taken(g))): (
                "rate-in-the-velocity",
                "the velocity adds up gradients; lr comes in only where the parameter moves",
            ),
            walked(lambda p, g, v: (p - _taken(0.5 * v + 0.5 * g), 0.5 * v + 0.5 * g)): (
                "velocity-as-mean",
                "the velocity takes the whole gradient in, not 1 - momentum of it",
            ),
            walked(lambda p, g, v: (p - _taken(v + 0.5 * g), v + 0.5 * g)): (
                "momentum-at-the-gradient",
                "momentum says how much of the old velocity is kept",
            ),
            walked(lambda p, g, v: (p - _taken(g), g)): ("velocity-forgotten", "the old velocity counts, too"),
        },
    )


@sgd_step(group="steps", because="training.sgd_step: 'The arguments stay as they are.'")
def test_momentum_leaves_its_arguments(student):
    """What was handed in is as it was before, so that a caller may use it again."""

    def observe(mg, p, grad, velocity):
        mg.training.sgd_step(p, grad, velocity, 0.1, 0.5)
        return [p.tolist(), grad.tolist(), velocity.tolist()]

    given = [np.array([2.0, -1.0]), np.array([1.0, 4.0]), np.array([-3.0, 5.0])]
    expect(
        student(observe, *given),
        [each.tolist() for each in given],
        hint="`v *= momentum` and `v += grad` change an array in place; `v = momentum * v + grad` makes a new one",
        misconception="arguments-changed",
    )


@sgd_step(group="special", because="training.sgd_step: 'The parameter: an array of any shape, or a number.'")
def test_momentum_of_numbers(student):
    """Plain numbers have a step too, as the worked examples have them."""

    def observe(mg, p, grad, velocity):
        try:
            return [float(x) for x in mg.training.sgd_step(p, grad, velocity, 0.1, 0.5)]
        except (AttributeError, TypeError):
            return "failed"

    expect(
        student(observe, 2.0, 3.0, 4.0),
        [1.5, 5.0],
        hint="use +, - and * alone, which numbers and arrays both have",
        misconception="arrays-only",
    )


# --- training.adam_step -------------------------------------------------------------------------------------


def one_step(mg, arrays, step, settings):
    """Probe: a step of Adam: the new parameter, mean and square as lists."""
    return [[float(x) for x in each] for each in mg.training.adam_step(*arrays, step, **settings)]


def adam(arrays, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, decay=0.0, **turns):
    """What a right rule gives, or one with a turn: a part that is put in another's place."""
    p, grad, mean, square = arrays
    new_mean = betas[0] * mean + (1.0 - betas[0]) * grad
    new_square = betas[1] * square + (1.0 - betas[1]) * grad**2
    ones = (1.0 - betas[0] ** step, 1.0 - betas[1] ** step)
    first, second = turns.get("factors", lambda *ones: ones)(*ones)
    move = turns.get("move", lambda m, s: m / (np.sqrt(s) + eps))(new_mean / first, new_square / second)
    return tuple(tuple(each.tolist()) for each in (p - lr * (move + decay * p), new_mean, new_square))


def listed(tuples):
    """The same as lists, which is what comes back."""
    return [list(each) for each in tuples]


ARRAYS = [np.array(x) for x in ([1.0, -2.0], [3.0, -0.5], [0.5, 1.0], [2.0, 0.25])]
BETAS = (0.5, 0.75)


@adam_step(
    group="means",
    because="training.adam_step: 'A running mean keeps beta of itself and takes 1 - beta of what is new.'",
)
def test_running_means(student):
    """Both means move towards what is new: the gradient, and its square."""

    def observe(mg, arrays, settings):
        return [[float(x) for x in each] for each in mg.training.adam_step(*arrays, 3, **settings)[1:]]

    square = ARRAYS[3]
    wanted = adam(ARRAYS, 3, betas=BETAS)[1:]
    expect(
        student(observe, ARRAYS, {"betas": BETAS}),
        listed(wanted),
        hint="beta times the old mean plus 1 - beta times the new: the gradient, and its square, each with its own beta",
        misconception="whole-gradient-added",
        when={
            adam(ARRAYS, 3, betas=BETAS[::-1])[1:]: ("betas-exchanged", "the first beta is the mean's"),
            (wanted[0], tuple((0.75 * square + 0.25 * np.array(wanted[0]) ** 2).tolist())): (
                "square-of-the-mean",
                "the square of this gradient, not that of the mean",
            ),
            (tuple((np.array(wanted[0]) / 0.875).tolist()), tuple((np.array(wanted[1]) / (1 - 0.75**3)).tolist())): (
                "corrected-means-returned",
                "the corrected means serve for the step; what is returned is to be kept for the next, uncorrected",
            ),
        },
    )


@adam_step(group="means", because="training.adam_step: 'The arguments stay as they are.'")
def test_adam_leaves_its_arguments(student):
    """What was handed in is as it was before."""

    def observe(mg, arrays):
        mg.training.adam_step(*arrays, 2)
        return [each.tolist() for each in arrays]

    expect(
        student(observe, ARRAYS),
        [each.tolist() for each in ARRAYS],
        hint="`mean *= beta` changes an array in place; `mean = beta * mean + ...` makes a new one",
        misconception="arguments-changed",
    )


STEPS = ((1, [np.array([4.0, 4.0]), np.array([300.0, -0.02]), np.zeros(2), np.zeros(2)]), (4, ARRAYS))


def stepped(**turns):
    """Where a rule leads from the starting points of `STEPS`."""
    return tuple(adam(arrays, step, lr=0.25, **turns)[0] for step, arrays in STEPS)


@adam_step(
    group="correction",
    because="training.adam_step: '1 - beta**step, since it began at 0. For the step both are divided by their factor;'",
)
def test_a_step(student):
    """The first step has the length of lr for large and small gradients; later ones are corrected less."""

    def observe(mg, steps):
        seen = []
        for step, arrays in steps:
            seen.append([float(x) for x in mg.training.adam_step(*arrays, step, lr=0.25)[0]])
        return seen

    expect(
        student(observe, STEPS),
        listed(stepped()),
        hint="divide the mean by 1 - betas[0] ** step, the square by 1 - betas[1] ** step, then one by the other's root",
        misconception="corrected-by-one-step",
        tolerance=1e-7,
        when={
            stepped(factors=lambda first, second: (1.0, 1.0)): ("not-corrected", "both means are too small at first"),
            stepped(factors=lambda first, second: (first, 1.0)): ("square-not-corrected", "the square began at 0, too"),
            stepped(move=lambda m, s: m / (s + 1e-8)): ("root-forgotten", "divide by the root of the mean square"),
            stepped(move=lambda m, s: m / (np.sqrt(s.sum()) + 1e-8)): (
                "one-size-for-all",
                "every element has a divisor of its own: nothing is summed over the elements",
            ),
            tuple(
                tuple((2.0 * arrays[0] - np.array(to)).tolist())
                for to, (_, arrays) in zip(stepped(), STEPS, strict=True)
            ): (
                "uphill",
                "against the mean: p - ...",
            ),
        },
    )


@adam_step(group="correction", because="training.adam_step: 'The eps is added to the root.'")
def test_eps(student):
    """A large eps shows where it is added: to the root of the corrected square."""
    settings = {"lr": 1.0, "betas": BETAS, "eps": 2.0}
    inside = adam(ARRAYS, 2, lr=1.0, betas=BETAS, move=lambda m, s: m / np.sqrt(s + 2.0))
    early = adam(ARRAYS, 2, lr=1.0, betas=BETAS, move=lambda m, s: m / (np.sqrt(s) + 2.0 / np.sqrt(1.0 - 0.75**2)))
    expect(
        student(one_step, ARRAYS, 2, settings)[0],
        list(adam(ARRAYS, 2, **settings)[0]),
        hint="root of the corrected square, then plus eps",
        misconception="eps-ignored",
        when={
            inside[0]: ("eps-under-the-root", "eps is added to the root, not to the square"),
            early[0]: ("eps-before-the-correction", "correct the square first, then take its root, then add eps"),
        },
    )


@adam_step(
    group="decay",
    because="training.adam_step: 'weight decay takes lr * weight_decay of the old parameter away from it.'",
)
def test_weight_decay(student):
    """The decay takes its share of the parameter, whatever the gradients are."""
    p, grad, mean, square = ARRAYS
    settings = {"lr": 0.5, "betas": BETAS, "weight_decay": 0.25}
    plain = adam(ARRAYS, 2, lr=0.5, betas=BETAS)
    by_gradient = adam([p, grad + 0.25 * p, mean, square], 2, lr=0.5, betas=BETAS)
    expect(
        student(one_step, ARRAYS, 2, settings),
        listed(adam(ARRAYS, 2, lr=0.5, betas=BETAS, decay=0.25)),
        hint="take lr * weight_decay * p away from p, apart from the gradient's step",
        misconception="decay-ignored",
        when={
            by_gradient: (
                "decay-by-the-gradient",
                "the gradient knows nothing of the decay: the means would divide it away",
            ),
            (tuple((np.array(plain[0]) - 0.25 * p).tolist()), *plain[1:]): (
                "decay-without-rate",
                "lr times weight_decay",
            ),
            (tuple((np.array(plain[0]) * 0.875).tolist()), *plain[1:]): (
                "decay-of-the-new-value",
                "the decay is a share of the old parameter, not of what the step has made of it",
            ),
        },
    )


@adam_step(group="special", because="training.adam_step: 'eps: Keeps the divisor above 0.'")
def test_no_gradient_yet(student):
    """An element whose gradients were all 0 stays where it is."""
    zeros = np.zeros(2)
    seen = student(one_step, [np.array([1.5, -2.0]), zeros, zeros, zeros], 1, {"lr": 0.5})
    expect(
        seen,
        [[1.5, -2.0], [0.0, 0.0], [0.0, 0.0]],
        hint="0 / (0 + eps) is 0; without eps it is nan",
        misconception="eps-only-where-it-is-large",
    )


# --- training.Batches ---------------------------------------------------------------------------------------


def epochs_of(mg, count, batch_size, seed, drop_last, times):
    """Probe: the batches of some epochs; a seed of None stands for no generator."""
    rng = None if seed is None else np.random.default_rng(seed)
    made = mg.training.Batches(count, batch_size, rng, drop_last)
    return [[[int(number) for number in batch] for batch in made] for _ in range(times)]


def in_batches(numbers, size):
    """A list in pieces."""
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def orders(count, seed, times):
    """The permutations that a generator gives, one after the other."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(count).tolist() for _ in range(times)]


@batches(group="epochs", because="training.Batches: 'every epoch, when it begins: the order of that epoch.'")
def test_a_new_order_in_every_epoch(student):
    """Each epoch asks the generator once for an order, and goes through the examples in it."""
    first, second, third = orders(7, 5, 3)
    cut = functools.partial(in_batches, size=3)
    frozen = tuple(tuple(map(tuple, cut(first))) for _ in range(3))
    late = tuple(tuple(map(tuple, cut(order))) for order in orders(7, 5, 4)[1:])
    expect(
        student(epochs_of, 7, 3, 5, False, 3),
        [cut(first), cut(second), cut(third)],
        hint="call self.rng.permutation(self.count) in __iter__, once; its numbers are the examples, in their order",
        misconception="order-not-the-generators",
        when={
            frozen: ("one-order-for-ever", "ask for an order whenever an epoch begins, not when the object is made"),
            late: ("order-asked-too-often", "ask once in an epoch, and not when the object is made"),
        },
    )


@batches(group="epochs", because="training.Batches: 'None stands for the order 0, 1, 2, ... in every epoch.'")
def test_without_a_generator(student):
    """Without a generator the examples come in their own order, in every epoch."""
    expect(
        student(epochs_of, 6, 2, None, False, 3),
        [[[0, 1], [2, 3], [4, 5]]] * 3,
        hint="where rng is None, the order is range(count), for each epoch anew",
        misconception="shuffled-without-a-generator",
        when={
            (((0, 1), (2, 3), (4, 5)), (), ()): ("used-up", "__iter__ is called once for each epoch: begin anew there")
        },
    )


@batches(group="special", because="training.Batches: 'Each iteration over it is an epoch.'")
def test_two_iterations_at_once(student):
    """Two loops over the same object do not disturb each other."""

    def observe(mg):
        made = mg.training.Batches(6, 2)
        return [[[int(number) for number in batch] for batch in pair] for pair in zip(made, made, strict=True)]

    expect(
        student(observe),
        [[[0, 1], [0, 1]], [[2, 3], [2, 3]], [[4, 5], [4, 5]]],
        hint="keep the place in a variable of __iter__, not in self",
        misconception="place-kept-in-self",
    )


@batches(
    group="last",
    because="training.Batches: 'batch_size numbers; the last one is shorter if batch_size does not divide count.'",
)
def test_a_shorter_last_batch(student):
    """The rest is a batch of its own, also where it is all there is."""
    expect(
        student(
            lambda mg, sizes: [[[int(n) for n in b] for b in mg.training.Batches(*each)] for each in sizes],
            [(7, 3), (2, 5), (3, 1)],
        ),
        [[[0, 1, 2], [3, 4, 5], [6]], [[0, 1]], [[0], [1], [2]]],
        hint="a slice that reaches beyond the end is shorter; let it",
        misconception="rest-left-out",
        when={
            (((0, 1, 2), (3, 4, 5), (6, 0, 1)), ((0, 1, 0, 1, 0),), ((0,), (1,), (2,))): (
                "rest-filled-up",
                "no example comes twice",
            )
        },
    )


@batches(group="last", because="training.Batches: 'drop_last: Whether to leave out a last batch that is shorter.'")
def test_drop_last(student):
    """With drop_last only whole batches are left; a last batch that is whole stays."""

    def observe(mg, sizes):
        return [[[int(n) for n in b] for b in mg.training.Batches(*each, drop_last=True)] for each in sizes]

    whole = ((0, 1, 2), (3, 4, 5))
    expect(
        student(observe, [(7, 3), (6, 3), (2, 5)]),
        [[list(each) for each in whole], [list(each) for each in whole], []],
        hint="leave a batch out only if it has fewer than batch_size numbers",
        misconception="drop-last-ignored",
        when={(whole, whole[:1], ()): ("whole-last-dropped", "the last batch of 6 examples in threes is whole")},
    )


@batches(group="last", because="training.Batches.__len__: 'Return the number of batches in an epoch.'")
def test_the_number_of_batches(student):
    """len tells how many batches an epoch has, with and without drop_last."""

    def observe(mg, sizes):
        return [[len(mg.training.Batches(*each, None, drop)) for drop in (False, True)] for each in sizes]

    expect(
        student(observe, [(7, 3), (6, 3), (2, 5)]),
        [[3, 2], [2, 2], [1, 0]],
        hint="count // batch_size are whole; the rest is one more, unless it is 0 or dropped",
        misconception="length-not-of-batches",
        when={
            ((2, 2), (2, 2), (0, 0)): ("length-rounded-down", "without drop_last the shorter batch counts, too"),
            ((3, 2), (3, 2), (1, 0)): ("one-more-always", "there is no rest where batch_size divides count"),
            ((3, 3), (2, 2), (1, 1)): ("length-without-drop-last", "a batch that is left out is not counted"),
        },
    )


@batches(
    group="special",
    because="training.Batches: 'An epoch has every number from 0 to count - 1 once. Its batches are lists of'",
)
def test_lists(student):
    """A batch is a list, with and without a generator."""

    def observe(mg):
        made = [mg.training.Batches(4, 2), mg.training.Batches(4, 2, np.random.default_rng(0))]
        return [[type(batch).__name__ for batch in each] for each in made]

    expect(
        student(observe),
        [["list", "list"], ["list", "list"]],
        hint="make a list of the order: slices of a list are lists",
        misconception="batches-no-lists",
    )


@batches(group="special", because="training.Batches: 'An epoch has every number from 0 to count - 1 once.'")
def test_no_examples(student):
    """A set without examples has no batches, not an empty one."""
    expect(
        student(epochs_of, 0, 4, 1, False, 1),
        [[]],
        hint="where nothing is left there is no batch",
        misconception="empty-batch-of-nothing",
    )


# --- training.is_epoch --------------------------------------------------------------------------------------


def verdicts(mg, cases):
    """Probe: what is said of some batches."""
    return [bool(mg.training.is_epoch(*each)) for each in cases]


@is_epoch(
    group="examples",
    because="training.is_epoch: 'Return whether some batches are an epoch of count examples, in any order.'",
)
def test_epochs_are_accepted(student):
    """Every example once is an epoch, in whatever order they come."""
    expect(
        student(verdicts, [([[0, 1], [2, 3]], 4, 2), ([[3, 0], [2, 1]], 4, 2), ([[4, 1, 2], [0, 3, 5]], 6, 3)]),
        [True, True, True],
        hint="compare what there is, not in which order it comes",
        misconception="order-demanded",
    )


@is_epoch(group="examples", because="training.is_epoch: 'Without drop_last no example is missing.'")
def test_a_missing_example(student):
    """Without one of the examples it is no epoch, and neither is it without any."""
    expect(
        student(verdicts, [([[0, 1], [3, 4]], 5, 2), ([[0, 1]], 4, 2), ([], 3, 2)]),
        [False, False, False],
        hint="count what is there",
        misconception="missing-not-noticed",
    )


@is_epoch(
    group="examples",
    because="training.is_epoch: 'Every number in them is an example's, from 0 to count - 1, and none comes twice.'",
)
def test_an_example_twice(student):
    """An example that comes twice is noticed, beside one that is missing and beside all others."""
    expect(
        student(verdicts, [([[0, 1], [1, 2]], 4, 2), ([[0, 1], [1, 2]], 3, 2), ([[2, 2]], 3, 2, True)]),
        [False, False, False],
        hint="a set forgets how often something was put into it: compare its length with that of the list",
        misconception="twice-not-noticed",
    )


@is_epoch(
    group="examples",
    because="training.is_epoch: 'Every number in them is an example's, from 0 to count - 1, and none comes twice.'",
)
def test_numbers_of_no_example(student):
    """A number beyond the last example, or below the first, is no example's."""
    expect(
        student(verdicts, [([[0, 4], [1, 2]], 4, 2), ([[-1, 0], [1, 2]], 4, 2)]),
        [False, False],
        hint="right in their number, but are they the numbers from 0 to count - 1?",
        misconception="numbers-only-counted",
    )


@is_epoch(group="examples", because="training.is_epoch: 'With it fewer than batch_size are.'")
def test_missing_with_drop_last(student):
    """With drop_last the rest is missing, and no more than the rest."""
    cases = [([[6, 0, 2], [3, 1, 5]], 7, 3, True), ([[0, 1, 2]], 7, 3, True), ([], 2, 3, True), ([], 3, 3, True)]
    expect(
        student(verdicts, cases),
        [True, False, True, False],
        hint="with drop_last fewer than batch_size may be missing, but not a whole batch",
        misconception="drop-last-forgives-all",
        when={(False, False, False, False): ("drop-last-not-known", "with drop_last the rest may be missing")},
    )


@is_epoch(
    group="sizes",
    because="training.is_epoch: 'Each batch has batch_size numbers. The last one may have fewer, but not none, and'",
)
def test_a_short_last_batch(student):
    """Without drop_last the last batch may be shorter, also if it is the only one."""
    expect(
        student(verdicts, [([[4, 1], [0, 3], [2]], 5, 2), ([[1, 0]], 2, 5), ([], 0, 3)]),
        [True, True, True],
        hint="the last one may have fewer; of no examples an epoch has no batches",
        misconception="short-last-refused",
    )


@is_epoch(
    group="sizes",
    because="training.is_epoch: 'Each batch has batch_size numbers. The last one may have fewer, but not none, and'",
)
def test_a_short_batch_in_the_middle(student):
    """A shorter batch stands at the end or nowhere."""
    expect(
        student(verdicts, [([[0], [1, 2], [3, 4]], 5, 2), ([[0, 1], [2], [3, 4]], 5, 2)]),
        [False, False],
        hint="all batches before the last one are whole",
        misconception="short-in-the-middle",
    )


@is_epoch(
    group="sizes",
    because="training.is_epoch: 'Each batch has batch_size numbers. The last one may have fewer, but not none, and'",
)
def test_a_batch_too_long(student):
    """No batch has more than batch_size numbers, the last one neither."""
    expect(
        student(verdicts, [([[0, 1, 2]], 3, 2), ([[0, 1], [2, 3, 4]], 5, 2)]),
        [False, False],
        hint="fewer, but not more",
        misconception="too-long-not-noticed",
    )


@is_epoch(
    group="sizes",
    because="training.is_epoch: 'Each batch has batch_size numbers. The last one may have fewer, but not none, and'",
)
def test_an_empty_batch(student):
    """A last batch of nothing is no batch."""
    expect(
        student(verdicts, [([[0, 1], [2, 3], []], 4, 2), ([[]], 0, 2)]),
        [False, False],
        hint="fewer, but not none",
        misconception="empty-not-noticed",
    )


@is_epoch(group="sizes", because="training.is_epoch: 'with drop_last it may not.'")
def test_a_short_batch_with_drop_last(student):
    """With drop_last a shorter batch should not be there."""
    expect(
        student(verdicts, [([[0, 1], [2, 3], [4]], 5, 2, True)]),
        [False],
        hint="drop_last was asked for, and here is a batch that it leaves out",
        misconception="short-in-spite-of-drop-last",
    )
