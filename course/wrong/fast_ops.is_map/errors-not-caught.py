"""An error of the map that is judged ends the test."""


def is_map(tensor_map):
    for out_shape, shape in [((2, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 2, 3), (2, 3)), ((3,), ()), ((), ())]:
        for x_order, out_order in ("CC", "CF", "FC", "FF"):
            x = np.array(np.random.default_rng(0).normal(size=shape), order=x_order)
            out = np.zeros(out_shape, order=out_order)
            parts = (*TensorData.of(out).tuple(), *TensorData.of(x).tuple())
            tensor_map(lambda number: 2.0 * number + 1.0)(*parts)
            if not np.array_equal(out, np.broadcast_to(2.0 * x + 1.0, out_shape)):
                return False
    return True
