import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import choose, force, greedy, sample, uniform_draw, write_line


def test_a_seed_repeats_its_steps_and_another_does_not(bigram):
    texts = [[step.text for step in sample(bigram, "cows", 30, SamplingOptions(seed=s))] for s in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


def test_draws_are_a_stream_that_can_be_entered_anywhere():
    stream = np.random.Generator(np.random.PCG64(7)).random(5)
    assert [uniform_draw(7, count) for count in range(5)] == stream.tolist()
    assert uniform_draw(7, 3) == stream[3]


def test_the_draw_lands_on_the_token_of_its_step(bigram):
    for step in sample(bigram, "cows", 20, SamplingOptions(temperature=0.7, top_p=0.9, seed=1)):
        rank = step.distribution.rank_of(step.id) - 1
        below, above = np.array([0.0, *step.distribution.cumulative])[rank : rank + 2]
        assert below <= step.draw < above
        assert step.probability == pytest.approx(above - below)


def test_draws_follow_the_probabilities(bigram):
    start = Continuation.of(bigram, "cows eat")
    draws = np.random.default_rng(0).random(4000)
    distribution = choose(start, SamplingOptions()).distribution
    counts = np.bincount([distribution.at_draw(u) for u in draws], minlength=len(distribution.logits))
    expected = distribution.probabilities * len(draws)
    deviation = np.sqrt(expected * (1 - distribution.probabilities))
    assert (np.abs(counts - expected) <= 5 * deviation + 1).all()


def test_texts_grow_by_words_and_end_where_the_document_ends(bigram):
    end = bigram.tokenizer.end_id
    steps = list(sample(bigram, "cows eat", 200, SamplingOptions(seed=0)))
    assert steps[-1].is_end
    assert steps[-1].id == end
    assert steps[-1].text == steps[-2].text
    assert all(step.text.startswith("cows eat ") for step in steps[:1])
    assert len(list(sample(bigram, "cows", 200, SamplingOptions(seed=0, stop_at_end=False)))) == 200


def test_greedy_takes_the_largest_logit_and_draws_nothing(bigram):
    step = next(greedy(bigram, "cows eat"))
    last = bigram.tokenizer.encode("eat")[0]
    assert step.id == int(bigram.table[last].argmax())
    assert step.draw is None


def test_a_token_can_be_forced_even_when_the_filters_cut_it(bigram):
    start = Continuation.of(bigram, "cows eat")
    unlikely = int(start.logits.argmin())
    step = force(start, SamplingOptions(top_k=1), unlikely)
    assert (step.id, step.probability, step.draw) == (unlikely, 0.0, None)
    with pytest.raises(LmvizError, match="vocabulary"):
        force(start, SamplingOptions(), 10_000)


def test_a_carried_state_gives_what_reading_all_again_gives(running):
    grown = Continuation.of(running, "cows eat")
    running.lengths.clear()
    for id in (5, 3, 4):
        grown = grown.extended(id)
    assert running.lengths == [1, 1, 1]
    anew = Continuation.of(running, "cows eat", chosen=(5, 3, 4))
    assert grown.logits == pytest.approx(anew.logits)
    assert grown.text == anew.text
    assert grown.ids.tolist() == anew.ids.tolist()


def test_branches_share_their_beginning(running):
    start = Continuation.of(running, "cows")
    first, second = start.extended(3), start.extended(4)
    assert second.logits == pytest.approx(Continuation.of(running, "cows", [4]).logits)
    assert first.logits == pytest.approx(Continuation.of(running, "cows", [3]).logits)


def test_beyond_its_context_a_model_reads_the_last_tokens(make):
    model = make("running", context=3)
    grown = Continuation.of(model, "cows eat corn")
    model.lengths.clear()
    assert grown.extended(5).logits == pytest.approx(Continuation.of(model, [*grown.ids.tolist(), 5]).logits)
    assert model.lengths == [3, 3]


def test_a_split_character_is_whole_once_all_its_pieces_are_there(make):
    model = make(specification="bpe:258")
    pieces = model.tokenizer.encode("é").tolist()
    assert len(pieces) == 2
    half = Continuation.of(model, "cows").extended(pieces[0])
    assert half.text == "cows\ufffd"
    assert half.extended(pieces[1]).text == "cowsé"
    assert half.extended(pieces[1]).extended(model.tokenizer.encode("a")[0]).text == "cowséa"


def test_dropout_is_off_and_the_mode_is_left_as_it_was(bigram, monkeypatch):
    bigram.train()
    seen = []
    plain = type(bigram).forward
    monkeypatch.setattr(
        type(bigram), "forward", lambda self, tokens: seen.append(self.training) or plain(self, tokens)
    )
    next(sample(bigram, "cows"))
    assert seen == [False]
    assert bigram.training


def test_an_empty_prefix_needs_a_start(make):
    assert next(sample(make(), "", 1)).text
    with pytest.raises(LmvizError, match="empty"):
        next(sample(make(marks=False), "", 1))


def test_ids_stand_for_a_text_and_must_be_in_the_vocabulary(bigram):
    ids = bigram.tokenizer.encode("cows eat")
    assert Continuation.of(bigram, ids).text == "cows eat"
    with pytest.raises(LmvizError, match="vocabulary"):
        Continuation.of(bigram, [0, 999])


def test_without_a_tokenizer_ids_serve_and_texts_are_refused(bigram):
    bigram.tokenizer = None
    step = next(sample(bigram, [1, 2], 1))
    assert step.token == str(step.id)
    with pytest.raises(LmvizError, match="tokenizer"):
        next(sample(bigram, "cows", 1))


def test_an_unknown_word_keeps_the_spaces_before_it(bigram):
    unknown = bigram.tokenizer.unknown_id
    grown = Continuation.of(bigram, "cows", [bigram.tokenizer.id_of("eat"), unknown])
    assert grown.text.startswith("cows eat ")


def test_a_sample_carried_on_is_the_same_sample(running):
    whole = [step.id for step in sample(running, "cows", 8, SamplingOptions(seed=4, stop_at_end=False))]
    rest = sample(running, "cows", 5, SamplingOptions(seed=4, stop_at_end=False), chosen=whole[:3])
    assert [step.id for step in rest] == whole[3:]


def test_a_line_is_the_longest_that_a_model_writes_of_itself(bigram):
    line = write_line(bigram, SamplingOptions(seed=1))
    whole = [step.text for step in sample(bigram, "", 40, SamplingOptions(seed=1))][-1]
    assert line
    assert "\n" not in line
    assert line in whole
    assert len(line) == max(len(one.strip()) for one in whole.split("\n"))
