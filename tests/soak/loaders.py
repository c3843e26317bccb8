"""The kinds of files that lmviz reads: a good one of each, and what reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

import lmviz
from lmviz.api import sources_elsewhere
from lmviz.app.opening.settings import Settings
from lmviz.autodiff.files import open_network, shipped_networks
from lmviz.families import open_run_model
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace
from lmviz.interchange.arpa import open_arpa, write_arpa
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.text.corpus import load_corpus
from lmviz.text.tokenizer import Tokenizer
from lmviz.training.run import Run


@dataclass(frozen=True)
class Loader:
    """A file that is changed, and what is done with it then."""

    name: str
    path: Path
    read: Callable[[], object]


def make_loaders(folder: Path, text: Path) -> list[Loader]:
    """A good file of each kind in a folder, with what reads it."""
    corpus = load_corpus(text)
    tiny = {"steps": 2, "batch": 2, "length": 5, "validate_every": 0}
    run = lmviz.train("lstm", corpus, folder / "run", width=4, **tiny)
    gram = lmviz.train("ngram", corpus, folder / "gram", steps=2, order=2)
    transformer = lmviz.train(
        "transformer", corpus, folder / "transformer", width=8, heads=2, layers=1, context=8, **tiny
    )
    model = lmviz.open_model(transformer.folder)
    lmviz.save_pretrained(model, folder / "checkpoint")
    trace(model, "The cow", taps=["logits", "layers/0/attention/weights"]).save(folder / "trace.npz")
    write_arpa(folder / "model.arpa", lmviz.open_model(gram.folder), gram.tokenizer())
    torch.save(_minigpt(), folder / "ckpt.pt")
    (folder / "settings.json").write_text(
        '{"last/runs": "[\\"a\\"]", "last/step": 3, "view/theme": "dark", "view/projector": false}'
    )
    network = folder / "network.txt"
    network.write_text(shipped_networks()[0].text, encoding="utf-8")
    plain = folder / "text.txt"
    plain.write_bytes(text.read_bytes())
    newest = run.snapshot_path(run.snapshots()[-1])
    return [
        Loader("run.json", run.folder / "run.json", lambda: _of_run(run.folder)),
        Loader("metrics.jsonl", run.folder / "metrics.jsonl", run.metrics),
        Loader("snapshot", newest, lambda: open_run_model(run)),
        Loader("n-gram", gram.snapshot_path(2), lambda: open_run_model(gram)),
        Loader("resume state", run.folder / "resume" / "state.safetensors", run.load_resume),
        Loader("tokenizer.json", run.folder / "tokenizer.json", lambda: _tokens(run.folder)),
        Loader("trace", folder / "trace.npz", lambda: _described(folder / "trace.npz")),
        Loader("settings", folder / "settings.json", lambda: Settings(folder / "settings.json").last_session),
        Loader("network", network, lambda: open_network(network)),
        Loader("ARPA", folder / "model.arpa", lambda: open_arpa(folder / "model.arpa")),
        Loader("checkpoint", folder / "checkpoint" / "config.json", lambda: _model(folder / "checkpoint")),
        Loader("weights", folder / "checkpoint" / "model.safetensors", lambda: _model(folder / "checkpoint")),
        Loader("nanoGPT", folder / "ckpt.pt", lambda: _model(folder / "ckpt.pt")),
        Loader("text", plain, lambda: load_corpus(plain)),
    ]


def _of_run(folder: Path) -> object:
    run = Run.open(folder)
    return run.description.options, sources_elsewhere(run), open_run_model(run)


def _tokens(folder: Path) -> object:
    return Tokenizer.load(folder / "tokenizer.json").encode("The cow eats hay.")


def _described(path: Path) -> list[str]:
    return [intervention.describe() for intervention in Trace.load(path).interventions]


def _model(path: Path) -> object:
    return open_checkpoint(path).model()


def _minigpt() -> dict[str, object]:
    """A checkpoint in the layout of nanoGPT."""
    width, vocabulary, context = 8, 65, 8
    shapes = {
        "wte.weight": (vocabulary, width), "wpe.weight": (context, width),
        "h.0.ln_1.weight": (width,), "h.0.ln_2.weight": (width,), "ln_f.weight": (width,),
        "h.0.attn.c_attn.weight": (3 * width, width), "h.0.attn.c_proj.weight": (width, width),
        "h.0.mlp.c_fc.weight": (4 * width, width), "h.0.mlp.c_proj.weight": (width, 4 * width),
    }  # fmt: skip
    weights = {f"transformer.{name}": torch.ones(shape) for name, shape in shapes.items()}
    arguments = {"n_layer": 1, "n_head": 2, "n_embd": width, "block_size": context, "bias": False}
    return {
        "model": weights | {"lm_head.weight": weights["transformer.wte.weight"]},
        "model_args": arguments | {"vocab_size": vocabulary, "dropout": 0.0},
    }
