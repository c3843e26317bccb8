"""GGUF files: what transformers reads from the same file, and what was converted."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from foreign_models import ENDS, LLAMA, PEERS, add_tokenizer, peer
from foreign_tokenizers import CHAT, END_OF_TURN, TEMPLATE, TEXT, TURN, byte_pairs, pieces
from gguf_files import SCALES, gguf_of, large_llama, tokenizer_fields, write_gguf
from hypothesis import given, settings
from hypothesis import strategies as st

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.examination import examine_checkpoint, load_peer
from lmviz.interchange.gguf_checkpoint import ARCHITECTURES
from lmviz.interchange.gguf_tokenizer import CUTTERS
from lmviz.interchange.pieces import LONGEST_PIECE
from lmviz.models.reading import evaluation

pytest.importorskip("gguf")

TOKENS = torch.arange(20)[None] * 7 % 50

KINDS = {made.kind for made in ARCHITECTURES.values()}


def logits(model, tokens=TOKENS):
    with torch.no_grad(), evaluation(model) as reading:
        return reading(tokens)


UNSAID = {
    "gpt2 untied": "its activation is not GPT-2's",
    "gpt2 by layer": "scores are scaled by the layer",
    "gpt2 unscaled": "scores are not scaled",
    "gpt_neox dynamic": "that angles depend on the length of the text",
    "gpt_bigcode all keys": "that heads have keys of their own",
    "llama yarn": "where YaRN begins and ends",
    "llama yarn smooth": "where YaRN begins and ends",
    "qwen2 window": "which layers have the window",
    "gemma2 without caps": "the scale of scores, and that nothing is capped",
    "gemma3_text": "which layers have the window",
    "phi normed": "normalised queries and keys",
    "smollm3": "which layers know positions",
    "smollm3 window": "which layers know positions",
    "falcon rw": "that it has ALiBi, which llama.cpp does not compute for it",
    "mpt scaled": "the scale of scores",
}
"""What a GGUF file cannot say of a model."""


@pytest.mark.parametrize("name", [name for name in PEERS if name not in UNSAID])
def test_what_was_converted(name, tmp_path):
    if peer(name).config.model_type not in KINDS:
        pytest.skip("llama.cpp has no such architecture")
    model = open_checkpoint(gguf_of(name, tmp_path / "model.gguf")).model()
    with torch.no_grad():
        expected = peer(name)(TOKENS).logits
    assert torch.allclose(logits(model), expected, rtol=0, atol=2e-5 * float(expected.abs().max()))


LAYERS = {
    "Gemma3TextConfig": {"num_hidden_layers": 7, "sliding_window": 8, "head_dim": 8},
    "Gemma2Config": {"num_hidden_layers": 4, "sliding_window": 8, "head_dim": 8},
    "SmolLM3Config": {"num_hidden_layers": 5, "pad_token_id": 0},
    "Cohere2Config": {"num_hidden_layers": 5, "sliding_window": 8},
}
"""Models whose layers differ from one another as they do in those that are handed out."""


@pytest.mark.parametrize("kind", LAYERS)
def test_layers_that_differ_as_they_usually_do(kind, tmp_path):
    transformers = pytest.importorskip("transformers")
    scale = {"query_pre_attn_scalar": 8} if kind.startswith("Gemma") else {}
    sizes = LLAMA | {"hidden_size": 32, "num_attention_heads": 4, "max_position_embeddings": 64}
    configuration = getattr(transformers, kind)(**sizes | LAYERS[kind] | scale | ENDS)
    configuration._attn_implementation = "eager"
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(configuration).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
        tokens = TOKENS.repeat(1, 2)
        expected = model(tokens).logits
    found = logits(open_checkpoint(write_gguf(model, tmp_path / "model.gguf")).model(), tokens)
    assert torch.allclose(found, expected, rtol=0, atol=2e-5 * float(expected.abs().max()))


@pytest.mark.parametrize("packed", ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", *SCALES])
def test_every_kind_of_block(packed, tmp_path):
    pytest.importorskip("accelerate")  # which transformers needs for it
    path = write_gguf(large_llama(), tmp_path / "model.gguf", packed)
    checkpoint = open_checkpoint(path)
    names = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
    assert names.get(packed, packed) in checkpoint.stored.formats.values()
    theirs = load_peer(path)
    for name in checkpoint.stored.shapes:
        assert torch.equal(checkpoint.stored.get(name).float(), theirs.state_dict()[name]), name
    with torch.no_grad():
        expected = theirs(TOKENS).logits
    assert torch.allclose(
        logits(checkpoint.model()), expected, rtol=0, atol=2e-5 * float(expected.abs().max())
    )


def split(path, count):
    """The parts of a file, as `llama-gguf-split` writes them: the first says what the model is."""
    gguf = pytest.importorskip("gguf")
    whole = gguf.GGUFReader(path)
    parts = [path.with_name(f"{path.stem}-{part + 1:05}-of-{count:05}.gguf") for part in range(count)]
    for number, part in enumerate(parts):
        writer = gguf.GGUFWriter(str(part), "llama")
        if number == 0:
            for name, field in whole.fields.items():
                if not name.startswith(("GGUF.", "general.architecture")):
                    writer.add_key_value(name, field.contents(), field.types[0])
        for key, value in (("no", number), ("count", count), ("tensors.count", len(whole.tensors))):
            writer.add_key_value(f"split.{key}", value, gguf.GGUFValueType.UINT16)
        for tensor in whole.tensors[number::count]:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return parts


def test_a_model_in_several_files(tmp_path):
    whole = gguf_of("llama", tmp_path / "small.gguf")
    expected = logits(open_checkpoint(whole).model())
    parts = split(whole, 3)
    for part in parts:
        checkpoint = open_checkpoint(part)
        assert checkpoint.name == "small"
        assert checkpoint.stored.files == parts
        assert torch.equal(logits(checkpoint.model()), expected)
    whole.unlink()
    assert lmviz.open_model(tmp_path).name == "small", "a folder with nothing else"
    parts[1].unlink()
    with pytest.raises(LmvizError, match=r"one of 3 files of a model, and small-00002-of-00003\.gguf is not"):
        open_checkpoint(parts[2])
    parts[1].write_bytes(parts[0].read_bytes())
    with pytest.raises(LmvizError, match="once more"):
        open_checkpoint(parts[0])


TEXTS = (
    TEXT[:60],
    "  two  spaces, and  3456 + 12 = ?\n\n  Zürich ist schön 🙂",
    CHAT,
    "'s what I'LL do",
    " ",
    "",
)


def opened_with(backend, model, folder, **said):
    """The tokenizer of a file that carries this one."""
    fields = tokenizer_fields(backend, model, said.pop("roles", {})) | said
    return open_checkpoint(gguf_of("llama", folder / "model.gguf", said=fields)).tokenizer


def test_byte_level_pairs(tmp_path):
    backend = byte_pairs(further=("<tool>",))
    ends = {"bos_token_id": 0, "eos_token_id": backend.token_to_id(END_OF_TURN)}
    found = opened_with(backend, "gpt2", tmp_path, roles=ends, **{"tokenizer.chat_template": TEMPLATE})
    for text in (*TEXTS, "use <tool> now"):
        assert found.encode(text).tolist() == backend.encode(text).ids
        assert found.decode(backend.encode(text).ids) == text
    assert found.end_ids == (backend.token_to_id(END_OF_TURN),)
    assert found.chat_template == TEMPLATE
    assert found.kind == "bpe"
    assert backend.token_to_id(TURN) in found.special_ids


def test_pieces_of_sentencepiece(tmp_path):
    backend = pieces(puts_space_everywhere=True)
    roles = {"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0, "add_bos_token": True}
    found = opened_with(backend, "llama", tmp_path, roles=roles)
    for text in TEXTS:
        assert found.encode(text).tolist() == backend.encode(text, add_special_tokens=False).ids
    assert found.encode_prefix("The bat").ids[0] == 1
    assert found.marks_boundaries


ADDED = ["  ", "   ", "    ", "\t", "\n\n", "▁▁", "<tool>", " of ", "é 你"]
"""Tokens that a file says are found whole in a text, as converters write them."""


@pytest.mark.parametrize("model", ["gpt2", "llama"])
@pytest.mark.parametrize("name", ["llama", "gemma", "gemma2", "gemma3_text"])
def test_every_token_of_a_file_keeps_its_id(name, model, tmp_path):
    ordinary = ["<unk>", "<s>", "</s>", *"abc", *(["▁", "▁a"] if model == "llama" else ["Ġ", "Ċ", "ab"])]
    tokens = [*ordinary, *ADDED]
    kinds = [2, 3, 3, *[1] * (len(ordinary) - 3), *[4] * len(ADDED)]
    said = {"model": model, "tokens": tokens, "token_type": kinds, "add_bos_token": False}
    if model == "gpt2":
        said |= {"merges": ["a b"]}
    else:
        said |= {"scores": [-float(place) for place in range(len(tokens))], "unknown_token_id": 0}
    fields = {f"tokenizer.ggml.{key}": value for key, value in said.items()}
    found = open_checkpoint(gguf_of(name, tmp_path / "model.gguf", said=fields))
    assert found.tokenizer.known_size == len(tokens)
    ids = {found.tokenizer.token(index): index for index in range(len(tokens))}
    assert len(ids) == len(tokens)
    for token in ADDED:
        encoded = found.tokenizer.encode(f"a{token}b").tolist()
        assert all(0 <= index < len(tokens) for index in encoded), token
        if token != "▁▁" or not name.startswith("gemma"):
            assert tokens.index(token) in encoded, token
    for text in ("a  b", "if a:\n    b\n\n\tc", "a" + " " * 9 + "b"):
        assert max(found.tokenizer.encode(text).tolist()) < len(tokens)


def test_a_piece_as_long_as_a_page_is_not_taken_apart(tmp_path):
    """A stranger's file could have one of megabytes, which would be tried at each of its characters."""
    tokens = ["<unk>", "a", "a" * (LONGEST_PIECE // 2), "a" * LONGEST_PIECE, "a" * (LONGEST_PIECE + 1)]
    fields = {"model": "llama", "tokens": tokens, "scores": [-float(place) for place in range(len(tokens))]}
    said = {f"tokenizer.ggml.{name}": value for name, value in fields.items()}
    found = open_checkpoint(gguf_of("llama", tmp_path / "model.gguf", said=said)).tokenizer
    merges = json.loads(found.content)["model"]["merges"]
    assert {len(left) + len(right) for left, right in merges} == {LONGEST_PIECE}


def test_each_cutter_is_that_of_transformers(tmp_path):
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    compared = 0
    for cutter in sorted(GGUF_PRE_TOKENIZER_SPLITS.keys() & CUTTERS.keys()):
        folder = tmp_path / cutter
        folder.mkdir()
        found = opened_with(byte_pairs(), "gpt2", folder, roles={"pre": cutter})
        theirs = transformers.AutoTokenizer.from_pretrained(folder, gguf_file="model.gguf")
        own = Tokenizer.from_str(found.content.decode()).pre_tokenizer
        for text in TEXTS:
            cut = theirs.backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
            assert own.pre_tokenize_str(text) == cut, cutter
            compared += 1
    assert compared > 50


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"model": "t5"}, "t5"),
        ({"pre": "a cutter of tomorrow"}, "a cutter of tomorrow"),
    ],
)
def test_a_tokenizer_that_is_not_known(fields, word, tmp_path):
    with pytest.raises(LmvizError, match=word):
        opened_with(byte_pairs(), "gpt2", tmp_path, roles=fields)


