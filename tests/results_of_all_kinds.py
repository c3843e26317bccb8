"""One result of each kind that lmviz gives, small ones, for tests of how they show themselves."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import lmviz
from lmviz.circuits.result import Numbers

MODEL, OTHER = "stories-transformer", "stories-gru"
TEXT, CHANGED = "The owl saw the dog and the", "The cow saw the dog and the"
LINES = "the cat sees the dog\nthe dog sees the cat\na cat eats corn\na dog eats hay\n" * 6
REVIEWS = "good\ta good film\nbad\ta bad film\n" * 8


def results(folder: Path) -> dict[str, Any]:
    """By a name for each; what has to be trained learns for a few steps in the folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lmviz.LmvizWarning)
        known = _asked() | _trained(folder) | _of_circuits() | _of_two() | _read_off()
        return known | _labelled(folder) | _of_features()


def _asked() -> dict[str, Any]:
    trace = lmviz.trace(MODEL, TEXT)
    sampled = lmviz.sample(MODEL, "The owl", 4, seed=0)
    steps = list(sampled)
    return {
        "model": lmviz.open_model(MODEL),
        "tokenizer": lmviz.open_model(MODEL).tokenizer,
        "trace": trace,
        "trace of a recurrent network": lmviz.trace(OTHER, TEXT),
        "trace of counts": lmviz.trace("stories-5-gram", TEXT),
        "trace of one tap": lmviz.trace(MODEL, TEXT, taps=["layers/0/attention/query"]),
        "tap": lmviz.show(trace, "layers/1/attention/weights"),
        "one head": lmviz.show(trace, "layers/1/attention/weights", head=2),
        "traces": lmviz.trace(MODEL, [TEXT, "The owl"]),
        "traces by step": lmviz.trace(MODEL, TEXT, steps=[0, 6000]),
        "gradient": lmviz.gradient(MODEL, TEXT),
        "next token": lmviz.next_token(MODEL, TEXT, temperature=0.8, top_k=5),
        "next tokens": lmviz.next_token(MODEL, [TEXT, "The owl"]),
        "cell": lmviz.explain(MODEL, trace, "layers/0/residual1", (1, 3)),
        "logit lens": lmviz.logit_lens(MODEL, trace),
        "page": lmviz.page([trace]),
        "sample": sampled,
        "step of a sample": steps[0],
        "sample that has not begun": lmviz.sample(MODEL, "The owl", 4),
        "beam": lmviz.beam_search(MODEL, "The owl", width=2, length=3),
        "disagreement": lmviz.compare([MODEL, OTHER], TEXT),
        "set": lmviz.text_set([(TEXT, CHANGED)]),
    }


def _trained(folder: Path) -> dict[str, Any]:
    path = folder / "text.txt"
    path.write_text(LINES)
    corpus = lmviz.load_corpus(path, documents="line", validation=0.25)
    settings: dict[str, Any] = {"width": 8, "steps": 4, "seed": 0, "length": 8}
    run = lmviz.train("gru", corpus, folder / "run", **settings)
    race = lmviz.race(corpus, {"family": "gru", "seed": [0, 1], **settings, "steps": 1}, out=folder / "race")
    for _ in race:
        pass
    loss = lmviz.loss_map(run.folder, corpus)
    evaluated = lmviz.evaluate(run.folder, path)
    assert not isinstance(evaluated, dict)
    rows = lmviz.evaluate(MODEL, lmviz.text_set([TEXT, "The owl"]), per="row")
    with_steps = lmviz.record(folder / "recording", _module(), prefixes=["1 2"], every=1)
    with_steps.step(1, loss=1.0)
    with_steps.close()
    readings = lmviz.open_readings(folder / "recording")
    return {
        "corpus": corpus,
        "run": run,
        "race": race,
        "loss map": loss,
        "division": loss.by_kind(),
        "losses of rows": rows,
        "evaluation": evaluated,
        "copied": lmviz.copied(corpus, "the cat sees the dog"),
        "influences": lmviz.influences(run, "the cat", "sees", corpus=corpus),
        "memorised": lmviz.memorised(run, corpus=corpus),
        "recording": with_steps,
        "readings": readings,
        "reading": readings.reading(readings.snapshots()[-1]),
        "plan": _plan(),
    }


