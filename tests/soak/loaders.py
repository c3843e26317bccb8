"""The kinds of files that lmviz reads: a good one of each, and what reads it."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import torch
from gguf_files import large_llama, write_gguf
from mutations import mutate, mutate_saved, mutate_template, mutate_tensors
from showing import show, show_words

import lmviz
from lmviz.api.training import sources_elsewhere
from lmviz.app.opening.settings import Settings
from lmviz.app.window.lessons import perspective_names
from lmviz.autodiff.files import open_network, shipped_networks
from lmviz.desktop.scene import Scene, SceneModel, SceneNetwork, SceneText, open_scene, save_scene
from lmviz.families import open_run_model
from lmviz.inspection.interventions import scale_head
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace
from lmviz.interchange.arpa import open_arpa, write_arpa
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.lectures.bundle import pack, unpack
from lmviz.lectures.reading import open_lecture
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.results import GivenAnswer, LessonResult, Results, StepResult, open_results
from lmviz.models.model import Model
from lmviz.models.ngram.model import Ngram
from lmviz.polls.poll_file import open_poll
from lmviz.runs.converting import EVENTS, convert
from lmviz.runs.race_folder import NAME as RACE
from lmviz.runs.race_folder import open_race
from lmviz.runs.race_table import lane_results
from lmviz.text.chat import Turn, chat_text
from lmviz.text.corpus import load_corpus
from lmviz.text.preview import look
from lmviz.text.resources import resource_path
from lmviz.text.tokenizer import Tokenizer
from lmviz.training.run import Run

Change = Callable[[bytes, Random], bytes]


@dataclass(frozen=True)
class Loader:
    """A file that is changed, and what is done with it then; None where it is not what it should be."""

    name: str
    path: Path
    read: Callable[[], object]
    change: Change = mutate


TASK_TEXTS = {
    "tagged text": "The/DT cow/NN eats/VB grass/NN\nA/DT hen/NN sees/VB corn/NN\n" * 10,
    "labelled text": "good\tthe film is good\nbad\tthe film is bad\n" * 10,
    "pairs": "red car\tvoiture rouge\nblue car\tvoiture bleue\n" * 10,
    "a table": "id;mark;wording\n" + '1;good;"the film; it is good"\n2;bad;"it is ""bad"""\n' * 10,
    "JSON Lines": '{"text": "the film is good", "label": "good"}\n{"text": "bad", "label": "bad"}\n' * 10,
    "fastText": "__label__good the film is good\n__label__bad it is bad\n" * 10,
    "columns": "-DOCSTART- -X- -X- O\n\n" + "EU NNP B-NP B-ORG\ngoes VBZ B-VP O\nto TO O O\n\n" * 10,
    "pairs and more": "red car\tvoiture rouge\tCC 1\nblue car\tvoiture bleue\tCC 2\n" * 10,
    "captions": "".join(f"{'.' * n}{'#' * (7 - n)}{('/' + '.' * 7) * 6}\t{n} dots\n" for n in range(8)),
}


