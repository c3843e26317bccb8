"""What tests of lenses begin with."""

import pytest

import lmviz
from lmviz.training.run import Run

SMALL = {"width": 8, "heads": 2, "layers": 2, "context": 16, "length": 8, "steps": 4, "seed": 0}


@pytest.fixture(scope="session")
def farm_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of a small Transformer that has read of a farm."""
    folder = tmp_path_factory.mktemp("farm")
    text = folder / "farm.txt"
    text.write_text("the cows eat hay\nthe hens eat corn\n" * 20, encoding="utf-8")
    return lmviz.train("transformer", lmviz.load_corpus(text), folder / "run", **SMALL)
