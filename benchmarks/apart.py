"""Measuring in a process of its own: Qt, torch's threads and memory all begin there as in the program."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from typing import Any, TypeVar

T = TypeVar("T")


class Apart:
    """One fresh process that keeps what its functions put into their modules from call to call."""

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))

    def __enter__(self) -> Apart:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.shutdown()

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function of a module there, and wait for what it returns or raises."""
        return self._pool.submit(function, *arguments).result()


@lru_cache
def once_apart(function: Callable[[], T]) -> T:
    """What a function finds out in a fresh process; several rows may be made from it."""
    with Apart() as process:
        return process.call(function)
