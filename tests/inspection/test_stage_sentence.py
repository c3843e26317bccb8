"""Every stage of every family begins with a sentence, in which the word and the numbers are those shown."""

import numpy as np
import pytest

from lmviz.families import FAMILIES, build_model
from lmviz.inspection.stage_sentence import plain, sentence_of, stage_sentence
from lmviz.inspection.stage_sentences import OTHERWISE
from lmviz.inspection.strongest import likeliest_answer
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import answer_at
from lmviz.tasks import TASKS

WITHOUT_WORDS = ("orders/1/", "pooled")
"""The empty context looks at none, and one vector stands for all."""


def told(model, found, title, position=3, head=1):
    stage = next(n for n, stage in enumerate(found.stages) if stage.title == title)
    return plain(stage_sentence(found, stage, position, head, model.tokenizer.token))


def test_every_stage_has_a_sentence_of_its_own_about_the_word(model, text):
    found = trace(model, text)
    for position in range(len(found)):
        for number, stage in enumerate(found.stages):
            assert sentence_of(found, stage) != OTHERWISE, f"{found.family}: {stage.results[0]}"
            pieces = stage_sentence(found, number, position, 0, model.tokenizer.token)
            sentence = plain(pieces)
            assert sentence.endswith(".")
            assert not set("{}") & set(sentence)
            assert len(sentence) < 130, sentence
            if not stage.results[0].startswith(WITHOUT_WORDS):
                assert any(piece.is_filled for piece in pieces), sentence


def test_a_query_is_what_the_word_is_looking_for(a, text):
    model = a("transformer-learned-pre")
    assert told(model, trace(model, text), "Queries") == "Queries: what “eat” is looking for, in head 2."


def test_the_word_that_is_looked_at_most_is_the_one_with_the_largest_weight(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text)
    weights = found["layers/0/attention/weights"].array[1, 3]
    most, share = found.tokens[int(weights.argmax())], f"{100 * weights.max():.1f} %"
    sentence = told(model, found, "Attention weights")
    assert sentence == f"“eat” looks most at “{most}”, with {share} of its attention in head 2."


def test_what_a_layer_does_otherwise_is_said_of_that_layer(a, text):
    gemma, bloom = a("transformer-as-gemma"), a("transformer-as-bloom")
    found = trace(gemma, text)
    assert "too far back" in told(gemma, found, "Causal mask and window")
    assert "cannot look ahead" in told(gemma, found, "Causal mask")  # of the second layer
    assert "none exceeds a cap" in told(gemma, found, "Capped scores")
    assert "which are not divided" in told(bloom, trace(bloom, text), "Scores as they are")


def test_a_gate_says_how_far_it_is_open_and_the_first_word_has_no_memory(a, text):
    model = a("gru")
    found = trace(model, text)
    mean = found["layers/0/update"].array[3].mean()
    sentence = told(model, found, "Update gate")
    assert sentence.startswith("How much of the state after “cows” stays as it is when “eat” comes:")
    assert f"{100 * mean:.1f} %" in sentence
    assert "the empty state at the start" in told(model, found, "Update gate", position=0)


def test_an_n_gram_says_whether_the_words_were_seen_and_what_leads(a):
    model = a("ngram")
    found = trace(model, "the cows eat night")
    title = "Were the last 2 tokens seen before?"
    assert told(model, found, title) == "“cows eat” was seen in the text that was counted."
    assert "“eat night” was never seen" in told(model, found, title, position=4)
    counts = told(model, found, "What followed, and how often")
    assert counts == "What followed “cows eat” in the text that was counted: 2 cases."
    once = told(model, trace(model, "the cows eat corn"), "What followed, and how often", position=4)
    assert once == "What followed “eat corn” in the text that was counted: 1 case."
    row = found["probabilities"].array[3]
    leader = model.tokenizer.token(int(np.argmax(row)))
    assert (
        told(model, found, "Probabilities") == f"After “eat” comes “{leader}” with {100 * row.max():.1f} %."
    )


@pytest.mark.parametrize("position", [0, 1, 4])
def test_a_window_names_the_words_it_reads_and_no_others(a, text, position):
    model = a("window")
    found = trace(model, text)
    words = " ".join(f"“{word}”" for word in found.tokens[max(0, position - 2) : position + 1])
    assert told(model, found, "Hidden layer", position).endswith(f"and no others: {words}.")


@pytest.mark.parametrize(
    ("task", "settings", "ending"),
    [
        ("tagging", {"direction": "both"}, "“eat” is “{}”, with {}."),
        ("classification", {"direction": "backward", "pooling": "attention"}, "The text is “{}”, with {}."),
    ],
)
def test_labels_are_named_and_every_stage_has_its_sentence(a, text, task, settings, ending):
    labels = ("noun", "verb")
    configuration = FAMILIES["gru"].configuration(width=4, **settings)
    words = a("gru").tokenizer.vocabulary_size
    model = build_model("gru", configuration, words, 0, TASKS[task].predicts(labels)).eval()
    model.tokenizer = a("gru").tokenizer
    found = trace(model.requires_grad_(False), text)
    for number, stage in enumerate(found.stages):
        assert sentence_of(found, stage) != OTHERWISE, stage.results[0]
        assert plain(stage_sentence(found, number, 3, 0, model.tokenizer.token)).endswith(".")
    row = answer_at(found, 3)
    best = int(row.argmax())
    assert told(model, found, "Softmax") == ending.format(labels[best], f"{100 * row[best]:.1f} %")
    address, index = likeliest_answer(found, 3)
    assert found[address].array[index] == row[best]
