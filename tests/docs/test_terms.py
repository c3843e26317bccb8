"""A newcomer who looks for a word of the field finds it in the guide and beside the code."""

import ast

import pytest
from examples import DOCS

DOCSTRINGS = "\n".join(
    ast.get_docstring(node) or ""
    for path in sorted((DOCS.parent / "lmviz").rglob("*.py"))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
).casefold()
GUIDE = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((DOCS / "guide").glob("*.md"))
).casefold()


TERMS = "zero ablation, mean ablation, activation patching, hook, residual stream, induction head, logit lens"


@pytest.mark.parametrize("term", TERMS.split(", "))
def test_a_term_stands_in_the_guide_and_in_a_docstring(term):
    assert term in " ".join(GUIDE.split())
    assert term in " ".join(DOCSTRINGS.split())
