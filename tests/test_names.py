"""One name stands for one thing: no two public classes of lmviz are called the same."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent / "lmviz"
SAME_MATHEMATICS = {"Attention", "Linear", "Softmax"}
"""Modules of the small networks in numpy, and what models are made of in torch."""

SYNTAX = {"Call", "Literal", "Operation"}
"""What expressions are made of: of lessons, and of the language of small networks."""

PART_OF_THE_SESSION = {"Scale"}
"""Called as the perspective is, beside the operation of attention."""


def test_no_two_public_classes_share_a_name():
    homes = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(ROOT)))
    assert len(homes) > 300
    shared = {name: found for name, found in homes.items() if len(found) > 1}
    assert shared.keys() == SAME_MATHEMATICS | SYNTAX | PART_OF_THE_SESSION, shared
