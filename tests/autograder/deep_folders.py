"""Folders deeper than any path may be long."""

import os


def deep(folder, depth):
    """Make folders within folders, deeper than any path may be long."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(before)
        os.close(before)
