"""Dataclasses whose methods are compiled late are like all others, and take less time to make."""

import dataclasses
import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
from programs import run_python

from lmviz.app.workers.lean_dataclasses import LATE, late

COMPILED_TOGETHER = sys.version_info >= (3, 13)


class Making:
    """Stands in for what the standard library makes methods with, and notes which it made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, name: str, **options: Any) -> Callable[..., Any]:
        self.made.append(name)
        return lambda *values: (name, options, values)


def test_a_method_is_made_when_it_is_called_and_only_once() -> None:
    making = Making()
    method = late(making)("__eq__", marked=True)
    assert method.__name__ == "__eq__"
    assert not making.made
    assert method(1, 2) == ("__eq__", {"marked": True}, (1, 2))
    assert method(3, 4)[2] == (3, 4)
    assert making.made == ["__eq__"]


def test_what_an_instance_begins_with_is_made_with_the_first_one_and_then_stands_in_its_place() -> None:
    made: list[str] = []

    def make(name: str) -> Callable[..., None]:
        made.append(name)

        def begin(self: Any, x: int, y: int = 0) -> None:
            self.sum = x + y

        return begin

    class Pair:
        sum: int
        __init__ = late(make)("__init__")

    class Twin(Pair):
        def __init__(self, x: int) -> None:
            super().__init__(x, y=x)

    assert not made
    assert (Twin(2).sum, Pair(1, 2).sum, Pair(x=3).sum) == (4, 3, 3)
    assert made == ["__init__"]
    assert type(vars(Pair)["__init__"]) is FunctionType
    assert Pair.__init__.__qualname__ == f"{Pair.__qualname__}.__init__"
    assert list(inspect.signature(Pair).parameters) == ["x", "y"]


@pytest.mark.skipif(COMPILED_TOGETHER, reason="Python compiles the methods of a dataclass together")
def test_nothing_about_a_dataclass_changes_but_what_is_compiled() -> None:
    script = """
import sys
compiled = []
sys.addaudithook(lambda event, args: compiled.append(args[0]) if event == "compile" else None)
from lmviz.app.workers.lean_dataclasses import compile_late
compile_late()
compile_late()
from dataclasses import FrozenInstanceError, dataclass, field, replace
compiled.clear()

@dataclass(frozen=True, order=True)
class Point:
    "A place, of which nothing else has to be said, for which it would be compiled."
    x: float
    y: float = 0.0
    name: str = field(default="", compare=False, repr=False)

assert len(compiled) == 4, compiled  # those of `order`
point = Point(1.0, name="p")
assert point == Point(1.0) and point != Point(2.0) and point != (1.0, 0.0)
assert hash(point) == hash(Point(1.0)) and len({point, Point(1.0), Point(2.0)}) == 2
assert repr(point) == "Point(x=1.0, y=0.0)", repr(point)
assert replace(point, y=3.0) > point
for change in (lambda: setattr(point, "x", 2.0), lambda: delattr(point, "x"), lambda: setattr(point, "z", 1)):
    try:
        change()
    except (FrozenInstanceError, TypeError):
        continue
    raise AssertionError("a frozen one was changed")

@dataclass
class Tree:
    leaves: list

tree = Tree([])
tree.leaves.append(tree)
assert repr(tree) == "Tree(leaves=[...])", repr(tree)
import inspect
assert list(inspect.signature(Point).parameters) == ["x", "y", "name"]
assert Tree.__hash__ is None and Point.__eq__.__qualname__ == "Point.__eq__"
"""
    done = run_python(script)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(COMPILED_TOGETHER, reason="Python compiles the methods of a dataclass together")
def test_the_standard_library_still_makes_them_under_that_name() -> None:
    asked: list[str] = []
    make = dataclasses._create_fn  # type: ignore[attr-defined]

    def noting(name: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
        asked.append(name)
        made: Callable[..., Any] = make(name, *arguments, **options)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataclasses, "_create_fn", noting)
        dataclasses.make_dataclass("Pair", ["one", "two"], frozen=True)
    assert set(asked) >= LATE
