"""The log: what went wrong unexpectedly, in one file for the window and the command line."""

from __future__ import annotations

import logging
from pathlib import Path


def log_path() -> Path:
    """The file that keeps what went wrong."""
    import platformdirs  # only once there is something to say

    return platformdirs.user_log_path("lmviz", appauthor=False) / "lmviz.log"


def keep_log() -> None:
    """Have what is logged written to the file."""
    logger = logging.getLogger("lmviz")
    logger.setLevel(logging.INFO)
    if not any(isinstance(handler, _LogFile) for handler in logger.handlers):
        logger.addHandler(_LogFile())


class _LogFile(logging.Handler):
    """Opens the log when there is something to write: before the first paint that would take too long."""

    _file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._file is None:
            self._file = _open_log()
        self._file.emit(record)


def _open_log() -> logging.Handler:
    from logging.handlers import RotatingFileHandler

    class Rotating(RotatingFileHandler):
        def handleError(self, record: logging.LogRecord) -> None:
            """Nothing can be done on a full disk; Python would print a traceback for each line."""

    path = log_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = Rotating(path, maxBytes=1_000_000, backupCount=3, encoding="utf-8")
    except OSError:
        handler = logging.StreamHandler()  # a home that cannot be written to must not stop the program
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    return handler
