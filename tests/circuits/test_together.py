"""Texts that are asked in one batch answer as each does alone, whatever their lengths and measures."""

import numpy as np
import pytest
import torch
from contrasts import contrast_of, in_float64
from family_cases import IDS, each_family_and_each_task, source_of, trained, translates

import lmviz
from lmviz.circuits.ablation import AblationPlan
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.together import texts_together
from lmviz.inspection.interventions import scale
from lmviz.inspection.recording import prepared

CLOSE = {"rtol": 0, "atol": 1e-10}
"""In float64; float32 computes batches of another size in another order, so that last digits differ."""


def several(model, measure=None):
    """Four pairs of texts, of three lengths."""
    whole, beside = tuple(IDS.tolist()), ()
    if translates(model):
        beside = tuple(source_of(model))
    names = model.predicts.names
    found = []
    for number, length in enumerate((len(whole), len(whole) - 2, len(whole), len(whole) - 3)):
        text = tuple(whole[(place + number) % len(whole)] for place in range(length))
        changed = (*text[:1], text[1] % 6 + 1, *text[2:])
        of = measure or (f"logit:{names[0]}-{names[1]}" if names else "logit:1-2")
        found.append(Contrast(text, changed, of, *((beside, beside) if beside else ())))
    return found


@each_family_and_each_task
def test_each_row_is_what_it_is_alone(family, options):
    model = in_float64(trained(family, tuple(sorted(options.items()))))
    asked = several(model, "probability:1" if family == "ngram" else None)
    together = lmviz.ablate(model, asked, by="" if family == "ngram" else "zero")
    for row, one in zip(together.rows, asked, strict=True):
        np.testing.assert_allclose(row, lmviz.ablate(model, one, by=together.by).array, **CLOSE)
    try:
        alone = [lmviz.patch(model, one, estimate=True) for one in asked]
    except lmviz.LmvizError:
        return  # a change that this model does not see
    for grid, single in zip(lmviz.patch(model, asked, estimate=True), alone, strict=True):
        assert grid.axes == single.axes
        assert grid.array.shape == single.array.shape
        np.testing.assert_allclose(grid.measured, single.measured, **CLOSE)
        if single.estimate is not None:
            np.testing.assert_allclose(grid.estimate, single.estimate, rtol=1e-5, atol=1e-5)


@each_family_and_each_task
def test_each_attribution_is_what_it_is_alone(family, options):
    model = in_float64(trained(family, tuple(sorted(options.items()))))
    asked = several(model, "probability:1" if family == "ngram" else None)
    for found, one in zip(lmviz.attribute(model, asked), asked, strict=True):
        single = lmviz.attribute(model, one)
        assert found.names == single.names
        assert found.held == single.held
        np.testing.assert_allclose(found.array, single.array, **CLOSE)
        assert found.words.keys() == single.words.keys()
        for place, shares in single.words.items():
            np.testing.assert_allclose(found.words[place].array, shares.array, **CLOSE)


def test_attributions_share_their_passes_within_the_bound_of_memory(monkeypatch):
    model = trained("transformer", ())
    asked, read = several(model) * 5, []
    begin = CachedPass.__init__

    def noted(self, *given):
        begin(self, *given)
        read.append((len(self.lengths), sum(value.nbytes for value in self.values.values())))

    monkeypatch.setattr(CachedPass, "__init__", noted)
    lmviz.attribute(model, asked)
    assert len(read) < len(asked) / 2
    bound = 3 * max(bytes / texts for texts, bytes in read)
    monkeypatch.setattr("lmviz.circuits.together.KEPT_BYTES", bound)
    read.clear()
    shares: list[float] = []
    lmviz.attribute(model, asked, progress=shares.append)
    assert max(bytes for _, bytes in read) <= bound
    assert shares == sorted(shares)
    assert len(set(shares)) >= len(asked)


