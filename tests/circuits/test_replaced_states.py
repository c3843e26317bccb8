"""States that give way to those of other places, against networks of PyTorch that are run on by hand."""

import numpy as np
import pytest
import torch
from small_models import shaken

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.circuits.replaced_states import ReplacedStates, other_states, replacing_states

RECURRENT = ("rnn", "gru", "lstm")
TEXT = np.array([0, 3, 5, 2, 6, 4])
PASSAGES = [np.array([0, 5, 2, 3, 1, 6, 4, 2]), np.array([0, 2, 6, 6, 3, 5, 1, 4])]


@pytest.mark.parametrize("family", RECURRENT)
def test_what_is_lost_is_what_pytorchs_own_network_loses(family: str) -> None:
    """The states of both layers are set by hand in PyTorch's module, which reads the words since then."""
    model = shaken(family)
    others = other_states(model, PASSAGES, count=5, seed=3)
    *_, found = replacing_states(model, TEXT, ("logits", (len(TEXT) - 1, 3)), others)
    names = ["hidden", "cell"] if family == "lstm" else ["hidden"]
    network = model.recurrence

    def answer(start, ids) -> torch.Tensor:
        with torch.no_grad():
            top = start[0][-1]
            if len(ids):
                inputs = model.embedding(torch.tensor(ids))[None].expand(len(top), -1, -1)
                state = tuple(each.contiguous() for each in start)
                hidden, _ = network(inputs, state if family == "lstm" else state[0])
                top = hidden[:, -1]
            tensors = model.tensors()
            matrix = tensors.get("output.weight", tensors["embedding.weight"])
            return top @ matrix[3] + tensors["output.bias"][3]

    whole = model(torch.tensor(TEXT)[None])[0, -1, 3].item()
    assert found.value == pytest.approx(whole, abs=1e-6)
    for rows, expected in ((others.states, found.array), (others.means, found.by_mean)):
        start = [
            torch.stack([torch.tensor(np.atleast_2d(rows[f"layers/{layer}/{name}"])) for layer in (0, 1)])
            for name in names
        ]
        for position in range(len(TEXT)):
            left = answer([each.double() for each in start], TEXT[position + 1 :]).numpy()
            assert np.ravel(expected[position]) == pytest.approx(whole - left, abs=1e-6)


def test_others_are_states_of_other_texts_and_the_sentence_follows_the_numbers() -> None:
    model = shaken("gru")
    others = other_states(model, PASSAGES, count=6)
    known = np.concatenate([lmviz.trace(model, ids)["layers/0/hidden"].array[2:] for ids in PASSAGES])
    assert all((known == row).all(axis=1).any() for row in others.states["layers/0/hidden"])
    assert others.means["layers/0/hidden"] == pytest.approx(known.mean(axis=0), abs=1e-6)
    with pytest.raises(LmvizError, match="states of 99 places"):
        other_states(model, PASSAGES, count=99)

    def told(lost: list[float]) -> str:
        array = np.array(lost)[:, None] + np.array([-0.01, 0.01])
        words = ("Maya", " saw", " her", " key", " and")
        return ReplacedStates(words, array, np.array(lost), 1.0, "loss", np.zeros(5, int)).sentence

    assert told([0.0, 0.0, 0.5, 1.0, 0.4]) == "The state has carried it since “her”, 2 tokens ago."
    assert "since “saw”, 3 tokens ago, up to “her”" in told([0, 1.0, 0.3, 0.05, 0])
    assert told([0, 0, 0, 0, 1.0]).startswith("It comes with the last word, “and”")
    assert "no word" in told([0, 0, 0, 0, 0])


@pytest.mark.slow
def test_the_state_carries_an_answer_from_the_word_that_settles_it() -> None:
    """“Her” settles it here; the threshold was chosen on stories like these."""
    corpus = lmviz.load_corpus("stories")
    passages = list(corpus.training_documents[:300])
    early = late = 0
    lead = lmviz.words([" her"], [" his"], of="logit")
    for name in ("Mira", "Nora"):
        for thing in ("button", "stone"):
            laughed = "Her sister often laughed about it."
            text = f"{name} owned a purple {thing}. {laughed} The {thing} had belonged to"
            found = lmviz.replace_states("stories-gru", text, lead, passages, others=12, back=18)
            settled = next(at for at, token in enumerate(found.tokens) if token.strip() == "Her")
            assert found.value > 0.5
            early += found.carried[0] < settled
            late += found.carried[0] > settled + 2
    assert (early, late) == (0, 0)


def test_a_model_that_hands_on_nothing_is_refused() -> None:
    with pytest.raises(LmvizError, match="open an RNN, a GRU or an LSTM"):
        other_states(shaken("transformer"), PASSAGES)
