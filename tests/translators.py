"""What tests of translators share: two short texts, and models with every parameter moved."""

import numpy as np
import torch

from lmviz.inspection.tracing import trace

WORDS, SOURCE_WORDS = 6, 5
TEXT, SOURCE = np.array([0, 3, 5, 2, 3]), np.array([4, 0, 2, 1])


def shake(model):
    """The model with every parameter away from where it begins, so that none of them is 0."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.4 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    return model.eval().requires_grad_(False)


def tensors(*arrays):
    """Each array as a batch of one."""
    return tuple(torch.from_numpy(array)[None] for array in arrays)


def answered(model, text=TEXT, source=SOURCE):
    """The logits of every position of a text, given its source."""
    tokens, beside = tensors(text, source)
    return model(tokens, source=beside)[0]


def check_both_statements(model, **tolerances):
    """The explicit path computes what the fused one does, whatever the two lengths."""
    for text, source in ((TEXT, SOURCE), (TEXT[:1], SOURCE), (TEXT, SOURCE[:1])):
        tokens, beside = tensors(text, source)
        explicit = model.listen(tokens, lambda tap, value, position: value, source=beside)
        torch.testing.assert_close(explicit, model(tokens, source=beside), **tolerances)


def check_taking_over(model, tolerance, *kept):
    """A longer text takes over what is known: the arrays `kept` as they are, and nothing becomes false."""
    whole = trace(model, TEXT, source=SOURCE)
    for known in (1, 3):
        earlier = trace(model, TEXT[:known], source=SOURCE)
        longer = trace(model, TEXT, source=SOURCE, earlier=earlier)
        assert all(longer[address] is earlier[address] for address in kept)
        for address, expected in whole.arrays.items():
            np.testing.assert_allclose(longer[address].array, expected.array, atol=tolerance, err_msg=address)
