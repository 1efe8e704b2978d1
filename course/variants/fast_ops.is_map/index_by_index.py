"""Views of one table, compared element by element."""


def is_map(tensor_map):
    def inputs():
        numbers = np.arange(1.0, 13.0)
        yield numbers.reshape(3, 4)
        yield numbers.reshape(4, 3).T
        yield numbers[:4].reshape(1, 4)
        yield numbers[:4]
        yield numbers[:3].reshape(3, 1)
        yield np.array(5.0)

    def agrees(out, x):
        try:
            tensor_map(lambda number: number * number + 1.0)(*TensorData.of(out).tuple(), *TensorData.of(x).tuple())
        except (IndexError, TypeError, ValueError):
            return False
        whole = np.zeros(out.shape) + x
        return all(out[index] == whole[index] ** 2 + 1.0 for index in np.ndindex(*out.shape))

    for x in inputs():
        for out in (np.full((3, 4), -7.0), np.full((4, 3), -7.0).T, np.full((2, 3, 4), -7.0)):
            if not agrees(out, x):
                return False
    return agrees(np.array(0.0), np.array(2.0)) and agrees(np.zeros(5), np.array(2.0))
