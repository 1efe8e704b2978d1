"""The functions are applied directly."""


class Arithmetic:
    __slots__ = ()

    def __sub__(self, other):
        return functions.Sub.apply(self, other)

    def __rsub__(self, other):
        return functions.Sub.apply(other, self)

    def __mul__(self, other):
        return functions.Mul.apply(self, other)

    def __rmul__(self, other):
        return functions.Mul.apply(self, other)
