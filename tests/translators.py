"""What tests of translators share: two short texts, and models with every parameter moved."""

import numpy as np
import torch

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
