"""Numbers of fewer bits: rounding against ml_dtypes, products against float32, adapters against their sums."""

import numpy as np
import pytest

import minigrad
from minigrad import precision


def test_rounding_is_that_of_ml_dtypes():
    """Of a million patterns of bits, nan and subnormal numbers among them, each becomes what ml_dtypes makes of it."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes, which JAX brings along, is not installed")
    bits = np.random.default_rng(0).integers(0, 2**32, 1_000_000, dtype=np.uint32)
    numbers = bits.view(np.float32)
    with np.errstate(invalid="ignore"):
        wanted = numbers.astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(precision.to_bfloat16(numbers), wanted)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3, 4)])
def test_rounding_keeps_the_shape(shape):
    """Arrays without axes or elements are rounded as well."""
    found = precision.to_bfloat16(np.full(shape, 1.005, np.float32))
    assert (found.shape, found.dtype) == (shape, np.float32)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32])
def test_other_types_are_refused(dtype):
    """Bits of another type would be read as other numbers: of one float64 came two numbers, without an error."""
    with pytest.raises(TypeError, match=rf"to_bfloat16: got {np.dtype(dtype)}, use x.astype"):
        precision.to_bfloat16(np.ones(1, dtype))


def test_rounding_takes_any_strides():
    """A view that jumps over elements is rounded, and stays as it is."""
    numbers = np.linspace(0.0, 1.0, 24, dtype=np.float32).reshape(4, 6)
    kept = numbers.copy()
    np.testing.assert_array_equal(precision.to_bfloat16(numbers.T), precision.to_bfloat16(numbers).T)
    np.testing.assert_array_equal(precision.to_bfloat16(numbers[::2, ::-1]), precision.to_bfloat16(kept)[::2, ::-1])
    np.testing.assert_array_equal(numbers, kept)


def test_codes_are_within_half_a_scale():
    """Codes times scales differ from the rows by at most half a scale, whatever the rows' sizes."""
    rng = np.random.default_rng(1)
    rows = (rng.normal(size=(50, 33)) * 10.0 ** rng.uniform(-20, 20, (50, 1))).astype(np.float32)
    codes, scales = precision.quantize(rows)
    assert (codes.dtype, scales.dtype, scales.shape) == (np.int8, np.float32, (50, 1))
    assert np.abs(codes.astype(int)).max(1).tolist() == [127] * 50
    assert (np.abs(codes * scales - rows) <= 0.501 * scales).all()


def test_product_of_codes_is_exact():
    """The product is that of the rounded matrices, to float32's last digits."""
    rng = np.random.default_rng(2)
    x, weight = (rng.normal(size=(n, 300)).astype(np.float32) for n in (7, 9))
    rounded = [codes.astype(np.float64) * scales for codes, scales in map(precision.quantize, (x, weight))]
    found = precision.quantized_product(x, *precision.quantize(weight))
    np.testing.assert_allclose(found, rounded[0] @ rounded[1].T, rtol=1e-5, atol=1e-5)


def test_adapters_learn():
    """Descent on adapters alone fits a change of the same rank; the large matrix stays."""
    rng = np.random.default_rng(3)
    weight = minigrad.from_numpy(rng.normal(size=(8, 6)).astype(np.float32))
    wanted = weight + minigrad.from_numpy((rng.normal(size=(8, 1)) @ rng.normal(size=(1, 6))).astype(np.float32))
    small = {name: each.requires_grad_() for name, each in precision.adapter(rng, weight, 2).items()}
    optimizer = minigrad.optim.Adam(list(small.values()), lr=0.05)
    before = weight.tolist()
    for _ in range(400):
        optimizer.zero_grad()
        loss = ((precision.adapted(weight, small) - wanted) ** 2).sum()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-4
    assert weight.tolist() == before
