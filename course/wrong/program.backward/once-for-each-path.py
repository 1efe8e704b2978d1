"""Each path from the loss to an input is walked by itself."""


def backward(program: Program, wrt: Sequence[int]) -> Program:
    loss = program.outputs[0]
    if loss.shape != ():
        raise ValueError(f"backward: the loss has shape {loss.shape}; it must be one number, of shape ()")
    recorder = Recorder()
    inputs = [program.inputs[place] for place in wrt]
    leading = set(inputs)  # the inputs, and what is computed from them
    for each in program.equations:
        if leading.intersection(each.reads()):
            leading.add(each.output)

    def summed(gradient: Symbol, shape: tuple[int, ...]) -> Symbol:
        padded = (1,) * (gradient.ndim - len(shape)) + shape
        repeated = tuple(axis for axis, size in enumerate(padded) if size != gradient.shape[axis])
        if repeated:
            gradient = gradient.sum(axis=repeated)
        return gradient if gradient.shape == shape else gradient.reshape(*shape)

    gradients = {}

    def walk(x, gradient):
        gradients[x] = gradients[x] + gradient if x in gradients else gradient
        for each in program.equations:
            if each.output is x:
                operands = [Symbol(y, recorder) if isinstance(y, Var) else y for y in each.operands]
                for y, rule in zip(each.operands, OPS[each.op].rules, strict=True):
                    if y in leading and rule is not None:
                        walk(y, summed(rule(gradient, Symbol(x, recorder), *operands, **each.options), y.shape))

    walk(loss, Symbol(recorder.operand(np.ones((), loss.dtype)), recorder))
    found = [gradients[x].var if x in gradients else recorder.operand(np.zeros(x.shape, x.dtype)) for x in inputs]
    constants = [*program.constants, *recorder.constants]
    equations = [*program.equations, *recorder.equations]
    return Program(program.inputs, constants, equations, [*program.outputs, *found])
