"""A missing program is made first."""


def spec(x):
    if is_array(x):
        return (x.shape, x.dtype)
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
        run = self.kept.get(key)
        if run is None:
            self.misses += 1
            run = self.kept[key] = self.build(trace(self.f, *args))
        else:
            self.hits += 1
        y, *more = run(*[x for x in args if is_array(x)])
        return (y, *more) if more else y
