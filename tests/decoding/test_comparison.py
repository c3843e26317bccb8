import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.decoding.comparison import (
    disagreement,
    disagreement_of,
    jensen_shannon,
    largest_differences,
    overlap,
    shares_after,
    surprisal_over,
)
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.shared_units import bare_word, ids_by_word, shared_units


@pytest.mark.filterwarnings("error")  # a share of 0 has a logarithm that must not be heard of
def test_divergence_by_hand():
    assert jensen_shannon([[1, 0], [0, 1]]) == pytest.approx(1.0)
    assert jensen_shannon([[1, 0, 0], [0, 1, 0], [0, 0, 1]]) == pytest.approx(np.log2(3))
    # H(¾, ¼) − ½·(0 + 1) = 0.8113 − 0.5
    assert jensen_shannon([[1, 0], [0.5, 0.5]]) == pytest.approx(0.311278, abs=1e-6)


def test_divergence_is_added_up_in_double_precision():
    shares = np.random.default_rng(0).dirichlet(np.ones(50), 3).astype(np.float32)
    assert jensen_shannon(shares) == pytest.approx(jensen_shannon(shares.astype(np.float64)), rel=1e-12)


@given(st.lists(st.lists(st.floats(0.001, 1), min_size=4, max_size=4), min_size=2, max_size=4))
def test_divergence_and_overlap_have_their_limits(rows):
    shares = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    assert 0 <= jensen_shannon(shares) <= np.log2(len(shares)) + 1e-12
    assert jensen_shannon(shares[::-1]) == pytest.approx(jensen_shannon(shares), abs=1e-12)
    assert jensen_shannon(np.stack([shares[0]] * 2)) == pytest.approx(0, abs=1e-12)
    assert 0 < overlap(shares) <= 1 + 1e-12


def test_overlap_is_what_all_have_in_common():
    assert overlap([[0.5, 0.5, 0], [0.25, 0.25, 0.5]]) == pytest.approx(0.5)


def test_the_largest_differences_come_first():
    shares = np.array([[0.5, 0.4, 0.1], [0.5, 0.1, 0.4]])
    found = largest_differences(shares, ["corn", "grass", "hay"], 2)
    assert [difference.name for difference in found] == ["grass", "hay"]
    assert found[0].shares == (0.4, 0.1)


def test_the_same_tokenizer_is_compared_token_by_token(make):
    model = make()
    units = shared_units([model.tokenizer, model.tokenizer])
    assert units.by == "token"
    probabilities = np.random.default_rng(0).dirichlet(np.ones(model.vocabulary_size))
    assert units.share(1, probabilities) == pytest.approx(probabilities)


def test_word_vocabularies_are_united_by_spelling(make):
    with_marks, without = make().tokenizer, make(marks=False).tokenizer
    units = shared_units([with_marks, without])
    assert units.by == "token"
    assert len(units.names) == with_marks.vocabulary_size
    corn = units.names.index("corn")
    assert units.indices[0][with_marks.id_of("corn")] == units.indices[1][without.id_of("corn")] == corn


def test_words_and_byte_pairs_meet_at_the_first_visible_character(make):
    words, pairs = make().tokenizer, make(specification="bpe:300").tokenizer
    units = shared_units([words, pairs])
    assert units.by == "beginning"
    assert units.names[units.indices[0][words.id_of("corn")]] == " c"
    assert units.names[units.indices[0][words.id_of(".")]] == "."
    (first, *_) = pairs.encode(" cows")
    assert units.names[units.indices[1][first]] in (" c", " ")
    assert units.indices[0][words.end_id] == units.indices[1][pairs.end_id]


def test_words_and_characters_meet_at_the_next_character(make):
    words, characters = make().tokenizer, make(specification="characters").tokenizer
    units = shared_units([words, characters])
    space = units.names.index(" ")
    assert units.indices[0][words.id_of("corn")] == space == units.indices[1][characters.id_of(" ")]
    shares = units.share(0, np.full(words.vocabulary_size, 1 / words.vocabulary_size))
    assert shares.sum() == pytest.approx(1)


