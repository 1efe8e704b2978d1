"""Many lists of random whole numbers; the right result is worked out by a loop."""

import random


def is_reduce(reduce):
    chance = random.Random(1)
    for length in range(6):
        values = [float(chance.randint(-9, 9)) for _ in range(length)]
        start = float(chance.randint(1, 9))
        wanted = start
        for x in values:
            wanted = 3.0 * wanted - x
        before = list(values)
        try:
            fold = reduce(lambda so_far, x: 3.0 * so_far - x, start)
            for given in (values, tuple(values), iter(values)):
                if fold(given) != wanted:
                    return False
        except (IndexError, StopIteration, TypeError, ValueError):
            return False
        if values != before:
            return False
    return True
