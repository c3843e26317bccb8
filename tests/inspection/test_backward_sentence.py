"""What a gradient does at a stage, in words: where it begins, what it comes back from, how large it is."""

import numpy as np
import pytest

from lmviz.families import build_model, find_family
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.backward_sentence import backward_sentence, part_at, readers
from lmviz.inspection.stage_sentence import plain


def said(found, title, position, of="the loss"):
    titles = [stage.title for stage in found.trace.stages]
    return plain(backward_sentence(found, titles.index(title), position, of))


def test_it_names_the_stages_that_read_the_result_and_the_size_there(a, text):
    found = gradient(a("lstm"), text, "loss@5")
    size = np.linalg.norm(found["layers/0/cell"].array[2])
    assert said(found, "New cell state", 2) == (
        "The gradient of the loss comes back from new cell state and hidden state: its size at “cows” is "
        f"{size:.3g}."
    )
    size = np.linalg.norm(found["layers/0/forget"].array[2])
    assert said(found, "Forget gate", 2).endswith(f"from new cell state: its size at “cows” is {size:.3g}.")
    assert "forget gate, input gate, candidate and 1 more:" in said(found, "Embedding", 2)


def test_it_begins_at_the_number_and_says_where_it_does_not_matter(a, text):
    found = gradient(a("rnn"), text, "loss@5")
    assert said(found, "Softmax", 4).startswith("The gradient of the loss begins here: its size at “the” is ")
    assert said(found, "Softmax", 3) == "At “eat” this does not matter to the loss."
    assert said(found, "Embedding", 5) == (
        "At “corn” this does not matter to the loss. "
        "It is read only later: go to an earlier place, or choose another number."
    )


@pytest.mark.parametrize("kind", ["window", "gru", "transformer-learned-pre"])
def test_every_stage_has_its_sentence(a, text, kind):
    found = gradient(a(kind), text, "loss@5")
    for number, stage in enumerate(found.trace.stages):
        sentence = plain(backward_sentence(found, number, 4, "the loss"))
        size = np.linalg.norm(part_at(found, stage.results[0], 4).astype(np.float64))
        assert (f"is {size:.3g}." in sentence) == (size > 0)
        is_last = "probabilities" in stage.results
        assert bool(readers(found, stage)) != is_last


def test_what_has_no_positions_is_said_to_be_nowhere():
    configuration = find_family("gru").configuration(width=3)
    model = build_model("gru", configuration, 7, 0, source_vocabulary=3, task="captioning").eval()
    found = gradient(model, [1, 2, 3], source=[1, 0] * 24 + [1])
    size = np.linalg.norm(found["layers/0/start"].array)
    assert said(found, "First state", 1) == (
        f"The gradient of the loss comes back from state before: its size is {size:.3g}."
    )
