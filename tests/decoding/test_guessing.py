import math

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.guessing import GuessingGame, Round, choose_rounds, common_words, has_units, offered_words
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.text.corpus import text_corpus
from lmviz.text.spelling import SpellingModel

ROUND = Round("cows eat", "corn", "cows eat corn", 0.125)


def test_confidence_goes_to_the_guess_and_the_rest_to_the_corpus():
    assert ROUND.player_bits("corn", 0.5) == pytest.approx(-math.log2(0.5 + 0.5 * 0.125))
    assert ROUND.player_bits("grass", 0.5) == pytest.approx(-math.log2(0.5 * 0.125))
    assert ROUND.player_bits("grass", 0.0) == ROUND.player_bits("corn", 0.0) == 3.0
    assert ROUND.player_bits("grass", 1.0) < math.inf


@pytest.mark.parametrize(("guess", "right"), [("Corn ", True), ("corn", True), ("cor", False), ("", False)])
def test_capitals_and_spaces_do_not_matter(guess, right):
    assert ROUND.is_right(guess) is right


def test_a_model_is_scored_by_its_surprisal_of_the_answer(bigram):
    expected = text_log_probabilities(bigram, "cows eat corn").tokens[-1].surprisal
    assert ROUND.model_bits(bigram) == pytest.approx(expected)


def test_a_model_of_characters_is_scored_for_the_whole_word(make):
    model = make(specification="characters")
    scored = text_log_probabilities(model, "cows eat corn").tokens[-5:]
    assert ROUND.model_bits(model) == pytest.approx(sum(token.surprisal for token in scored))


def test_an_answer_that_a_model_does_not_know_is_spelled_out(bigram):
    strange = Round("cows eat", "zebras", "cows eat zebras", 0.125)
    unknown = text_log_probabilities(bigram, "cows eat zebras").tokens[-1].surprisal
    spelled = SpellingModel(bigram.tokenizer).nats("zebras") / math.log(2)
    assert strange.model_bits(bigram) == pytest.approx(unknown + spelled)


@pytest.mark.parametrize(
    ("reader", "game", "plays"),
    [
        ("characters", "words", True),
        ("characters", "bpe:300", True),
        ("bpe:300", "words", True),
        ("bpe:300", "bpe:300", True),
        ("words", "words", True),
        ("words", "characters", False),
        ("words", "bpe:300", False),
        ("bpe:300", "characters", False),
        ("bpe:260", "bpe:300", False),
    ],
)
def test_a_model_plays_where_its_tokens_make_up_the_units_of_the_game(reader, game, plays):
    own, units = (
        text_corpus("the cows eat the corn " * 20, tokenizer=kind).tokenizer for kind in (reader, game)
    )
    assert has_units(own, units) is plays


def test_a_game_keeps_the_mean_of_everyone_who_played_all_rounds():
    game = GuessingGame((ROUND, ROUND))
    game = game.answered("corn", 0.5, {"5-gram": 2.0, "LSTM": 1.0})
    game = game.answered("grass", 0.5, {"5-gram": 4.0})
    assert game.current is None
    assert [answer.is_right for answer in game.answers] == [True, False]
    assert game.mean_bits == {"you": pytest.approx((0.8301 + 4.0) / 2, abs=1e-3), "5-gram": 3.0}
    with pytest.raises(LmvizError, match="over"):
        game.answered("hay", 0.5, {})
    assert GuessingGame((ROUND,)).mean_bits == {}


def stream(tokenizer, texts):
    documents = "line" if tokenizer.marks_boundaries else "file"
    return text_corpus(
        "\n".join(texts), tokenizer=tokenizer, documents=documents, validation=0
    ).training_stream


def test_rounds_come_from_within_documents_and_ask_for_words(make):
    tokenizer = make().tokenizer
    texts = ["cows eat corn .", "bats sleep .", "the cows sleep ."] * 5
    rounds = choose_rounds(stream(tokenizer, texts), 10, before=4, seed=1)
    assert len(rounds) == 10
    for item in rounds:
        assert item.answer.isalnum()
        assert any(text.startswith(item.text) for text in texts)
        assert item.complete == f"{item.text} {item.answer}"
        assert 0 < item.background < 1
    again = choose_rounds(stream(tokenizer, texts), 10, before=4, seed=1)
    assert again == rounds != choose_rounds(stream(tokenizer, texts), 10, before=4, seed=2)


def test_too_short_a_text_is_said(make):
    tokenizer = make().tokenizer
    with pytest.raises(LmvizError, match="short"):
        choose_rounds(stream(tokenizer, ["cows", "."]), 3)


def test_the_offer_holds_the_answer_once(make):
    model = make()
    distribution = next_distribution(np.zeros(model.vocabulary_size), tokens=model.tokenizer.tokens())
    for seed in range(5):
        words = offered_words(ROUND, distribution, 3, seed)
        assert len(set(words)) == 3
        assert words.count("corn") == 1


def test_words_drawn_from_the_corpus_stand_beside_the_answer(make):
    tokenizer = make().tokenizer
    ids = np.concatenate([[tokenizer.start_id], tokenizer.encode("cows eat corn . bats sleep .")])
    found = common_words(Round("cows eat", "corn", "cows eat corn", 0.1), ids, tokenizer, count=3, seed=2)
    assert len(set(found)) == 3
    assert "corn" in found
    assert set(found) <= {"cows", "eat", "corn", "bats", "sleep"}
    assert len(set(common_words(ROUND, np.tile(ids, 20), tokenizer, count=3))) == 3, "of a long text as well"


def test_rounds_show_the_words_that_the_vocabulary_lacks():
    text = "\n".join(f"the cows number{n} eat the corn of farm{n} ." for n in range(30))
    corpus = text_corpus(text, tokenizer="words", minimum_count=2, documents="line", validation=0)
    for item in choose_rounds(corpus.training_stream, 50, before=8):
        assert item.complete in text
        assert item.complete == f"{item.text} {item.answer}"


def test_no_part_of_a_character_is_asked_for():
    corpus = text_corpus("é 鼠 eat ü 鳥 corn " * 30, tokenizer="bpe:258", validation=0)
    for item in choose_rounds(corpus.training_stream, 500, before=6):
        assert "\ufffd" not in item.complete
        assert item.answer.strip().isalpha()
        assert item.complete.endswith(item.answer)
