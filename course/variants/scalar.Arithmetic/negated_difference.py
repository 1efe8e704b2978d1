"""The reflected difference is the negative of the difference."""


class Arithmetic:
    __slots__ = ()

    def __sub__(self, other):
        return operate(functions.Sub, self, other)

    def __rsub__(self, other):
        return -(self - other)

    def __mul__(self, other):
        return operate(functions.Mul, self, other)

    def __rmul__(self, other):
        return self * other
