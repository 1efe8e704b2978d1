"""The gradient of the loss in itself stands in no dict; axes are summed one by one."""


def backward(program: Program, wrt: Sequence[int]) -> Program:
    loss = program.outputs[0]
    if loss.shape != ():
        raise ValueError("the loss must be one number")
    recorder = Recorder()
    chosen = [program.inputs[place] for place in wrt]
    leading = {*chosen}
    for each in program.equations:
        if not leading.isdisjoint(each.reads()):
            leading.add(each.output)

    def symbol(x):
        return Symbol(x, recorder) if isinstance(x, Var) else x

    def to_shape(gradient, shape):
        while gradient.ndim > len(shape):
            gradient = gradient.sum(axis=0)
        for axis in range(len(shape)):
            if shape[axis] != gradient.shape[axis]:
                gradient = gradient.sum(axis=axis, keepdims=True)
        return gradient

    found = {}
    one = symbol(recorder.operand(np.array(1, loss.dtype)))
    for each in [*reversed(program.equations)]:
        d = one if each.output is loss and loss not in found else found.get(each.output)
        if d is None:
            continue
        for place, x in enumerate(each.operands):
            rule = OPS[each.op].rules[place]
            if x in leading and rule:
                back = to_shape(rule(d, symbol(each.output), *map(symbol, each.operands), **each.options), x.shape)
                found[x] = back if x not in found else found[x] + back
    if loss in program.inputs:
        found[loss] = one
    gradients = [found[x].var if x in found else recorder.operand(np.zeros(x.shape, x.dtype)) for x in chosen]
    return Program(
        program.inputs,
        (*program.constants, *recorder.constants),
        (*program.equations, *recorder.equations),
        (*program.outputs, *gradients),
    )
