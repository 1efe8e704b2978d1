"""A value is placed above all that are in the way."""


def lifetimes(program, groups):
    base = base_of(program)
    staying = [base.get(x, x) for x in program.outputs]
    found = {}
    for first, group in enumerate(groups):
        for x in left_behind(program, groups, group):
            if x not in base and x not in staying:
                readers = [i for i, each in enumerate(groups) if x in [base.get(y, y) for y in each.reads()]]
                found[x] = Lifetime(-(-x.nbytes // 64) * 64, first, max(readers))
    return found


def plan_memory(values):
    placed = {}
    for x in sorted(values, key=lambda x: (-values[x].size, values[x].first)):
        taken = [(placed[y], placed[y] + values[y].size) for y in placed if values[y].meets(values[x])]
        places = [0, *(end for _, end in taken)]
        fitting = [p for p in places if all((p + values[x].size <= start or end <= p for start, end in taken))]
        placed[x] = max(places)
    return placed
