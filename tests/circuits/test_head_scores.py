"""What heads do on random words said twice."""

import numpy as np
import pytest
import torch
from family_cases import each_family_and_each_task, trained

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
    wanted = {name: np.zeros((2, 2)) for name in ("previous", "first", "duplicate", "induction", "rest")}
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
                later = [np.mean([square[at, key] for at in range(key + 1, 12)]) for key in range(1, 6)]
                wanted["rest"][layer, head] += max(later) / 3
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
    assert plain.array.shape == (5, 2, 2)
    assert forced[name][1, 0] == pytest.approx(1, abs=1e-6)
    assert forced.roles[1, 0] == name
    assert (plain.roles == "").all()


@pytest.mark.parametrize(("key", "role"), [(0, "first"), (3, "rest")])
def test_a_head_that_looks_at_one_word_rests_on_it(key, role):
    square = np.eye(12) * 0.6
    square[:, key] += 0.4
    square[: key + 1] = np.eye(12)[: key + 1]
    forced = ChangedModel(trained("transformer", ()), [replace("layers/1/attention/weights", square, head=0)])
    assert head_scores(forced, words=6).roles[1, 0] == ("" if key == 0 else role)
    square[key + 1 :] = np.eye(12)[key]
    forced = ChangedModel(trained("transformer", ()), [replace("layers/1/attention/weights", square, head=0)])
    assert head_scores(forced, words=6).roles[1, 0] == role


def test_the_losses_are_those_of_the_two_sayings():
    model = trained("transformer", ())
    found = head_scores(model, words=6, rows=3)
    losses = []
    for row in found.ids:
        logits = trace(model, row)["logits"].array.astype(np.float64)
        logarithms = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        losses.append([-logarithms[at - 1, row[at]] for at in range(1, 12)])
    assert found.loss_new == pytest.approx(np.mean([row[:5] for row in losses]), abs=1e-5)
    assert found.loss_again == pytest.approx(np.mean([row[6:] for row in losses]), abs=1e-5)


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


@each_family_and_each_task
def test_every_model_has_scores_or_is_told_why_not(family, options):
    model = trained(family, tuple(options.items()))
    if family == "transformer" and options.get("task", "next-token") == "next-token":
        assert np.isfinite(head_scores(model, words=3).array).all()
    else:
        with pytest.raises(LmvizError, match=r"choose a Transformer"):
            head_scores(model, words=3)


def test_nothing_is_kept_for_a_gradient():
    assert not torch.from_numpy(head_scores(trained("transformer", ())).array.copy()).requires_grad
