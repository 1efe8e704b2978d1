"""An interrupt ends what goes on in pieces, whoever else listens or catches it."""

import contextlib
import signal
from collections.abc import Iterator

import pytest

from minigrad.widgets.kernel import Interrupts


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    """Listens for interrupts; afterwards the process has its own handler again."""
    before = signal.getsignal(signal.SIGINT)
    listening = Interrupts()
    yield listening
    listening.end()
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_that_a_block_catches_ends_the_next_one(interrupts: Interrupts) -> None:
    """A student's code, or a callback whose exceptions are only printed, may catch it."""
    with interrupts.heard(), contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts.heard():
        pass
    with interrupts.heard():
        pass


def test_a_handler_that_the_kernel_puts_back_does_not_deafen(interrupts: Interrupts) -> None:
    """IPython's kernel sets its own handler after each message, also between two blocks."""
    with interrupts.heard():
        pass
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with pytest.raises(KeyboardInterrupt), interrupts.heard():
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_before_the_end_is_forgotten(interrupts: Interrupts) -> None:
    """What starts later is not ended by it."""
    with interrupts.heard():
        pass
    signal.raise_signal(signal.SIGINT)
    interrupts.end()
    with interrupts.heard():
        pass
