"""A small language model, to be read and written: each function of it, from the table of characters to the poem.

The parameters are a tree of dicts and lists, as `minigrad.transforms` takes it; the model is a function of them.

Source: Ashish Vaswani and others, Attention is all you need, 2017; Alec Radford and others, Language models are
unsupervised multitask learners, 2019 (GPT-2), whose order of layers this is
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import tensor_functions
from minigrad.tensor_functions import LinearFunction
from minigrad.tensors import Tensor, creation

if TYPE_CHECKING:
    from minigrad.engine import TensorContext

__all__ = [
    "Cache",
    "Embed",
    "attention_weights",
    "batches",
    "block",
    "causal_attention",
    "count",
    "generate",
    "gpt",
    "initial",
    "is_causal",
    "joined",
    "layer_norm",
    "linear",
    "per_head",
    "sample",
    "split",
]


class Embed(LinearFunction):
    """Rows of a table, looked up by number.

    ``Embed.apply(table, tokens=tokens)`` applies it.
    """

    @staticmethod
    def forward(ctx: TensorContext, table: Tensor, tokens: Tensor) -> Tensor:
        """Return the row of each token, and save what backward needs.

        Args:
            ctx: Keeps what `backward` needs, of any type:
                ``ctx.save_for_backward(...)``.
            table: Of shape (rows, width).
            tokens: Row numbers: int64, of any shape; the same one may occur often.
                ``table[tokens]`` are their rows.

        Returns:
            A tensor of shape (*tokens.shape, width).
        """
        ### BEGIN SOLUTION
        ctx.save_for_backward(tokens, table.shape)
        return table[tokens]
        ### END SOLUTION

    @staticmethod
    def backward(ctx: TensorContext, d_output: Tensor) -> Tensor:
        """Return the gradient of the table.

        A row that was looked up several times moves several outputs, so it gets the
        sum of their gradients. A row that was never looked up gets 0.

        Args:
            ctx: What forward saved: ``ctx.saved_values``, a tuple.
            d_output: The gradient of the rows, in their shape. The result is made of it
                by methods of tensors, so that it can be differentiated again.
                ``d_output.new_zeros(*shape)`` makes zeros of its type. Rows get into a
                tensor in two ways: ``zeros[numbers] = rows`` puts each into its place,
                and ``zeros.index_add(0, numbers, rows)`` returns a tensor to which each
                was added at its place; its numbers have one axis.

        Returns:
            The gradient of the table, in its shape.
        """
        ### BEGIN SOLUTION
        tokens, shape = ctx.saved_values
        rows = d_output.reshape(-1, shape[1])
        return d_output.new_zeros(*shape).index_add(0, tokens.reshape(-1), rows)
        ### END SOLUTION


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Shift and scale each vector to mean 0 and variance 1, then by weight and bias.

    Args:
        x: Of shape (..., width). Each vector along the last axis is treated by itself.
        weight: Factors, of shape (width,).
        bias: What is added at last, of shape (width,).
        eps: Added to the variance, before the root is taken.

    Returns:
        A tensor of the shape of x. The variance is the mean of the squares of the
        distances from the mean.
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + eps).sqrt() * weight + bias
    ### END SOLUTION


def attention_weights(q: Tensor, k: Tensor) -> Tensor:
    """Return how much each query takes of each value: the softmax of the scores.

    A score is the product of a query and a key, divided by the root of d. No query sees
    a key that comes later than itself: such a score is -inf *before* the softmax.

    Args:
        q: Queries, of shape (..., n, d).
        k: Keys, of shape (..., m, d), with m >= n. The queries are those of the last n
            of the m tokens. ``k.mT`` exchanges its last two axes.

    Returns:
        A tensor of shape (..., n, m). Each row sums to 1. ``x.masked_fill(mask,
        value)`` puts a value where a tensor of booleans is true, and
        ``q.from_host(array)`` makes a tensor of an array of NumPy.
    """
    ### BEGIN SOLUTION
    n, m = q.shape[-2], k.shape[-2]
    scores = (q * (1.0 / math.sqrt(q.shape[-1]))) @ k.mT
    later = np.arange(m) > np.arange(m - n, m)[:, None]
    return scores.masked_fill(q.from_host(later), -math.inf).softmax(-1)
    ### END SOLUTION


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return for each query the mean of the values, weighed by `attention_weights`.

    Args:
        q: Queries, of shape (..., n, d).
        k: Keys, of shape (..., m, d), with m >= n.
        v: Values, of shape (..., m, w).

    Returns:
        A tensor of shape (..., n, w).
    """
    ### BEGIN SOLUTION
    return attention_weights(q, k) @ v
    ### END SOLUTION