def test_a_model_never_disagrees_with_itself(make):
    models = [make("running"), make("running")]
    units = shared_units([model.tokenizer for model in models])
    found = disagreement(models, "cows eat corn", units)
    assert found.places.tolist() == [0, 4, 8, 13]
    assert found.divergence == pytest.approx(np.zeros(4), abs=1e-6)


def test_disagreement_is_the_divergence_of_the_two_distributions(make):
    models = [make(seed=0), make(seed=1)]
    units = shared_units([model.tokenizer for model in models])
    found = disagreement(models, "cows eat", units)
    eat = models[0].tokenizer.encode("eat")[0]
    rows = np.stack([model.table.detach()[eat].softmax(-1).numpy() for model in models])
    assert found.divergence[-1] == pytest.approx(jensen_shannon(rows), abs=1e-6)
    assert found.largest(1)[0] == found.places[np.argmax(found.divergence)]


def test_models_with_different_tokenizers_meet_where_both_have_a_boundary(make):
    models = [make(), make(specification="characters")]
    units = shared_units([model.tokenizer for model in models])
    assert disagreement(models, "cows eat corn", units).places.tolist() == [0, 4, 8, 13]


@pytest.mark.parametrize("specification", ["words", "characters", "bpe:300"])
def test_surprisal_over_words_keeps_its_total_whatever_the_tokenizer(make, specification):
    likelihood = text_log_probabilities(make(specification=specification), "cows eat corn")
    curve = surprisal_over(likelihood, [(0, 4), (5, 8), (9, 13)])
    assert curve.sum() == pytest.approx(likelihood.bits)


def test_surprisal_of_the_model_s_own_tokens_is_its_own(bigram):
    likelihood = text_log_probabilities(bigram, "cows eat corn")
    curve = surprisal_over(likelihood, [token.span for token in likelihood.tokens])
    assert curve == pytest.approx([token.surprisal for token in likelihood.tokens])


def test_the_gap_before_a_word_bears_its_share(bigram):
    likelihood = text_log_probabilities(bigram, "cows eat")
    curve = surprisal_over(likelihood, [(place, place + 1) for place in range(8)])
    assert curve[:4] == pytest.approx([likelihood.tokens[0].surprisal / 4] * 4)
    assert curve[4:] == pytest.approx([likelihood.tokens[1].surprisal / 4] * 4)


def test_a_span_without_a_probability_has_no_surprisal(make):
    likelihood = text_log_probabilities(make(marks=False), "cows eat")
    curve = surprisal_over(likelihood, [(0, 4), (5, 8)])
    assert np.isnan(curve[0])
    assert curve[1] == pytest.approx(likelihood.tokens[1].surprisal)


def test_only_the_latest_places_are_kept(make):
    model = make("running")
    units = shared_units([model.tokenizer] * 2)
    whole = shares_after(model, "cows eat corn", units, 0)
    latest = shares_after(model, "cows eat corn", units, 1, latest=2)
    assert list(latest) == [8, 13]
    assert all(latest[place] == pytest.approx(whole[place]) for place in latest)
    assert disagreement_of([whole, latest]).places.tolist() == [8, 13]


def test_models_without_a_common_boundary_have_no_place_to_disagree():
    found = disagreement_of([{4: np.array([0.5, 0.5])}, {5: np.array([0.5, 0.5])}])
    assert (found.places.size, found.divergence.size) == (0, 0)
    assert np.issubdtype(found.places.dtype, np.integer)
    assert found.largest(3) == ()


def test_a_word_is_found_however_its_space_is_written(make):
    words, pairs = make().tokenizer, make(specification="bpe:300").tokenizer
    assert ids_by_word(words)["corn"] == words.id_of("corn")
    found = ids_by_word(pairs)
    assert pairs.token(found["corn"]) == " corn"
    assert bare_word(" ") == " "
