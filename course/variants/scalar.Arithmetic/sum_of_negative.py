"""A difference is a sum with the negative, and the reflected product is the product."""


class Arithmetic:
    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        return operate(functions.Mul, self, other)

    __rmul__ = __mul__
