"""A graph with two paths to its leaf, and an engine that follows each path by itself."""

from minigrad import Scalar


def example():
    """z = a * b with a = 2 x and b = 3 a, at x = 5: the slope is 120."""
    x = Scalar(5.0, name="x")
    a = x * 2.0
    b = a * 3.0
    return x, a, b, a * b


def path_by_path(variable, deriv):
    """A slow engine, which follows every path by itself."""
    waiting = [(variable, deriv)]
    while waiting:
        node, d_output = waiting.pop()
        if node.is_leaf():
            node.accumulate_derivative(d_output)
        else:
            waiting.extend(node.chain_rule(d_output))
