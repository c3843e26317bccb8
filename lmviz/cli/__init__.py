"""The command `lmviz`: one file for each group of commands, on top of `lmviz.api.training`.

Results go to standard output, as text or, with --json, as one JSON object; everything else goes to
standard error. A user's mistake ends in one sentence and exit code 2.
"""

from lmviz.cli.entry import main, run

__all__ = ["main", "run"]
