"""NumPy moves the element, in a copy for each side."""

def grad_central_difference(f, *vals, arg=0, epsilon=1e-6, ind=(0,)):
    def rise(step):
        array = np.array(vals[arg].detach().numpy())
        array[tuple(ind)] += step
        moved = list(vals)
        moved[arg] = minigrad.tensor(array)
        return f(*moved).item()

    return (rise(epsilon) - rise(-epsilon)) / epsilon / 2
