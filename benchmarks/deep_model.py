"""A model of SmolLM2's shape with random weights: what a text of 500 tokens costs, beside transformers."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.apart import once_apart
from benchmarks.limits import Limit, of_memory_read
from benchmarks.rows import Measured, Row, Times, interleave

VOCABULARY, TOKENS = 49_152, 500
ROUNDS, ROUNDS_BACK, ROUNDS_TYPED = 5, 3, 15
PARAMETERS = 134_515_008
WIDTH, LENGTH = 3, 8  # of a beam
SECONDS_AFTER = 14.0  # after which the memory of a text that was left is looked at


def _write(folder: Path) -> Path:
    """A folder of transformers: 30 layers, 9 heads that share 3 of keys and values, width 576."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from benchmarks.made_models import words
    from lmviz.text.tokenizer_options import TokenizerOptions
    from lmviz.text.tokenizer_training import train_tokenizer

    configuration = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=576,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        intermediate_size=1536,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(configuration).to(torch.bfloat16).save_pretrained(folder)
    known = " ".join(words(VOCABULARY - 1))
    train_tokenizer([known], TokenizerOptions(kind="words"), marks_boundaries=False).save(
        folder / "tokenizer.json"
    )
    return folder


@cache
def deep_models() -> tuple[Any, Any]:
    """Ours and theirs, of the same folder; theirs in single precision, as ours computes."""
    import torch
    import transformers

    from lmviz.interchange.checkpoint import open_checkpoint

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as place:
        folder = _write(Path(place) / "deep")
        theirs = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager", local_files_only=True
        )
        return open_checkpoint(folder).model(), theirs.eval()


def _ids() -> list[int]:
    return [7919 * place % VOCABULARY for place in range(TOKENS)]


def _forward(theirs: Any) -> None:
    import torch

    with torch.inference_mode():
        theirs(torch.tensor([_ids()]), output_attentions=True, output_hidden_states=True)


def _read(ours: Any) -> None:
    """What the window reads of a new text, and what a perspective draws of all heads."""
    from lmviz.inspection.attention import thumbnails
    from lmviz.inspection.head_badges import head_badges
    from lmviz.inspection.tracing import trace

    traced = trace(ours, _ids(), answers_later=True)
    thumbnails(traced)
    head_badges(traced)
    traced["probabilities"].at(position=-1)


def _backward(theirs: Any) -> None:
    """Torch's gradient with respect to all parameters, hidden states and attention."""
    import torch

    ids = torch.tensor([_ids()])
    theirs.zero_grad()
    found = theirs(ids, labels=ids, output_attentions=True, output_hidden_states=True)
    for value in (*found.hidden_states, *found.attentions):
        value.retain_grad()
    found.loss.backward()


def _gradient(ours: Any) -> None:
    from lmviz.inspection.backpropagation import gradient

    gradient(ours, _ids())


def _one_tap(ours: Any) -> None:
    from lmviz.inspection.tracing import trace

    trace(ours, _ids(), taps=["layers/2/attention/weights"])


def _beam(ours: Any) -> None:
    from lmviz.decoding.beam import beam_search
    from lmviz.decoding.options import BeamOptions

    beam_search(ours, _ids()[:32], BeamOptions(width=WIDTH, length=LENGTH))


def _sample(ours: Any) -> None:
    from lmviz.decoding.sampling import sample

    list(sample(ours, _ids()[:32], LENGTH))


def _reading() -> Times:
    ours, theirs = deep_models()
    return interleave(partial(_read, ours), partial(_forward, theirs), ROUNDS)


def _asking() -> Times:
    ours, _ = deep_models()
    return interleave(partial(_one_tap, ours), partial(_read, ours), ROUNDS)


def _typing() -> Times:
    """One token more at the end of the text, and again, of which everything before is kept."""
    import torch

    from lmviz.inspection.tracing import trace

    ours, theirs = deep_models()
    ids = _ids()
    earlier = trace(ours, ids[:-1], answers_later=True)
    with torch.inference_mode():
        kept = theirs(torch.tensor([ids[:-1]]), use_cache=True).past_key_values
    read_so_far = ids[:-1]

    def read() -> None:
        nonlocal earlier
        read_so_far.append(ids[-1])
        earlier = trace(ours, read_so_far, earlier=earlier, answers_later=True)
        earlier["probabilities"].at(position=-1)

    def forward() -> None:  # it adds to its cache
        with torch.inference_mode():
            last = torch.tensor([ids[-1:]])
            theirs(last, past_key_values=kept, output_attentions=True, output_hidden_states=True)

    return interleave(read, forward, ROUNDS_TYPED)


