"""Arguments are put into their places by a dictionary, and grad comes first of its own."""

def vjp(f, *primals):
    nodes = list(map(fresh, primals))
    with differentiating():
        result = f(*nodes)

    def pull(cotangent):
        taken = gradients(result, nodes, cotangent)
        return tuple(map(finished, taken))

    return finished(result), pull


def value_and_grad(f, argnums=0):
    def both(*args):
        single = isinstance(argnums, int)
        places = [argnums] if single else list(argnums)

        def run(*nodes):
            given = dict(zip(places, nodes))
            return f(*[given.get(i, x) for i, x in enumerate(args)])

        value, pull = vjp(run, *[args[i] for i in places])
        if len(value.shape) > 0:
            raise TypeError("grad: add up first, a vector has no gradient")
        found = pull(creation.ones_like(value))
        return (value, found[0]) if single else (value, found)

    return both


def grad(f, argnums=0):
    both = value_and_grad(f, argnums)
    return lambda *args: both(*args)[1]
