"""Write a new panel, operation or family to begin with: `python3 start.py new KIND NAME`.

    python3 start.py new panel repeats inside      a panel in the perspective Inside
    python3 start.py new operation leaky_gain
    python3 start.py new family decay

What is written is the example of the guide on that kind, under another name: file, rows and test. It works
at once. The guides are docs/adding-a-panel.md, adding-an-operation.md and adding-a-family.md.
"""

from __future__ import annotations

import argparse
import ast
import keyword
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```python\n# ([\w/]+\.py)\n(.*?)```", re.DOTALL)
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

TABLES = {
    "lmviz/app/panels/table.py": "PANELS",
    "lmviz/families.py": "FAMILIES",
    "lmviz/inspection/stage_sentences.py": "SENTENCES",
    "tests/family_cases.py": "OPTIONS",
}
"""Into which table of a file a block of a guide goes that is a row of it."""


ADDRESSES = ("embedding", "hidden", "layers", "logits", "orders", "output", "probabilities")
"""What a family cannot be called, because its tap has its name: adding-a-family.md, Names with a meaning."""


@dataclass(frozen=True)
class Example:
    """The example of a guide: the page, its name there, and how to write its code under another name.

    `renamed` gives, for a name and what else is asked for, pairs of a pattern and what stands in its place.
    """

    page: str
    name: str
    renamed: Callable[..., tuple[tuple[str, str], ...]]
    asks: tuple[str, ...] = ()


def _panel(name: str, perspective: str) -> tuple[tuple[str, str], ...]:
    return (
        (r"panels([./])inside([./])(test_)?counts\b", rf"panels\1{perspective}\2\3{name}"),
        (r'PanelRow\("counts", "Counts", "inside"', f'PanelRow("{name}", "{_title(name)}", "{perspective}"'),
        (r"\bCountsPanel\b", f"{_class(name)}Panel"),
        (r'"counts"', f'"{name}"'),
    )


def _operation(name: str) -> tuple[tuple[str, str], ...]:
    return (
        (r"\b(test_)?channel_gain\b", rf"\1{name}"),
        (r"\bChannelGain\b", _class(name)),
        (r'"channel gain"', f'"{name.replace("_", " ")}"'),
    )


def _family(name: str) -> tuple[tuple[str, str], ...]:
    return (
        (r"\bmodels([./])(test_)?average(_configuration)?\b", rf"models\1\2{name}\3"),
        (r"\bAverage(Configuration|Model)\b", rf"{_class(name)}\1"),
        (r'"average"', f'"{name}"'),
        (r'"Moving average"', f'"{_title(name)}"'),
    )


def _class(name: str) -> str:
    return name.title().replace("_", "")


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


EXAMPLES = {
    "panel": Example("adding-a-panel.md", "counts", _panel, ("perspective",)),
    "operation": Example("adding-an-operation.md", "channel_gain", _operation),
    "family": Example("adding-a-family.md", "average", _family),
}


def write(kind: str, name: str, *asked: str, root: Path = ROOT) -> list[Path]:
    """Write the example of a kind under another name; the files that are new or changed.

    ValueError, as a sentence, if the name cannot be used, and then nothing is written.
    """
    example = EXAMPLES[kind]
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ValueError(f"{name!r} cannot be a name: use small letters, digits and underscores.")
    _check(kind, name, *asked, root=root)
    new, rows = {}, {}
    for file, code in BLOCK.findall((root / "docs" / example.page).read_text(encoding="utf-8")):
        is_row = file in TABLES and f'"{example.name}"' in code
        if is_row or re.fullmatch(rf"(test_)?{example.name}(_configuration)?", Path(file).stem):
            for pattern, replacement in example.renamed(name, *asked):
                file, code = re.sub(pattern, replacement, file), re.sub(pattern, replacement, code)
            (rows if file in TABLES else new)[root / file] = code
    for path in new:
        if path.exists():
            raise ValueError(f"There is {path.relative_to(root)} already: choose another name.")
    for path, code in new.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    for path, row in rows.items():
        beside = f"'{asked[0]}', 'centre'" if kind == "panel" else ""
        insert(path, TABLES[path.relative_to(root).as_posix()], row.strip(), beside)
    changed = [*new, *rows]
    if kind == "operation":
        changed.append(_list_operation(root / "lmviz" / "models" / "operations" / "__init__.py", name))
    return changed


