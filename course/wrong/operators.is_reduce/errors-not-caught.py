"""An error of the function that is judged ends the test."""


def is_reduce(reduce):
    values = [5.0, 1.0, 4.0]
    fold = reduce(lambda so_far, x: 2.0 * so_far + x, 3.0)
    results = [fold(values), fold(values), fold(x for x in values), fold([])]
    return results == [50.0, 50.0, 50.0, 3.0]
