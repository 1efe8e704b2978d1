"""``python -m minigrad`` is the command line `minigrad`."""

from minigrad.cli import main

main()
