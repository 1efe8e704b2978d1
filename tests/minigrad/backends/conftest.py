"""What the backends' tests share: compiled kernels are kept where pytest keeps its notes, not in the user's cache."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def kernels_are_kept_apart(request):
    """Let all tests of one checkout share a folder of compiled kernels."""
    before = os.environ.get("MINIGRAD_CACHE_DIR")
    os.environ["MINIGRAD_CACHE_DIR"] = str(request.config.cache.mkdir("kernels"))
    yield
    if before is None:
        del os.environ["MINIGRAD_CACHE_DIR"]
    else:
        os.environ["MINIGRAD_CACHE_DIR"] = before
