"""Parameters and their names are tuples, which are sequences too."""


class Module:
    _modules: dict[str, Module]
    _parameters: dict[str, Parameter]
    training: bool

    def __init__(self) -> None:
        self.__dict__["_modules"] = {}
        self.__dict__["_parameters"] = {}
        self.training = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "_modules" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}.__init__ must call super().__init__() before it sets {name!r}")
        for registry in (self._modules, self._parameters):
            registry.pop(name, None)
        self.__dict__.pop(name, None)
        if isinstance(value, Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        for registry in ("_parameters", "_modules"):
            if name in self.__dict__.get(registry, {}):
                return self.__dict__[registry][name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{type(self).__name__} does not define forward(), so it cannot be called")

    def add_parameter(self, name: str, value: Any) -> Parameter:
        parameter = Parameter(value, name)
        self._parameters[name] = parameter
        return parameter

    def modules(self) -> Sequence[Module]:
        return list(self._modules.values())

    def train(self) -> None:
        self.training, _ = True, [child.train() for child in self._modules.values()]

    def eval(self) -> None:
        self.training, _ = False, [child.eval() for child in self._modules.values()]

    def named_parameters(self) -> Sequence[tuple[str, Parameter]]:
        result = tuple(self._parameters.items())
        for name, child in self._modules.items():
            result += tuple((name + "." + n, p) for n, p in child.named_parameters())
        return result

    def parameters(self) -> Sequence[Parameter]:
        return tuple(p for _, p in self.named_parameters())

    def zero_grad(self) -> None:
        for parameter in self.parameters():
            parameter.value.grad = None

    def __repr__(self) -> str:
        lines = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items()]
        head = f"{type(self).__name__}("
        return "\n".join([head, *lines, ")"]) if lines else head + ")"
