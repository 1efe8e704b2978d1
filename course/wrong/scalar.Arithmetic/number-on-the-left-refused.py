"""A number on the left of a product is refused."""


class Arithmetic:
    __slots__ = ()

    def __sub__(self, other):
        return operate(functions.Sub, self, other)

    def __rsub__(self, other):
        return operate(functions.Sub, other, self)

    def __mul__(self, other):
        return operate(functions.Mul, self, other)

    def __rmul__(self, other):
        return NotImplemented