def _check(kind: str, name: str, *asked: str, root: Path) -> None:
    """ValueError where the name is taken or has a meaning of its own, or there is no such perspective."""
    if kind == "panel":
        table = (root / "lmviz" / "app" / "panels" / "table.py").read_text(encoding="utf-8")
        perspectives = re.findall(r'^    Perspective\("(\w+)"', table, re.MULTILINE)
        if asked[0] not in perspectives:
            raise ValueError(f"There is no perspective {asked[0]!r}: use {', '.join(perspectives)}.")
        if name in re.findall(r'PanelRow\(\s*"(\w+)"', table):
            raise ValueError(f"There is a panel {name!r} already: choose another name.")
    if kind == "family":
        table = (root / "lmviz" / "families.py").read_text(encoding="utf-8")
        if name in re.findall(r'Family\(\s*"(\w+)"', table):
            raise ValueError(f"There is a family {name!r} already: choose another name.")
        if name in ADDRESSES:
            raise ValueError(f"Every family has taps or stages named {name!r}: choose another name.")


def insert(path: Path, table: str, row: str, beside: str = "") -> None:
    """Add a row to a literal table of a module: at its end, or after the last in which `beside` occurs."""
    text = path.read_text(encoding="utf-8")
    every = _rows(text, table)
    last = [each for each in every if beside in ast.unparse(each)][-1] if beside else every[-1]
    lines = text.splitlines()
    indent = re.match(r"\s*", lines[last.lineno - 1]).group()
    lines[last.end_lineno - 1] = lines[last.end_lineno - 1].rstrip(",") + ","
    lines[last.end_lineno : last.end_lineno] = [indent + line for line in f"{row},".splitlines()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(text: str, table: str) -> list[ast.expr]:
    """The rows of a table that is a tuple, a dictionary, or a comprehension of a tuple."""
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == table for target in targets):
            value = node.value.generators[0].iter if isinstance(node.value, ast.DictComp) else node.value
            return value.values if isinstance(value, ast.Dict) else value.elts
    raise ValueError(f"There is no table {table}.")


def _list_operation(path: Path, name: str) -> Path:
    """Import an operation with the others; ruff sorts what is added."""
    text = path.read_text(encoding="utf-8")
    line = f"from lmviz.models.operations.{name} import {_class(name)}\n"
    text = text.replace("\n\n__all__ = [\n", f'\n{line}\n__all__ = [\n    "{_class(name)}",\n')
    path.write_text(text, encoding="utf-8")
    return path


def tidy(files: list[Path], root: Path = ROOT) -> None:
    """Sort imports and names and break lines, as ruff has it, in files that were written."""
    for rest in (["check", "--quiet", "--fix", "--extend-select", "RUF022"], ["format", "--quiet"]):
        subprocess.run([sys.executable, "-m", "ruff", *rest, *map(str, files)], cwd=root, check=False)


def main() -> None:
    """Write what the command line asks for, and say what was written and how to go on."""
    parser = argparse.ArgumentParser(
        prog="start.py new", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind, example in EXAMPLES.items():
        asked = kinds.add_parser(kind)
        asked.add_argument("name")
        for each in example.asks:
            asked.add_argument(each)
    given = parser.parse_args()
    asks = EXAMPLES[given.kind].asks
    try:
        files = write(given.kind, given.name, *(getattr(given, each) for each in asks))
    except ValueError as problem:
        parser.error(str(problem))
    tidy(files)
    if given.kind == "panel":
        controls = ROOT / "docs" / "write_controls.py"
        subprocess.run(
            [sys.executable, controls], env=os.environ | {"QT_QPA_PLATFORM": "offscreen"}, check=True
        )
    names = [path.relative_to(ROOT).as_posix() for path in files]
    print("Written:", *names, sep="\n  ")
    test = next(name for name in names if "/test_" in name)
    print(f"Try it:\n  python3 start.py test {test}")
    if given.kind == "family":
        print(f"  python3 start.py test tests/models/invariants -k {given.name}")
        print(f"  python3 start.py train --corpus farm --family {given.name} --out runs/{given.name}")
    print(f"What each part does, and what else there is to do: docs/{EXAMPLES[given.kind].page}")


if __name__ == "__main__":
    main()
