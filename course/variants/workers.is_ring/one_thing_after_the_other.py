"""Each property has a loop of its own, with arrays that show it."""


def is_ring(all_reduce):
    def tried(n, shape, dtype, draw):
        given = [draw(rank, shape).astype(dtype) for rank in range(n)]
        copies = [each.tobytes() for each in given]

        def work(worker, array):
            return all_reduce(worker, array), worker.sent

        totals, sent = zip(*run(n, work, given), strict=True)
        intact = copies == [each.tobytes() for each in given]
        agree = len({(each.tobytes(), each.shape, each.dtype) for each in totals}) == 1
        whole = totals[0].shape == shape and totals[0].dtype == dtype
        few = max(sent) <= 2 * (n - 1) * -(-given[0].size // n) * given[0].itemsize
        return intact and agree and whole and few, given, totals[0]

    def whole_numbers(rank, shape):
        return np.array(np.arange(np.prod(shape, dtype=int)).reshape(shape) * 7.0 + 1000.0 * rank)

    def fractions(rank, shape):
        return np.array(np.sin(whole_numbers(rank, shape)) * 10.0**rank)

    for n in range(1, 7):
        for shape in (), (1,), (5,), (3, 8), (2, 3, 5), (60,):
            for dtype in np.float64, np.float32:
                good, given, total = tried(n, shape, dtype, whole_numbers)
                if not good or not np.array_equal(total, sum(given)):
                    return False
                if not tried(n, shape, dtype, fractions)[0]:
                    return False
    return True
