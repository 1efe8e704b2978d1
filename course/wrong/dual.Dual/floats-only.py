"""Sine and cosine are those of the module math, which take floats only."""

class Dual(Arithmetic):
    def plus(self, other):
        return self.like(self.value + other.value, self.tangent + other.tangent)

    def times(self, other):
        return self.like(self.value * other.value, self.tangent * other.value + self.value * other.tangent)

    def over(self, other):
        return self.like(self.value / other.value, (self.tangent * other.value - self.value * other.tangent) / other.value**2)

    def __pow__(self, n):
        if n == 0:
            return self.like(self.value**0, self.tangent * 0.0)
        return self.like(self.value**n, n * self.value ** (n - 1) * self.tangent)

    def sin(self):
        import math

        return self.like(math.sin(self.value), math.cos(self.value) * self.tangent)

    def cos(self):
        import math

        return self.like(math.cos(self.value), -math.sin(self.value) * self.tangent)

    def exp(self):
        return self.like(exp(self.value), exp(self.value) * self.tangent)

    def log(self):
        return self.like(log(self.value), self.tangent / self.value)
