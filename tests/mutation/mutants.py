"""What could be wrong in a module: one small change of its source each, by the operators of mutmut.

Only what functions do is changed: never their annotations, defaults or decorators; never a guard that
cannot strike unless something else is wrong, which are asserts and `strict` in calls of zip; and never the
sentences of errors, of which tests pin the words that matter.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_string

UNTOUCHED = (libcst.Annotation, libcst.Decorator, libcst.Parameters, libcst.Assert)
"""What lies below these nodes is not changed."""


@dataclass(frozen=True, eq=False)
class Mutant:
    """One change of a module, which has this path from the root; `line` is where the change stands."""

    path: str
    line: int
    _module: libcst.Module
    _old: libcst.CSTNode
    _new: libcst.CSTNode

    @cached_property
    def source(self) -> str:
        """The changed module. It takes a while: of most mutants nobody asks for it."""
        changed = self._module.deep_replace(self._old, self._new)
        assert isinstance(changed, libcst.Module)  # it is a part that was replaced
        return changed.code

    def diff(self) -> str:
        """The change as a unified diff with little context."""
        before = self._module.code.splitlines()
        lines = difflib.unified_diff(before, self.source.splitlines(), self.path, self.path, n=1, lineterm="")
        return "\n".join(lines)


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """All the mutants of a module, in the order of its source."""
    wrapper = MetadataWrapper(libcst.parse_module((root / path).read_text(encoding="utf-8")))
    collector = _Collector()
    wrapper.visit(collector)
    return [Mutant(path, line, wrapper.module, old, new) for line, old, new in collector.changes]


class _Collector(libcst.CSTVisitor):
    """Gathers `changes`: a line, a node, and what could stand in its place."""

    METADATA_DEPENDENCIES = (PositionProvider, ParentNodeProvider)

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[tuple[int, libcst.CSTNode, libcst.CSTNode]] = []
        self._functions = 0
        self._errors = 0

    def on_visit(self, node: libcst.CSTNode) -> bool:
        if isinstance(node, UNTOUCHED) or _is_strict(node):
            return False
        self._functions += isinstance(node, libcst.FunctionDef)
        self._errors += isinstance(node, libcst.Raise)
        if self._functions:
            self._change(node)
        return True

    def on_leave(self, original_node: libcst.CSTNode) -> None:
        self._functions -= isinstance(original_node, libcst.FunctionDef)
        self._errors -= isinstance(original_node, libcst.Raise)

    def _change(self, node: libcst.CSTNode) -> None:
        for kind, operator in mutation_operators:
            if not isinstance(node, kind) or (operator is operator_string and self._is_text(node)):
                continue
            changed: Sequence[libcst.CSTNode] = list(operator(node))
            if operator is operator_string:
                changed = changed[:1]  # not its upper and its lower case as well
            line = self.get_metadata(PositionProvider, node).start.line
            self.changes += [(line, node, item) for item in changed if _is_as_strict(node, item)]

    def _is_text(self, node: libcst.CSTNode) -> bool:
        """Whether a string is a docstring, or stands in an error."""
        parent = self.get_metadata(ParentNodeProvider, node)
        return self._errors > 0 or isinstance(parent, (libcst.Expr, libcst.ConcatenatedString))


def _is_strict(node: libcst.CSTNode) -> bool:
    return isinstance(node, libcst.Arg) and node.keyword is not None and node.keyword.value == "strict"


def _is_as_strict(old: libcst.CSTNode, new: libcst.CSTNode) -> bool:
    """Whether a changed call keeps its argument `strict`, if it has one."""
    if not isinstance(old, libcst.Call) or not isinstance(new, libcst.Call):
        return True
    return [arg for arg in old.args if _is_strict(arg)] == [arg for arg in new.args if _is_strict(arg)]