def spread(answer):
    """The entropy at the last token of a text, which must not see what fills it up."""
    return -(answer.probabilities[-1] * answer.probabilities[-1].log()).sum()


@pytest.mark.parametrize(
    "measure",
    ["loss@2", "probability:3", "logit:1-2@1", ("layers/1/residual2", (2, 0)), spread, lmviz.divergence()],
)
@pytest.mark.parametrize("family", ["transformer", "gru"])
def test_of_any_measure(family, measure):
    if family == "gru" and isinstance(measure, tuple):
        measure = ("layers/0/hidden", (2, 0))
    model = in_float64(trained(family, ()))
    asked = several(model, measure)
    for by in ("zero", "mean"):
        together = lmviz.ablate(model, asked, by=by, over=None)
        plan = AblationPlan.of(model, asked, by=by)
        assert len(list(plan.batches())) < len(asked)
        for number, row in enumerate(together.rows):
            np.testing.assert_allclose(row, plan.row(number).changes, **CLOSE)


@pytest.mark.parametrize("family", ["transformer", "lstm"])
def test_in_float32_they_are_the_same_to_six_digits(family):
    model = trained(family, ())
    asked = several(model)
    size = max(np.abs(lmviz.trace(model, np.array(one.text))["logits"].array).max() for one in asked)
    together = lmviz.ablate(model, asked, by="zero")
    for grid, row, one in zip(lmviz.patch(model, asked), together.rows, asked, strict=True):
        np.testing.assert_allclose(grid.measured, lmviz.patch(model, one).measured, rtol=0, atol=1e-6 * size)
        alone = lmviz.ablate(model, one, by="zero").array
        np.testing.assert_allclose(row, alone, rtol=0, atol=2e-6 * size)  # a difference of two
    for found, one in zip(lmviz.attribute(model, asked), asked, strict=True):
        np.testing.assert_allclose(found.array, lmviz.attribute(model, one).array, rtol=0, atol=1e-6 * size)


def test_surgery_is_in_force_in_each_text():
    model = in_float64(trained("transformer", ()))
    for surgery in (
        [scale("layers/0/attention/heads", 0.5, head=1)],
        [scale("layers/0/residual1", 2.0, position=-1)],
    ):
        asked = several(model)
        together = lmviz.ablate(model, asked, interventions=surgery)
        for row, one in zip(together.rows, asked, strict=True):
            np.testing.assert_allclose(row, lmviz.ablate(model, one, interventions=surgery).array, **CLOSE)


def test_few_passes_are_made_for_many_texts(monkeypatch):
    model = trained("transformer", ())
    passes = []
    whole = CachedPass.measured_by_row
    monkeypatch.setattr(
        CachedPass,
        "measured_by_row",
        lambda self, *rest, **more: passes.append(1) or whole(self, *rest, **more),
    )
    lmviz.ablate(model, contrast_of(model))
    alone = len(passes)
    passes.clear()
    lmviz.ablate(model, [contrast_of(model)] * 12)
    assert len(passes) <= 2 * alone


def test_the_values_kept_of_a_batch_stay_within_the_bound(monkeypatch):
    model = trained("transformer", ())
    asked = [(prepared(model, np.array(one.text), (), {}), len(one.text)) for one in several(model) * 10]
    kept = CachedPass(model, asked[0][0])
    bytes_of_one = sum(value.nbytes for value in kept.values.values())
    bound = int(3.5 * bytes_of_one)
    monkeypatch.setattr("lmviz.circuits.together.KEPT_BYTES", bound)
    batches = list(texts_together(model, asked, kept, 2))
    assert sorted(number for batch in batches for number in batch) == list(range(len(asked)))
    assert max(map(len, batches)) > 1
    for batch in batches:
        (reading, span), *further = (asked[number] for number in batch)
        read = CachedPass(model, reading, span, further)
        assert sum(value.nbytes for value in read.values.values()) <= bound
    assert torch.is_inference_mode_enabled() is False
