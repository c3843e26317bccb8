"""Whatever a public function or method is given, it gives a value or refuses in one sentence."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from covering import others_slow
from foreign_tokenizers import chat_folder

import lmviz
from lmviz import autodiff
from lmviz.decoding.options import BeamOptions, SamplingOptions
from lmviz.families import FAMILIES
from lmviz.text.corpus_options import CorpusOptions
from lmviz.training.options import TrainingOptions
from lmviz.training.race import Race

TEXT, OTHER = "The cow eats corn", "The bat eats corn"
SMALL = {"width": 8, "heads": 2, "layers": 2, "context": 16, "length": 8, "steps": 2, "seed": 0}
RECURRENT = {"width": 8, "layers": 1, "length": 8, "steps": 2, "seed": 0}
NETWORK = "x = 2\nparameter w = 3\ny = multiply(w, x)\nloss = square(y)"
QUICK = {"steps": 1, "order": 2, "overwrite": True}

NONSENSE: dict[str, Any] = {
    "nothing": None,
    "a truth": True,
    "minus one": -1,
    "zero": 0,
    "a fraction": 1.5,
    "NaN": math.nan,
    "infinity": math.inf,
    "many": 10**9,
    "more than 64 bits hold": 10**30,
    "no letters": "",
    "a letter": "a",
    "an address": "layers/0",
    "half a character": "\ud800",
    "a NUL": "\0",
    "bytes": b"x",
    "no items": [],
    "a number in a list": [1],
    "a number below 0 in a list": [-1],
    "a word in a tuple": ("a",),
    "lists in a list": [[]],
    "a dictionary": {},
    "an array": np.array([1.0]),
    "an object": object(),
}


@pytest.fixture(scope="module")
def given(small_text, tmp_path_factory):
    """What calls that make sense are given: models, a run, a text, and what was asked of them."""
    folder = tmp_path_factory.mktemp("nonsense")
    corpus = lmviz.load_corpus(small_text)
    run = lmviz.train("transformer", corpus, folder / "run", **SMALL)
    model = lmviz.open_model(run.folder)
    trace = lmviz.trace(model, TEXT)
    trace.save(folder / "trace.npz")
    autodiff.save_network(autodiff.read(NETWORK), folder / "network.txt")
    contrast = lmviz.contrast(TEXT, OTHER, measure="logit:corn-hay")
    recurrent = lmviz.train("rnn", corpus, folder / "recurrent", **RECURRENT)
    return SimpleNamespace(
        corpus=corpus,
        recurrent=lmviz.open_model(recurrent.folder),
        run=run,
        model=model,
        early=lmviz.open_model(run.folder, 0),
        tokenizer=model.tokenizer,
        trace=trace,
        gradient=lmviz.gradient(model, TEXT),
        contrast=contrast,
        patches=lmviz.patch(model, contrast),
        parts=lmviz.attribute(model, contrast),
        beams=lmviz.beam_search(model, TEXT, width=1, length=2),
        network=folder / "network.txt",
        text=small_text,
        folder=folder,
        change=lmviz.zero("layers/0/residual2"),
        direction=lmviz.direction(model, [TEXT], [OTHER], "layers/1/residual2"),
        features=lmviz.find_features(model, corpus, size=4, k=2, tokens=64, batch=16),
        lens=lmviz.lens(model, [TEXT, OTHER, TEXT], "tuned", passages=1, length=8).save(
            folder / "lens.safetensors"
        ),
    )


def changed(make: Callable[..., Any], model: Any) -> Callable[..., Any]:
    """A function that makes an intervention, whose fit is seen when a model is traced under it."""

    def traced(**arguments: Any) -> Any:
        return lmviz.trace(model, TEXT, interventions=[make(**arguments)])

    traced.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]  # as inspect reads it
    return traced


def measured(make: Callable[..., Any], model: Any) -> Callable[..., Any]:
    """A function that makes a measure, whose fit is seen when a gradient is taken of it."""

    def swept_back(**arguments: Any) -> Any:
        return lmviz.gradient(model, TEXT, make(**arguments))

    swept_back.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]  # as inspect reads it
    return swept_back


Call = tuple[Callable[..., Any], dict[str, Any]]

CALLS: dict[str, Callable[[Any], Call]] = {
    "load_corpus": lambda at: (lmviz.load_corpus, {"source": at.text}),
    "train": lambda at: (lmviz.train, {"family": "ngram", "corpus": at.corpus, "out": "made", **QUICK}),
    "fork": lambda at: (lmviz.fork, {"run": at.run, "step": 2, "out": "made", "overwrite": True, "steps": 3}),
    "race": lambda at: (
        lmviz.race,
        {"corpus": at.corpus, "settings": {"family": "ngram", "steps": 1}, "out": "made", "overwrite": True},
    ),
    "open_model": lambda at: (lmviz.open_model, {"path_or_name": at.run.folder}),
    "save_pretrained": lambda at: (lmviz.save_pretrained, {"model": at.model, "out": "made"}),
    "convert": lambda at: (lmviz.convert, {"path_or_name": at.run.folder, "out": "made.tfevents"}),
    "Run.open": lambda at: (lmviz.Run.open, {"folder": at.run.folder}),
    "Run.load_snapshot": lambda at: (at.run.load_snapshot, {"step": 2}),
    "Tokenizer.load": lambda at: (lmviz.Tokenizer.load, {"path": at.run.folder / "tokenizer.json"}),
    "Tokenizer.save": lambda at: (at.tokenizer.save, {"path": "made.json"}),
    "Tokenizer.encode": lambda at: (at.tokenizer.encode, {"text": TEXT}),
    "Tokenizer.decode": lambda at: (at.tokenizer.decode, {"ids": [3, 4]}),
    "Tokenizer.token": lambda at: (at.tokenizer.token, {"index": 3}),
    "Tokenizer.id_of": lambda at: (at.tokenizer.id_of, {"token": "cow"}),
    "trace": lambda at: (lmviz.trace, {"model": at.model, "text_or_ids": TEXT}),
    "trace of a translator": lambda at: (
        lmviz.trace,
        {"model": "twin-transformer", "text_or_ids": "", "source": "the cat sees"},
    ),
    "Trace[]": lambda at: (at.trace.__getitem__, {"address": "logits"}),
    "Trace.save": lambda at: (at.trace.save, {"path": "made.npz"}),
    "Trace.load": lambda at: (lmviz.Trace.load, {"path": at.folder / "trace.npz"}),
    "Trace[].at": lambda at: (at.trace["logits"].at, {"position": -1, "token": 2}),
    "show": lambda at: (lmviz.show, {"result": at.trace, "address": "logits", "position": 1}),
    "progress_bar": lambda at: (lmviz.progress_bar, {"title": "reading"}),
    "next_token": lambda at: (lmviz.next_token, {"model": at.model, "prefix": TEXT}),
    "Distribution.top": lambda at: (lmviz.next_token(at.model, TEXT).top, {"count": 3}),
    "Distribution.probability_of": lambda at: (lmviz.next_token(at.model, TEXT).probability_of, {"id": 3}),
    "chat": lambda at: (lmviz.chat, {"model": chat_folder(Path("made")), "turns": [("user", "Who asks?")]}),
    "sample": lambda at: (lmviz.sample, {"model": at.model, "prefix": TEXT, "tokens": 2}),
    "beam_search": lambda at: (lmviz.beam_search, {"model": at.model, "prefix": TEXT, "width": 1}),
    "predict": lambda at: (lmviz.predict, {"model": "ambiguous-gru-both", "text": "the old man"}),
    "evaluate": lambda at: (lmviz.evaluate, {"model": at.model, "source": at.text}),
    "contrast": lambda at: (
        lambda **arguments: lmviz.patch(at.model, lmviz.contrast(**arguments)),
        {"text": TEXT, "changed": OTHER, "measure": "", "source": None, "changed_source": None},
    ),
    "patch": lambda at: (lmviz.patch, {"model": at.model, "contrast": at.contrast}),
    "Patches.save": lambda at: (at.patches.save, {"path": "made.csv"}),
    "Patches.labels": lambda at: (at.patches.labels, {"axis": "position"}),
    "attribute": lambda at: (lmviz.attribute, {"model": at.model, "contrast": at.contrast}),
    "Attribution[]": lambda at: (at.parts.__getitem__, {"kind": "head"}),
    "Attribution.strongest": lambda at: (at.parts.strongest, {"count": 3}),
    "ablate": lambda at: (lmviz.ablate, {"model": at.run.folder, "given": at.contrast}),
    "ablate a file": lambda at: (lmviz.ablate, {"model": at.run.folder, "given": at.text, "tokens": 20}),
    "head_scores": lambda at: (lmviz.head_scores, {"model": at.run.folder}),
    "HeadScores[]": lambda at: (lmviz.head_scores(at.model).__getitem__, {"score": "rest"}),
    "circuit": lambda at: (lmviz.circuit, {"model": at.model, "contrast": at.contrast, "keep": 2}),
    "weights": lambda at: (lmviz.weights, {"model": at.model}),
    "Weights.qk": lambda at: (lmviz.weights(at.model).qk, {"layer": 0, "head": 0}),
    "Weights.ov": lambda at: (lmviz.weights(at.model).ov, {"layer": 0, "head": 0}),
    "difference": lambda at: (
        lmviz.difference,
        {"before": at.model, "after": at.model, "text": TEXT},
    ),
    "before_and_after": lambda at: (
        lmviz.before_and_after,
        {"before": at.early, "after": at.model, "prompts": [TEXT], "text": OTHER, "tokens": 2},
    ),
    "transplant": lambda at: (
        lmviz.transplant,
        {"before": at.early, "after": at.model, "contrast": TEXT, "each": "part"},
    ),
    "interpolate": lambda at: (
        lmviz.interpolate,
        {"before": at.early, "after": at.model, "strength": 0.5},
    ),
    "compare": lambda at: (lmviz.compare, {"models": [at.model, at.model], "text": TEXT}),
    "Disagreement.largest": lambda at: (lmviz.compare([at.model] * 2, TEXT).largest, {"count": 2}),
    "gradient": lambda at: (lmviz.gradient, {"model": at.model, "text_or_ids": TEXT}),
    "Gradient[]": lambda at: (at.gradient.__getitem__, {"address": "logits"}),
    "explain": lambda at: (
        lmviz.explain,
        {"model": at.model, "trace": at.trace, "address": "logits", "index": (0, 0)},
    ),
    "explain a gradient": lambda at: (
        lmviz.explain,
        {"model": at.model, "trace": at.gradient, "address": "logits", "index": (0, 0)},
    ),
    "BeamTree.path": lambda at: (at.beams.path, {"node": at.beams.best}),
    "autodiff.read": lambda at: (autodiff.read, {"source": NETWORK}),
    "autodiff.open_network": lambda at: (autodiff.open_network, {"path": at.network}),
    "autodiff.shipped_network": lambda at: (autodiff.shipped_network, {"name": "lecture"}),
    "autodiff.descend": lambda at: (partial(autodiff.descend, autodiff.read(NETWORK)), {"rate": 0.1}),
    "autodiff.train": lambda at: (
        partial(autodiff.train, autodiff.read(NETWORK)),
        {"rate": 0.1, "steps": 2},
    ),
    "Network[]": lambda at: (autodiff.read(NETWORK).__getitem__, {"name": "y"}),
    "Network.forward": lambda at: (autodiff.read(NETWORK).forward, {}),
    "Network.backward": lambda at: (autodiff.read(NETWORK).backward, {}),
    "Network.check": lambda at: (autodiff.read(NETWORK).check, {"name": "w", "eps": 1e-4}),
    "autodiff.check_module": lambda at: (
        partial(autodiff.check_module, autodiff.read(NETWORK)),
        {"name": "y", "eps": 1e-4},
    ),
    "Network.explain": lambda at: (autodiff.read(NETWORK).explain, {"name": "y", "index": ()}),
    "logit_lens": lambda at: (lmviz.logit_lens, {"model": at.model, "trace": at.trace}),
    "text_set": lambda at: (lmviz.text_set, {"source": [TEXT, OTHER], "sample": 1}),
    "text_set of a pattern": lambda at: (
        lmviz.text_set,
        {"pattern": "The {a} eats", "lists": {"a": ["cow", "bat"]}, "wanted": "corn"},
    ),
    "contrasts": lambda at: (
        lmviz.contrasts,
        {"model": at.model, "given": [(TEXT, OTHER)], "measure": "logit:corn"},
    ),
    "words": lambda at: (measured(lmviz.words, at.model), {"words": ["corn"], "against": ["hay"]}),
    "divergence": lambda at: (measured(lmviz.divergence, at.model), {"position": 1}),
    "loss_map": lambda at: (lmviz.loss_map, {"model": at.model, "text": at.text}),
    "loss_map of a corpus": lambda at: (
        lmviz.loss_map,
        {"model": at.model, "text": at.corpus, "part": "training", "learned": at.corpus},
    ),
    "evaluate per row": lambda at: (lmviz.evaluate, {"model": at.model, "source": at.text, "per": "row"}),
    "trace of several": lambda at: (lmviz.trace, {"model": at.model, "text_or_ids": [TEXT, OTHER]}),
    "next_token of several": lambda at: (lmviz.next_token, {"model": at.model, "prefix": [TEXT, OTHER]}),
    "gradient of several": lambda at: (lmviz.gradient, {"model": at.model, "text_or_ids": [TEXT, OTHER]}),
    "patch of several": lambda at: (lmviz.patch, {"model": at.model, "contrast": [at.contrast] * 2}),
    "lens": lambda at: (
        lmviz.lens,
        {"model": at.model, "texts": [TEXT, OTHER, TEXT], "kind": "tuned", "passages": 1, "length": 8},
    ),
    "lens_column": lambda at: (
        lmviz.lens_column,
        {"model": at.model, "texts": [TEXT, OTHER, TEXT], "trace": at.trace, "passages": 1, "length": 8},
    ),
    "lens_over_training": lambda at: (
        lmviz.lens_over_training,
        {"run": at.run.folder, "text": TEXT, "token": "hay", "steps": [2]},
    ),
    "open_lens": lambda at: (lmviz.open_lens, {"path": at.lens, "model": at.model}),
    "probe": lambda at: (lmviz.probe, {"model": at.model, "labelled": {"a": [TEXT] * 4, "b": [OTHER] * 4}}),
    "probe of marked words": lambda at: (
        lmviz.probe,
        {"model": at.model, "labelled": [TEXT, OTHER] * 4, "marked": ["bat"], "side": "at"},
    ),
    "probe_number": lambda at: (
        lmviz.probe_number,
        {"model": at.model, "texts": [TEXT, OTHER] * 4, "of": "position"},
    ),
    "use_map": lambda at: (
        lmviz.use_map,
        {"model": at.model, "texts": {"hay": [TEXT] * 8, "corn": [OTHER] * 8}},
    ),
    "direction": lambda at: (
        lmviz.direction,
        {"model": at.model, "texts": [TEXT], "others": [OTHER], "tap": "layers/1/residual2"},
    ),
    "word_direction": lambda at: (
        lmviz.word_direction,
        {"model": at.model, "word": "hay", "tap": "layers/1/residual2"},
    ),
    "head_kernels": lambda at: (lmviz.head_kernels, {"model": at.model, "text_or_ids": TEXT, "size": 3}),
    "head_words": lambda at: (lmviz.head_words, {"model": at.model, "layer": 1, "head": 0}),
    "compositions": lambda at: (lmviz.compositions, {"model": at.model}),
    "direction_places": lambda at: (
        partial(lmviz.direction_places, tokens=20),
        {"model": at.model, "direction": at.direction, "texts": [TEXT, OTHER]},
    ),
    "save_directions": lambda at: (
        lmviz.save_directions,
        {"directions": [at.direction], "path": "made.safetensors"},
    ),
    "open_direction": lambda at: (lmviz.open_direction, {"path": at.direction.save("made.safetensors")}),
    "find_features": lambda at: (
        partial(lmviz.find_features, size=4, k=2, tokens=64, batch=16),
        {"model": at.model, "texts": at.corpus, "out": "made", "overwrite": True},
    ),
    "features_plan": lambda at: (
        partial(lmviz.features_plan, size=4, k=2, tokens=64, batch=16),
        {"model": at.model, "texts": at.corpus},
    ),
    "stability": lambda at: (
        partial(lmviz.stability, tokens=64),
        {"model": at.model, "texts": at.corpus, "dictionary": at.features},
    ),
    "with_features": lambda at: (
        lmviz.with_features,
        {"model": at.model, "dictionary": at.features},
    ),
    "open_features": lambda at: (
        lmviz.open_features,
        {"path": at.features.save("made.safetensors"), "model": at.model},
    ),
    "save_features": lambda at: (
        lmviz.save_features,
        {"dictionary": at.features, "path": "made", "form": "saelens"},
    ),
    "read_features": lambda at: (
        lmviz.read_features,
        {"model": at.model, "dictionary": at.features, "texts": [TEXT, OTHER], "tokens": 20},
    ),
    "written_words": lambda at: (
        lmviz.written_words,
        {
            "model": at.model,
            "reading": lmviz.read_features(at.model, at.features, [TEXT, OTHER]),
            "feature": 1,
        },
    ),
    "turn_feature": lambda at: (
        lmviz.turn_feature,
        {"model": at.model, "dictionary": at.features, "feature": 1, "text": TEXT, "factors": [0, 1]},
    ),
    "change_feature": lambda at: (
        changed(partial(lmviz.change_feature, to=1.0), at.model),
        {"dictionary": at.features, "feature": 1},
    ),
    "feature_bill": lambda at: (
        lmviz.feature_bill,
        {"model": at.model, "contrast": at.contrast, "dictionaries": at.features},
    ),
    "feature_graph": lambda at: (
        lmviz.feature_graph,
        {"model": at.model, "contrast": at.contrast, "dictionaries": at.features, "most": 4, "rest": "off"},
    ),
    "try_edge": lambda at: (
        lmviz.try_edge,
        {
            "model": at.model,
            "graph": lmviz.feature_graph(at.model, at.contrast, at.features),
            "sender": 0,
            "receiver": None,
        },
    ),
    "alone_by_size": lambda at: (
        lmviz.alone_by_size,
        {"model": at.model, "contrast": at.contrast, "dictionaries": at.features, "sizes": [1, 2]},
    ),
    "score_pairs": lambda at: (
        lmviz.score_pairs,
        {
            "model": at.model,
            "text": TEXT,
            "dictionaries": at.features,
            "layer": 0,
            "head": 0,
            "key": 0,
            "query": -1,
        },
    ),
    "open_feature_graph": lambda at: (
        lmviz.open_feature_graph,
        {
            "path": lmviz.save_feature_graph(
                lmviz.feature_graph(at.model, at.contrast, at.features), "made.json"
            )
        },
    ),
    "save_feature_graph": lambda at: (
        lmviz.save_feature_graph,
        {"graph": lmviz.feature_graph(at.model, at.contrast, at.features), "path": "made.json"},
    ),
    "match_features": lambda at: (lmviz.match_features, {"one": at.features, "other": at.features}),
    "staying_features": lambda at: (
        lmviz.staying_features,
        {"model": at.model, "dictionary": at.features, "texts": [TEXT, OTHER]},
    ),
    "remembered_words": lambda at: (
        lmviz.remembered_words,
        {
            "model": at.recurrent,
            "text": TEXT,
            "tap": "layers/0/hidden",
            "alike": [["cow", "bat"]],
            "texts": 8,
        },
    ),
    "features_over_time": lambda at: (
        lmviz.features_over_time,
        {"run": at.run.folder, "dictionary": at.features, "texts": [TEXT, OTHER], "steps": [0]},
    ),
    "Dictionary.encode": lambda at: (at.features.encode, {"states": at.trace}),
    "Dictionary.scores": lambda at: (at.features.scores, {"states": at.trace}),
    "Dictionary.reconstruct": lambda at: (at.features.reconstruct, {"states": at.trace}),
    "Dictionary.decode": lambda at: (at.features.decode, {"activations": at.features.encode(at.trace)}),
    "Dictionary.direction": lambda at: (at.features.direction, {"feature": 1}),
    "Dictionary.save": lambda at: (at.features.save, {"path": "made.safetensors"}),
    "steer": lambda at: (
        lmviz.steer,
        {"model": at.model, "direction": at.direction, "text": TEXT, "of": "loss", "strengths": [0, 1]},
    ),
    "replace_states": lambda at: (
        lmviz.replace_states,
        {"model": at.recurrent, "text": TEXT, "of": "loss", "texts": [TEXT, OTHER] * 4, "others": 4},
    ),
    "page": lambda at: (
        lmviz.page,
        {"results": [at.trace], "title": "A page", "lead": "A sentence.", "heads": [(0, 0)], "top": 1},
    ),
    "copied": lambda at: (lmviz.copied, {"model": at.corpus, "text": TEXT}),
    "influences": lambda at: (
        lmviz.influences,
        {"run": at.run.folder, "text": TEXT, "token": 3, "tokens": 40, "steps": [2]},
    ),
    "memorised": lambda at: (lmviz.memorised, {"run": at.run.folder, "tokens": 40}),
    "training_plan": lambda at: (lmviz.training_plan, {"start": at.run.folder, "corpus": at.text}),
    "zero": lambda at: (changed(lmviz.zero, at.model), {"address": "layers/0/residual2", "position": 1}),
    "replace": lambda at: (changed(lmviz.replace, at.model), {"address": "layers/0/residual2", "value": 1.0}),
    "scale": lambda at: (changed(lmviz.scale, at.model), {"address": "layers/0/residual2", "factor": 2.0}),
    "add": lambda at: (changed(lmviz.add, at.model), {"address": "layers/0/residual2", "amount": 1.0}),
    "scale_head": lambda at: (changed(lmviz.scale_head, at.model), {"layer": 0, "head": 1}),
    "Intervention": lambda at: (
        changed(lmviz.Intervention, at.model),
        {"address": "layers/0/residual2", "kind": "scale", "value": 2.0, "where": {"position": 1}},
    ),
    "Intervention.from_values": lambda at: (
        lmviz.Intervention.from_values,
        {"values": at.change.to_values()},
    ),
}
"""A call that makes sense for each function, and for each method that takes something."""

RECORDINGS = {
    "record",
    "Recording.step",
    "Recording.tell",
    "LightningCallback",
    "open_readings",
    "Readings.reading",
}
"""What is called from the loop of another program, which it must not end: see tests/recording."""

LONG = (
    "find_features",
    "stability",
    "training_plan",
    "influences",
    "memorised",
    "train",
    "fork",
    "race",
    "ablate a file",
    "trace of a translator",
)
"""These take long: some nights are enough."""

WORK = {("stability", "tokens", "many")}
"""What is no nonsense, but work of days."""


def carried_out(call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What a call gives; of what comes bit by bit the beginning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lmviz.LmvizWarning)
        found = call(**arguments)
        return list(islice(found, 3)) if isinstance(found, Iterator | Race) else found


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_makes_sense_is_answered(given, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, arguments = CALLS[name](given)
    carried_out(call, arguments)


@pytest.mark.parametrize("share", others_slow((5, 1), 5), ids=("a fifth", "all"))
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in CALLS]
)
def test_nonsense_is_refused_in_a_sentence(given, name, share, tmp_path, monkeypatch):
    """In every check each parameter is given a fifth of the kinds, which another name begins elsewhere."""
    monkeypatch.chdir(tmp_path)
    call, arguments = CALLS[name](given)
    known = [
        parameter.name
        for parameter in inspect.signature(call).parameters.values()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    defects = []
    for at, parameter in enumerate(dict.fromkeys([*known, *arguments]), len(name)):
        for kind, nonsense in [*NONSENSE.items()][at % share :: share]:
            if (name, parameter, kind) in WORK:
                continue
            try:
                carried_out(call, {**arguments, parameter: nonsense})
            except lmviz.LmvizError as refusal:
                if not str(refusal).endswith((".", "?")) or "\n" in str(refusal):
                    defects.append(f"{name}({parameter}={kind}) is no sentence: {refusal}")
            except Exception as fault:
                defects.append(f"{name}({parameter}={kind}): {type(fault).__name__}: {fault}")
    assert not defects, "\n".join(map(ascii, defects))


@pytest.mark.parametrize(
    "configuration",
    [SamplingOptions, BeamOptions, CorpusOptions, TrainingOptions]
    + [family.configuration for family in FAMILIES.values()],
)
def test_settings_that_are_nonsense_are_refused_in_a_sentence(configuration):
    for name in configuration.names():
        for nonsense in NONSENSE.values():
            with suppress(lmviz.LmvizError):
                configuration.from_values({name: nonsense})


def test_every_function_and_method_of_the_reference_is_tried():
    page = (Path(lmviz.__file__).parents[1] / "docs" / "reference.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### `lmviz\.(\w+)(.?)", page, flags=re.MULTILINE)
    functions = {name for name, opening in headings if opening == "("}
    methods = {
        f"{name}.{method}"
        for name, text in re.findall(r"^### `lmviz\.([A-Z]\w+)`\n(.*?)(?=^##)", page, flags=re.M | re.S)
        for method in re.findall(r"`(\w+)\(\w", text)
        if hasattr(getattr(lmviz, name), method)
    }
    assert len(functions) > 25
    assert len(methods) > 10
    assert functions | methods <= {*CALLS, *RECORDINGS}