def is_causal(attention: Callable[[Tensor, Tensor, Tensor], Tensor]) -> bool:
    """Decide by trying whether an attention shows no token what comes later.

    Its numbers may be any, as long as no output changes with a later token. A leak may
    be small. It may be one of queries, of keys or of values; it may come from the next
    token or from any other one, in some rows, or in some heads alone.

    Args:
        attention: The function, as `causal_attention` is called, with tensors of any
            leading axes. There may be fewer queries than keys: they are those of the
            last tokens.

    Returns:
        True if nothing leaks.
    """
    ### BEGIN SOLUTION
    rng = np.random.default_rng(0)

    def outputs(tokens: np.ndarray, n: int) -> Any:
        q, k, v = map(creation.tensor, tokens)
        return attention(q[:, -n:], k, v).numpy()

    for n in (6, 3):
        tokens = rng.normal(size=(3, 2, 6, 4))
        for known in range(1, n):
            others = tokens.copy()
            others[:, :, known - n :] = rng.normal(size=(3, 2, n - known, 4))
            if not np.allclose(outputs(tokens, n)[:, :known], outputs(others, n)[:, :known], 1e-7, 1e-7):
                return False
    return True
    ### END SOLUTION


def linear(x: Tensor, p: Mapping[str, Tensor]) -> Tensor:
    """Return x W^T + b.

    Args:
        x: Of shape (..., inputs).
        p: "weight" W, of shape (outputs, inputs), and "bias" b, of shape (outputs,).

    >>> p = {"weight": minigrad.tensor([[1.0, 2.0]]), "bias": minigrad.tensor([0.5])}
    >>> minigrad.language.linear(minigrad.tensor([[3.0, 4.0]]), p)
    tensor([[11.5]])
    """
    return tensor_functions.Linear.apply(x, p["weight"], p["bias"])  # type: ignore[no-any-return]


