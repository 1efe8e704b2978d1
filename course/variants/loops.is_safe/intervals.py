"""Networks of random widths; the values that are there at a step are sorted by their places."""


def is_safe(lifetimes, plan_memory):
    random = np.random.default_rng(7)

    def network(x, *weights):
        kept = [x]
        for w in weights:
            x = tanh(x @ w)
            kept.append(x)
            if random.random() < 0.5:
                x = (x.T @ kept[-1]).reshape(w.shape[1], w.shape[1]).T.sum(axis=0, keepdims=True) + x
            if random.random() < 0.5:
                x = x * kept[-1] + x.max(axis=None)
            if random.random() < 0.5:
                y = x @ w.T
                x = x * (y @ w + y.sum(axis=None))
        late = [each.T for each in kept[1:] if random.random() < 0.3]
        sums = [(each * each.sum(axis=1, keepdims=True)).sum(axis=None) for each in kept]
        total = sums[0]
        for each in sums[1:]:
            total = each + total * 2.0
        return x.T, total, *late

    for _ in range(12):
        widths = [int(n) for n in random.integers(1, 20, 5)]
        kind = random.choice([np.float32, np.float64])
        weights = [np.zeros(pair, kind) for pair in itertools.pairwise(widths)]
        program = trace(network, np.zeros((3, widths[0]), kind), *weights)
        groups = fuse(program)
        found = plan_memory(lifetimes(program, groups))
        base = base_of(program)
        writers, readers = {}, {}
        for step, group in enumerate(groups):
            for each in group.equations:
                writers[each.output] = step
            for x in group.reads():
                readers.setdefault(base.get(x, x), []).append(step)
        for x in program.outputs:
            if x in found or base.get(x) in found:
                return False
        for step in range(len(groups)):
            end = 0
            present = [x for x in found if writers[x] <= step <= max(readers.get(x, [writers[x]]))]
            for x in sorted(present, key=lambda x: found[x]):
                if found[x] < end or found[x] % 64 != 0:
                    return False
                end = found[x] + x.nbytes
    return True
