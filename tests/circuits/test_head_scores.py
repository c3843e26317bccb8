"""What heads do on random words said twice."""

import numpy as np
import pytest
import torch
from family_cases import trained

from lmviz.base.errors import LmvizError
from lmviz.circuits.head_scores import head_scores
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import replace
from lmviz.inspection.tracing import trace


def test_the_scores_are_means_of_attention_at_their_places():
    model = trained("transformer", ())
    found = head_scores(model, words=6, rows=3)
    assert found.ids.shape == (3, 12)
    assert (found.ids[:, :6] == found.ids[:, 6:]).all()
    assert all(len(set(row[:6])) == 6 for row in found.ids)
    wanted = {name: np.zeros((2, 2)) for name in ("previous", "first", "duplicate", "induction")}
    for row in found.ids:
        traced = trace(model, row)
        for layer in range(2):
            weights = traced[f"layers/{layer}/attention/weights"].array.astype(np.float64)
            for head in range(2):
                square = weights[head]
                wanted["previous"][layer, head] += np.mean([square[at, at - 1] for at in range(1, 12)]) / 3
                wanted["first"][layer, head] += np.mean([square[at, 0] for at in range(1, 12)]) / 3
                wanted["duplicate"][layer, head] += np.mean([square[at, at - 6] for at in range(6, 12)]) / 3
                wanted["induction"][layer, head] += np.mean([square[at, at - 5] for at in range(6, 12)]) / 3
    for name, scores in wanted.items():
        assert found[name] == pytest.approx(scores, abs=1e-6)
        assert getattr(found, name) == pytest.approx(scores, abs=1e-6)


@pytest.mark.parametrize(("name", "back"), [("previous", 1), ("duplicate", 6), ("induction", 5)])
def test_a_head_that_only_does_that_has_a_score_of_one(name, back):
    model = trained("transformer", ())
    square = np.eye(12, k=-back)
    square[:back, 0] = 1
    only = ChangedModel(model, [replace("layers/1/attention/weights", square, head=0)])
    plain, forced = head_scores(model, words=6), head_scores(only, words=6)
    assert plain.array.shape == (4, 2, 2)
    assert forced[name][1, 0] == pytest.approx(1, abs=1e-6)


def test_the_same_seed_gives_the_same_words():
    model = trained("transformer", ())
    assert (head_scores(model).ids == head_scores(model).ids).all()
    assert (head_scores(model).ids != head_scores(model, seed=1).ids).any()


def test_words_are_no_special_tokens_and_fit_in_the_context(tmp_path):
    import lmviz

    model = lmviz.open_model("stories-transformer")
    found = head_scores(model, words=100)
    assert found.words == 63
    assert (found.ids[:, 0] == model.tokenizer.start_id).all()
    assert not any(model.tokenizer.are_special(found.ids[:, 1:].ravel().tolist()))


def test_a_model_without_heads_says_so():
    with pytest.raises(LmvizError, match="has no attention heads"):
        head_scores(trained("gru", ()))


def test_nothing_is_kept_for_a_gradient():
    assert not torch.from_numpy(head_scores(trained("transformer", ())).array.copy()).requires_grad
