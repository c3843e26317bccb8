"""What features do over texts, held against plain loops in numpy over traces."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.families import build_model
from lmviz.features.dictionary import Dictionary
from lmviz.features.feature_pass import coding_on
from lmviz.features.feature_reading import _Gathered, reading_features
from lmviz.features.gathering import BINS, Firing, Histograms, KeptPlaces, PairSums
from lmviz.features.needed import needed
from lmviz.models.transformer_configuration import TransformerConfiguration

TAP = "layers/1/residual2"
SIZE, K = 24, 3
TEXTS = [
    "Maya put the green stone in the barrel. Then she went home.",
    "Tobin owned a brown key. He put it in the drawer.",
    "Maya put the green stone in the barrel.",
    "The cow that sleeps on the hill is old.",
]


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


@pytest.fixture(scope="module")
def dictionary(model):
    """Directions drawn at random: what is gathered of them must be right all the same."""
    width = model.configuration.width
    random = np.random.default_rng(0)
    decoder = random.standard_normal((SIZE, width)).astype(np.float32)
    bias = lmviz.trace(model, TEXTS[0])[TAP].array[1:].mean(0)
    encoder = (random.standard_normal((SIZE, width)) / width).astype(np.float32)
    return Dictionary("topk", TAP, encoder, -encoder @ bias, decoder, bias, k=K, model="stories-transformer")


@pytest.fixture(scope="module")
def reading(model, dictionary):
    return lmviz.read_features(model, dictionary, TEXTS, needed=True)


def encoded(dictionary, states):
    """The activations of a top-k dictionary, one state after the other."""
    found = np.zeros((len(states), dictionary.size))
    for at, state in enumerate(states.astype(np.float64)):
        scores = dictionary.encoder.astype(np.float64) @ state + dictionary.encoder_bias
        for feature in np.argsort(-scores)[: dictionary.k]:
            found[at, feature] = max(scores[feature], 0.0)
    return found


def loss_of(trace):
    shares = trace["probabilities"].array.astype(np.float64)
    return -np.log(shares[np.arange(len(trace) - 1), trace.ids[1:]]).sum()


def test_all_that_is_gathered_is_what_loops_over_traces_count(model, dictionary, reading):
    on, texts, sums, largest = np.zeros(SIZE), np.zeros(SIZE), np.zeros(SIZE), np.zeros(SIZE)
    at, following = defaultdict(Counter), defaultdict(Counter)
    values, states, errors, loss = defaultdict(list), [], 0.0, 0.0
    for text in TEXTS:
        trace = lmviz.trace(model, text)
        loss += loss_of(trace)
        own = trace[TAP].array[1:]
        active = encoded(dictionary, own)
        states.append(own.astype(np.float64))
        errors += ((own - active @ dictionary.decoder - dictionary.decoder_bias) ** 2).sum()
        on += (active > 0).sum(0)
        texts += (active > 0).any(0)
        sums += active.sum(0)
        largest = np.maximum(largest, active.max(0))
        for position, feature in zip(*np.nonzero(active), strict=True):
            value = active[position, feature]
            values[feature].append(value)
            at[feature][trace.tokens[position + 1]] += value
            if position + 2 < len(trace):
                following[feature][trace.tokens[position + 2]] += value
    states = np.concatenate(states)
    assert reading.tokens == len(states)
    assert reading.on.tolist() == on.tolist()
    assert reading.in_texts.tolist() == texts.tolist()
    assert reading.active == pytest.approx(K, abs=0.5)
    np.testing.assert_allclose(reading.sums, sums, rtol=1e-4)
    np.testing.assert_allclose(reading.largest, largest, rtol=1e-4)
    variance = ((states - states.mean(0)) ** 2).sum()
    assert reading.explained == pytest.approx(1 - errors / variance, rel=1e-4)
    assert reading.loss == pytest.approx(loss / len(states), rel=1e-5)
    for feature in np.flatnonzero(on):
        found = reading[int(feature)]
        for named, counted in ((found.at, at[feature]), (found.next, following[feature])):
            for word, share in named.words:
                assert share == pytest.approx(counted[word] / sums[feature], rel=1e-3)
        assert found.at.share == pytest.approx(max(at[feature].values()) / sums[feature], rel=1e-3)
        counts, end = found.histogram
        assert counts.sum() == found.on
        assert np.histogram(values[feature], BINS, (0, end))[0] == pytest.approx(counts, abs=1)
        [first, *_] = found.strongest()
        assert first.value == pytest.approx(max(values[feature]), rel=1e-4)
        assert encoded(dictionary, lmviz.trace(model, TEXTS[first.text])[TAP].array)[
            first.position, feature
        ] == pytest.approx(first.value, rel=1e-4)
        tokens, place = found.passage(first)
        assert tokens[place] == lmviz.trace(model, TEXTS[first.text]).tokens[first.position]


def test_what_the_loss_needs_is_what_it_rises_by_without_the_feature(model, dictionary, reading):
    feature = int(np.argmax(reading.on))
    rise = predicted = 0.0
    for text in TEXTS:
        trace = lmviz.trace(model, text)
        active = encoded(dictionary, trace[TAP].array)[:, feature]
        active[0] = 0.0
        without = trace[TAP].array - active[:, None] * dictionary.decoder[feature]
        changed = lmviz.trace(model, text, interventions=[lmviz.replace(TAP, without)])
        rise += loss_of(changed) - loss_of(trace)
        predicted += len(trace) - 1
    assert reading.needed[feature] == pytest.approx(rise / predicted, rel=1e-3, abs=1e-6)
    assert reading.needed_each[feature] == pytest.approx(rise / reading.on[feature], rel=1e-3, abs=1e-6)
    silent = np.flatnonzero(reading.on == 0)
    assert not reading.needed[silent].any()


def test_features_of_a_transcoder_are_taken_out_where_they_write(model):
    """They are read before a feed-forward network, and stand for what it writes."""
    random = np.random.default_rng(3)
    width, tap, written = model.configuration.width, "layers/1/norm2", "layers/1/feedforward/output"
    encoder, decoder = (random.standard_normal((SIZE, width)).astype(np.float32) / 8 for _ in range(2))
    skip = (random.standard_normal((width, width)) / 40).astype(np.float32)
    bias = random.standard_normal(width).astype(np.float32) / 8
    dictionary = Dictionary("relu", tap, encoder, bias[:SIZE] - 1, decoder, bias, written=written, skip=skip)
    reading = lmviz.read_features(model, dictionary, TEXTS, needed=True)
    traces = [lmviz.trace(model, text) for text in TEXTS]
    target = np.concatenate([trace[written].array[1:] for trace in traces]).astype(np.float64)
    put = np.concatenate([dictionary.reconstruct(trace[tap].array[1:]) for trace in traces])
    left = np.square(target - put).sum() / np.square(target - target.mean(0)).sum()
    assert reading.explained == pytest.approx(1 - left, abs=1e-5)

    feature = int(np.argmax(reading.on))

    def off(trace, places, times=0.0):
        own = dictionary.encode(trace)[:, feature]
        given = trace[written].array.copy()
        given[places] += (times - 1) * own[places, None] * dictionary.decoder[feature]
        return lmviz.trace(model, trace.ids, interventions=[lmviz.replace(written, given)])

    rise = sum(loss_of(off(trace, slice(1, None))) - loss_of(trace) for trace in traces)
    predicted = sum(len(trace) - 1 for trace in traces)
    assert reading.needed[feature] == pytest.approx(rise / predicted, rel=1e-3, abs=1e-6)

    words = lmviz.written_words(model, reading, feature)
    total = np.zeros(model.outputs)
    for place in reading[feature].strongest(24):
        trace = lmviz.trace(model, reading.rows[place.text][: place.position + 1])
        rises = trace["logits"].array[-1].astype(float) - off(trace, place.position)["logits"].array[-1]
        total += rises - rises.mean()
    np.testing.assert_allclose(words.rises, total / words.places, atol=1e-3)

    turned = lmviz.turn_feature(model, dictionary, feature, TEXTS[0], [0.0, 3.0])
    for times, shares in zip(turned.factors, turned.probabilities, strict=True):
        expected = off(traces[0], slice(None), times)["probabilities"].array[-1]
        np.testing.assert_allclose(shares, expected, atol=1e-5)
    with pytest.raises(LmvizError, match="transcoder"):
        lmviz.change_feature(dictionary, feature, to=0)

    over_time = lmviz.features_over_time("stories-transformer", dictionary, TEXTS, steps=[6000])
    assert over_time.explained[-1] == pytest.approx(reading.explained, abs=1e-5)
    backwards = replace(dictionary, tap=written, written=tap, skip=None)
    with pytest.raises(LmvizError, match="follows from"):
        lmviz.read_features(model, backwards, TEXTS)


def test_texts_are_drawn_alike_however_often_a_feature_fires_in_them():
    """Of 300 texts where it fires once, and 100 where it fires 20 times, as many of each are tried."""
    often = 0
    for seed in range(200):
        gathered = _Gathered(1, np.random.default_rng(seed), is_transcoder=False)
        texts = np.concatenate([np.arange(300), np.repeat(np.arange(300, 400), 20)])
        ones = np.ones(len(texts), dtype=np.int64)
        gathered._take(Firing(0 * ones, ones.astype(np.float32), texts, np.arange(len(texts)), ones, ones))
        kept = gathered._drawn
        often += int((kept.texts[np.argsort(kept._keys)[::-1][:8]] >= 300).sum())
    assert often / (8 * 200) == pytest.approx(0.25, abs=0.04)


def test_how_sure_it_is_what_the_loss_needs_follows_from_the_texts_that_were_tried(model, dictionary):
    texts = [f"{text} {other}" for text in TEXTS for other in TEXTS if text != other]
    reading = lmviz.read_features(model, dictionary, texts)
    feature = int(np.argmax(reading.in_texts))
    (*_, all_of), (*_, some), (*_, one) = (
        needed(model, reading, tried=tried, features=[feature]) for tried in (40, 4, 1)
    )
    assert reading.in_texts[feature] > 4
    assert all_of.errors[feature] == 0.0
    assert some.errors[feature] > 0.0
    assert np.isnan(one.errors[feature])
    assert abs(some.losses[feature] - all_of.losses[feature]) < 4 * some.errors[feature]
    assert some.of(reading)[feature].needed_error == some.errors[feature]
    assert one.of(reading)[feature].needed_error is None


def test_in_a_recurrent_network_features_are_taken_out_as_it_reads():
    model = lmviz.open_model("stories-gru")
    tap = "layers/0/hidden"
    random = np.random.default_rng(1)
    width = lmviz.trace(model, TEXTS[0])[tap].array.shape[1]
    directions = random.standard_normal((8, width)).astype(np.float32)
    dictionary = Dictionary(
        "topk", tap, directions, np.zeros(8, np.float32), directions / width, np.zeros(width, np.float32), k=2
    )
    reading = lmviz.read_features(model, dictionary, TEXTS[:2], needed=True)
    feature = int(np.argmax(reading.on))
    rise = predicted = 0.0
    for text in TEXTS[:2]:
        first = True

        def without(states):
            nonlocal first
            own = encoded(dictionary, states)[:, feature]
            if first:
                own[0], first = 0.0, False
            return states - own[:, None] * dictionary.decoder[feature]

        trace = lmviz.trace(model, text)
        rise += loss_of(lmviz.trace(model, text, interventions=[lmviz.replace(tap, without)])) - loss_of(
            trace
        )
        predicted += len(trace) - 1
    assert reading.needed[feature] == pytest.approx(rise / predicted, rel=1e-3, abs=1e-6)
    stays = lmviz.staying_features(model, dictionary, TEXTS[:2])
    active = [encoded(dictionary, lmviz.trace(model, text)[tap].array)[1:] > 0 for text in TEXTS[:2]]
    for distance in (1, 4):
        again = sum((one[:-distance] & one[distance:]).sum() for one in active)
        asked = sum(one[:-distance].sum() for one in active)
        assert stays.still[distance - 1] == pytest.approx(again / asked)
    rates = sum(one.sum(0) for one in active) / sum(map(len, active))
    assert stays.chance == pytest.approx((rates**2).sum() / rates.sum())


def test_passages_differ_in_what_comes_next_and_others_are_from_the_middle(reading):
    for feature in np.flatnonzero(reading.on > 3):
        found = reading[int(feature)]
        values = [place.value for place in found.strongest(3)]
        assert values == sorted(values, reverse=True)
        for place in found.middle():
            assert found.largest / 3 <= place.value <= found.largest * 2 / 3


def test_words_are_found_and_names_fail_where_nothing_stands_out(reading):
    named = reading.find(" stone")
    assert all(
        "stone" in [word for word, _ in (*reading.at(int(one)).words, *reading.next(int(one)).words)]
        for one in named
    )
    assert not len(reading.find("no such word"))
    assert str(reading[int(named[0])].name) if len(named) else True
    rows = reading.table()
    assert len(rows) == SIZE
    assert rows[3]["feature"] == 3


def test_what_a_feature_writes_is_the_logits_with_it_less_those_without(model, dictionary, reading):
    feature = int(np.argmax(reading.on))
    written = lmviz.written_words(model, reading, feature)
    total = np.zeros(model.outputs)
    places = reading[feature].strongest(24)
    for place in places:
        ids = reading.rows[place.text][: place.position + 1]
        trace = lmviz.trace(model, ids)
        states = trace[TAP].array.copy()
        active = encoded(dictionary, states)[place.position, feature]
        states[place.position] -= active * dictionary.decoder[feature]
        without = lmviz.trace(model, ids, interventions=[lmviz.replace(TAP, states)])
        rises = trace["logits"].array[-1].astype(float) - without["logits"].array[-1]
        total += rises - rises.mean()
    assert written.places == len(places)
    np.testing.assert_allclose(written.rises, total / len(places), atol=1e-3)
    top = [rise for _, rise in written.top()]
    assert top == sorted(top, reverse=True)
    gaps = -np.diff(np.sort(written.rises)[::-1][:25])
    assert written.group == int(np.argmax(gaps)) + 1


def test_a_turned_feature_gives_the_next_word_of_a_model_with_its_states_replaced(model, dictionary, reading):
    states = lmviz.trace(model, TEXTS[0])[TAP].array
    feature = int(np.argmax(encoded(dictionary, states)[-1]))
    found = lmviz.turn_feature(model, dictionary, feature, TEXTS[0], [0.0, 1.0, 3.0])
    active = encoded(dictionary, states)[:, feature]
    for factor, shares in zip(found.factors, found.probabilities, strict=True):
        moved = states + ((factor - 1) * active)[:, None] * dictionary.decoder[feature]
        expected = lmviz.trace(model, TEXTS[0], interventions=[lmviz.replace(TAP, moved)])
        np.testing.assert_allclose(shares, expected["probabilities"].array[-1], atol=1e-5)
        changed = lmviz.trace(
            model, TEXTS[0], interventions=[lmviz.change_feature(dictionary, feature, times=factor)]
        )
        np.testing.assert_allclose(changed["probabilities"].array[-1], shares, atol=1e-5)
    assert found.is_on
    clamped = lmviz.trace(model, TEXTS[0], interventions=[lmviz.change_feature(dictionary, feature, to=2.0)])
    moved = states + (2.0 - active)[:, None] * dictionary.decoder[feature]
    np.testing.assert_allclose(clamped[TAP].array, moved, atol=1e-4)
    same = lmviz.trace(model, TEXTS[0], interventions=[lmviz.change_feature(dictionary, feature, times=1)])
    assert np.array_equal(same[TAP].array, states)  # the error is kept, to the last bit


def test_features_over_time_are_correlations_of_activations(dictionary):
    run = lmviz.open_model("stories-transformer")
    found = lmviz.features_over_time("stories-transformer", dictionary, TEXTS, steps=[0, 6000])
    states = [
        np.concatenate(
            [
                lmviz.trace(lmviz.open_model("stories-transformer", step=step), text)[TAP].array[1:]
                for text in TEXTS
            ]
        )
        for step in (0, 6000)
    ]
    own = np.concatenate([lmviz.trace(run, text)[TAP].array[1:] for text in TEXTS])
    for row, read in enumerate(states):
        for feature in range(SIZE):
            pair = encoded(dictionary, own)[:, feature], encoded(dictionary, read)[:, feature]
            if min(map(np.std, pair)) > 0:
                assert found.agreement[row, feature] == pytest.approx(np.corrcoef(*pair)[0, 1], abs=1e-3)
    known = np.isfinite(found.agreement[1])
    assert found.agreement[1][known] == pytest.approx(1.0, abs=1e-6)
    assert set(found.since[known]) <= {0.0, 6000.0}


def test_two_dictionaries_are_matched_by_the_directions_that_they_write(dictionary):
    order = np.random.default_rng(2).permutation(SIZE)
    other = replace(dictionary, decoder=dictionary.decoder[order] * 3, encoder=dictionary.encoder[order])
    found = lmviz.match_features(dictionary, other)
    assert order[found.partners].tolist() == list(range(SIZE))
    assert found.share(0.99) == 1.0
    narrow = replace(dictionary, decoder=dictionary.decoder[:, :-1])
    with pytest.raises(LmvizError, match="different width"):
        lmviz.match_features(dictionary, narrow)


def test_a_feature_that_is_not_there_and_a_model_of_others_are_refused(model, dictionary, reading):
    for wrong in (SIZE, -1, 1.5, True, "a"):
        with pytest.raises(LmvizError, match="no feature"):
            reading[wrong]
        with pytest.raises(LmvizError, match="no feature"):
            lmviz.change_feature(dictionary, wrong, to=0)
    with pytest.raises(LmvizError, match="multiplied"):
        lmviz.change_feature(dictionary, 0)
    with pytest.raises(LmvizError, match="no tap"):
        lmviz.read_features("stories-gru", dictionary, TEXTS)


entries = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 5), st.floats(0.0625, 100, width=32)), max_size=60
)


@settings(max_examples=40)
@given(st.lists(entries, min_size=1, max_size=4))
def test_what_is_kept_of_batches_is_what_all_at_once_would_keep(batches):
    sums, kept, histograms = PairSums(), KeptPlaces(3), Histograms(5)
    counted, best, values = Counter(), defaultdict(dict), defaultdict(list)
    for number, batch in enumerate(batches):
        features, tokens, numbers = (
            (np.array(each) for each in zip(*batch, strict=True)) if batch else [np.zeros(0, int)] * 3
        )
        numbers = numbers.astype(np.float32)
        texts = number * 10 + tokens
        fired = Firing(features, numbers, texts, np.arange(len(features)), tokens, tokens)
        sums.add(features, tokens, numbers)
        kept.add(fired, numbers.astype(float))
        histograms.add(features, numbers)
        for feature, token, value in zip(features.tolist(), tokens.tolist(), numbers.tolist(), strict=True):
            counted[feature, token] += value
            text = number * 10 + token
            best[feature][text] = max(best[feature].get(text, 0.0), value)
            values[feature].append(value)
    tokens, largest = sums.largest(6, 5)
    for feature in range(5):
        own = sorted((value for (one, _), value in counted.items() if one == feature), reverse=True)
        assert largest[feature][: len(own)] == pytest.approx(own)
        assert (tokens[feature] >= 0).sum() == len(own)
        top = sorted(best[feature].values(), reverse=True)[:3]
        assert sorted(kept.values[kept.features == feature], reverse=True) == pytest.approx(top)
        assert histograms.counts[feature].sum() == len(values[feature])
        if values[feature]:
            end = histograms.ends[feature]
            assert max(values[feature]) <= end
            expected, _ = np.histogram(values[feature], BINS, (0, end))
            assert histograms.counts[feature].tolist() == expected.tolist()


def test_a_dictionary_of_another_model_is_refused_wherever_it_reads(dictionary):
    """Its tap may be there with another width: each way to read states comes to the same sentence."""
    small = TransformerConfiguration(layers=2, heads=2, width=8, context=12)
    other = build_model("transformer", small, 9, seed=1).eval()
    rows = [np.array([1, 2, 3, 1])]
    with pytest.raises(LmvizError, match="states of 96 channels, and these have 8: open the model"):
        list(reading_features(other, dictionary, rows))
    with pytest.raises(LmvizError, match="these have 8"):
        coding_on(other, dictionary).reconstructed(torch.zeros(2, 8))
