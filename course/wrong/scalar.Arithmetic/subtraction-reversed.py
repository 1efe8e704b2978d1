"""The reflected difference is taken the wrong way round."""


class Arithmetic:
    __slots__ = ()

    def __sub__(self, other):
        return operate(functions.Sub, self, other)

    def __rsub__(self, other):
        return operate(functions.Sub, self, other)

    def __mul__(self, other):
        return operate(functions.Mul, self, other)

    def __rmul__(self, other):
        return operate(functions.Mul, other, self)
