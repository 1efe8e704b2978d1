"""What comes back is collected in lists, and added when the walk comes to the variable."""


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

    arrived = {loss: [Symbol(recorder.operand(np.ones((), loss.dtype)), recorder)]}

    def total(x):
        first, *others = arrived[x]
        for each in others:
            first = first + each
        arrived[x] = [first]
        return first

    for equation in reversed(program.equations):
        if equation.output not in arrived:
            continue
        gradient, out = total(equation.output), Symbol(equation.output, recorder)
        operands = [Symbol(x, recorder) if isinstance(x, Var) else x for x in equation.operands]
        for place, x in enumerate(equation.operands):
            rule = OPS[equation.op].rules[place]
            if rule and x in leading:
                back = rule(gradient, out, *operands, **equation.options)
                arrived.setdefault(x, []).append(summed(back, x.shape))
    found = [total(x).var if x in arrived else recorder.operand(np.zeros(x.shape, x.dtype)) for x in inputs]
    constants = [*program.constants, *recorder.constants]
    equations = [*program.equations, *recorder.equations]
    return Program(program.inputs, constants, equations, [*program.outputs, *found])
