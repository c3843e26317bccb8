"""The circuit kept alone and its paths, against interventions on whole passes."""

import numpy as np
import pytest
from contrasts import contrast_of, contrasts_of, in_float64
from family_cases import one_of_each, trained

from lmviz.base.errors import LmvizError
from lmviz.circuits.circuit import circuit
from lmviz.inspection.interventions import replace
from lmviz.inspection.tracing import trace


def measured(traced):
    logits = traced["logits"].array[-1].astype(np.float64)
    return float(logits[3] - logits[6])


@pytest.fixture(scope="module")
def model():
    return in_float64(trained("transformer", ()))


@pytest.fixture(scope="module")
def texts(model):
    """Both texts of the contrast, traced."""
    contrast = contrast_of(model)
    return trace(model, np.array(contrast.text)), trace(model, np.array(contrast.changed))


def written(model):
    """The taps that parts write, in order."""
    return [
        f"layers/{layer}/{part}" for layer in range(2) for part in ("attention/mixed", "feedforward/output")
    ]


@one_of_each
def test_all_parts_together_keep_everything(family, options):
    model = trained(family, tuple(options.items()))
    contrast = contrasts_of(model)[-1]
    if family == "ngram":
        with pytest.raises(LmvizError, match="counts and has no parts to keep alone"):
            circuit(model, contrast)
        return
    found = circuit(model, contrast, 10**6, edges=False)
    assert found.of == len(found.parts)
    assert found.kept * (found.clean - found.changed) == pytest.approx(found.clean - found.changed, abs=1e-4)


def test_what_is_kept_alone_is_measured_with_all_others_as_in_the_changed_text(model, texts):
    clean, changed = texts
    found = circuit(model, contrast_of(model), 5, edges=False)
    changes = []
    for address in written(model):
        values = changed[address].array.copy()
        for part in found.parts:
            if part.address == address:
                index = dict(zip(part.axes, part.index, strict=True))
                cells = tuple(index.get(axis, slice(None)) for axis in clean[address].axes)
                values[cells] = np.nan
        changes.append((address, values))

    def kept(address, given, now):
        return np.where(np.isnan(given), now, given)

    interventions = [
        replace(address, lambda now, given=given, address=address: kept(address, given, now))
        for address, given in changes
    ]
    alone = measured(trace(model, clean.ids, interventions=interventions))
    wanted = (alone - measured(changed)) / (measured(clean) - measured(changed))
    assert found.kept == pytest.approx(wanted, abs=1e-5)


def test_a_part_is_scored_by_what_is_lost_without_it(model, texts):
    clean, changed = texts
    found = circuit(model, contrast_of(model), 4, edges=False)
    for share, part in zip(found.array, found.parts, strict=True):
        where = dict(zip(part.axes, part.index, strict=True))
        given = changed[part.address].at(**where)
        without = measured(trace(model, clean.ids, interventions=[replace(part.address, given, **where)]))
        wanted = (measured(clean) - without) / (measured(clean) - measured(changed))
        assert share == pytest.approx(wanted, abs=1e-9)
    assert (np.abs(found.array[:-1]) >= np.abs(found.array[1:])).all()


def test_a_path_is_what_a_receiver_alone_sees_of_a_sender(model, texts):
    """By two passes: one in which all else is held, and one with what the receiver then writes."""
    clean, changed = texts
    found = circuit(model, contrast_of(model), 40)
    assert {edge.receiver is None for edge in found.edges} == {True, False}
    for edge in found.edges[:12]:
        where = dict(zip(edge.sender.axes, edge.sender.index, strict=True))
        sent = replace(edge.sender.address, changed[edge.sender.address].at(**where), **where)
        receiver = edge.receiver
        held = [
            replace(address, clean[address].array)
            for address in written(model)
            if receiver is None or address != receiver.address
        ]
        first = trace(model, clean.ids, interventions=[*held, sent])
        if receiver is None:
            there = measured(first)
        else:
            place = dict(zip(receiver.axes, receiver.index, strict=True))
            now = replace(receiver.address, first[receiver.address].at(**place), **place)
            there = measured(trace(model, clean.ids, interventions=[now]))
        wanted = (measured(clean) - there) / (measured(clean) - measured(changed))
        assert edge.share == pytest.approx(wanted, abs=1e-6), (edge.sender, edge.receiver)


def test_at_their_mean_parts_say_the_same_everywhere(model, texts):
    clean, changed = texts
    found = circuit(model, contrast_of(model), 10**6, rest="mean", edges=False)
    everything = []
    for address in written(model):
        both = (clean[address].array + changed[address].array) / 2
        axis = clean[address].axes.index("position")
        everything.append((address, np.broadcast_to(both.mean(axis=axis, keepdims=True), both.shape)))
    nothing = measured(
        trace(model, clean.ids, interventions=[replace(address, given) for address, given in everything])
    )
    one = circuit(model, contrast_of(model), 1, rest="mean", edges=False)
    part = one.parts[0]
    index = dict(zip(part.axes, part.index, strict=True))
    changes = []
    for address, given in everything:
        values = given.copy()
        if address == part.address:
            values[tuple(index.get(axis, slice(None)) for axis in clean[address].axes)] = np.nan
        changes.append(replace(address, lambda now, given=values: np.where(np.isnan(given), now, given)))
    alone = measured(trace(model, clean.ids, interventions=changes))
    assert one.kept == pytest.approx((alone - nothing) / (measured(clean) - nothing), abs=1e-6)
    assert found.rest == "mean"


@pytest.mark.parametrize(
    ("options", "sentence"), [({"keep": 0}, "1 or more"), ({"rest": "zero"}, "as in the 'changed' text")]
)
def test_what_is_no_circuit_is_refused_in_a_sentence(model, options, sentence):
    with pytest.raises(LmvizError, match=sentence):
        circuit(model, contrast_of(model), **options)


def test_where_no_part_makes_a_difference_there_is_no_circuit(model):
    contrast = contrast_of(model, measure=("embedding/sum", (2, 0)))
    with pytest.raises(LmvizError, match="makes a difference to embedding/sum"):
        circuit(model, contrast)
