"""Statements carried out: the values and modules of a network, one after the other."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from math import prod

import numpy as np

from lmviz.autodiff.language.faults import NetworkFault
from lmviz.autodiff.language.limits import CELLS, MODULES
from lmviz.autodiff.language.reading import statements
from lmviz.autodiff.language.syntax import Assignment, Call, Index, Literal, Loop, Reference
from lmviz.autodiff.modules.module import Module
from lmviz.autodiff.modules.shapes import ShapeFault, in_words
from lmviz.autodiff.modules.table import MODULES as KNOWN
from lmviz.autodiff.modules.table import usage
from lmviz.autodiff.network import Network
from lmviz.autodiff.node import COMPUTED, INPUT, PARAMETER, Node, PlaceInText
from lmviz.base.faults import Fault, LineFault
from lmviz.base.loading import loads


@loads("network")
def read(source: str) -> Network:
    """The network that a text describes. NetworkFault names every line that cannot be read, and why."""
    found, faults = statements(source)
    builder = _Builder(is_whole=not faults)
    for statement in found:
        faults += builder.carry_out(statement)
    if not faults and not any(node.kind == COMPUTED for node in builder.nodes.values()):
        line = max((statement.line for statement in found), default=1)
        faults.append(Fault(line, "nothing is computed yet: add a line such as a = sigmoid(x)."))
    if faults:
        raise NetworkFault(faults)
    return Network(list(builder.nodes.values()), source)


class _Builder:
    """The values there are so far. Where lines were left out, names that are missing are no fault."""

    def __init__(self, *, is_whole: bool) -> None:
        self.nodes: dict[str, Node] = {}
        self._is_whole = is_whole
        self._declared: set[str] = set()  # whose kind the text says
        self._inner: set[str] = set()  # calls within calls
        self._constants: dict[Literal, Node] = {}

    def carry_out(self, statement: Assignment | Loop) -> Iterator[Fault]:
        """Make the values of a statement; the faults that come up."""
        if isinstance(statement, Assignment):
            yield from self._assign(statement, "", 0)
            return
        for step in range(statement.first, statement.last + 1):
            faults = [
                fault for each in statement.body for fault in self._assign(each, statement.variable, step)
            ]
            yield from faults
            if faults:
                return  # the other steps would say the same

    def _assign(self, statement: Assignment, variable: str, step: int) -> Iterator[Fault]:
        try:
            if isinstance(statement.value, Literal):
                self._give(statement, statement.value, variable, step)
            else:
                if statement.target.last is not None:
                    raise LineFault("a module computes one value: give it one name.")
                name = self._new_name(statement.target, variable, step)
                self._make(statement.value, name, statement.line, variable, step)
        except (LineFault, ShapeFault) as fault:
            if self._is_whole or not isinstance(fault, _MissingName):
                sentence = fault.sentence if isinstance(fault, LineFault) else str(fault)
                yield Fault(statement.line, sentence)
            self._is_whole = False

    def _give(self, statement: Assignment, literal: Literal, variable: str, step: int) -> None:
        """Inputs and parameters from numbers."""
        target, array = statement.target, literal.array
        if target.first is None or target.last is None:
            name = self._new_name(target, variable, step)
            place = PlaceInText(statement.line, literal.first, literal.last)
            self._add_given(name, array, statement.kind, place)
            return
        first, last = self._step(target.first, variable, step), self._step(target.last, variable, step)
        if last < first:
            raise LineFault(f"{target.name} must count upwards, and not from {first} to {last}.")
        if not array.ndim or len(array) != last - first + 1:
            rows = len(array) if array.ndim else 1
            raise LineFault(
                f"{target.name}[{first}..{last}] needs {last - first + 1} rows, and here are {rows}: end "
                "each row with a semicolon."
            )
        for row, number in enumerate(range(first, last + 1)):
            place = PlaceInText(statement.line, literal.first, literal.last, row)
            name = self._free(f"{target.name}[{number}]")
            self._add_given(name, np.asarray(array[row]), statement.kind, place)

    def _add_given(self, name: str, array: np.ndarray, kind: str, place: PlaceInText) -> None:
        if kind:
            self._declared.add(name)
        value = array.astype(np.float64)
        self._add(Node(name, kind or INPUT, value.shape, place.line, value=value, place=place))

    def _add(self, node: Node) -> Node:
        if len(self.nodes) >= MODULES:
            raise LineFault(f"a network has at most {MODULES:,} values.")
        self.nodes[node.name] = node
        return node

    def _make(self, call: Call, name: str, line: int, variable: str, step: int) -> Node:
        """The module of a call, after those within it."""
        module = _module(call)
        inputs: list[Node] = []
        for argument in call.arguments:
            if isinstance(argument, Reference):
                inputs += self._values(argument, variable, step)
            elif isinstance(argument, Call):
                inputs.append(self._make(argument, self._inner_name(name), line, variable, step))
            else:
                inputs.append(self._constant(argument, line))
        _check_number(module, inputs)
        shape = module.shape(*(node.shape for node in inputs))
        if prod(shape) > CELLS:
            raise LineFault(f"{name} would be {in_words(shape)}: a value has at most {CELLS:,} numbers.")
        for place in module.weights & set(range(len(inputs))):
            if inputs[place].kind == INPUT and inputs[place].name not in self._declared:
                inputs[place].kind = PARAMETER
        return self._add(Node(name, COMPUTED, shape, line, module, tuple(inputs)))

    def _constant(self, literal: Literal, line: int) -> Node:
        """Numbers that stand in a call: an input, named as it is written, and one for all steps of a loop."""
        if literal in self._constants:
            return self._constants[literal]
        written = f"{float(literal.array):g}" if not literal.array.ndim else "numbers"
        name, count = written, 1
        while name in self.nodes:
            count += 1
            name = f"{written}·{count}"
        self._declared.add(name)
        place = PlaceInText(line, literal.first, literal.last)
        node = self._add(Node(name, INPUT, literal.array.shape, line, value=literal.array, place=place))
        self._constants[literal] = node
        return node

    def _inner_name(self, name: str) -> str:
        """A name for a call within a call: "h[1]·1"."""
        outer, count = name.partition("·")[0], 1
        while f"{outer}·{count}" in self._inner:
            count += 1
        self._inner.add(f"{outer}·{count}")
        return f"{outer}·{count}"

    def _values(self, reference: Reference, variable: str, step: int) -> Iterable[Node]:
        """The values that a reference means: one, or those from one step to another."""
        if reference.first is None:
            return [self._known(reference.name)]
        first = self._step(reference.first, variable, step)
        last = first if reference.last is None else self._step(reference.last, variable, step)
        if not 0 <= last - first < MODULES:
            raise LineFault(f"{reference.name}[{first}..{last}] must count upwards.")
        return [self._known(f"{reference.name}[{number}]") for number in range(first, last + 1)]

    def _known(self, name: str) -> Node:
        if name in self.nodes:
            return self.nodes[name]
        if not self._is_whole:  # it is no fault, and looking for near names takes its time
            raise _MissingName(f"there is no {name} yet.")
        near = difflib.get_close_matches(name, self.nodes, n=1)
        if name.partition("[")[0] in self.nodes:
            whole = name.partition("[")[0]
            hint = f"{whole} has no steps; write {whole}[1..4] = […] to name each row"
        else:
            hint = f"did you mean {near[0]}?" if near else "a line above has to give or compute it"
        raise _MissingName(f"there is no {name} yet: {hint}{'' if hint.endswith('?') else '.'}")

    def _step(self, index: Index, variable: str, step: int) -> int:
        if not index.variable:
            return index.offset
        if index.variable != variable:
            raise LineFault(f"{index.variable} is not the variable of a loop around this line.")
        return step + index.offset

    def _new_name(self, target: Reference, variable: str, step: int) -> str:
        if target.first is None:
            return self._free(target.name)
        if target.last is not None:
            raise LineFault(f"{target.name} is one value: give it one step.")
        return self._free(f"{target.name}[{self._step(target.first, variable, step)}]")

    def _free(self, name: str) -> str:
        if name in self.nodes:
            raise LineFault(
                f"{name} is already defined in line {self.nodes[name].line}: choose another name."
            )
        return name


class _MissingName(LineFault):
    """A name that no line above has given; where lines could not be read, it may stand there."""


def _module(call: Call) -> Module:
    if call.word in KNOWN:
        return KNOWN[call.word]
    near = difflib.get_close_matches(call.word, KNOWN, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KNOWN)}."
    raise LineFault(f"there is no module “{call.word}”: {hint}")


def _check_number(module: Module, inputs: list[Node]) -> None:
    """LineFault where a module has too few or too many inputs."""
    most = len(module.arguments)
    least = 1 if module.many else most - module.optional
    if len(inputs) < least or (len(inputs) > most and not module.many):
        raise LineFault(f"{module.word} has {len(inputs)} inputs here and is written {usage(module)}.")
