"""How a model of any family reads and predicts; a new row of FAMILIES is tested without a word here."""

from copy import deepcopy

import numpy as np
import torch
from family_cases import (
    IDS,
    PICTURE,
    SOURCE,
    VOCABULARY,
    every_case,
    rows_beside,
    traced,
    translates,
    untrained,
)
from rounding import assert_equal_but_for_rounding

from lmviz.models.tap import SCALES


def logits(model, ids):
    with torch.no_grad():
        return model(torch.from_numpy(np.array(ids))[None], **rows_beside(model, 1))[0]


@every_case
def test_each_tap_comes_once_and_its_axes_fit(model):
    found = traced(model, IDS)
    addresses = [tap.address for tap in model.taps()]
    assert len(addresses) == len(set(addresses))
    assert addresses[-2:] == ["logits", "probabilities"]
    sizes = {"position": len(IDS), "query": len(IDS), "key": len(IDS), "token": VOCABULARY, "label": 3}
    sizes |= dict.fromkeys(("source", "source_query", "source_key"), len(SOURCE)) | {"pixel": len(PICTURE)}
    for tap in model.taps():
        shape = found[tap.address].array.shape
        assert len(shape) == len(tap.axes)
        assert all(sizes.get(axis, size) == size for axis, size in zip(tap.axes, shape, strict=True))
        assert tap.scale in SCALES
        if tap.scale == "share":
            assert found[tap.address].array.min() >= 0
            assert found[tap.address].array.max() <= 1 + 1e-6


@every_case
def test_the_explicit_path_equals_the_fused_one(model):
    tokens = torch.from_numpy(np.stack([IDS, IDS[::-1]]))
    with torch.no_grad():
        given = rows_beside(model, len(tokens))
        explicit = model.listen(tokens, lambda tap, value, position: value, **given)
        torch.testing.assert_close(explicit, model(tokens, **given), rtol=1e-4, atol=1e-5)


@every_case
def test_a_word_reaches_what_follows_it_and_what_stands_before_it_only_where_the_model_says_so(model):
    place = 3
    changed = np.concatenate([IDS[:place], [0], IDS[place + 1 :]])
    before, after = logits(model, IDS), logits(model, changed)
    one, other = traced(model, IDS)["logits"].array, traced(model, changed)["logits"].array
    if model.predicts.per == "text":
        assert not torch.equal(before, after)
        assert (one != other).any()
        return
    assert not torch.equal(before[place], after[place])
    assert torch.equal(before[:place], after[:place]) is model.causal
    assert np.array_equal(one[:place], other[:place]) is model.causal


@every_case
def test_padding_changes_nothing(model):
    """Texts of several lengths in one batch are answered as each is alone."""
    tokens, lengths = torch.from_numpy(np.stack([IDS, IDS[::-1], IDS])), torch.tensor([7, 3, 1])
    given = rows_beside(model, 3)
    read = [49] * 3 if model.task == "captioning" else [2, 4, 1]
    model = deepcopy(model).double()  # so that what rounding adds to narrow norms is no difference
    with torch.no_grad():
        together = model(
            tokens, lengths, **given, **({"source_lengths": torch.tensor(read)} if given else {})
        )
        for row, length in enumerate(lengths.tolist()):
            own = {name: source[row : row + 1, : read[row]] for name, source in given.items()}
            alone = model(tokens[row : row + 1, :length], **own)[0]
            found = together[row] if model.predicts.per == "text" else together[row, :length]
            torch.testing.assert_close(found, alone, rtol=1e-5, atol=1e-6)


@every_case
def test_reading_on_from_a_state_equals_reading_the_text_so_far_at_once(model):
    tokens, beside = torch.from_numpy(IDS)[None], rows_beside(model, 1)
    with torch.no_grad():
        state = model.begin(**beside) if translates(model) else None
        for first, end in ((0, 1), (1, 4), (4, 6), (6, 7)):
            values, state = model.advance(tokens[:, first:end], state)
            if state is None:  # a family that keeps none is given all tokens
                values, first = model.advance(tokens[:, :end])[0], 0
            whole = model(tokens[:, :end], **beside)
            expected = whole if model.predicts.per == "text" else whole[:, first:]
            torch.testing.assert_close(values, expected, rtol=1e-4, atol=1e-5)


@every_case
def test_a_state_makes_another_model_the_same(model, family, options):
    other = untrained(family, options, seed=5)
    other.load_state(model.state())
    assert torch.equal(logits(other, IDS), logits(model, IDS))
    assert other.parameter_count() == model.parameter_count()


@every_case
def test_going_on_from_an_earlier_trace_equals_reading_anew(model):
    whole = traced(model, IDS)
    for known in range(1, len(IDS)):
        found = traced(model, IDS, earlier=traced(model, IDS[:known]))
        for address, expected in whole.arrays.items():
            assert_equal_but_for_rounding(found[address].array, expected.array, f"{address} from {known}")