def make_loaders(folder: Path, text: Path) -> list[Loader]:
    """A good file of each kind in a folder, with what reads it."""
    corpus = load_corpus(text)
    tiny: dict[str, Any] = {"steps": 2, "batch": 2, "length": 5, "validate_every": 0}
    run = lmviz.train("lstm", corpus, folder / "run", width=4, **tiny)
    gram = lmviz.train("ngram", corpus, folder / "gram", steps=2, order=2)
    transformer = lmviz.train(
        "transformer", corpus, folder / "transformer", width=8, heads=2, layers=1, context=8, **tiny
    )
    open_race(folder).save()
    model = lmviz.open_model(transformer.folder)
    lmviz.save_pretrained(model, folder / "checkpoint")
    trace(model, "The cow", taps=["logits", "layers/0/attention/weights"]).save(folder / "trace.npz")
    write_arpa(folder / "model.arpa", cast(Ngram, lmviz.open_model(gram.folder)), gram.tokenizer())
    torch.save(_minigpt(), folder / "ckpt.pt")
    (folder / "settings.json").write_text(
        '{"last/runs": "[\\"a\\"]", "last/step": 3, "view/theme": "dark", "view/projector": false}'
    )
    network = folder / "network.net"
    network.write_text(shipped_networks()[0].text, encoding="utf-8")
    plain = folder / "text.txt"
    plain.write_bytes(text.read_bytes())
    order, computed = folder / "order.poll", folder / "computed.poll"
    shutil.copy(resource_path("polls", "01-order.poll"), order)
    shutil.copy(resource_path("polls", "02-recurrence.poll"), computed)
    lesson, scene = folder / "lesson" / "lesson.md", folder / "night.lmviz"
    lesson.parent.mkdir()
    shutil.copy(resource_path("lessons", "06-recurrent-language-model.md"), lesson)
    save_scene(_scene(text, network), scene)
    lecture, results = folder / "small.lecture", folder / "results.json"
    lecture.write_text(LECTURE, encoding="utf-8")
    results.write_bytes(_results().to_bytes())
    bundle = pack(lecture, folder / "small.lmvizbundle", perspective_names())
    newest, of_transformer = (each.snapshot_path(each.snapshots()[-1]) for each in (run, transformer))
    packed = write_gguf(large_llama(), folder / "model.gguf", "Q4_0")
    weights, saved = folder / "checkpoint" / "model.safetensors", folder / "ckpt.pt"
    resume, curves = run.folder / "resume" / "state.safetensors", folder / f"curves{EVENTS[0]}"
    chat, words = folder / "chat", folder / "words.md"
    shutil.copytree(folder / "checkpoint", chat)
    template = chat / "chat_template.jinja"
    template.write_text(TEMPLATE, encoding="utf-8")
    words.write_text(MARKDOWN.replace("NAMED", str(folder / "fifo")), encoding="utf-8")
    if not (folder / "fifo").exists():
        os.mkfifo(folder / "fifo")
    labels = folder / "labels.tsv"
    labels.write_text(TASK_TEXTS["labelled text"], encoding="utf-8")
    return [
        Loader("run.json", run.folder / "run.json", lambda: _of_run(run.folder)),
        Loader(RACE, folder / RACE, lambda: lane_results(open_race(folder).lanes)),
        Loader("metrics.jsonl", run.folder / "metrics.jsonl", run.metrics),
        Loader("snapshot", newest, lambda: open_run_model(run)),
        Loader("n-gram", gram.snapshot_path(2), lambda: open_run_model(gram)),
        Loader("resume state", resume, run.load_resume),
        Loader("memory of a snapshot", resume.with_name("000001.safetensors"), lambda: run.load_memory(1)),
        Loader("tokenizer.json", run.folder / "tokenizer.json", lambda: _tokens(run.folder)),
        Loader("trace", folder / "trace.npz", lambda: _described(folder / "trace.npz")),
        Loader("settings", folder / "settings.json", lambda: Settings(folder / "settings.json").last_session),
        Loader("network", network, lambda: open_network(network).forward()),
        Loader("ARPA", folder / "model.arpa", lambda: open_arpa(folder / "model.arpa")),
        Loader("checkpoint", folder / "checkpoint" / "config.json", lambda: _model(folder / "checkpoint")),
        Loader("weights", weights, lambda: _model(folder / "checkpoint")),
        Loader("GGUF", packed, lambda: _reads(_model(packed))),
        Loader("nanoGPT", saved, lambda: _model(saved)),
        Loader("text", plain, lambda: load_corpus(plain)),
        *(_task_text(folder, name, content.encode()) for name, content in TASK_TEXTS.items()),
        _task_text(folder, "UTF-16", TASK_TEXTS["labelled text"].encode("utf-16")),
        _task_text(folder, "an older encoding", "der Bär, größer: gut\n".encode("cp1252") * 10),
        _task_text(folder, "packed text", gzip.compress(TASK_TEXTS["a table"].encode())),
        Loader("poll of order", order, lambda: _answered(order)),
        Loader("poll of a network", computed, lambda: _answered(computed)),
        Loader("lesson", lesson, lambda: open_lesson(lesson, perspective_names())),
        Loader("lecture", lecture, lambda: open_lecture(lecture, perspective_names())),
        Loader("results", results, lambda: open_results(results).to_bytes()),
        Loader("bundle", bundle, lambda: _unpacked(bundle, folder / "unpacked")),
        Loader("scene", scene, lambda: open_scene(scene).to_bytes()),
        Loader("curves converted", run.folder / "metrics.jsonl", lambda: convert(run, curves)),
        Loader("n-gram converted", gram.snapshot_path(2), lambda: convert(gram, folder / "again.arpa")),
        Loader("tensors of an LSTM", newest, lambda: _reads(open_run_model(run)), mutate_tensors),
        Loader("tensors resumed from", resume, run.load_resume, mutate_tensors),
        Loader("tensors of weights", weights, lambda: _reads(_model(folder / "checkpoint")), mutate_tensors),
        Loader("tensors of nanoGPT", saved, lambda: _reads(_model(saved)), mutate_saved),
        Loader("tensors converted", of_transformer, lambda: _converted(transformer, folder), mutate_tensors),
        Loader("poll shown", order, lambda: show(order)),
        Loader("lesson shown", lesson, lambda: show(lesson)),
        Loader("scene shown", scene, lambda: show(scene)),
        Loader("network shown", network, lambda: show(network)),
        Loader("lecture shown", lecture, lambda: show(lecture)),
        Loader("labels shown", labels, lambda: show(labels)),
        Loader("title shown", run.folder / "run.json", lambda: show(run.folder) or None),
        Loader("Markdown shown", words, lambda: show_words(words)),
        Loader("chat template", template, lambda: _chat(template), mutate_template),
        Loader("chat shown", template, lambda: show(chat) or None, mutate_template),
        Loader("tensors shown", of_transformer, lambda: show(transformer.folder) or None, mutate_tensors),
    ]


