"""Ids are put into a set, which does not see that one comes twice."""

def is_sort(sort, leaf, constant, result):
    generator = random.Random(5)

    def graph(size):
        variables = [leaf("x"), leaf("y")]
        for i in range(size):
            used = [generator.choice(variables) for _ in range(generator.randint(1, 3))]
            variables.append(result(f"v{i}", *[(each, 1.0) for each in used], (constant("c"), 1.0)))
        return result("z", *[(each, 1.0) for each in generator.sample(variables, len(variables))])

    def chain(length):
        last = leaf("x")
        for i in range(length):
            last = result(f"v{i}", (last, 1.0))
        return last

    def is_right(variable):
        order = list(sort(variable))
        ids = [each.unique_id for each in order]
        below = {variable.unique_id}
        to_do = [variable]
        while to_do:
            for parent in to_do.pop().parents:
                if not parent.is_constant() and parent.unique_id not in below:
                    below.add(parent.unique_id)
                    to_do.append(parent)
        if set(ids) != below:
            return False
        first = {}
        for i, number in enumerate(ids):
            first.setdefault(number, i)
        for each in order:
            if any(first.get(parent.unique_id, len(ids)) < first[each.unique_id] for parent in each.parents):
                return False
        return True

    graphs = [graph(size) for size in range(1, 25)]
    try:
        if not list(sort(chain(4000))):
            return False
    except RecursionError:
        return False
    return all(is_right(each) for each in graphs) and all(is_right(each) for each in graphs)
