"""Each call turns the flag of a leaf over."""


def flags_of_result(inputs: Sequence[Flags], recording: bool = True, floating: bool = True) -> Flags:
    if recording and floating and any(x.requires_grad for x in inputs):
        return RESULT
    return CONSTANT


def flags_after_change(x: Flags, others: Sequence[Flags], recording: bool = True) -> Flags:
    if not recording:
        return x
    if x == PARAMETER:
        raise GraphError("a parameter cannot be changed in place")
    return flags_of_result([x, *others])


def flags_after_requires_grad_(x: Flags, value: bool) -> Flags:
    if x.is_leaf:
        return PARAMETER if value != x.requires_grad else CONSTANT
    if value:
        return x
    raise GraphError("a result keeps its history")


def gets_grad(x: Flags, retained: bool = False) -> bool:
    return x.requires_grad and (x.is_leaf or retained)
