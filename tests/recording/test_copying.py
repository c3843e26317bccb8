"""The copying of words, learned in a plain loop of PyTorch and recorded, appears when it does in lmviz."""

import numpy as np
import pytest
import torch
from torch import nn

import lmviz
from lmviz.api.training import find_run
from lmviz.families import build_model, find_family
from lmviz.models.model import IGNORED
from lmviz.training.batching import batches_of
from lmviz.training.distributed import Team

NAME, HEAD = "echo-transformer", (1, 2)


def first_above(scores, share):
    """The first step at which the head looks at the word that followed with such a share."""
    return next(step for step in sorted(scores) if scores[step].induction[HEAD] > share)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_induction_head_turns_at_the_step_at_which_it_does_in_a_training_of_lmviz(tmp_path):
    own = lmviz.Run.open(find_run(NAME))
    description = own.description
    configuration = find_family("transformer").configuration.from_values(description.configuration)
    options, corpus = description.options, lmviz.load_corpus("echo", own.tokenizer())
    module = build_model("transformer", configuration, description.vocabulary_size, seed=options.seed)
    batches = batches_of(
        module, corpus.training, options, ignored_target=corpus.tokenizer.start_id, team=Team()
    )
    matrices = [each for each in module.parameters() if each.dim() > 1]
    vectors = [each for each in module.parameters() if each.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": options.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    betas = options.momentum, options.second_moment_decay
    optimizer = torch.optim.AdamW(groups, options.learning_rate, betas=betas)
    torch.set_num_threads(1)
    last = 1700
    with lmviz.record(tmp_path / "run", module, tokenizer=corpus.tokenizer, every=25) as recording:
        for step in range(1, last + 1):
            batch = batches.batch(step - 1)
            logits = module(torch.from_numpy(batch.tokens))
            targets = torch.from_numpy(batch.targets).flatten()
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets, ignore_index=IGNORED)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), options.clip)
            optimizer.step()
            recording.step(step, loss=loss.item())
    steps = [step for step in own.snapshots() if 1000 <= step <= last]
    expected = lmviz.head_scores(NAME, words=14, steps=steps)
    kept = [step for step in lmviz.Run.open(tmp_path / "run").snapshots() if 1000 <= step <= last]
    found = lmviz.head_scores(str(tmp_path / "run"), words=14, steps=kept)
    assert abs(first_above(found, 0.4) - first_above(expected, 0.4)) <= 25
    assert abs(found.jump().at - expected.jump().at) <= 50
    losses = {line["step"]: line["loss"] for line in own.metrics() if "loss" in line}
    recorded = {line["step"]: line["loss"] for line in lmviz.Run.open(tmp_path / "run").metrics()}
    early = [step for step in sorted(losses) if 0 < step <= 100]
    np.testing.assert_allclose([recorded[s] for s in early], [losses[s] for s in early], rtol=1e-3)
