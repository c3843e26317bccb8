"""Tokenizers that lie beside a checkpoint in a form of their own: SentencePiece, characters, pickles."""

import base64
import io
import json
import pickle
import random

import pytest
import torch
from foreign_models import peer, saved
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.character_table import character_table
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.examination import examine_checkpoint
from lmviz.interchange.sentencepiece_file import read_sentencepiece
from lmviz.runs.opening import open_recorded

TEXT = "the red car saw a blue house and green trees über alles 你好 12 345 été <x>"
WORDS = TEXT.split()
PARTS = [*WORDS, "", *"\n\t! ", "  ", "   ", "ﬁ", "①", "ж"]

WAYS = {
    "pairs as Llama has them": {"model_type": "bpe", "remove_extra_whitespaces": False},
    "pairs as Gemma has them": {
        "model_type": "bpe",
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
        "user_defined_symbols": ["<x>", "▁▁", "▁▁▁", "\n"],
    },
    "pairs of its own": {"model_type": "bpe"},
    "pairs without bytes": {"model_type": "bpe", "byte_fallback": False, "vocab_size": 100},
    "unigrams": {"model_type": "unigram"},
    "unigrams of other forms of letters": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc"},
    "unigrams and given tokens": {
        "model_type": "unigram",
        "remove_extra_whitespaces": False,
        "user_defined_symbols": ["<x>"],
    },
}


def train(folder, way):
    """A tokenizer.model, and what sentencepiece itself makes of it."""
    sentencepiece = pytest.importorskip("sentencepiece")
    draw = random.Random(1)
    lines = [" ".join(draw.choices(WORDS, k=12)) for _ in range(200)]
    settings = {
        "vocab_size": 345,
        "byte_fallback": True,
        "character_coverage": 0.99,
        "normalization_rule_name": "identity",
    } | WAYS[way]
    if settings["model_type"] == "unigram":
        settings["hard_vocab_limit"] = False
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=written, minloglevel=2, **settings
    )
    (folder / "tokenizer.model").write_bytes(written.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())


@pytest.mark.parametrize("way", WAYS)
def test_pieces_are_cut_as_sentencepiece_cuts_them(way, tmp_path):
    theirs = train(tmp_path, way)
    found = read_sentencepiece(tmp_path / "tokenizer.model")
    own = Tokenizer.from_str(json.dumps(found.description(adds_start=False)))
    count = theirs.get_piece_size()
    ids = own.get_vocab(with_added_tokens=True)
    assert sorted(ids.values()) == list(range(count))
    assert all(theirs.id_to_piece(ids[piece]).replace("▁", " ") == piece.replace("▁", " ") for piece in ids)
    draw = random.Random(2)
    for _ in range(500):
        text = "".join(draw.choices(PARTS, k=draw.randrange(12)))
        if found.begins_with_space and "<x>" in ids:
            text = f"b{text}"  # a space before it would be the only one
        assert own.encode(text, add_special_tokens=False).ids == theirs.encode(text), repr(text)


def with_pieces(kind, folder, way):
    """A checkpoint of transformers with a tokenizer.model and nothing else beside it."""
    theirs = train(folder, way)
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 20}
    sizes |= {"num_key_value_heads": 1, "head_dim": 8}
    configuration = getattr(transformers, kind)(vocab_size=theirs.get_piece_size(), **sizes)
    transformers.AutoModelForCausalLM.from_config(configuration).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    return theirs


@pytest.mark.parametrize(
    ("kind", "way"),
    [("LlamaConfig", "pairs as Llama has them"), ("GemmaConfig", "pairs as Gemma has them")],
)
def test_a_tokenizer_model_alone_is_read(kind, way, tmp_path):
    theirs = with_pieces(kind, tmp_path, way)
    model = lmviz.open_model(tmp_path)
    text = "the  red car\n 12 été"
    assert lmviz.trace(model, text).ids.tolist() == [theirs.bos_id(), *theirs.encode(text)]
    assert model.tokenizer.decode(theirs.encode(text)) == text
    said = {what: sentence for what, _, sentence in examine_checkpoint(tmp_path)}
    assert "same 345 tokens" in said["tokenizer"]
    assert "before each stands <s> (1)" in said["special"]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"add_bos_token": False}))
    assert lmviz.trace(lmviz.open_model(tmp_path), text).ids.tolist() == theirs.encode(text)


@pytest.mark.parametrize("change", [{"model_type": "word"}, {"treat_whitespace_as_suffix": True}])
def test_pieces_of_other_kinds_are_refused(change, tmp_path):
    WAYS["other"] = {"model_type": "bpe"} | change | {"byte_fallback": False, "vocab_size": 16}
    WAYS["other"] |= {"vocab_size": 100} if change.get("treat_whitespace_as_suffix") else {}
    saved("llama", tmp_path)
    train(tmp_path, "other")
    with pytest.raises(LmvizError, match="is a tokenizer that lmviz does not know"):
        lmviz.open_model(tmp_path)


