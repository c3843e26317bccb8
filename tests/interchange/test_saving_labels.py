"""Models that other programs would misread are not converted for them."""

import pytest

from lmviz.base.errors import LmvizError
from lmviz.families import build_model
from lmviz.interchange.saving import save_pretrained
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.tasks import TASKS


@pytest.mark.parametrize(("task", "causal"), [("tagging", True), ("next-token", False)])
def test_only_causal_language_models_are_converted(tmp_path, task, causal):
    configuration = TransformerConfiguration(layers=1, heads=1, width=4, context=4, causal=causal)
    model = build_model("transformer", configuration, 7, 0, TASKS[task].predicts(("n", "v")))
    with pytest.raises(LmvizError, match="Only language models with a causal mask"):
        save_pretrained(model, tmp_path / "out")
    assert not (tmp_path / "out").exists()
