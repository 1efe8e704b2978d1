"""Each flag is computed on its own, in loops."""


def flags_of_result(inputs: Sequence[Flags], recording: bool = True, floating: bool = True) -> Flags:
    needed = False
    for each in inputs:
        if each.requires_grad:
            needed = True
    needed = bool(needed and recording and floating)
    return Flags(requires_grad=needed, is_leaf=not needed, has_grad_fn=needed)


def flags_after_change(x: Flags, others: Sequence[Flags], recording: bool = True) -> Flags:
    if recording is False:
        return x
    if x.requires_grad and x.is_leaf:
        raise GraphError("no")
    return flags_of_result(list(others) + [x], recording)


def flags_after_requires_grad_(x: Flags, value: bool) -> Flags:
    if not x.is_leaf and not value:
        raise GraphError("no")
    if not x.is_leaf:
        return x
    return x._replace(requires_grad=value)


def gets_grad(x: Flags, retained: bool = False) -> bool:
    return x.requires_grad and (x.is_leaf or retained)
