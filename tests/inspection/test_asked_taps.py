"""A trace of some taps computes what these are made of and nothing else, and gives the same numbers."""

import numpy as np
import pytest
from family_cases import IDS, beside, one_of_each, trained

from lmviz.inspection import deferred_array
from lmviz.inspection.interventions import zero
from lmviz.inspection.tracing import trace
from lmviz.models.explicit import ForwardPass


def every_tap_alone(model, further):
    whole = trace(model, IDS, **further)
    for tap in model.taps():
        found = trace(model, IDS, taps=[tap.address], **further)
        assert list(found.arrays) == [tap.address]
        assert np.array_equal(found[tap.address].array, whole[tap.address].array, equal_nan=True), tap.address


@one_of_each
def test_each_tap_alone_is_what_it_is_among_all(family, options):
    model = trained(family, tuple(options.items()))
    every_tap_alone(model, beside(model))


def test_so_it_is_where_squares_are_made_later(monkeypatch):
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 0)
    every_tap_alone(trained("transformer", (("positions", "relative"),)), {})


@pytest.mark.parametrize("most", [0, deferred_array.MOST_RECORDED])
def test_only_what_is_asked_for_is_computed_and_kept(most, monkeypatch):
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", most)
    model = trained("transformer", (("layers", 3),))
    computed, held = [], []
    plain = ForwardPass.computed

    def counting(self, tap):
        computed.append(tap.address)
        held.append(len(self._values))
        return plain(self, tap)

    monkeypatch.setattr(ForwardPass, "computed", counting)
    found = trace(model, IDS, taps=["layers/1/attention/weights"])
    assert set(found.arrays) == {"layers/1/attention/weights"}
    assert not [address for address in computed if address.startswith("layers/2") or address == "logits"]
    assert not [address for address in computed if address.startswith("layers/1/feedforward")]
    assert "layers/0/residual2" in computed
    assert max(held) < 12  # what nothing reads any more is let go


def test_an_intervention_counts_wherever_it_is():
    model = trained("transformer", (("layers", 3),))
    for change in (zero("layers/0/attention/mixed"), zero("layers/2/attention/mixed")):
        whole = trace(model, IDS, interventions=[change])
        found = trace(model, IDS, interventions=[change], taps=["layers/1/residual2"])
        assert np.array_equal(found["layers/1/residual2"].array, whole["layers/1/residual2"].array)
        assert found.interventions == whole.interventions
