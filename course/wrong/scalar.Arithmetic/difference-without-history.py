"""The values are subtracted, and the result is a new leaf."""


class Arithmetic:
    __slots__ = ()

    def __sub__(self, other):
        return Scalar(self.data - float(other))

    def __rsub__(self, other):
        return Scalar(float(other) - self.data)

    def __mul__(self, other):
        return operate(functions.Mul, self, other)

    def __rmul__(self, other):
        return operate(functions.Mul, other, self)
