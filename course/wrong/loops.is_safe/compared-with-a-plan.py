"""The places are compared with those of the own plan."""


def is_safe(lifetimes, plan_memory):
    random = np.random.default_rng(1)

    def drawn(x):
        known = [x * 2.0]
        for choice in random.integers(0, 4, 20):
            a, b = (known[i] for i in random.integers(0, len(known), 2))
            ways = lambda: a * b, lambda: a.T, lambda: a.T @ a, lambda: a.sum(axis=0, keepdims=True)
            known.append(ways[choice]())
        return tuple(known[-2:])

    for _ in range(30):
        program = trace(drawn, np.zeros((9, 9)))
        groups = fuse(program)
        right = loops.plan_memory(loops.lifetimes(program, groups))
        if plan_memory(lifetimes(program, groups)) != right:
            return False
    return True
