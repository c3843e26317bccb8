"""Lines that print what a recipe binds, so that running it shows what the panel shows."""

from __future__ import annotations

import ast

_PRINTED = {
    "distribution": """for candidate in distribution.top(10):
    print(f"{candidate.token!r:16} {candidate.probability:.4f}")""",
    "landed": "print(repr(distribution.token(landed)))",
    "distributions": """for name, distribution in distributions.items():
    print(name, *(f"{found.token!r} {found.probability:.4f}" for found in distribution.top(5)))""",
    "likelihood": """for token in likelihood.tokens:
    print(token)""",
    "steps": """for step in steps:
    print(repr(step.token), end=" ")""",
}
"""What prints a value by the name to which recipes bind it, where its own text is not what a panel shows."""


def printing(source: str) -> str:
    """The recipe followed by lines that print its last result; without a result it stays as it is."""
    assigned = [line for line in ast.parse(source).body if isinstance(line, ast.Assign)]
    if not assigned:
        return source
    target = assigned[-1].targets[0]
    names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
    lines = _PRINTED.get(names[-1], f"print({', '.join(names)})")
    return f"{source.rstrip()}\n{lines}\n"