def test_its_memory_is_said_before_it_is_taken(tmp_path, monkeypatch):
    checkpoint = open_checkpoint(write_gguf(large_llama(), tmp_path / "model.gguf", "Q4_0"))
    matrices = sum(value.numel() for value in large_llama().state_dict().values() if value.dim() == 2)
    assert checkpoint.memory == 4 * matrices
    assert checkpoint.name == "model"
    assert any(
        f"{4 * matrices / 1e6:.1f} MB of memory" in told
        for _, _, told in examine_checkpoint(checkpoint.place)
    )
    checkpoint = open_checkpoint(write_gguf(large_llama(), tmp_path / "model.gguf", "Q3_K"))
    monkeypatch.setattr("lmviz.interchange.checkpoint.machine_memory", lambda: 1_000_000)
    with pytest.raises(LmvizError, match=r"model\.gguf takes .* GB of memory"):
        checkpoint.model()


MEASURED = """
import sys
from lmviz.interchange.checkpoint import open_checkpoint

def peak():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return 1024 * int(status["VmHWM"].split()[0])

before = peak()
checkpoint = open_checkpoint(sys.argv[1])
model = checkpoint.model()
print(checkpoint.memory, peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="what a process took at most is read from /proc"
)
def test_the_memory_that_is_said_is_the_memory_that_is_taken(tmp_path):
    sizes = {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4}
    sizes |= {"vocab_size": 150_000, "intermediate_size": 8192, "tie_word_embeddings": True}
    transformers = pytest.importorskip("transformers")
    configuration = transformers.LlamaConfig(max_position_embeddings=64, **sizes)
    path = write_gguf(transformers.LlamaForCausalLM(configuration), tmp_path / "model.gguf", "Q8_0")
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True
    )
    said, taken = map(int, ran.stdout.split())
    assert said == pytest.approx(4 * 51_600_000, rel=0.02)
    assert 0.9 * said <= taken <= 1.15 * said + 60e6  # some 50 MB are pieces and the code that makes them


def test_what_is_no_model_of_ours(tmp_path):
    gguf = pytest.importorskip("gguf")
    for name, experts, word in (("mamba", 0, "mamba"), ("llama", 8, "mixture of 8 experts")):
        writer = gguf.GGUFWriter(str(tmp_path / "other.gguf"), name)
        if experts:
            writer.add_expert_count(experts)
        writer.add_tensor("token_embd.weight", np.zeros((4, 8), np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        with pytest.raises(LmvizError, match=word):
            open_checkpoint(tmp_path / "other.gguf")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "it.gguf is empty: get it again."),
        (b"<!DOCTYPE html><html>Not found</html>", "is a web page, as a refused download leaves one"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "fetch it with `git lfs pull`"),
        (b"GGML", "is not a GGUF file, whatever its name says"),
        (b"GGUF\x03\0\0\0", r"\(it is damaged, or cut short\): get it again, or choose another"),
    ],
)
def test_what_is_not_the_file_says_what_it_is(content, sentence, tmp_path):
    (tmp_path / "it.gguf").write_bytes(content)
    with pytest.raises(LmvizError, match=sentence):
        open_checkpoint(tmp_path / "it.gguf")


def test_of_several_models_in_a_folder_one_is_to_be_chosen(tmp_path):
    small = gguf_of("llama", tmp_path / "small.gguf")
    (tmp_path / "mmproj-small.gguf").write_bytes(small.read_bytes())
    assert lmviz.open_model(tmp_path).name == "small", "what sees pictures for it is no model"
    (tmp_path / "other.gguf").write_bytes(small.read_bytes())
    with pytest.raises(LmvizError, match=r"2 models in GGUF \(other.gguf, small.gguf\): choose one of them"):
        lmviz.open_model(tmp_path)


def test_a_file_without_a_tokenizer_takes_the_one_beside_it(tmp_path):
    path = gguf_of("llama", tmp_path / "model.gguf")
    told = {what: said for what, _, said in examine_checkpoint(path)}
    assert told["tokenizer"].startswith("The file carries no tokenizer, and there is no tokenizer.json")
    add_tokenizer(tmp_path)
    assert open_checkpoint(path).tokenizer.encode("w7 w3").tolist() == [7, 3]


def test_what_transformers_lacks_for_it_is_said(tmp_path, monkeypatch):
    path = gguf_of("llama", tmp_path / "model.gguf")
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "accelerate" else found(name)
    )
    told = {what: said for what, _, said in examine_checkpoint(path)}
    assert "the package accelerate, which is not installed" in told["logits"]


def test_damaged_blocks_are_found_and_nothing_is_printed(tmp_path, recwarn):
    path = write_gguf(large_llama(), tmp_path / "model.gguf", "Q3_K")
    content = path.read_bytes()
    path.write_bytes(content[:-2000] + b"\x00\x7c" * 1000)  # scales that are infinite, and numbers that are 0
    told = {what: said for what, _, said in examine_checkpoint(path)}
    assert told["numbers"].startswith("NaN or infinity stands in")
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]


@settings(max_examples=150, derandomize=True)
@given(data=st.data())
def test_a_damaged_file_is_one_sentence(data, whole):
    content = bytearray(whole.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for place in data.draw(st.lists(st.integers(0, 4000), min_size=1, max_size=6)):
            content[place] = data.draw(st.integers(0, 255))
    path = whole.with_name("damaged.gguf")
    path.write_bytes(content)
    said = "damaged.gguf"
    try:
        open_checkpoint(path).model()
    except LmvizError as error:
        said = str(error)
    assert "\n" not in said
    assert "damaged.gguf" in said


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    fields = tokenizer_fields(byte_pairs(), "gpt2", {"bos_token_id": 0})
    return gguf_of("llama", tmp_path_factory.mktemp("gguf") / "whole.gguf", said=fields)
