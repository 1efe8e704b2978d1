"""A number on the right of a minus sign is asked for its data."""


class Arithmetic:
    __slots__ = ()

    def __sub__(self, other):
        return operate(functions.Sub, self, Scalar(other.data, False)) if other.is_constant() else operate(functions.Sub, self, other)

    def __rsub__(self, other):
        return operate(functions.Sub, other, self)

    def __mul__(self, other):
        return operate(functions.Mul, self, other)

    def __rmul__(self, other):
        return operate(functions.Mul, other, self)
