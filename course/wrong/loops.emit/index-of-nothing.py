"""An array without axes has an empty index."""


def emit(group, outputs):
    reads = group.reads()
    shape = group.equations[0].output.shape
    names = {x: f'x{i}' for i, x in enumerate(reads)}
    targets = {x: f'out{i}' for i, x in enumerate(outputs)}

    def index(x):
        skipped = len(shape) - len(x.shape)
        axes = ['0' if size == 1 else f'i{axis + skipped}' for axis, size in enumerate(x.shape)]
        return ', '.join(axes) or ('0' if len(shape) == 0 else '()')
    lines = [f'e{i} = {names[x]}[{index(x)}]' for i, x in enumerate(reads)]
    element = {x: f'e{i}' for i, x in enumerate(reads)}
    for each in group.equations:
        parts = []
        for x in each.operands:
            if isinstance(x, Var):
                parts.append(element[x])
            else:
                text = repr(x).replace('inf', 'np.inf').replace('nan', 'np.nan')
                parts.append(f'np.{type_of_numbers(each)}({text})')
        element[each.output] = f'e{len(lines)}'
        lines.append(f'e{len(lines)} = {OPS[each.op].element.format(*parts)}')
    for x, name in targets.items():
        lines.append(f'{name}[{index(x)}] = {element[x]}')
    source = f"def loop({', '.join([*names.values(), *targets.values()])}):\n"
    for axis, size in enumerate(shape):
        source += f"{'    ' * (axis + 1)}for i{axis} in range({size}):\n"
    indent = '    ' * (len(shape) + 1)
    return source + ''.join((f'{indent}{line}\n' for line in lines))
