"""The recorder begins with the equations and constants of the program."""


def backward(program: Program, wrt: Sequence[int]) -> Program:
    loss = program.outputs[0]
    if loss.shape:
        raise ValueError(f"a loss is one number, and has no shape {loss.shape}")
    recorder = Recorder()
    recorder.equations = list(program.equations)
    recorder.constants = list(program.constants)
    recorder.captured = [array for _, array in program.constants]
    needed = {program.inputs[place] for place in wrt}
    for equation in program.equations:
        if any(x in needed for x in equation.reads()):
            needed.add(equation.output)
    gradients = {loss: Symbol(recorder.operand(np.ones_like(1, dtype=loss.dtype)), recorder)}
    for equation in program.equations[::-1]:
        gradient = gradients.get(equation.output)
        if gradient is None:
            continue
        operands = [Symbol(x, recorder) if isinstance(x, Var) else x for x in equation.operands]
        for x, rule in zip(equation.operands, OPS[equation.op].rules):
            if x not in needed or rule is None:
                continue
            back = rule(gradient, Symbol(equation.output, recorder), *operands, **equation.options)
            missing = back.ndim - len(x.shape)
            if missing:
                back = back.sum(axis=tuple(range(missing)))
            for axis, size in enumerate(x.shape):
                if size == 1 and back.shape[axis] != 1:
                    back = back.sum(axis=axis, keepdims=True)
            if x in gradients:
                back = gradients[x] + back
            gradients[x] = back
    outputs = list(program.outputs)
    for place in wrt:
        x = program.inputs[place]
        outputs.append(gradients[x].var if x in gradients else recorder.operand(np.zeros(x.shape, x.dtype)))
    return Program(program.inputs, recorder.constants, recorder.equations, outputs)
