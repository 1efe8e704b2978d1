"""The pass is an ordinary backward, whose gradients add up in the nodes from call to call."""

def vjp(f, *primals):
    with differentiating():
        inputs = [fresh(x) for x in primals]
        y = f(*inputs)
        total = [creation.zeros_like(x.detach()) for x in inputs]

    def back(cotangent):
        for i, g in enumerate(gradients(y, inputs, cotangent)):
            total[i] = total[i] + g
        return tuple(finished(g) for g in total)

    return finished(y), back


def value_and_grad(f, argnums=0):
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def both(*args):
        def of_chosen(*chosen):
            every = list(args)
            for place, x in zip(places, chosen):
                every[place] = x
            return f(*every)

        value, back = vjp(of_chosen, *[args[place] for place in places])
        if value.shape != ():
            raise TypeError(f"grad needs one number, not a tensor of shape {value.shape}")
        found = back(value * 0.0 + 1.0)
        return value, found[0] if isinstance(argnums, int) else found

    return both


def grad(f, argnums=0):
    def gradient(*args):
        return value_and_grad(f, argnums)(*args)[1]

    return gradient