@given(st.binary(max_size=300))
def test_any_bytes_as_pieces(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("pieces", numbered=True) / "tokenizer.model"
    path.write_bytes(content)
    told = ""
    try:
        read_sentencepiece(path).description()
    except LmvizError as sentence:
        told = str(sentence)
    assert "\n" not in told


@given(st.data())
def test_any_damage_to_pieces(pieces, data):
    path, content = pieces
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 5))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(changed[: data.draw(st.integers(1, len(changed)))]))
    told = ""
    try:
        read_sentencepiece(path).description()
    except LmvizError as sentence:
        told = str(sentence)
    assert "\n" not in told


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    train(folder, "pairs as Gemma has them")
    path = folder / "tokenizer.model"
    return path, path.read_bytes()


# nanoGPT's table of characters

NANO = {"n_layer": 2, "n_head": 3, "n_embd": 24, "block_size": 32, "bias": True, "vocab_size": 50}
CHARACTERS = "".join(chr(place) for place in (10, 32, *range(97, 123), *range(65, 85), 0xE9, 0x4F60))


def nanogpt(folder, meta):
    """A ckpt.pt of nanoGPT beside a meta.pkl."""
    turned = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    state = {
        name: value.t().contiguous() if name.endswith(turned) else value
        for name, value in peer("gpt2").state_dict().items()
    }
    torch.save({"model": state, "model_args": NANO, "iter_num": 5}, folder / "ckpt.pt")
    if meta is not None:
        (folder / "meta.pkl").write_bytes(pickle.dumps(meta))
    return folder


TABLES = {
    "both": {
        "vocab_size": 50,
        "itos": dict(enumerate(CHARACTERS)),
        "stoi": {character: index for index, character in enumerate(CHARACTERS)},
    },
    "the way back as a list": {"itos": list(CHARACTERS)},
    "there alone": {"stoi": {character: index for index, character in enumerate(CHARACTERS)}},
}


@pytest.mark.parametrize("name", TABLES)
def test_the_characters_of_nanogpt(name, tmp_path):
    model = lmviz.open_model(nanogpt(tmp_path, TABLES[name]))
    text = "The cat\n你é"
    ids = [CHARACTERS.index(character) for character in text]
    assert lmviz.trace(model, text).ids.tolist() == ids
    assert model.tokenizer.decode(ids) == text
    assert model.tokenizer.encode("a!b").tolist() == [CHARACTERS.index("a"), CHARACTERS.index("b")]
    assert open_recorded(tmp_path / "meta.pkl").tokenizer().vocabulary_size == 50


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("meta.pkl", pickle.dumps({"vocab_size": 50}), "no table of characters"),
        ("meta.pkl", pickle.dumps({"stoi": {"ab": 0}}), "tokens of several characters, such as 'ab'"),
        ("meta.pkl", pickle.dumps({"stoi": {"a": 0, "b": 0}}), "no table of characters"),
        ("meta.pkl", pickle.dumps({"stoi": {"a": "0"}}), "no table of characters"),
        ("meta.pkl", pickle.dumps(random.Random(1)), r"is a pickle of random\.Random"),
        ("meta.pkl", b"abc", "is not a pickle"),
        ("tokenizer.pkl", b"\x80\x04.", "as nanochat writes it.*convert_tiktoken_to_fast"),
        ("tokenizer.model", base64.b64encode(b"!") + b" 0\n", "list of tokens of tiktoken"),
        ("notes.md", b"", "no tokenizer.json, nor vocab.json"),
    ],
)
def test_what_is_no_tokenizer_says_so_where_a_text_is_given(name, content, words, tmp_path):
    folder = nanogpt(tmp_path, None)
    (folder / name).write_bytes(content)
    model = lmviz.open_model(folder)
    assert lmviz.trace(model, [1, 2, 3]).ids.tolist() == [1, 2, 3]
    said = [sentence for what, _, sentence in examine_checkpoint(folder) if what == "tokenizer"]
    with pytest.raises(LmvizError, match=words) as from_python:
        lmviz.trace(model, "a text")
    with pytest.raises(LmvizError, match=words):
        open_recorded(folder).tokenizer()
    why = open_checkpoint(folder).why_no_tokenizer
    assert why in str(from_python.value)
    assert why[1:] in said[0]


@given(
    st.dictionaries(
        st.sampled_from(["stoi", "itos", "vocab_size"]),
        st.dictionaries(st.text(max_size=2) | st.integers(), st.text(max_size=2) | st.integers(), max_size=4)
        | st.lists(st.text(max_size=2), max_size=4),
    )
)
def test_any_table_of_characters(tmp_path_factory, meta):
    path = tmp_path_factory.mktemp("tables", numbered=True) / "meta.pkl"
    path.write_bytes(pickle.dumps(meta))
    table = {}
    try:
        table = character_table(path)["model"]["vocab"]
    except LmvizError as sentence:
        assert str(path) in str(sentence)  # noqa: PT017 - both ways are allowed
    assert all(len(token) == 1 for token in table)
