"""The shape does not belong to the spec."""


def spec(x):
    if is_array(x):
        return (x.ndim, x.dtype)
    return (x, repr(x))


class Jitted:

    def __init__(self, f, build=None):
        self.f = f
        self.build = build or (lambda program: program.run)
        self.kept = {}
        self.hits = 0
        self.misses = 0

    def __call__(self, *args):
        key = tuple(map(spec, args))
        if key in self.kept:
            self.hits += 1
        else:
            self.misses += 1
            self.kept[key] = self.build(trace(self.f, *args))
        outputs = self.kept[key](*filter(is_array, args))
        return outputs[0] if len(outputs) == 1 else outputs
