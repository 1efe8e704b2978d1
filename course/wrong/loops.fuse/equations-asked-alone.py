"""What an equation's companions need is not asked."""


def fuse(program):
    members, home, needs = [], {}, {}
    for each in program.equations:
        found = set()
        for x in each.reads():
            if x in home:
                found |= needs[x] | {x}
        needs[each.output] = found
        chosen = len(members)
        if each.kind == 'elementwise':
            for group, equations in enumerate(members):
                fits = equations[0].kind == 'elementwise' and equations[0].output.shape == each.output.shape
                own = {other.output for other in equations}
                outside = [x for x in found if home[x] != group]
                if fits and not any(needs[x] & own for x in outside):
                    chosen = group
                    break
        if chosen == len(members):
            members.append([])
        members[chosen].append(each)
        home[each.output] = chosen
    order = []
    while len(order) < len(members):
        left = [i for i in range(len(members)) if i not in order]
        ready = [i for i in left if all(home[x] in (i, *order) for e in members[i] for x in e.reads() if x in home)]
        order.append((ready or left)[0])
    return [Group(tuple(members[i])) for i in order]
