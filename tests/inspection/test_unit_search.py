import numpy as np
import pytest

from lmviz.errors import LmvizError
from lmviz.inspection.firing_units import firing_units
from lmviz.inspection.similarity import similarity_order
from lmviz.inspection.trace import Trace, TracedArray, trace
from lmviz.inspection.unit_search import WINDOW, search_corpus

ADDRESS = "layers/0/hidden"


def traced(values):
    values = np.array(values, dtype=np.float32)
    count = len(values)
    arrays = {ADDRESS: TracedArray(values, ("position", "unit"), "signed")}
    return Trace(("x",) * count, np.arange(count), "", ((0, 0),) * count, "rnn", (), arrays)


def test_units_that_fire_all_along_the_stretch_are_found_the_most_specific_first():
    values = np.zeros((6, 5))
    values[2:4, 0] = 0.8  # only in the stretch
    values[1:6, 1] = 0.9  # there and elsewhere
    values[2, 2] = 0.9  # only in part of it
    values[2:4, 3] = -0.7  # there, negative
    values[2:4, 4] = (0.9, 0.55)  # there, strong and weak
    found = firing_units(traced(values), ADDRESS, (2, 4), 0.5)
    assert [(match.unit, match.sign, match.elsewhere) for match in found] == [
        (0, 1, 0),
        (3, -1, 0),
        (4, 1, 0),
        (1, 1, 3),
    ]
    assert found[2].lowest == pytest.approx(0.55)
    assert firing_units(traced(values), ADDRESS, (2, 4), 0.95) == ()


def test_a_stretch_needs_a_word_and_a_tap_with_units(a, text):
    with pytest.raises(LmvizError, match="empty"):
        firing_units(traced(np.zeros((3, 2))), ADDRESS, (2, 2), 0.5)
    with pytest.raises(LmvizError, match="units"):
        firing_units(trace(a("transformer-none-pre"), text), "layers/0/attention/weights", (0, 1), 0.5)


def stream(a, length, seed=0):
    return np.random.default_rng(seed).integers(2, a("lstm").vocabulary_size, length).astype(np.uint8)


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        ("window", "hidden"),
        ("lstm", "layers/1/forget"),
        ("lstm", "layers/0/hidden"),
        ("transformer-learned-pre", "layers/0/feedforward/activation"),
    ],
)
def test_the_places_of_a_short_corpus_are_those_of_its_trace(a, kind, address):
    model = a(kind)
    ids = stream(a, 12)
    values = trace(model, ids)[address].array[:, 2]
    (progress,) = search_corpus(model, ids, address, 2, count=1)
    assert progress.done == 1.0
    assert progress.places[0].position == values.argmax()
    assert progress.places[0].value == pytest.approx(values.max(), abs=1e-6)
    (lowest,) = search_corpus(model, ids, address, 2, count=1, sign=-1)
    assert lowest.places[0].value == pytest.approx(values.min(), abs=1e-6)


def test_every_position_of_a_long_corpus_is_judged_once(a):
    model = a("window")  # looks three tokens back, so windows change nothing
    ids = stream(a, 5 * WINDOW + 17)
    values = trace(model, ids)["hidden"].array[:, 1]
    *_, last = search_corpus(model, ids, "hidden", 1, count=10, batch=2)
    assert last.done == 1.0
    found = {place.position: place.value for place in last.places}
    assert len(found) == 10
    best = []
    for place in np.argsort(-values, kind="stable"):
        if all(abs(place - other) >= 3 for other in best):
            best.append(int(place))
    assert sorted(found) == sorted(best[:10])
    assert all(value == pytest.approx(values[place], abs=1e-6) for place, value in found.items())


def test_progress_grows_and_the_search_can_be_given_up(a):
    search = search_corpus(a("lstm"), stream(a, 1000), "layers/0/hidden", 0, batch=2)
    first, second = next(search), next(search)
    assert 0 < first.done < second.done < 1
    assert second.places[0].value >= first.places[0].value
    search.close()


def test_a_place_shows_the_text_around_it(a):
    model = a("lstm")
    ids = model.tokenizer.encode("the cows eat corn . bats sleep at night .")
    (progress,) = search_corpus(model, ids, "layers/0/hidden", 0, count=3, around=2)
    place = progress.places[0]
    assert place.token == model.tokenizer.token(int(ids[place.position]))
    assert place.before == model.tokenizer.decode(ids[max(0, place.position - 2) : place.position])
    assert place.after == model.tokenizer.decode(ids[place.position + 1 : place.position + 3])


@pytest.mark.parametrize(
    ("address", "unit"), [("layers/0/hidden", 99), ("layers/7/hidden", 0), ("orders", 0)]
)
def test_units_must_be_there(a, address, unit):
    with pytest.raises(LmvizError):
        list(search_corpus(a("lstm"), stream(a, 30), address, unit))


def test_an_empty_corpus_is_said(a):
    with pytest.raises(LmvizError, match="empty"):
        list(search_corpus(a("lstm"), np.zeros(0, dtype=np.uint8), "layers/0/hidden", 0))


def test_units_that_behave_alike_stand_together():
    time = np.linspace(0, 6, 40)
    shapes = [np.sin(time), np.cos(time), -np.sin(time)]
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 30)
    values = np.stack([shapes[kind] + rng.normal(scale=0.05, size=40) for kind in kinds], axis=1)
    order = similarity_order(values)
    assert sorted(order) == list(range(30))
    assert np.count_nonzero(np.diff(kinds[order])) == 2


@pytest.mark.parametrize("shape", [(1, 5), (4, 1), (4, 2), (2, 3), (6, 3)])
def test_any_shape_has_an_order(shape):
    assert sorted(similarity_order(np.ones(shape))) == list(range(shape[1]))
