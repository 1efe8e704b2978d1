"""The class has slots, and its build does nothing where none is given."""

from collections import defaultdict


def spec(x):
    return ("array", x.shape, x.dtype) if is_array(x) else ("other", repr(x), x)


class Jitted:
    __slots__ = ("f", "build", "kept", "hits", "misses")

    def __init__(self, f, build=None):
        self.f = f
        self.build = build or (lambda program: program.run)
        self.kept = {}
        self.hits, self.misses = 0, 0

    def __call__(self, *args):
        key = (*map(spec, args),)
        if key in self.kept:
            self.hits += 1
        else:
            self.kept[key] = self.build(trace(self.f, *args))
            self.misses += 1
        y = self.kept[key](*[x for x in args if is_array(x)])
        return y if len(y) != 1 else y[0]
