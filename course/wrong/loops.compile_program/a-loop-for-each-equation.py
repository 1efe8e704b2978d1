"""Every equation is a loop."""


def compile_program(program, build=compiled):
    program = simplify(program)
    groups = [Group((each,)) for each in program.equations]
    values = lifetimes(program, groups)
    places = plan_memory(values)
    size = peak(values, places)
    steps = []
    for group in groups:
        written = left_behind(program, groups, group)
        loop = build(emit(group, written)) if group.equations[0].kind == 'elementwise' else None
        steps.append((group, written, loop))

    def run(*arrays):
        block = np.empty(size, np.uint8)
        known = dict(zip(program.inputs, map(np.asarray, arrays), strict=True)) | dict(program.constants)

        def room(x):
            if x not in places:
                return np.empty(x.shape, x.dtype)
            return block[places[x]:places[x] + x.nbytes].view(x.dtype).reshape(x.shape)
        for group, written, loop in steps:
            first = group.equations[0]
            if loop is not None:
                known.update(((x, room(x)) for x in written))
                loop(*[known[x] for x in [*group.reads(), *written]])
            else:
                y = known[first.output] = call(first.op, *[known[x] for x in first.operands], **first.options)
                if first.output in places:
                    known[first.output] = room(first.output)
                    known[first.output][...] = y
        return tuple((known[x] if isinstance(x, Var) else x for x in program.outputs))
    return run
