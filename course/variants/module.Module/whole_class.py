class Module:
    """A tree of parts, written as a whole, with its own way of telling parameters from modules."""

    def __init__(self):
        self._modules = {}
        self._parameters = {}
        self.training = True

    def modules(self):
        return self.__dict__["_modules"].values()

    def train(self):
        self._switch(True)

    def eval(self):
        self._switch(False)

    def _switch(self, training):
        for m in self.modules():
            m._switch(training)
        self.training = training

    def named_parameters(self):
        found = {}
        for key, parameter in self.__dict__["_parameters"].items():
            found[key] = parameter
        for prefix, m in self.__dict__["_modules"].items():
            for key, parameter in m.named_parameters():
                found[f"{prefix}.{key}"] = parameter
        return list(found.items())

    def parameters(self):
        return [p for _, p in self.named_parameters()]

    def add_parameter(self, k, v):
        parameter = Parameter(v, k)
        self.__dict__["_parameters"][k] = parameter
        return parameter

    def __setattr__(self, key, value):
        if isinstance(value, Parameter):
            self.__dict__["_parameters"][key] = value
        elif isinstance(value, Module):
            self.__dict__["_modules"][key] = value
        else:
            super().__setattr__(key, value)

    def __getattr__(self, key):
        for registry in ("_parameters", "_modules"):
            if key in self.__dict__[registry]:
                return self.__dict__[registry][key]
        raise AttributeError(key)

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)
