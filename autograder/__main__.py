"""``python -m autograder`` is the command line `autograder`."""

from autograder.cli import main

if __name__ == "__main__":
    main()