def _of_circuits() -> dict[str, Any]:
    contrast = lmviz.contrast(TEXT, CHANGED, measure="logit:dog")
    few = {"words": 4, "rows": 1}
    return {
        "contrast": contrast,
        "contrasts": lmviz.contrasts(MODEL, lmviz.text_set([(TEXT, CHANGED), "The zebrafish"])),
        "patches": lmviz.patch(MODEL, contrast, ["layers/*/residual2"], estimate=True),
        "patches of rows": lmviz.patch(MODEL, [contrast] * 2, ["layers/*/residual2"]),
        "means": lmviz.patch(MODEL, [contrast] * 2, ["layers/*/residual2"]).means(),
        "attribution": lmviz.attribute(MODEL, contrast),
        "parts": lmviz.attribute(MODEL, contrast)["head"],
        "one number": Numbers(array=np.array(0.5), axes=()),
        "ablation": lmviz.ablate(MODEL, contrast),
        "ablation with a band": lmviz.ablate(MODEL, [contrast] * 2, each=()),
        "ablations by step": lmviz.ablate(MODEL, contrast, steps=[6000]),
        "scores": lmviz.head_scores(MODEL, **few),
        "scores by step": lmviz.head_scores(MODEL, steps=[0, 6000], **few),
        "circuit": lmviz.circuit(MODEL, contrast, keep=5),
        "kernels": lmviz.head_kernels(MODEL, TEXT),
        "weights": lmviz.weights(MODEL),
        "replaced states": lmviz.replace_states(OTHER, TEXT, "probability:dog", [CHANGED] * 4, others=2),
    }


def _of_two() -> dict[str, Any]:
    two = lmviz.open_model(MODEL, 0), lmviz.open_model(MODEL)
    found = lmviz.difference(*two, TEXT)
    assert found.matrices is not None
    return {
        "difference": found,
        "difference of families": lmviz.difference(MODEL, OTHER, TEXT),
        "text difference": found.text,
        "states": found.stream,
        "similarity": found.similarity,
        "moved heads": found.heads,
        "matrix": found.matrices[0],
        "before and after": lmviz.before_and_after(*two, prompts=["The owl", "Once"]),
        "transplant": lmviz.transplant(*two, TEXT, each="layer"),
    }


def _read_off() -> dict[str, Any]:
    lens = lmviz.lens(MODEL, [TEXT + " cow ran"] * 12, "tuned", passages=3, length=6)
    direction = lmviz.direction(MODEL, ["The owl"], ["The cow"], "layers/1/residual2")
    return {
        "lens": lens,
        "logit lens over a model": lmviz.lens(MODEL, [], "logit"),
        "fitted lens": lens.fitted,
        "dictionary": _dictionary(),
        "probe": lmviz.probe(OTHER, {"cows": ["the cow ran"] * 6, "owls": ["an owl ran"] * 6}),
        "probe for a number": lmviz.probe_number(OTHER, ["the cow ran away", "an owl ran"] * 4),
        "direction": direction,
        "places of a direction": lmviz.direction_places(MODEL, direction, [TEXT, "The owl ran"]),
        "steering": lmviz.steer(
            MODEL, direction, TEXT, "probability:dog", strengths=(-1, 0, 1), held_out=["The owl ran"]
        ),
    }


def _of_features() -> dict[str, Any]:
    found = lmviz.find_features(MODEL, [TEXT, CHANGED] * 8, size=8, k=2, tokens=64, batch=16)
    contrast = lmviz.contrast(TEXT, CHANGED, measure="logit:dog")
    graph = lmviz.feature_graph(MODEL, contrast, found, most=4)
    return {
        "features": found,
        "graph of features": graph,
        "edge of features": lmviz.try_edge(MODEL, graph, 0),
        "features alone": lmviz.alone_by_size(MODEL, contrast, found, [1, 2]),
        "remembered words": lmviz.remembered_words(
            MODEL, TEXT, "layers/0/residual2", alike=[["owl", "cow"], ["dog", "cat"]], texts=8
        ),
        "score of a head": lmviz.score_pairs(MODEL, TEXT, found, layer=0, head=0, query=-1, key=0),
    }


def _labelled(folder: Path) -> dict[str, Any]:
    reviews, pairs = folder / "reviews.tsv", folder / "pairs.tsv"
    reviews.write_text(REVIEWS)
    pairs.write_text("the goats see the goats\tles chèvres voient les chèvres\n" * 2)
    return {
        "class": lmviz.predict("reviews-lstm", "a good film"),
        "tags": lmviz.predict("ambiguous-gru-both", "the goats"),
        "translation": lmviz.predict("twin-gru-attention-short", "the goats see"),
        "evaluation of labels": lmviz.evaluate("reviews-lstm", reviews, columns="label=1,text=2"),
        "evaluation of translations": lmviz.evaluate("twin-gru-attention-short", pairs),
    }


def _plan() -> Any:
    from lmviz.runs.tuning_plan import TuningPlan

    return TuningPlan(trained=10, parameters=100, weights=400, gradients=40, optimizer=80, activations=1000)


def _dictionary() -> Any:
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.worth import Worth

    read, written = np.ones((3, 2), np.float32), np.zeros(2, np.float32)
    worth = Worth(tokens=9, variance_explained=0.5, active=1.5, silent=1, loss=2.0, loss_reconstructed=2.5)
    return Dictionary("topk", "layers/0/hidden", read, np.zeros(3), read, written, k=1, worth=worth)


def _module() -> Any:
    import torch
    from torch import nn

    class Own(nn.Module):
        """A module that lmviz does not know."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(8, 4)
            self.output = nn.Linear(4, 8)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.output(self.embedding(ids))

    return Own()