TEMPLATE = """{%- if messages[0]['role'] == 'system' %}{% set said = messages[0]['content'] | trim %}
{%- set messages = messages[1:] %}{% else %}{% set said = 'Be brief.' * 2 %}{% endif %}{{ said ~ '\n' }}
{%- for m in messages %}{% if m['role'] not in ['user', 'assistant'] %}{{ raise_exception('no one') }}
{%- endif %}{{ '%s: %s' | format(m['role'], m['content'] | trim) }}{% set x = [9 * loop.index, 1] %}
{%- if x[0] // 3 > 9 %}{% break %}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ 'assistant' | upper }}{% endif %}
"""
MARKDOWN = """# A *title* ![x](NAMED)

Words with `code`, **bold ![x[1]](NAMED)** and [a link](https://example.org "said"), <b>no HTML</b>.

- one ![x][r]
  1. two [![x](NAMED)](other)
- [ ] three

> quoted ![x](<NAMED> "said")

|a|b|
|-|:-:|
|![x](file://NAMED)|c \\| d|

    code in lines

```python
more = "code"
```

***

[r]: NAMED
"""
LECTURE = """# Small
## One
scene: ./night.lmviz

A note.
## Two
step: counting 1
## Three
poll: ./order.poll
"""


def _results() -> Results:
    answers = (GivenAnswer("12", False), GivenAnswer("11", True))
    step = StepResult("One", "How many?", 2, 1, True, answers)
    return Results((LessonResult("counting", "Counting", (step, step)),))


def _unpacked(bundle: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    opened = unpack(bundle, folder)
    assert {place.name[0] for place in folder.iterdir()} <= {"s"}, "nothing unfinished is left"
    return opened


def _task_text(folder: Path, name: str, content: bytes) -> Loader:
    path = folder / f"{name}.txt"
    path.write_bytes(content)
    return Loader(name, path, lambda: (look(path), load_corpus(path)))


def _scene(text: Path, network: Path) -> Scene:
    """A scene with a text, a model, a pinned cell, a change and a network."""
    return Scene(
        perspective="inside",
        in_front=("state_view",),
        text=SceneText(files=(text.name,)),
        models=(SceneModel(path="transformer", step=2), SceneModel(path="run", step=2)),
        compared=(True,),
        prefix="The cow",
        position=1,
        stage=3,
        cell=("logits", (1, 2)),
        head=(0, 1),
        surgery=(scale_head(0, 0, 2.0),),
        network=SceneNetwork(network.read_text(encoding="utf-8"), pushed=2),
    )


def _answered(path: Path) -> object:
    poll = open_poll(path)
    return poll.filled, None if poll.needs_model else poll.find_right()


def _reads(model: Model) -> object:
    """What a model computes, and what it would say next."""
    ids = torch.tensor([[1, 2, 3]])
    return trace(model, "The cow" if model.tokenizer is not None else ids[0].tolist())


def _converted(run: Run, folder: Path) -> object:
    shutil.rmtree(folder / "converted", ignore_errors=True)
    return convert(run, folder / "converted")


def _of_run(folder: Path) -> object:
    run = Run.open(folder)
    return run.description.options, sources_elsewhere(run), open_run_model(run)


def _tokens(folder: Path) -> object:
    return Tokenizer.load(folder / "tokenizer.json").encode("The cow eats hay.")


def _described(path: Path) -> list[str]:
    return [intervention.describe() for intervention in Trace.load(path).interventions]


def _chat(template: Path) -> str:
    """What a template makes of a chat."""
    tokenizer: Any = SimpleNamespace(
        chat_template=template.read_text("utf-8", "replace"),
        named_tokens={"bos_token": "<s>", "eos_token": "</s>", "pad_token": ""},
        marks_boundaries=False,
    )
    return chat_text(tokenizer, [Turn("system", "Be kind."), Turn("user", " Who? ")])


def _model(path: Path) -> Model:
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
