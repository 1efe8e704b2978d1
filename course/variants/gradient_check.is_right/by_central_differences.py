"""The exercise before, on tensors that hold the arrays."""

def is_right(f, back, *shapes):
    rng = np.random.default_rng(11)

    def agrees():
        inputs = [minigrad.tensor(rng.normal(size=shape)) for shape in shapes]
        arrays = [x.numpy() for x in inputs]
        d_output = rng.normal(size=np.shape(f(*arrays)))

        def total(*tensors):
            return minigrad.tensor(np.array((f(*[x.numpy() for x in tensors]) * d_output).sum()))

        for arg, gradient in enumerate(back(d_output, *arrays)):
            if np.shape(gradient) != tuple(shapes[arg]):
                return False
            slopes = np.empty(shapes[arg])
            for ind in np.ndindex(slopes.shape):
                slopes[ind] = gradient_check.grad_central_difference(total, *inputs, arg=arg, ind=ind)
            if not np.allclose(gradient, slopes, rtol=0.0, atol=1e-4 * np.abs(slopes).max()):
                return False
        return True

    return all(agrees() for _ in range(20))
