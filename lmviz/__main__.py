"""`python -m lmviz` is the command `lmviz`."""

from lmviz.cli import main

if __name__ == "__main__":
    main()
