"""One value in a description is another: the answer is a model or one sentence, and never a surprise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from foreign_models import PEERS, add_tokenizer, peer, saved
from foreign_tokenizers import byte_pairs, pieces
from gguf_files import gguf_of, tokenizer_fields
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.base.loading import Unexpected
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.gguf_checkpoint import ARCHITECTURES
from lmviz.interchange.gguf_file import PackedTensor, read_gguf

pytest.importorskip("transformers")
pytest.importorskip("gguf")

VALUES = (None, True, -1, 0, 10**30, float("nan"), float("inf"), "", "x", [], [1], {})

few = settings(max_examples=60, derandomize=True)

Place = tuple[Any, ...]
"""The way to a value: names in objects, and numbers in lists."""


def places_in(values: dict[str, Any] | list[Any], before: Place = ()) -> Iterator[Place]:
    """The ways to all values, those of objects inside and the first of each list among them."""
    for name, value in values.items() if isinstance(values, dict) else list(enumerate(values))[:1]:
        yield (*before, name)
        if isinstance(value, dict | list):
            yield from places_in(value, (*before, name))


def with_value(values: Any, place: Place, value: Any) -> Any:
    """The same values with another one at a place."""
    if not place:
        return value
    found = values.copy()
    found[place[0]] = with_value(values[place[0]], place[1:], value)
    return found


def answer(path: Any) -> str:
    """What is said of a checkpoint; nothing where it is a model that reads."""
    try:
        checkpoint = open_checkpoint(path)
        model = checkpoint.model()
    except LmvizError as refusal:
        if isinstance(refusal, Unexpected):
            raise
        return str(refusal)
    with torch.no_grad():
        assert model(torch.zeros(1, 1, dtype=torch.int64)).shape[-1] == model.vocabulary_size
    if model.tokenizer is not None:
        model.tokenizer.encode("w1 w2")
    return ""


def answer_to_description(folder: Any, place: Place, value: Any) -> str:
    """What is said of a folder whose config.json has another value at a place."""
    path = folder / "config.json"
    before = path.read_bytes()
    try:
        path.write_text(json.dumps(with_value(json.loads(before), place, value)))
        return answer(folder)
    finally:
        path.write_bytes(before)


def answer_to_file(path: Any, place: Place, value: Any) -> str:
    """What is said of a GGUF file that says another value at a place."""
    file = read_gguf(path)
    return answer_to(replace(file, said=with_value(file.said, place, value)))


def answer_to(file: Any) -> str:
    """What is said of a GGUF file that was read so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lmviz.interchange.checkpoint.read_gguf", lambda _: file)
        return answer(file.path)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """The folder of a model in `foreign_models.PEERS`, written once."""
    home, known = tmp_path_factory.mktemp("folders"), {}

    def found(name):
        if name not in known:
            known[name] = add_tokenizer(saved(name, home / str(len(known))))
        return known[name]

    return found


@pytest.fixture(scope="module")
def file_of(tmp_path_factory):
    """The GGUF file of a model, or of a Llama with a tokenizer of "pairs" or "pieces", written once."""
    home, known = tmp_path_factory.mktemp("files"), {}
    roles = {"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0, "padding_token_id": 0}
    roles |= {"add_bos_token": True, "add_eos_token": True, "add_space_prefix": True}

    def found(name):
        if name not in known:
            said = {}
            if name == "pairs":
                said = tokenizer_fields(byte_pairs(further=("<tool>",)), "gpt2", roles | {"pre": "llama-bpe"})
            if name == "pieces":
                said = tokenizer_fields(pieces(puts_space_everywhere=True), "llama", roles)
            model = "llama" if said else name
            known[name] = gguf_of(model, home / f"{len(known)}.gguf", said=said)
        return known[name]

    return found


FEW = ("gpt2", "gpt_neo", "llama dynamic", "phi3 longrope", "gemma2", "granite", "olmo3", "mpt clipped")
NO_FILE = ("phi normed", "falcon rw")
"""Models that have parts which no GGUF file of their architecture holds."""

FEW_FILES = ("pairs", "pieces", "gemma2", "llama 3", "mpt")


@few
@given(data=st.data())
def test_one_value_of_a_description(data, folder_of):
    folder = folder_of(data.draw(st.sampled_from(FEW)))
    places = list(places_in(json.loads((folder / "config.json").read_bytes())))
    answer_to_description(folder, data.draw(st.sampled_from(places)), data.draw(st.sampled_from(VALUES)))


@few
@given(data=st.data())
def test_one_value_of_a_file(data, file_of):
    path = file_of(data.draw(st.sampled_from(FEW_FILES)))
    place = data.draw(st.sampled_from(list(places_in(read_gguf(path).said))))
    answer_to_file(path, place, data.draw(st.sampled_from(VALUES)))


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_each_value_of_each_description(name, folder_of):
    folder = folder_of(name)
    for place in places_in(json.loads((folder / "config.json").read_bytes())):
        for value in VALUES:
            answer_to_description(folder, place, value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pairs", "pieces", *(name for name in PEERS if name not in NO_FILE)])
def test_each_value_of_each_file(name, file_of):
    kinds = {made.kind for made in ARCHITECTURES.values()}
    if name in PEERS and peer(name).config.model_type not in kinds:
        pytest.skip("llama.cpp has no such architecture")
    path = file_of(name)
    for place in places_in(read_gguf(path).said):
        for value in VALUES:
            answer_to_file(path, place, value)


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("llama dynamic", ("rope_parameters", "factor"), float("nan"), "its factor is not a number"),
        pytest.param(
            *(
                "phi3 longrope",
                ("rope_parameters", "long_factor", 1),
                10**400,
                "its long_factor is not a list of",
            ),
            id="a number of 400 digits",
        ),
        ("gemma2", ("query_pre_attn_scalar",), -256, "its query_pre_attn_scalar is not above 0"),
        ("gemma2", ("query_pre_attn_scalar",), 0, "its query_pre_attn_scalar is not above 0"),
        ("granite", ("logits_scaling",), 0, "its logits_scaling is not above 0"),
        ("llama", ("rms_norm_eps",), float("inf"), "its rms_norm_eps is not a number"),
    ],
)
def test_what_a_description_cannot_say(name, place, value, words, folder_of):
    assert words in answer_to_description(folder_of(name), place, value)


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("llama", ("general.architecture",), ["llama"], "its general.architecture is not a word"),
        ("llama", ("llama.attention.key_length",), "8", "its attention.key_length is not a whole number"),
        ("llama", ("llama.rope.dimension_count",), "8", "its rope.dimension_count is not a whole number"),
        ("pairs", ("tokenizer.ggml.tokens",), 3, "lists tokens that are not words"),
        ("pairs", ("tokenizer.ggml.tokens",), "words", "lists tokens that are not words"),
        ("pieces", ("tokenizer.ggml.scores", -1), "x", "without a score for each piece"),
    ],
)
def test_what_a_file_cannot_say(name, place, value, words, file_of):
    assert words in answer_to_file(file_of(name), place, value)


@pytest.mark.parametrize("there", ["rope_freqs.weight", "rope_factors_short.weight"])
@pytest.mark.parametrize(("kind", "number"), [("I32", 26), ("Q8_0", 8)])
def test_factors_of_rotary_positions_are_plain_numbers(there, kind, number, file_of):
    factors = PackedTensor((2, 32), kind, number, np.zeros((2, 34), np.uint8))
    file = read_gguf(file_of("llama"))
    said = answer_to(replace(file, tensors=file.tensors | {there: factors}))
    assert f"the factors of its rotary positions are stored as {kind}" in said
