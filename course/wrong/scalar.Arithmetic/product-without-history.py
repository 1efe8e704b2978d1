"""The values are multiplied, and the result is a new leaf."""


class Arithmetic:
    __slots__ = ()

    def __sub__(self, other):
        return operate(functions.Sub, self, other)

    def __rsub__(self, other):
        return operate(functions.Sub, other, self)

    def __mul__(self, other):
        return Scalar(self.data * float(other))

    def __rmul__(self, other):
        return Scalar(float(other) * self.data)
