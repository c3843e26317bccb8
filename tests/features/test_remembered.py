"""Which words can be read off the states after them, beside controls that must not be able to."""

from dataclasses import replace

import numpy as np
import pytest

import lmviz

TEXT = "Maya owned a brown stone."
KINDS = [["brown", "red", "green", "blue"], ["stone", "bell"]]
STORY = (
    "Maya owned a brown stone. She put it in the barrel. Later, Maya opened the barrel, and there lay the "
    "brown"
)


@pytest.fixture(scope="module")
def gru():
    return lmviz.open_model("stories-gru")


@pytest.fixture(scope="module")
def found(gru):
    return lmviz.remembered_words(gru, TEXT, "layers/0/hidden", alike=KINDS, texts=80)


def test_a_word_is_read_off_its_own_state_and_off_none_before(found):
    assert found.words == ("brown", "stone")
    assert (found.tested, found.fitted) == (20, 60)
    assert found.accuracy.shape == found.untrained.shape == (2, 7)
    for word, place in ((0, 4), (1, 5)):
        assert np.isnan(found.accuracy[word, :place]).all()
        assert (found.accuracy[word, place:] == 1).all()
        assert found.chance[word] == pytest.approx(1 / len(KINDS[word]), abs=0.25)
    assert found.alike[1] == ("stone", "bell")


def test_nothing_is_read_of_a_word_off_states_that_hold_their_own_token_alone(gru):
    """The embedding mixes no positions: a probe there is as good as chance."""
    found = lmviz.remembered_words(gru, TEXT, "embedding", alike=KINDS, texts=400)
    assert found.accuracy[0, 4] == found.accuracy[1, 5] == 1
    np.testing.assert_allclose(found.accuracy[0, 5:], 0.25, atol=0.15)
    np.testing.assert_allclose(found.accuracy[1, 6], 0.5, atol=0.15)
    assert found.lasts(0) == 0


def test_words_of_a_kind_are_found_by_their_embeddings(gru):
    found = lmviz.remembered_words(gru, TEXT, "layers/0/hidden", texts=8)
    assert found.words == ("Maya", "brown", "stone")  # “owned”, “a” and the full stop have no others
    assert {"red", "silver", "violet"} < set(found.alike[1])
    assert found.alike[2][0] == "stone"
    assert {"pencil", "key", "bottle"} < set(found.alike[2])


def test_the_sentence_says_how_long_and_what_the_network_could_before_its_training(found):
    stands = np.array([[False, True, False, False, False, False]])
    made = replace(
        found,
        ids=np.arange(6),
        words=("stone",),
        stands=stands,
        accuracy=np.array([[np.nan, 1, 0.9, 0.5, 0.4, 0.6]]),
        untrained=np.array([[np.nan, 1, 0.9, 0.4, 0.9, 0.9]]),
        chance=np.array([0.25]),
    )
    assert (made.lasts(0), made.lasts(0, untrained=True)) == (2, 1)
    assert "for 2 more tokens" in made.sentence(0)
    assert "4 tokens on in 60.0 %; by chance in 25.0 %" in made.sentence(0)
    assert made.sentence(0).endswith("Before the training it was 1 token.")
    as_long = replace(made, untrained=made.accuracy)
    assert as_long.sentence(0).endswith("no merit of the training.")
    assert "training" not in replace(made, untrained=None).sentence(0)
    again = replace(made, stands=stands | (np.arange(6) == 3))
    assert again.lasts(0) == 1
    assert "until it is said again" in again.sentence(0)


def test_where_no_word_has_others_of_its_kind_it_is_said(gru):
    with pytest.raises(lmviz.LmvizError, match="say which words are alike"):
        lmviz.remembered_words(gru, "the the", "layers/0/hidden")
    with pytest.raises(lmviz.LmvizError, match="holds no states of a text"):
        lmviz.remembered_words(gru, TEXT, "layers/0/gate")
    with pytest.raises(lmviz.LmvizError, match="'zzz' is no token"):
        lmviz.remembered_words(gru, TEXT, "layers/0/hidden", alike=[["stone", "zzz"]])


@pytest.mark.slow
def test_the_state_of_the_gru_tells_the_thing_for_nine_words_where_no_feature_stays_on():
    """What the guide says, and the eighteenth lesson; untrained it tells it for longer."""
    found = lmviz.remembered_words("stories-gru", STORY, "layers/0/hidden")
    word = found.words.index("stone")
    assert 7 <= found.lasts(word) <= 11
    assert found.lasts(word, untrained=True) > found.lasts(word)
    assert found.since(word)[-1] < 2 * found.chance[word]
