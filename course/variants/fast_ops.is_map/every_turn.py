"""Shapes with every axis cut or left out, turned and not turned."""


def is_map(tensor_map):
    def function(number):
        return 3.0 - number

    for dims in [(), (1,), (3,), (2, 3), (2, 3, 2)]:
        for shape in [dims, dims[1:], (1,) * (len(dims) > 0) + dims[1:], ()]:
            for turned_in in (False, True):
                for turned_out in (False, True):
                    x = np.random.default_rng(1).normal(size=shape[::-1]).T if turned_in else np.random.normal(size=shape)
                    out = np.zeros(dims[::-1]).T if turned_out else np.zeros(dims)
                    wanted = np.zeros(dims)
                    for index in np.ndindex(*dims):
                        wanted[index] = function(np.broadcast_to(x, dims)[index])
                    try:
                        tensor_map(function)(*TensorData.of(out).tuple(), *TensorData.of(x).tuple())
                    except Exception:
                        return False
                    if out.tolist() != wanted.tolist():
                        return False
    return True
