"""Written as someone writes who did a MiniTorch course: derivatives in a dictionary by unique_id, a recursive sort."""

# exercise: operators.arithmetic
def add(x, y):
    return x + y


def mul(x, y):
    return x * y


def neg(x):
    # an int that stays an int once cost me an evening
    return -float(x)


# exercise: operators.comparison
def lt(x, y):
    return 1.0 if x < y else 0.0


def eq(x, y):
    return 1.0 if x == y else 0.0


def max(x, y):
    return x if x > y else y


def is_close(x, y):
    gap = x - y if x > y else y - x
    return 1.0 if gap < 1e-2 else 0.0


# exercise: operators.elementary
import math


def id(x):
    return x


def inv(x):
    return 1.0 / x


def relu(x):
    return x if x > 0 else 0.0


def exp(x):
    return math.exp(x)


def log(x):
    return math.log(x)


def sigmoid(x):
    # math.exp and not our exp: Numba must be able to compile it one day
    if x < 0:
        grown = math.exp(x)
        return grown / (grown + 1.0)
    shrunk = math.exp(-x)
    return 1.0 / (shrunk + 1.0)


# exercise: operators.higher_order
def map(fn):
    def over_all(numbers):
        results = []
        for number in numbers:
            results.append(fn(number))
        return results

    return over_all


def zipWith(fn):
    def over_both(first, second):
        return [fn(one, other) for one, other in zip(first, second)]

    return over_both


def reduce(fn, start):
    running = start

    def over_all(numbers):
        nonlocal running
        running = start  # each call begins anew
        for number in numbers:
            running = fn(running, number)
        return running

    return over_all


# exercise: operators.folds
def negList(values):
    negate_all = map(neg)
    return negate_all(values)


def addLists(left, right):
    add_pairs = zipWith(add)
    return add_pairs(left, right)


def sum(values):
    total = reduce(add, 0.0)
    return total(values)


def prod(values):
    product = reduce(mul, 1.0)
    return product(values)


# exercise: module.Module
class Module:
    def train(self):
        self.training = True
        for child in self.__dict__["_modules"].values():
            child.train()

    def eval(self):
        self.training = False
        for child in self.__dict__["_modules"].values():
            child.eval()

    def named_parameters(self):
        found = []

        def visit(node, path):
            for name, parameter in node.__dict__["_parameters"].items():
                found.append((path + name, parameter))
            for name, child in node.__dict__["_modules"].items():
                visit(child, path + name + ".")

        visit(self, "")
        return found

    def parameters(self):
        return [pair[1] for pair in self.named_parameters()]


# exercise: derivatives.central_difference
def central_difference(f, *vals, arg=0, epsilon=1e-6):
    valsAdd, valsSub = [*vals], [*vals]
    valsAdd[arg] = valsAdd[arg] + epsilon
    valsSub[arg] = valsSub[arg] - epsilon
    rise = f(*valsAdd) - f(*valsSub)
    return rise / (2 * epsilon)


# exercise: derivatives.gradient
def gradient(f, *vals, epsilon=1e-6):
    slopes = []
    for position in range(len(vals)):
        slopes.append(central_difference(f, *vals, arg=position, epsilon=epsilon))
    return slopes


# exercise: operators.backs
def log_back(x, d):
    return d / x


def inv_back(x, d):
    return -1.0 * d / (x**2)


def relu_back(x, d):
    return d if x > 0 else 0.0


# exercise: functions.arithmetic
from minigrad import operators


class Mul:
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return operators.mul(a, b)

    def backward(ctx, d_output):
        a, b = ctx.saved_values
        return b * d_output, a * d_output


class Neg:
    def forward(ctx, a):
        return operators.neg(a)

    def backward(ctx, d_output):
        return operators.neg(d_output)


class Inv:
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.inv(a)

    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.inv_back(a, d_output)


# exercise: functions.elementary
from minigrad import operators


class Log:
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.log(a)

    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.log_back(a, d_output)


class Exp:
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.exp(a)

    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.mul(d_output, operators.exp(a))


class Sigmoid:
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.sigmoid(a)

    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        s = operators.sigmoid(a)
        return d_output * (s - s * s)


class ReLU:
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.relu(a)

    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.relu_back(a, d_output)


# exercise: scalar.record
def record(function, inputs):
    raw_values, scalars = [], []
    for value in inputs:
        if not isinstance(value, Scalar):
            value = Scalar(value, requires_grad=False)
        scalars.append(value)
        raw_values.append(value.data)

    ctx = Context()
    output = Scalar(function._forward(ctx, *raw_values), requires_grad=False)
    need_grad = any(not scalar.is_constant() for scalar in scalars)
    if need_grad and function.differentiable and is_grad_enabled():
        output.history = History(function, ctx, scalars)
    return output


# exercise: scalar.Arithmetic
class Arithmetic:
    __slots__ = ()

    def __sub__(self, b):
        return operate(functions.Sub, self, b)

    def __rsub__(self, b):
        return operate(functions.Sub, b, self)

    def __mul__(self, b):
        return operate(functions.Mul, self, b)

    def __rmul__(self, b):
        return self * b


# exercise: autodiff.chain_rule
def chain_rule(variable, d_output):
    record = variable.history
    assert record is not None, "a constant has no history"
    assert record.last_fn is not None, "a leaf was not computed from anything"
    locals_ = record.last_fn._backward(record.ctx, d_output)
    return zip(record.inputs, locals_)


# exercise: autodiff.topological_sort
def topological_sort(variable):
    finished = []
    been_there = set()

    def go_down(node):
        if node.history is None:
            return
        if node.unique_id in been_there:
            return
        been_there.add(node.unique_id)
        for source in node.parents:
            go_down(source)
        finished.append(node)

    go_down(variable)
    finished.reverse()
    return finished


# exercise: autodiff.backpropagate
def backpropagate(variable, deriv):
    collected = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        arriving = collected[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(arriving)
        else:
            for source, share in node.chain_rule(arriving):
                collected[source.unique_id] = collected.get(source.unique_id, 0.0) + share


# exercise: mlp.Linear
class Linear:
    def __init__(self, in_size, out_size, rng):
        self.weights = []
        for i in range(in_size):
            row = []
            for j in range(out_size):
                row.append(parameter(f"weight_{i}_{j}"))
            self.weights.append(row)
        self.biases = []
        for j in range(out_size):
            self.biases.append(parameter(f"bias_{j}"))

    def forward(self, inputs):
        outputs = [bias.value for bias in self.biases]
        for i, x in enumerate(inputs):
            for j in range(len(outputs)):
                outputs[j] = outputs[j] + x * self.weights[i][j].value
        return outputs


# exercise: mlp.SGD
class SGD:
    def zero_grad(self):
        for p in self.parameters:
            if p.value is not None and p.value.derivative is not None:
                p.value.derivative = None

    def step(self):
        for p in self.parameters:
            if p.value is not None and p.value.derivative is not None:
                p.update(Scalar(p.value.data - self.lr * p.value.derivative))
