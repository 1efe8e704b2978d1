"""A quotient is a product with a power, functions use their own result, and new Duals are made by name."""

class Dual(Arithmetic):
    def plus(self, other):
        return Dual(self.value + other.value, other.tangent + self.tangent, self.level)

    def times(self, other):
        a, b = self, other
        return Dual(a.value * b.value, a.value * b.tangent + b.value * a.tangent, level=a.level)

    def over(self, other):
        return self.times(other**-1)

    def __pow__(self, n):
        slope = n * self.value ** (n - 1) if n != 0 else zero(self.value)
        return Dual(self.value**n, slope * self.tangent, self.level)

    def sin(self):
        return self.like(sin(self.value), cos(self.value) * self.tangent)

    def cos(self):
        return self.like(cos(self.value), sin(self.value) * self.tangent * -1.0)

    def exp(self):
        result = exp(self.value)
        return Dual(result, self.tangent * result, self.level)

    def log(self):
        return Dual(log(self.value), self.tangent * self.value**-1, self.level)
