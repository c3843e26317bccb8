"""A family learns a toy text, whatever its options."""

import numpy as np
import torch
from family_cases import (
    SOURCE,
    SOURCE_VOCABULARY,
    TEXT,
    VOCABULARY,
    each_family_and_each_task,
    learn,
    translates,
    untrained,
)

from lmviz.families import learner_of
from lmviz.text.examples import Examples, Sequences
from lmviz.training.options import TrainingOptions


def learn_labels(model, steps):
    """The last loss of a training on twelve texts whose labels follow from their words."""
    sources = [np.roll(TEXT[:7], shift)[: 3 + shift % 4] for shift in range(12)]
    per_text = model.predicts.per == "text"
    targets = [[source[0] % 3] if per_text else source % 3 for source in sources]
    examples = Examples(Sequences.of(sources, VOCABULARY), Sequences.of(targets, 3))
    options = TrainingOptions(steps=steps, batch=6, learning_rate=0.03, warmup=0, device="cpu")
    told = list(learner_of(model.family)(model, examples, examples, options, None, ignored_target=None))
    assert told[-1].validation_accuracy is not None
    return told[-1].validation_loss


def learn_pairs(model, steps):
    """The last loss of a training on pairs whose second text is the first with other words.

    Of a picture it says how many pixels each of its first rows begins with.
    """
    sources = [np.roll(SOURCE, shift)[: 2 + shift % 3] for shift in range(12)]
    targets = [[6, *(source + 1), 0] for source in sources]
    if model.task == "captioning":
        targets = [target[:3] + target[-1:] for target in targets]
        rows = [[(np.arange(7) < count).astype(int) for count in target] for target in targets]
        sources = [np.resize(np.concatenate(row), 49) for row in rows]
    examples = Examples(Sequences.of(sources, SOURCE_VOCABULARY), Sequences.of(targets, VOCABULARY))
    options = TrainingOptions(steps=steps, batch=6, learning_rate=0.03, warmup=0, device="cpu")
    told = list(learner_of(model.family)(model, examples, examples, options, None, ignored_target=None))
    return told[-1].validation_loss


@each_family_and_each_task
def test_it_learns_a_toy_text(family, options):
    if not options.get("residual", True):  # with more layers nothing is learned in so short a time
        options = options | {"layers": 1}
    model = untrained(family, options)
    if not model.predicts.continues:
        assert learn_labels(model, steps=90) < 0.75 * np.log(3)
        return
    if translates(model):
        assert learn_pairs(model, steps=140) < 0.75 * np.log(VOCABULARY)
        return
    learn(model, steps=40)
    with torch.no_grad():
        tokens = torch.from_numpy(TEXT[:15])[None]
        found = -model.log_probabilities(tokens[:, :-1], tokens[:, 1:]).mean()
    assert found < 0.75 * np.log(VOCABULARY)
