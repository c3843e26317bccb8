"""The Python of an answer through features gives what is shown, with all that was changed in the model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_features import made_features

import lmviz
from lmviz.features.recipes import through_features_recipe
from lmviz.inspection.interventions import zero
from lmviz.inspection.recipes.recipe import RecipeSubject

MODEL = "stories-transformer"
TEXT, CHANGED = "Maya owned a brown stone.", "Maya owned a brown bell."
CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "feature_bill": (lmviz.feature_bill, "attribution.array"),
    "feature_graph": (lmviz.feature_graph, "weights"),
    "alone_by_size": (lmviz.alone_by_size, "errors"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_python_of_an_answer_through_features_has_the_interventions(name: str, tmp_path: Path):
    call, read = CALLS[name]
    model = lmviz.open_model(MODEL)
    dictionary = made_features(model, "layers/0/residual2", TEXT)
    files = (dictionary.save(tmp_path / "drawn.safetensors"),)
    contrast, changes = lmviz.contrast(TEXT, CHANGED), (zero("layers/0/attention/output", channel=1),)
    subject = RecipeSubject(MODEL, TEXT, interventions=changes)
    code = through_features_recipe(
        subject, contrast, files, f"lmviz.{name}(model, contrast, dictionaries", f"found.{read}"
    )
    known: dict[str, Any] = {}
    exec(code, known)

    def values(found: Any) -> np.ndarray:
        for part in read.split("."):
            found = getattr(found, part)
        return found

    changed = values(call(model, contrast, dictionary, interventions=changes))
    np.testing.assert_allclose(known["values"], changed, atol=1e-5)
    plain = values(call(model, contrast, dictionary))
    assert plain.shape != changed.shape or not np.allclose(plain, changed, atol=1e-5)
