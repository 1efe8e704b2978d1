"""Mistakes that many people make, each in an answer that looks finished; what is not here is answered as it should be."""

# exercise: operators.elementary
import math


def id(x):
    return x


def inv(x):
    return 1.0 / x


def relu(x):
    return max(0.0, x)


def exp(x):
    return math.exp(x)


def log(x):
    return math.log(x)


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))  # overflows for x = -1000


# exercise: operators.higher_order
def map(fn):
    return lambda values: [fn(x) for x in values]


def zipWith(fn):
    return lambda left, right: [fn(x, y) for x, y in zip(left, right)]


def reduce(fn, start):
    total = start

    def fold(values):
        nonlocal total  # the second call goes on where the first one ended
        for x in values:
            total = fn(total, x)
        return total

    return fold


# exercise: module.Module
class Module:
    def train(self):
        self.training = True
        for module in self.modules():
            module.training = True  # and its children?

    def eval(self):
        self.training = False
        for module in self.modules():
            module.training = False

    def named_parameters(self):
        named = list(self._parameters.items())
        for module in self.modules():
            named += module.named_parameters()  # without the child's name
        return named

    def parameters(self):
        return [parameter for _, parameter in self.named_parameters()]


# exercise: derivatives.central_difference
def central_difference(f, *vals, arg=0, epsilon=1e-6):
    moved = list(vals)
    moved[arg] += epsilon
    return (f(*moved) - f(*vals)) / epsilon  # one side only


# exercise: functions.arithmetic
from minigrad import operators


class Mul:
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return operators.mul(a, b)

    def backward(ctx, d_output):
        a, b = ctx.saved_values
        return d_output * a, d_output * b  # each input's own value instead of the other's


class Neg:
    def forward(ctx, a):
        return operators.neg(a)

    def backward(ctx, d_output):
        return -d_output


class Inv:
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.inv(a)

    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return -d_output / (a * a)


# exercise: functions.elementary
from minigrad import operators


class Log:
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.log(a)

    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return 1.0 / a  # what came from above is lost


class Exp:
    def forward(ctx, a):
        result = operators.exp(a)
        ctx.save_for_backward(result)
        return result

    def backward(ctx, d_output):
        (result,) = ctx.saved_values
        return d_output * result


class Sigmoid:
    def forward(ctx, a):
        result = operators.sigmoid(a)
        ctx.save_for_backward(result)
        return result

    def backward(ctx, d_output):
        (result,) = ctx.saved_values
        return d_output * result * (1.0 - result)


class ReLU:
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.relu(a)

    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.relu_back(a, d_output)


# exercise: autodiff.topological_sort
def topological_sort(variable):
    order, seen = [], set()
    queue = [variable]
    while queue:  # level by level: a variable may come before one of its users
        node = queue.pop(0)
        if node.is_constant() or node.unique_id in seen:
            continue
        seen.add(node.unique_id)
        order.append(node)
        queue.extend(node.parents)
    return order


# exercise: autodiff.backpropagate
def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        d_output = derivatives[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(d_output)
        else:
            for parent, derivative in node.chain_rule(d_output):
                derivatives[parent.unique_id] = derivative  # the last path wins


# exercise: mlp.SGD
class SGD:
    def zero_grad(self):
        for parameter in self.parameters:
            parameter.value.grad = None

    def step(self):
        for parameter in self.parameters:
            value = parameter.value
            if value.grad is not None:
                parameter.update(Scalar(value.data + self.lr * value.grad))  # uphill
