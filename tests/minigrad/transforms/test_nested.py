"""Random programs of transforms inside transforms give what JAX gives, or refuse in words."""

import nested_programs
import pytest

import minigrad as mg

CHUNK = 20


@pytest.mark.full("2,000 random nested programs, compared with JAX without compilation", share=100)
@pytest.mark.no_cover  # the tests of each transform run the same lines
@pytest.mark.parametrize("first", range(0, 2000, CHUNK))
def test_nested_transforms_agree_with_jax(first):
    """No value is wrong, none is that of an earlier call, and no error comes from inside of minigrad."""
    pytest.importorskip("jax", reason="JAX is not installed: pip install jax to compare with it")
    with mg.backend("python"):  # graphs are interpreted
        for seed in range(first, first + CHUNK):
            program, outermost = nested_programs.drawn(seed)
            result = nested_programs.outcome(program, seed, outermost, asks_jax=False)
            text = nested_programs.Text(program, outermost).text
            assert result.kind in ("agrees", "refused", "no number"), f"seed {seed}: {result.said}\n{text}"
