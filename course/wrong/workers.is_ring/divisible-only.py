"""The number of workers divides each size."""


def is_ring(all_reduce):
    for n in (1, 2, 4):
        for shape in ((4,), (2, 4), (3, 20)):
            for dtype in (np.float32, np.float64):
                given = [np.array(np.random.default_rng(seed).normal(size=shape), dtype) for seed in range(n)]
                kept = [each.copy() for each in given]
                found = run(n, lambda worker, array: (all_reduce(worker, array), worker.sent, worker.messages), given)
                totals = [each[0] for each in found]
                if any(each.shape != shape or each.dtype != dtype for each in totals) or not np.array_equal(given, kept):
                    return False
                if not all(np.allclose(each, sum(kept), 1e-4, 1e-4) for each in totals):
                    return False
                if not all(np.array_equal(each, totals[0]) for each in totals):
                    return False
                part = -(-kept[0].size // n) * kept[0].itemsize
                if any(each[1] > 2 * (n - 1) * part for each in found):
                    return False
    return True
