"""A newcomer who looks for a word of the field finds it in the guide and beside the code."""

import ast

import pytest
from examples import DOCS

TERMS = [
    "zero ablation",
    "mean ablation",
    "activation patching",
    "hook",
    "residual stream",
    "induction head",
    "logit lens",
]


@pytest.fixture(scope="module")
def docstrings() -> str:
    """All docstrings of the files that know one of the terms, in lower case."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((DOCS.parent / "lmviz").rglob("*.py"))]
    said = [
        ast.get_docstring(node) or ""
        for text in texts
        if any(term in " ".join(text.casefold().split()) for term in TERMS)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    return " ".join(" ".join(said).casefold().split())


@pytest.fixture(scope="module")
def guide() -> str:
    """All pages of the guide, in lower case."""
    said = [path.read_text(encoding="utf-8") for path in sorted((DOCS / "guide").glob("*.md"))]
    return " ".join(" ".join(said).casefold().split())


@pytest.mark.parametrize("term", TERMS)
def test_a_term_stands_in_the_guide_and_in_a_docstring(term: str, guide: str, docstrings: str) -> None:
    assert term in guide
    assert term in docstrings
