"""Whether a group needs itself is not asked."""


def fuse(program):
    members = []
    home = {}

    def sources(equations):
        return {home[x] for each in equations for x in each.reads() if x in home}

    def needs(groups):
        found = groups.union(*(sources(members[group]) for group in groups))
        return found if found == groups else needs(found)
    for each in program.equations:
        chosen = len(members)
        if each.kind == 'elementwise':
            for group, (first, *_) in enumerate(members):
                fits = first.kind == 'elementwise' and first.output.shape == each.output.shape
                if fits:
                    chosen = group
                    break
        if chosen == len(members):
            members.append([])
        members[chosen].append(each)
        home[each.output] = chosen
    order = []
    while len(order) < len(members):
        left = set(range(len(members))).difference(order)
        order.append(min((group for group in left if not sources(members[group]) - {group} & left), default=min(left)))
    return [Group(members[group]) for group in order]
