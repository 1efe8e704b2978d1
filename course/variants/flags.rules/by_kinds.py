"""Kinds are compared, and flags are never looked at."""


def flags_of_result(inputs: Sequence[Flags], recording: bool = True, floating: bool = True) -> Flags:
    recorded = recording and floating and (PARAMETER in inputs or RESULT in inputs)
    return RESULT if recorded else CONSTANT


def flags_after_change(x: Flags, others: Sequence[Flags], recording: bool = True) -> Flags:
    if not recording:
        return x
    if x == PARAMETER:
        raise GraphError("a parameter cannot be changed in place")
    return flags_of_result([x, *others])


def flags_after_requires_grad_(x: Flags, value: bool) -> Flags:
    if x.is_leaf:
        return PARAMETER if value else CONSTANT
    if value:
        return x
    raise GraphError("a result keeps its history")


def gets_grad(x: Flags, retained: bool = False) -> bool:
    return x == PARAMETER or (x == RESULT and retained)
