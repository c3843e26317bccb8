import numpy as np
import pytest

from lmviz.inspection.interventions import zero
from lmviz.inspection.trace import Trace, trace

BEGINNING, WHOLE = "the cows eat", "the cows eat the corn at night"


def alike(found, expected):
    assert found.tokens == expected.tokens
    assert found.ids.tolist() == expected.ids.tolist()
    assert (found.text, found.offsets, found.dropped) == (expected.text, expected.offsets, expected.dropped)
    assert list(found.arrays) == list(expected.arrays)
    for address, traced in expected.arrays.items():
        assert found[address].array == pytest.approx(traced.array, abs=1e-4, rel=1e-4), address
        assert found[address].array.dtype == traced.array.dtype
        assert not found[address].array.flags.writeable


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEGINNING, WHOLE),  # typed on
        (WHOLE, BEGINNING),  # deleted
        (WHOLE, WHOLE),  # nothing changed
        (WHOLE, "the cows sleep the corn at night"),  # changed in the middle
        ("bats sleep", WHOLE),  # another text
    ],
)
def test_going_on_gives_what_reading_anew_gives(model, before, after):
    alike(trace(model, after, earlier=trace(model, before)), trace(model, after))


def test_word_by_word_errors_do_not_add_up(a):
    model = a("transformer-rotary-pre")
    words, found = WHOLE.split(), None
    for count in range(1, len(words) + 1):
        found = trace(model, " ".join(words[:count]), earlier=found)
    alike(found, trace(model, WHOLE))


@pytest.fixture
def counted(a, monkeypatch):
    """How many rows go through the weights of a Transformer."""
    from lmviz.models.operations import Affine

    rows = []
    plain = Affine.compute

    def compute(self, scope):
        value = plain(self, scope)
        rows.append(value.shape[1])
        return value

    monkeypatch.setattr(Affine, "compute", compute)
    return rows


def test_only_new_rows_go_through_the_weights(a, counted):
    model = a("transformer-learned-pre")
    earlier = trace(model, BEGINNING)
    counted.clear()
    trace(model, BEGINNING + " corn", earlier=earlier)
    assert set(counted) == {1}
    counted.clear()
    trace(model, "the cows", earlier=earlier)
    assert counted == []


def test_an_earlier_trace_that_does_not_fit_is_left_aside(a, counted):
    model = a("transformer-learned-pre")
    earlier = trace(model, BEGINNING)
    unfit = [
        trace(a("transformer-learned-post"), BEGINNING),
        trace(model, BEGINNING, taps=["logits"]),
        trace(model, BEGINNING, interventions=[zero("layers/0/attention/mixed", head=0)]),
        trace(model, "the cows eat " * 6),
    ]
    expected = trace(model, WHOLE)
    for other in unfit:
        counted.clear()
        alike(trace(model, WHOLE, earlier=other), expected)
        assert min(counted) == len(expected)
    changes = [zero("layers/0/attention/mixed", head=0)]
    alike(
        trace(model, WHOLE, earlier=earlier, interventions=changes),
        trace(model, WHOLE, interventions=changes),
    )
    long = "the cows eat " * 6
    alike(trace(model, long, earlier=earlier), trace(model, long))


def test_another_snapshot_is_another_model(a):
    model = a("transformer-learned-pre")
    earlier = trace(model, BEGINNING)
    stale = Trace(
        **{
            **{name: getattr(earlier, name) for name in earlier.__dataclass_fields__},
            "step": 7,
            "arrays": {
                address: type(traced)(traced.array + 1, traced.axes, traced.scale)
                for address, traced in earlier.arrays.items()
            },
        }
    )
    alike(trace(model, WHOLE, earlier=stale), trace(model, WHOLE))


def test_some_taps_can_be_asked_for(a):
    model = a("transformer-learned-pre")
    found = trace(model, WHOLE, taps=["logits"], earlier=trace(model, BEGINNING))
    assert list(found.arrays) == ["logits"]
    assert np.allclose(found["logits"].array, trace(model, WHOLE)["logits"].array, atol=1e-4)
