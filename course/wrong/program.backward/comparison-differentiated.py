"""A rule is asked of every operand, also where there is none, as of a comparison."""


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

    gradients = {loss: Symbol(recorder.operand(np.ones((), loss.dtype)), recorder)}
    for each in reversed(program.equations):
        if each.output in gradients:
            out = Symbol(each.output, recorder)
            operands = [Symbol(x, recorder) if isinstance(x, Var) else x for x in each.operands]
            for x, rule in zip(each.operands, OPS[each.op].rules, strict=True):
                if x in leading:
                    gradient = summed(rule(gradients[each.output], out, *operands, **each.options), x.shape)
                    gradients[x] = gradients[x] + gradient if x in gradients else gradient
    found = [gradients[x].var if x in gradients else recorder.operand(np.zeros(x.shape, x.dtype)) for x in inputs]
    constants = [*program.constants, *recorder.constants]
    equations = [*program.equations, *recorder.equations]
    return Program(program.inputs, constants, equations, [*program.outputs, *found])
