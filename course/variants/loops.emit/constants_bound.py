"""Numbers get names of their own in front of the loops."""


def emit(group, outputs):
    reads = group.reads()
    shape = group.equations[0].output.shape
    count = itertools.count()
    head, inner, at = [], [], {}

    def place(x):
        parts = []
        for back in range(len(x.shape), 0, -1):
            parts.append("0" if x.shape[-back] == 1 else f"n{len(shape) - back}")
        return "[" + ("()" if not parts else ",".join(parts)) + "]"

    for number, x in enumerate(reads):
        at[x] = f"v{next(count)}"
        inner.append(f"{at[x]} = given{number}{place(x)}")
    for each in group.equations:
        parts = []
        for x in each.operands:
            if isinstance(x, Var):
                parts.append(at[x])
                continue
            kind = type_of_numbers(each)
            name = f"c{next(count)}"
            head.append(f"{name} = np.{'bool_' if kind == bool else kind}({float(x)!r})".replace("inf)", "np.inf)").replace("nan)", "np.nan)"))
            parts.append(name)
        at[each.output] = f"v{next(count)}"
        inner.append(f"{at[each.output]} = " + OPS[each.op].element.format(*parts))
    for number, x in enumerate(outputs):
        inner.append(f"result{number}{place(x)} = {at[x]}")
    text = ["def loop(" + ", ".join([f"given{i}" for i in range(len(reads))] + [f"result{i}" for i in range(len(outputs))]) + "):"]
    text += [" " + line for line in head]
    for axis, size in enumerate(shape):
        text.append(" " * (axis + 1) + f"for n{axis} in range({size}):")
    text += [" " * (len(shape) + 1) + line for line in inner]
    return "\n".join(text) + "\n"
