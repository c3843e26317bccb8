"""One question asked three ways, and what is answered to each."""

import pytest
from foreign_tokenizers import CHAT, END_OF_TURN, TEMPLATE, TURN, byte_pairs, write_tokenizer

from lmviz.decoding.asked_ways import AS_CHAT, AS_LETTERS, AS_PLAIN_TEXT, WrittenAnswer, answers, asked_ways
from lmviz.decoding.sampling import greedy
from lmviz.interchange.tokenizer_files import read_tokenizer


def test_special_tokens_are_read_as_such_in_a_chat_and_as_letters_elsewhere(tmp_path):
    named = {"bos_token": TURN, "eos_token": END_OF_TURN}
    write_tokenizer(tmp_path / "chat", byte_pairs(), chat_template=TEMPLATE, **named)
    tokenizer = read_tokenizer(tmp_path / "chat", 300)
    asked = asked_ways(tokenizer, CHAT, "Who asks?")
    special = {name: sum(tokenizer.are_special(ids)) for name, ids in asked.items()}
    assert special == {AS_CHAT: 3, AS_PLAIN_TEXT: 0, AS_LETTERS: 0}
    assert tokenizer.literal.decode(asked[AS_LETTERS]) == CHAT
    assert tokenizer.decode(asked[AS_PLAIN_TEXT]) == "Who asks?"


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_greedy_decoding_one_token_more_each_time(make, seed):
    model = make("bigram", seed=seed)
    asked = {"one": model.tokenizer.encode_prefix("cows eat").ids, "two": [2, 3, 4]}
    for count, found in enumerate(answers(model, asked, 5), start=1):
        for name, ids in asked.items():
            steps = list(greedy(model, ids, 5))
            assert found[name].ids == tuple(step.id for step in steps[:count])
            assert found[name].probabilities == tuple(step.probability for step in steps[:count])
            assert found[name].is_whole == (count >= len(steps))
            assert found[name].has_ended == (found[name].is_whole and steps[-1].is_end)
    assert all(answer.is_whole for answer in found.values())


@pytest.mark.parametrize(
    ("ids", "period"),
    [
        ((9, *(1, 2, 3, 4) * 2), None),
        ((9, *(1, 2, 3, 4) * 3), 4),
        ((9, *(1, 2, 3, 4, 5, 6) * 2), 6),
        ((1, 1, 1, 1), None),
        ((5, *(1,) * 7), 1),
        ((), None),
    ],
)
def test_what_is_said_again_and_again_is_told_from_words_said_twice(ids, period):
    assert WrittenAnswer(ids=ids).repeated == period
