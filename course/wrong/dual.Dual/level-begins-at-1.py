"""Results are made without a level, so that they begin at level 1."""

class Dual(Arithmetic):
    def plus(self, other):
        return Dual(self.value + other.value, self.tangent + other.tangent)

    def times(self, other):
        return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)

    def over(self, other):
        return Dual(self.value / other.value, (self.tangent * other.value - self.value * other.tangent) / other.value**2)

    def __pow__(self, n):
        if n == 0:
            return Dual(self.value**0, self.tangent * 0.0)
        return Dual(self.value**n, n * self.value ** (n - 1) * self.tangent)

    def sin(self):
        return Dual(sin(self.value), cos(self.value) * self.tangent)

    def cos(self):
        return Dual(cos(self.value), sin(self.value) * self.tangent * -1.0)

    def exp(self):
        return Dual(exp(self.value), exp(self.value) * self.tangent)

    def log(self):
        return Dual(log(self.value), self.tangent / self.value)
