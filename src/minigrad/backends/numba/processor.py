"""What LLVM is told of the processor for which it makes code."""

from __future__ import annotations


def with_widest_vectors(features: str) -> str:
    """Return a processor's features for LLVM, so that vectors are as wide as its registers.

    LLVM keeps to half of them on every Intel processor with AVX-512, since the first ones ran more slowly while they
    used them whole. Those with avx512fp16 do not.
    """
    return f"{features},-prefer-256-bit" if "+avx512fp16" in features else features
