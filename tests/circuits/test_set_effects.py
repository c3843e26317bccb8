"""Values and effects over a set, row by row, as a window grows them, are those of the rows alone."""

import numpy as np
import pytest

import lmviz
from lmviz.circuits.row_values import measuring_rows
from lmviz.circuits.set_effects import EffectsPlan
from lmviz.text.text_set import set_of

ROWS = [
    {"text": "The bat made noise at", "changed": "The dog made noise at", "wanted": "night", "other": "the"},
    {"text": "The cat found a violet", "changed": "The cat found a red", "wanted": "mirror", "other": "doll"},
    {"text": "The cat found", "wanted": "no-such-word"},
]


@pytest.mark.parametrize("name", ["stories-transformer", "stories-gru", "stories-5-gram"])
def test_each_row_is_measured_as_alone(name):
    model = lmviz.open_model(name)
    *_, found = measuring_rows(model, set_of(ROWS))
    assert found.done == 3
    assert found.asked == (0, 1)
    assert "no-such-word" in found.troubles[2]
    for number in found.asked:
        logits = lmviz.trace(model, ROWS[number]["text"])["logits"].array[-1]
        wanted, other = (model.tokenizer.id_of(ROWS[number][side]) for side in ("wanted", "other"))
        assert found.values[number] == pytest.approx(logits[wanted] - logits[other], abs=1e-4)
        best = lmviz.next_token(model, ROWS[number]["text"])
        assert found.likeliest[number][0][1] == pytest.approx(best.probabilities[best.best], abs=1e-5)
    plan = EffectsPlan.of(model, list(found.contrasts.values()))
    effects = plan.effects(plan.rows([0, 1]), found.asked)
    whole = lmviz.ablate(model, list(found.contrasts.values()), each=effects.each)
    np.testing.assert_allclose(effects.mean, whole.array, atol=1e-9)
    assert effects.band_of(effects.strongest[0]) is whole.low is None  # of two texts
    assert (effects.agreeing <= 2).all()
    four_times = list(found.contrasts.values()) * 4
    plan = EffectsPlan.of(model, four_times)
    effects = plan.effects(plan.rows(list(range(8))), range(8))
    whole = lmviz.ablate(model, four_times, each=effects.each)
    low, high = effects.band_of(effects.strongest[0])
    assert whole.low[effects.strongest[0]] == pytest.approx(low)
    assert whole.high[effects.strongest[0]] == pytest.approx(high)


def test_pairs_are_patched_row_by_row():
    model = lmviz.open_model("stories-transformer")
    *_, found = measuring_rows(model, set_of(ROWS[:2]))
    plan = EffectsPlan.of(model, list(found.contrasts.values()), "patch")
    alone = lmviz.patch(model, found.contrasts[1], "layers/*/attention/heads")
    np.testing.assert_allclose(plan.rows([0, 1])[1], alone.array, atol=1e-4)
    *_, single = measuring_rows(model, set_of([ROWS[0] | {"changed": None}]))
    with pytest.raises(lmviz.LmvizError, match="Only pairs"):
        EffectsPlan.of(model, list(single.contrasts.values()), "patch")


def test_a_row_without_a_text_is_not_asked():
    model = lmviz.open_model("stories-transformer")
    *_, found = measuring_rows(model, set_of([ROWS[1], ROWS[1] | {"text": " ", "changed": None}]))
    assert found.asked == (0,)
    assert found.troubles == {1: "The row has no text: give one."}
    assert np.isnan(found.values[1])
