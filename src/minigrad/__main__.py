"""``python -m minigrad`` is the command line `minigrad`."""

from minigrad.cli import main

if __name__ == "__main__":
    main()
