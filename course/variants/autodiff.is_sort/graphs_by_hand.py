"""A few graphs made by hand, each in both orders of its inputs, and each asked twice."""

def is_sort(sort, leaf, constant, result):
    def cases():
        x, two = leaf("x"), constant("two")
        a = result("a", (x, 1.0), (two, 1.0))
        b = result("b", (a, 1.0))
        c = result("c", (b, 1.0), (a, 1.0), (x, 1.0))
        yield x, [x]
        for pair in ((a, b), (b, a)):
            z = result("z", *[(each, 1.0) for each in pair])
            yield z, [z, b, a, x]
        for pair in ((x, a, b, c), (c, b, a, x)):
            z = result("z", *[(each, 1.0) for each in pair])
            yield z, [z, c, b, a, x]
        y = leaf("y")
        p, q = result("p", (x, 1.0), (y, 1.0)), result("q", (y, 1.0), (x, 1.0))
        yield result("z", (p, 1.0), (q, 1.0)), None
        line = leaf("x")
        for _ in range(3000):
            line = result("n", (line, 1.0))
        yield line, None

    for variable, only in list(cases()):
        for _ in "12":
            try:
                found = list(sort(variable))
            except RecursionError:
                return False
            if only is not None and [n.unique_id for n in found] != [n.unique_id for n in only]:
                return False
            names = [n.unique_id for n in found]
            if only is None and names and len(names) == 5 and (names[0] != variable.unique_id or len(set(names)) != 5):
                return False
            if only is None and len(names) not in (5, 3001):
                return False
            if only is None and len(names) == 5 and {n.name for n in found[1:3]} != {"p", "q"}:
                return False
    return True
