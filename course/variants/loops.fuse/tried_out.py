"""A group is joined on trial, and left again if no order is possible."""


def fuse(program):
    members = []

    def ordered(groups):
        home = {each.output: i for i, group in enumerate(groups) for each in group}
        order = []
        while len(order) < len(groups):
            ready = [i for i in range(len(groups)) if i not in order and all(home[x] in (i, *order) for each in groups[i] for x in each.reads() if x in home)]
            if not ready:
                return None
            order += ready
        return order

    for each in program.equations:
        for group in members:
            first = group[0]
            if each.kind == first.kind == 'elementwise' and each.output.shape == first.output.shape:
                group.append(each)
                if ordered(members) is not None:
                    break
                group.pop()
        else:
            members.append([each])
    return [Group(tuple(members[i])) for i in ordered(members)]
