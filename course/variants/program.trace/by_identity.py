"""Constants are found by the number of the captured array."""


class Recorder:

    def __init__(self):
        self.constants = []
        self.equations = []
        self.captured = []

    def operand(self, x):
        if isinstance(x, Symbol):
            if x.recorder is not self:
                raise ValueError('trace: this symbol belongs to another recording, whose function has kept it')
            return x.var
        if not is_array(x):
            if not isinstance(x, int | float):
                raise TypeError(f'trace: programs compute with arrays and numbers, not with a {type(x).__name__}')
            return x
        places = [id(seen) for seen in self.captured]
        if id(x) in places:
            return self.constants[places.index(id(x))][0]
        self.captured = [*self.captured, x]
        self.constants.append((Var(x.shape, x.dtype), np.array(x)))
        return self.constants[-1][0]

    def apply(self, op, *operands, **options):
        given = [self.operand(x) for x in operands]
        equation = Equation(op, given, result_of(op, *given, **options), options)
        self.equations += [equation]
        return Symbol(equation.output, self)

    def refuse(self):
        raise TypeError('trace: a symbol has no elements yet, so Python cannot choose by it; use where(condition, x, y)')


def trace(f, *examples):
    recorder = Recorder()
    given = [Symbol(Var(x.shape, x.dtype), recorder) if is_array(x) else x for x in examples]
    y = f(*given)
    outputs = [recorder.operand(each) for each in (y if isinstance(y, tuple) else (y,))]
    inputs = [each.var for each in given if isinstance(each, Symbol)]
    return Program(inputs, recorder.constants, recorder.equations, outputs)
