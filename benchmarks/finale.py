"""The language model of lesson 12, trained by minigrad and by PyTorch on the same batches from the same weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad import data, language, transforms

__all__ = ["train"]

WINDOW, WIDTH, BLOCKS, HEADS, SIZE = 64, 96, 3, 4, 16
RATE = 0.003
SAMPLE = 300  # characters

Step = Callable[[np.ndarray, np.ndarray], float]


class Text:
    """The sonnets as tokens, with the last tenth kept."""

    def __init__(self) -> None:
        text = "\n\n".join(poem.text for poem in data.poems("sonnets"))
        self.characters = sorted(set(text))
        number = {each: i for i, each in enumerate(self.characters)}
        tokens = np.array([number[each] for each in text])
        self.training, self.validation = language.split(tokens, 0.1)
        self.prompt = [number[each] for each in "Shall I compare thee"]

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The batches of every training, in the same order."""
        return language.batches(self.training, WINDOW, np.random.default_rng(0), SIZE)

    def unseen(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Batches of the part that was kept."""
        return language.batches(self.validation, WINDOW, np.random.default_rng(1), 32)


def _minigrad(parameters: Any, compiled: bool) -> tuple[Step, Step, Callable[[], Any]]:
    """Return a step of training, a loss without one, and the parameters now."""
    import minigrad

    def loss_of(p: Any, x: Any, y: Any) -> Any:
        logits = language.gpt(p, x, HEADS)
        return minigrad.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))

    def zeros() -> Any:
        return transforms.tree_map(lambda w: w * 0.0, parameters)

    def adam(p: Any, m: Any, v: Any, t: Any, x: Any, y: Any) -> Any:
        loss, g = transforms.value_and_grad(loss_of)(p, x, y)
        m = transforms.tree_map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = transforms.tree_map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        first, second = 1.0 - 0.9**t, 1.0 - 0.99**t

        def moved(w: Any, m: Any, v: Any) -> Any:
            return w - RATE * (m / first) / ((v / second).sqrt() + 1e-8)

        return loss, transforms.tree_map(moved, p, m, v), m, v

    state = [parameters, zeros(), zeros(), 0.0]
    convert = minigrad.from_numpy
    if compiled:
        quick, evaluated = minigrad.jit(adam, donate_argnums=(1, 2)), minigrad.jit(loss_of)

        def step(x: np.ndarray, y: np.ndarray) -> float:
            state[3] += 1.0
            loss, *state[:3] = quick(*state[:3], minigrad.tensor(state[3]), convert(x), convert(y))
            return float(loss.item())

        return step, lambda x, y: evaluated(state[0], convert(x), convert(y)).item(), lambda: state[0]

    leaves, structure = transforms.tree_flatten(parameters)
    leaves = [minigrad.nn.Parameter(each) for each in leaves]
    tree = transforms.tree_unflatten(structure, leaves)
    optimizer = minigrad.optim.Adam(leaves, lr=RATE, betas=(0.9, 0.99))

    def eager(x: np.ndarray, y: np.ndarray) -> float:
        optimizer.zero_grad()
        loss = loss_of(tree, convert(x), convert(y))
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return eager, lambda x, y: loss_of(tree, convert(x), convert(y)).item(), lambda: tree


def _torch(parameters: Any) -> tuple[Step, Step]:
    """Return a step of training and a loss without one."""
    import torch

    functional = torch.nn.functional
    tree = transforms.tree_map(lambda w: torch.tensor(w.numpy().copy(), requires_grad=True), parameters)
    leaves = transforms.tree_leaves(tree)
    optimizer = torch.optim.Adam(leaves, lr=RATE, betas=(0.9, 0.99))

    def normed(x: Any, p: Any) -> Any:
        return functional.layer_norm(x, (WIDTH,), **p)

    def loss_of(x: Any, y: Any) -> Any:
        x = functional.embedding(x, tree["characters"]) + tree["places"][: x.shape[1]]
        batch, n, width = x.shape
        for p in tree["blocks"]:
            joined = functional.linear(normed(x, p["norm1"]), **p["qkv"])
            q, k, v = joined.view(batch, n, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + functional.linear(seen.transpose(1, 2).reshape(batch, n, width), **p["mix"])
            x = x + functional.linear(functional.gelu(functional.linear(normed(x, p["norm2"]), **p["up"])), **p["down"])
        logits = functional.linear(normed(x, tree["norm"]), **tree["head"])
        return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))

    def step(x: np.ndarray, y: np.ndarray) -> float:
        optimizer.zero_grad()
        loss = loss_of(torch.from_numpy(x), torch.from_numpy(y))
        loss.backward()
        optimizer.step()
        return float(loss.item())

    def evaluated(x: np.ndarray, y: np.ndarray) -> float:
        with torch.no_grad():
            return float(loss_of(torch.from_numpy(x), torch.from_numpy(y)).item())

    return step, evaluated


def _written(text: Text, p: Any) -> str:
    """Return lines that the model writes, at the temperature 0.7."""
    import minigrad

    def model(tokens: Any, caches: Any) -> Any:
        with minigrad.no_grad():
            return language.gpt(p, minigrad.tensor([list(tokens)]), HEADS, caches)[0, -1].numpy()

    rng, found = np.random.default_rng(0), list(text.prompt)
    while len(found) < SAMPLE:
        seen = found[-WINDOW // 2 :]
        caches = [language.Cache() for _ in range(BLOCKS)]
        longer = language.generate(
            model, seen, WINDOW - len(seen), lambda logits: language.sample(logits, rng, 0.7), caches
        )
        found += longer[len(seen) :]
    return "".join(text.characters[i] for i in found[:SAMPLE])


def train(library: Any, steps: int) -> dict[str, Any]:
    """Train from the start.

    Args:
        library: minigrad (compiled), benchmarks.eager (minigrad without `jit`), or torch.
        steps: How many.

    Returns:
        The first and the last losses, the loss on lines not seen, the middle one of the seconds of a step, and for
        minigrad compiled what it writes.
    """
    text, name = Text(), library.__name__
    parameters = language.initial(np.random.default_rng(0), len(text.characters), WINDOW, WIDTH, BLOCKS)
    current = None
    if name == "torch":
        step, evaluated = _torch(parameters)
    else:
        step, evaluated, current = _minigrad(parameters, compiled=name == "minigrad")
    losses, spans, drawn = [], [], text.batches()
    for _ in range(steps):
        x, y = next(drawn)
        start = time.perf_counter()
        losses.append(step(x, y))
        spans.append(time.perf_counter() - start)
    unseen = text.unseen()
    return {
        "first": losses[0],
        "last": float(np.mean(losses[-50:])),
        "unseen": float(np.mean([evaluated(*next(unseen)) for _ in range(4)])),
        "seconds": float(np.median(spans[1:])),
        "fastest": float(np.min(spans[1:])),
        "sample": _written(text, current()) if current is not None and name == "minigrad" else "",
    }
