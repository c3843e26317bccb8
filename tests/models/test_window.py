"""The window network against its formula."""

import pytest
import torch

from lmviz.families import build_model
from lmviz.models.window_configuration import WindowConfiguration

IDS = torch.tensor([[3, 1, 4, 1, 5, 0]])


@pytest.mark.parametrize("direct", [False, True])
def test_logits_follow_the_formula_of_bengio(direct):
    configuration = WindowConfiguration(window=3, width=4, embedding=2, direct=direct)
    model = build_model("window", configuration, 7, seed=0).requires_grad_(False)
    rows = [torch.zeros(2), torch.zeros(2), *model.embedding.weight[IDS[0]]]
    for position, found in enumerate(model(IDS)[0]):
        joined = torch.cat(rows[position : position + 3])
        hidden = torch.tanh(model.hidden.weight @ joined + model.hidden.bias)
        logits = model.output.weight @ hidden + model.output.bias
        if direct:
            logits += model.direct.weight @ joined
        torch.testing.assert_close(found, logits)


def test_words_before_the_window_are_forgotten():
    model = build_model("window", WindowConfiguration(window=2, width=4), 7, seed=0)
    changed = IDS.clone()
    changed[0, 0] = 6
    torch.testing.assert_close(model(IDS)[:, 2:], model(changed)[:, 2:], rtol=0, atol=0)


def test_a_text_shorter_than_the_window_can_be_read():
    model = build_model("window", WindowConfiguration(window=9, width=4), 7, seed=0)
    first, state = model.advance(IDS[:, :2])
    then, _ = model.advance(IDS[:, 2:], state)
    torch.testing.assert_close(torch.cat([first, then], dim=1), model(IDS))
