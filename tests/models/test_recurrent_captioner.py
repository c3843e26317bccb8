"""Networks that begin with a picture: it enters once, and they are PyTorch's own with that first state."""

from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.saliency import saliencies
from lmviz.inspection.tracing import trace
from lmviz.models.estimate import Asked
from lmviz.models.prediction import NEXT_TOKEN
from tests.translators import TEXT, WORDS, answered, shake

FAMILIES_ABLE = [family.name for family in FAMILIES.values() if "captioning" in family.tasks]
TORCH = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
PICTURE = (np.arange(49) % 3 == 0).astype(np.int64)
every_family = pytest.mark.parametrize("family", FAMILIES_ABLE)


@cache
def shaken(family, layers=2):
    configuration = FAMILIES[family].configuration(width=4, layers=layers, embedding=3)
    return shake(build_model(family, configuration, WORDS, 0, NEXT_TOKEN, 3, "captioning"))


def test_the_recurrent_families_write_captions():
    assert sorted(TORCH) == sorted(FAMILIES_ABLE)


@every_family
def test_it_is_pytorchs_network_with_the_picture_as_its_first_state(family):
    model = shaken(family)
    network = TORCH[family](3, 4, num_layers=2, batch_first=True)
    network.load_state_dict(model.recurrence.state_dict())
    pixels = torch.from_numpy(PICTURE).float()
    first = torch.stack([torch.tanh(start.weight @ pixels + start.bias) for start in model.start])[:, None]
    begun = (first, torch.zeros_like(first)) if family == "lstm" else first
    with torch.no_grad():
        states, _ = network(model.embedding(torch.from_numpy(TEXT))[None], begun)
        wanted = states[0] @ model.output.weight.T + model.output.bias
    torch.testing.assert_close(answered(model, source=PICTURE), wanted, rtol=1e-5, atol=1e-6)


@every_family
def test_a_picture_enters_once_and_reaches_every_word(family):
    model = shaken(family)
    other = PICTURE.copy()
    other[17] = 1 - other[17]
    before, after = (trace(model, TEXT, source=picture) for picture in (PICTURE, other))
    assert (before["logits"].array != after["logits"].array).any(axis=1).all()
    read = {
        tap.address for tap in model.taps() for value in tap.operation.operands if value.address == "picture"
    }
    assert read == {f"layers/{layer}/start" for layer in range(2)}
    held = [Intervention(address, "replace", before[address].array) for address in read]
    after = trace(model, TEXT, source=other, interventions=held)
    np.testing.assert_array_equal(before["logits"].array, after["logits"].array)


def test_a_longer_caption_takes_over_what_was_made_of_the_picture():
    model = shaken("gru")
    earlier = trace(model, TEXT[:2], source=PICTURE)
    longer = trace(model, TEXT, source=PICTURE, earlier=earlier)
    whole = trace(model, TEXT, source=PICTURE)
    assert longer["layers/0/start"] is earlier["layers/0/start"]
    for address, expected in whole.arrays.items():
        np.testing.assert_allclose(longer[address].array, expected.array, atol=1e-6, err_msg=address)


def test_erasing_a_painted_pixel_is_painting_it_blank():
    model = shaken("lstm")
    found = lmviz.gradient(model, TEXT, "loss", source=PICTURE)
    of_picture = next(item for item in saliencies(model, found) if item.sequence == "source")
    assert of_picture.address == "picture"
    assert of_picture.predicted.shape == of_picture.measured.shape == (49,)
    blank = PICTURE == 0
    assert not of_picture.predicted[blank].any()
    assert not of_picture.measured[blank].any()
    place = int(np.flatnonzero(PICTURE)[3])
    other = PICTURE.copy()
    other[place] = 0
    change = lmviz.gradient(model, TEXT, "loss", source=other).value - found.value
    assert of_picture.measured[place] == pytest.approx(change, abs=1e-5)
    assert of_picture.predicted[place] == pytest.approx(-found["picture"].array[place], rel=1e-6)


@pytest.mark.parametrize("picture", [PICTURE[:48], np.append(PICTURE, 0), PICTURE + 1])
def test_what_is_no_picture_is_refused(picture):
    with pytest.raises(LmvizError, match="not a picture: give 7 rows of 7 pixels"):
        trace(shaken("rnn"), TEXT, source=picture)


@every_family
@pytest.mark.parametrize("settings", [{}, {"tied": True}, {"layers": 3, "embedding": 5}])
def test_estimates_count_the_parameters(family, settings):
    configuration = FAMILIES[family].configuration(**settings)
    with torch.device("meta"):
        model = build_model(family, configuration, 50, 0, source_vocabulary=3, task="captioning")
    estimate = configuration.estimate(50, batch=2, length=3, asked=Asked(pixels=49))
    assert estimate.parameters == model.parameter_count()
    assert "direction" not in configuration.used_for("captioning")
    both = FAMILIES[family].configuration(direction="both")
    assert (both.reads_for("tagging"), both.reads_for("captioning")) == ("both ways", "")
