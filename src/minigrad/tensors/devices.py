"""Devices by PyTorch's name: a text that knows its type."""

from __future__ import annotations


class Device(str):
    """A device: "cpu" or "cuda", PyTorch's ``torch.device``. It is a text with two more attributes.

    Attributes:
        type: "cpu" or "cuda".
        index: The number behind a colon, or None.

    >>> device = minigrad.device("cuda:0")
    >>> device.type, device.index, minigrad.zeros(2).device == minigrad.device("cpu")
    ('cuda', 0, True)
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None  # type: ignore[assignment]  # that of texts is of no use here

    def __new__(cls, type: str, index: int | None = None) -> Device:  # noqa: A002 - PyTorch's name
        """Make a device of its type and number, or of a text such as "cuda:0"."""
        kind, _, number = str(type).partition(":")
        if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
            raise ValueError(f"there is no device {str(type)!r}; the devices are 'cpu' and 'cuda'")
        index = int(number) if number else index
        made = super().__new__(cls, kind if index is None else f"{kind}:{index}")
        made.type, made.index = kind, index
        return made

    def __getnewargs__(self) -> tuple[str]:
        return (str(self),)


CPU = Device("cpu")
CUDA = Device("cuda")
