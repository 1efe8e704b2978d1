"""Others are passed from the lowest one on."""


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
        place = 0
        others = [other for other in placed if values[other].meets(values[x])]
        for other in sorted(others, key=lambda other: placed[other]):
            if place + values[x].size <= placed[other]:
                break
            place = max(place, placed[other] + values[other].size)
        placed[x] = place
    return placed