def per_head(x: Tensor, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Cut vectors into queries, keys and values, and these into heads.

    Args:
        x: Of shape (batch, n, 3 * width): behind each other a query, a key and a value.
        heads: How many; it divides the width.

    Returns:
        Three tensors of shape (batch, heads, n, width / heads).

    >>> q, k, v = minigrad.language.per_head(minigrad.zeros(2, 5, 12), heads=2)
    >>> q.shape
    (2, 2, 5, 2)
    """
    batch, n, width = x.shape
    parts = x.view(batch, n, 3, heads, width // 3 // heads).permute(2, 0, 3, 1, 4)
    return parts[0], parts[1], parts[2]


def joined(x: Tensor) -> Tensor:
    """Put the heads side by side again.

    Args:
        x: Of shape (batch, heads, n, d).

    Returns:
        A tensor of shape (batch, n, heads * d).

    >>> minigrad.language.joined(minigrad.zeros(2, 2, 5, 3)).shape
    (2, 5, 6)
    """
    batch, heads, n, d = x.shape
    return x.permute(0, 2, 1, 3).reshape(batch, n, heads * d)


def block(
    x: Tensor,
    p: Mapping[str, Any],
    heads: int,
    cache: Cache | None = None,
) -> Tensor:
    """Compute a block of a transformer, with its norms in front (*pre-norm*).

    First half: norm1, then queries, keys and values of all heads by "qkv", attention,
    the heads joined, and "mix". Second half: norm2, "up", gelu, and "down". What each
    half computes is added to its input.

    Args:
        x: Of shape (batch, n, width).
        p: "norm1" and "norm2", as `layer_norm` takes them, and "qkv", "mix", "up" and
            "down", as `linear` takes them: each a dict of "weight" and "bias".
        heads: How many heads `per_head` makes.
        cache: If there is one, ``cache.extend(k, v)`` returns the keys and values of
            all tokens so far, and attention sees these.

    Returns:
        A tensor of the shape of x.
    """
    ### BEGIN SOLUTION
    q, k, v = per_head(linear(layer_norm(x, **p["norm1"]), p["qkv"]), heads)
    if cache is not None:
        k, v = cache.extend(k, v)
    x = x + linear(joined(causal_attention(q, k, v)), p["mix"])
    return x + linear(linear(layer_norm(x, **p["norm2"]), p["up"]).gelu(), p["down"])
    ### END SOLUTION


def gpt(p: Mapping[str, Any], tokens: Tensor, heads: int, caches: Sequence[Cache] = ()) -> Tensor:
    """Return for each token the logits of the next one.

    Args:
        p: Parameters, as `initial` makes them.
        tokens: int64, of shape (batch, n). With the tokens before them there are no more than the parameters have
            places for.
        heads: How many heads each block has.
        caches: One for each block, with what it has kept of the tokens before; or none.

    Returns:
        A tensor of shape (batch, n, characters).

    >>> p = minigrad.language.initial(np.random.default_rng(0), characters=5, window=4, width=8, blocks=1)
    >>> minigrad.language.gpt(p, minigrad.tensor([[1, 2, 3]]), heads=2).shape
    (1, 3, 5)
    """
    start, n = len(caches[0]) if caches else 0, tokens.shape[1]
    x = Embed.apply(p["characters"], tokens=tokens) + p["places"][start : start + n]
    for i, each in enumerate(p["blocks"]):
        x = block(x, each, heads, caches[i] if caches else None)
    return linear(layer_norm(x, **p["norm"]), p["head"])


def initial(rng: np.random.Generator, characters: int, window: int, width: int, blocks: int) -> dict[str, Any]:
    """Return parameters of `gpt` at the beginning, as float32.

    Args:
        rng: Draws them: weights from a normal distribution; biases are 0.
        characters: How many different tokens there are.
        window: How many tokens the model sees at most.
        width: The size of the vector of a token.
        blocks: How many blocks.

    >>> p = minigrad.language.initial(np.random.default_rng(0), characters=5, window=4, width=8, blocks=1)
    >>> sorted(p), sorted(p["blocks"][0])
    (['blocks', 'characters', 'head', 'norm', 'places'], ['down', 'mix', 'norm1', 'norm2', 'qkv', 'up'])
    """

    def normal(scale: float, *shape: int) -> Tensor:
        return creation.from_numpy((rng.normal(size=shape) * scale).astype(np.float32))

    def layer(inputs: int, outputs: int, scale: float) -> dict[str, Tensor]:
        return {"weight": normal(scale, outputs, inputs), "bias": creation.zeros(outputs)}

    def norm() -> dict[str, Tensor]:
        return {"weight": creation.ones(width), "bias": creation.zeros(width)}

    small = 1.0 / math.sqrt(width)
    late = small / math.sqrt(2.0 * blocks)  # of 2 * blocks sums, the last one has the variance of one
    return {
        "characters": normal(small, characters, width),
        "places": normal(small, window, width),
        "blocks": [
            {
                "norm1": norm(),
                "qkv": layer(width, 3 * width, small),
                "mix": layer(width, width, late),
                "norm2": norm(),
                "up": layer(width, 4 * width, small),
                "down": layer(4 * width, width, late / 2.0),
            }
            for _ in range(blocks)
        ],
        "norm": norm(),
        "head": layer(width, characters, 0.1 * small),  # logits near 0: at first, each character is as likely
    }


def count(
    characters: int,
    window: int,
    width: int,
    blocks: int,
    batch: int = 16,
) -> tuple[int, int, int]:
    """Count what a model costs before it is made.

    Args:
        characters: How many different tokens there are, as in `initial`.
        window: How many tokens the model sees at most.
        width: The size of the vector of a token.
        blocks: How many blocks.
        batch: How many pieces of ``window`` tokens a batch has.

    Returns:
        Three whole numbers. The parameters that `initial` makes. The multiplications of
        two numbers in the products of matrices of `gpt`, for one batch; the scores of
        later keys are computed before they are hidden, and count. And the bytes that
        training with Adam keeps in float32: the parameters, a gradient for each, and
        its two running means.
    """
    ### BEGIN SOLUTION
    block = 12 * width * width + 13 * width
    parameters = (characters + window) * width + blocks * block + 2 * width + (width + 1) * characters
    each_token = blocks * (12 * width * width + 2 * window * width) + width * characters
    return parameters, batch * window * each_token, 16 * parameters
    ### END SOLUTION


def split(tokens: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Cut a text in two: one part to learn from, and the end of it for validation.

    Args:
        tokens: The text, as whole numbers, of shape (n,).
        share: The part of it that is kept for validation, between 0 and 1: of n
            tokens the last ``round(share * n)``.

    Returns:
        The tokens to learn from and those for validation. No token is in both.
    """
    ### BEGIN SOLUTION
    cut = len(tokens) - round(share * len(tokens))
    return tokens[:cut], tokens[cut:]
    ### END SOLUTION


def batches(
    tokens: np.ndarray, length: int, rng: np.random.Generator, size: int = 16
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pieces of a text, without end, and for each the targets.

    The target of a token is the one that follows it in the text.

    Args:
        tokens: The text, as whole numbers, of shape (n,), with n > length.
        length: How many tokens a piece has.
        rng: Draws where pieces begin, ``rng.integers(low, high, size)``, each place
            that has room for a piece and its targets as likely as any other.
        size: How many pieces a batch has.

    Yields:
        Inputs and targets, two arrays of shape (size, length).
    """
    ### BEGIN SOLUTION
    while True:
        places = rng.integers(0, len(tokens) - length, size)[:, None] + np.arange(length)
        yield tokens[places], tokens[places + 1]
    ### END SOLUTION


def sample(
    logits: np.ndarray,
    rng: np.random.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
) -> int:
    """Draw the next token.

    The probabilities are the softmax of the logits divided by the temperature.

    Args:
        logits: An array of shape (characters,), of float32 or float64. It stays as it
            is.
        rng: Draws: ``rng.choice(n, p=probabilities)`` is a number below n.
        temperature: At least 0. For 0 it is the first of the largest logits.
        top_k: How many of the largest logits have a chance, at least 1; None for all.
            Of equal ones the first.

    Returns:
        A token, as a number of Python.
    """
    ### BEGIN SOLUTION
    if temperature == 0.0:
        return int(np.argmax(logits))
    scaled = logits / temperature
    best = np.argsort(-scaled, kind="stable")[:top_k]
    powers = np.exp(scaled[best] - scaled.max())
    return int(best[rng.choice(len(best), p=powers / powers.sum())])
    ### END SOLUTION


class Cache:
    """The keys and values of the tokens so far, of one block.

    Attributes:
        keys: Of shape (batch, heads, length, d); None before the first token.
        values: Likewise.
    """

    def __init__(self) -> None:
        self.keys: Any = None
        self.values: Any = None

    def __len__(self) -> int:
        """Return the number of tokens so far."""
        return 0 if self.keys is None else int(self.keys.shape[-2])

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keep further keys and values behind those that are there.

        Args:
            k: Of shape (batch, heads, n, d). ``creation.cat([a, b], dim)`` joins
                tensors along an axis.
            v: Likewise.

        Returns:
            The keys and the values of all tokens so far.
        """
        ### BEGIN SOLUTION
        if self.keys is not None:
            k, v = creation.cat([self.keys, k], -2), creation.cat([self.values, v], -2)
        self.keys, self.values = k, v
        return k, v
        ### END SOLUTION


def generate(
    model: Callable[[Sequence[int], Sequence[Cache]], np.ndarray],
    prompt: Sequence[int],
    count: int,
    choose: Callable[[np.ndarray], int],
    caches: Sequence[Cache],
) -> list[int]:
    """Continue a text, token by token, and compute nothing twice.

    Args:
        model: ``model(tokens, caches)`` takes *new* tokens, which come after all that
            the caches have seen, puts them into the caches, and returns the logits of
            the token after the last one.
        prompt: The text so far, at least one token.
        count: How many tokens to add, at least 0.
        choose: ``choose(logits)`` returns the next token.
        caches: Caches that have seen nothing yet, one for each block.

    Returns:
        The prompt with the new tokens behind it. The model sees each token once, and
        the last one never.
    """
    ### BEGIN SOLUTION
    text, seen = list(prompt), 0
    for _ in range(count):
        logits = model(text[seen:], caches)
        seen = len(text)
        text.append(choose(logits))
    return text
    ### END SOLUTION