def _differentiating() -> Times:
    ours, theirs = deep_models()
    return interleave(partial(_gradient, ours), partial(_backward, theirs), ROUNDS_BACK)


def _searching() -> Times:
    ours, _ = deep_models()
    return interleave(partial(_beam, ours), partial(_sample, ours), ROUNDS)


def _left() -> tuple[int, int]:
    """Bytes beyond what the window takes with a short text: with a long one, and once that was left."""
    from benchmarks.made_models import text
    from benchmarks.opened_window import OpenedWindow

    def own_memory() -> int:
        """What is not mapped from the file of weights."""
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return 1024 * int(re.search(r"RssAnon:\s+(\d+) kB", status)[1])

    with tempfile.TemporaryDirectory() as place:
        folder = once_apart(partial(_write, Path(place) / "deep"))
        opened = OpenedWindow(Path(place))
        opened.show("attention")
        opened.open_model(folder, text(8))
        opened.settle()
        before = own_memory()
        opened.session.reading.set_prefix(text(TOKENS))
        opened.settle()
        during = own_memory()
        opened.session.reading.set_prefix(text(8))
        opened.settle()
        opened.live(SECONDS_AFTER)
        after = own_memory()
        opened.close()
    return during - before, after - before


def _measured(
    taken: Callable[[], Times], theirs: str, limit: Callable[[float], Limit] | None = None
) -> Measured:
    """Theirs over ours; `limit` says how near ours comes to what the machine can do."""
    times = once_apart(taken)
    detail = f"{1000 * times.ours:.0f} ms, {theirs} {1000 * times.theirs:.0f} ms"
    return Measured(1 / times.ratio, detail, limit and limit(times.ours))


def _reads_weights(seconds: float) -> Limit:
    """A token more, against reading all the weights once, in the half precision that they are kept in."""
    return of_memory_read(2 * PARAMETERS, seconds, BETWEEN)


def _memory() -> Measured:
    during, after = once_apart(_left)
    return Measured(after / 1e6, f"{during / 1e6:.0f} MB more while it is read")


TAPS = 2 + 30 * 19 + 3  # `len(model.taps())`, as many as a trace of all holds
PRODUCTS = 30 * 7 + 1  # of them: four of attention and three of feed-forward are products with weights
BETWEEN = (
    "two thirds are products with weights, three quarters of that reading and widening half precision; a "
    f"third are the operations of the other {TAPS - PRODUCTS} of {TAPS} taps, and what keeps all of them"
)
SHAPE = "30 layers of 9 heads, width 576"

ROWS = (
    Row(
        "deep-reading",
        f"a new text of {TOKENS} tokens with all that Attention shows, {SHAPE}, against transformers' "
        "forward with its attention and hidden states",
        "×",
        1.3,
        True,
        lambda: _measured(_reading, "transformers"),
    ),
    Row(
        "deep-tap",
        "a trace of one tap of layer 3 of that text, against all of them",
        "×",
        0.25,
        True,
        lambda: _measured(_asking, "all"),
    ),
    Row(
        "deep-typing",
        "a token more at the end of that text, against transformers' forward with its cache and the same",
        "×",
        1.5,
        True,
        lambda: _measured(_typing, "transformers", _reads_weights),
    ),
    Row(
        "deep-gradient",
        "the gradient of every tap and parameter for that text, against torch's backward of transformers",
        "×",
        2,
        True,
        lambda: _measured(_differentiating, "transformers"),
    ),
    Row(
        "deep-beam",
        f"a beam of {WIDTH} × {LENGTH} after 32 tokens, against a sample of {LENGTH}",
        "×",
        2,
        True,
        lambda: _measured(_searching, "sample"),
    ),
    Row(
        "deep-memory",
        f"what the window keeps of that text {SECONDS_AFTER:.0f} seconds after it was left",
        "MB",
        300,
        True,
        _memory,
    ),
)
