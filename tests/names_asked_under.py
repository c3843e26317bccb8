"""Under which names the program asks questions and starts jobs.

Panels ask under keys, which are registered as their modules are imported. The names that others ask under,
and those of all jobs, are read in the sources.
"""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import lmviz.app
import lmviz.app.panels
from lmviz.app.panels.question import Key

Function = ast.FunctionDef | ast.AsyncFunctionDef
CLASS_KEYS = ("job_name",)


def keys_of_panels() -> set[str]:
    """What panels ask under."""
    for module in pkgutil.walk_packages(lmviz.app.panels.__path__, "lmviz.app.panels."):
        import_module(module.name)
    return set(Key.known)


def names_asked_under() -> set[str]:
    """What the program asks under and calls its jobs: constants, or the constant beginnings of names."""
    paths = list(Path(*lmviz.app.__path__).rglob("*.py"))
    of_panels = [path for path in paths if "panels" in path.parts]
    others = [path for path in paths if path not in of_panels]
    jobs = _names_in_sources(of_panels, "start_job")
    return keys_of_panels() | jobs | _names_in_sources(others, "ask", "start_job")


def _names_in_sources(paths: list[Path], *functions: str) -> set[str]:
    """The first arguments of some functions, and of whatever hands a name on to these."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    class_keys = {name for tree in trees for name in _class_keys(tree)}
    calls = [found for tree in trees for found in _calls(tree)]
    places = {function: {0} for function in functions}
    while True:
        known = sum(map(len, places.values()))
        for _, function, call in calls:
            for argument in _names(call, places):
                if isinstance(argument, ast.Name) and argument.id in _texts_taken(function):
                    place = _parameters(function).index(argument.id)
                    places.setdefault(function.name, set()).add(place)
        if known == sum(map(len, places.values())):
            break
    asked: set[str] = set()
    for tree, function, call in calls:
        arguments = _names(call, places)
        found = {name for argument in arguments for name in _beginnings(argument, function, tree, class_keys)}
        handed_on = any(isinstance(arg, ast.Name) and arg.id in _texts_taken(function) for arg in arguments)
        assert found or handed_on or not arguments, f"under which name? {ast.unparse(call)}"
        asked |= found
    return asked


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Module, Function, ast.Call]]:
    """The calls in each function, those in functions within it apart."""

    def within(node: ast.AST, function: Function | None) -> Iterator[tuple[ast.Module, Function, ast.Call]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call) and function is not None:
                yield tree, function, child
            yield from within(child, child if isinstance(child, Function) else function)

    return within(tree, None)


def _names(call: ast.Call, places: dict[str, set[int]]) -> list[ast.expr]:
    """The arguments of a call that may be a name to ask under."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return [call.args[place] for place in places.get(called, ()) if place < len(call.args)]


def _parameters(function: Function) -> list[str]:
    return [argument.arg for argument in function.args.args if argument.arg != "self"]


def _texts_taken(function: Function) -> set[str]:
    """The parameters that are a str."""
    annotated = (argument for argument in function.args.args if isinstance(argument.annotation, ast.Name))
    return {argument.arg for argument in annotated if argument.annotation.id == "str"}


def _beginnings(node: ast.expr, function: Function, tree: ast.Module, class_keys: set[str]) -> set[str]:
    """What is known of a text: all of a constant, the constant beginning of an f-string."""
    if isinstance(node, ast.Constant):
        return {node.value} if isinstance(node.value, str) else set()
    if isinstance(node, ast.Attribute):
        return class_keys if node.attr in CLASS_KEYS else set()
    if isinstance(node, ast.IfExp):
        either = (node.body, node.orelse)
        return {name for each in either for name in _beginnings(each, function, tree, class_keys)}
    if isinstance(node, ast.Name):
        values = [*_assigned(node.id, function.body), *_assigned(node.id, tree.body)]
        return {name for value in values for name in _beginnings(value, function, tree, class_keys)}
    if isinstance(node, ast.JoinedStr):
        first = node.values[0]
        first = first.value if isinstance(first, ast.FormattedValue) else first
        return _beginnings(first, function, tree, class_keys)
    return set()


def _assigned(name: str, body: list[ast.stmt]) -> Iterator[ast.expr]:
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    yield statement.value


def _class_keys(tree: ast.Module) -> Iterator[str]:
    """The names under which classes ask and start jobs, as attributes of theirs or given to them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            given = [value for name in CLASS_KEYS for value in _assigned(name, node.body)]
        elif isinstance(node, ast.Call):
            given = [keyword.value for keyword in node.keywords if keyword.arg in CLASS_KEYS]
        else:
            continue
        yield from (value.value for value in given if isinstance(value, ast.Constant) and value.value)
