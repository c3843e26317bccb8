"""What runs in the process beside the program: it answers, one request after the other, within limits."""

from __future__ import annotations

import importlib
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from lmviz.base.side_process import NotSent, receive, send

MEMORY = 200 * 2**20
"""Bytes that answers may take on top of what the process has when it begins, unless a module says MEMORY."""

LONGEST_REASON = 200
"""Characters of why there is no answer."""


def serve(module: str) -> None:
    """Answer with `module.answer` until nobody asks any more."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # what is printed must not be taken for an answer
        os.dup2(nothing, stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from the keyboard; the program ends this one itself
    serving = importlib.import_module(module)
    answer, memory = serving.answer, getattr(serving, "MEMORY", MEMORY)
    _limit_memory(memory)
    seconds = receive(requests)
    send(replies, {"value": "ready"})
    while (request := receive(requests)) is not None:
        _allow(seconds)
        try:
            content: dict[str, Any] = {"value": answer(request)}
        except MemoryError:
            content = {"refused": f"it needs more than {memory // 2**20} MB of memory", "ends": True}
        except BaseException as fault:
            content = {"refused": _reason(fault)}
        _allow(0)
        try:
            send(replies, content)
        except MemoryError:
            send(replies, {"refused": "what it makes is too large", "ends": True})
        except NotSent as error:
            send(replies, {"refused": f"what it makes cannot be told, {error}"})


def _reason(fault: BaseException) -> str:
    """What is wrong, in a few words."""
    try:
        said = " ".join(str(fault)[: 10 * LONGEST_REASON].split())[:LONGEST_REASON]
    except Exception:
        said = ""
    return said or type(fault).__name__


def _limit_memory(memory: int) -> None:
    """As far as the system has such limits: Windows has none, and macOS does not keep to them."""
    try:
        import resource
    except ImportError:
        return
    pages = Path("/proc/self/statm")
    has = int(pages.read_text().split()[0]) * resource.getpagesize() if os.path.exists(pages) else 0
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0}
    if has:
        limits[resource.RLIMIT_AS] = has + memory
    for what, most in limits.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def _allow(seconds: float) -> None:
    """Have the system end the process once it has computed so long, whatever it does; 0 for no such end."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
