"""A random draw that nobody reads is removed."""


def fold(program):
    known = dict(program.constants)
    same = {}
    equations = []
    for each in program.equations:
        equation = replaced(each, same)
        if OPS[each.op].pure and all((x in known for x in equation.reads())):
            values = [known[x] if isinstance(x, Var) else x for x in equation.operands]
            known[each.output] = call(each.op, *values, **each.options)
            continue
        kept = None
        match (equation.op, equation.operands):
            case ['mul', [x, 1]] | ['mul', [1, x]] | ['div', [x, 1]]:
                kept = x
            case ['sub', [x, 0 as number]] if repr(number)[0] != '-':
                kept = x
        if isinstance(kept, Var) and (kept.shape, kept.dtype) == (each.output.shape, each.output.dtype):
            same[each.output] = kept
        else:
            equations.append(equation)
    return Program(program.inputs, [*known.items()], equations, replaced(program.outputs, same))


def merge(program):
    found = {}
    same = {}
    equations = []
    for each in program.equations:
        equation = replaced(each, same)
        key = (each.op, *map(spec, equation.operands), repr(each.options))
        if OPS[each.op].pure and key in found:
            same[each.output] = found[key]
        else:
            found[key] = each.output
            equations.append(equation)
    return Program(program.inputs, program.constants, equations, replaced(program.outputs, same))


def prune(program):
    needed = set(program.outputs)
    equations = []
    for each in reversed(program.equations):
        if each.output in needed:
            equations.insert(0, each)
            needed.update(each.reads())
    constants = [pair for pair in program.constants if pair[0] in needed]
    return Program(program.inputs, constants, equations, program.outputs)
