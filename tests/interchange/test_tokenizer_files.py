"""Tokenizers of folders, beside those that transformers opens there."""

import json

import pytest
from foreign_tokenizers import (
    CHAT,
    END_OF_TURN,
    PAD,
    PLAIN,
    TEMPLATE,
    TURN,
    byte_pairs,
    pieces,
    write_tokenizer,
)

from lmviz.base.errors import LmvizError
from lmviz.interchange.tokenizer_files import read_tokenizer

TOKENIZERS = {
    "special tokens": {},
    "normalized": {"flags": {**PLAIN, "normalized": True}},
    "taking the spaces before": {"flags": {**PLAIN, "lstrip": True}},
    "taking the spaces behind": {"flags": {**PLAIN, "rstrip": True}},
    "standing alone": {"flags": {**PLAIN, "single_word": True}},
    "tokens that are not special": {"further": ("<tool>", "the bat")},
    "a beginning before each text": {"template": (f"{TURN} $A", TURN)},
    "an end behind each text": {"template": (f"{TURN} $A {END_OF_TURN}", f"{TURN} {END_OF_TURN}")},
}
SETTINGS = {
    "named": {"bos_token": TURN, "eos_token": END_OF_TURN},
    "listed": {
        "extra_special_tokens": ["bat"],
        "eos_token": {"__type": "AddedToken", "content": "is", "special": True, **PLAIN},
    },
    "a beginning that is asked for": {"bos_token": TURN, "eos_token": END_OF_TURN, "add_bos_token": True},
    "none in a text": {"bos_token": TURN, "eos_token": END_OF_TURN, "split_special_tokens": True},
    "no end that would be there": {"bos_token": TURN, "eos_token": END_OF_TURN, "add_eos_token": False},
}
TEXTS = [
    CHAT,
    "The bat made noise.",
    f"{TURN}{TURN} {END_OF_TURN}",
    f"a{TURN}b {END_OF_TURN}  c",
    f"<tool>the bat<tool> {PAD}",
    "<|im_start|",
    "<|IM_START|>",
    "",
    f"é{END_OF_TURN}日本 is bat",
]


def theirs(folder):
    transformers = pytest.importorskip("transformers")
    return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)


def folder_of(tmp_path, made, settings=None):
    return write_tokenizer(tmp_path / "it", byte_pairs(**made), **(settings or {}))


def batch_of(tokenizer, texts):
    flat, lengths = tokenizer.encode_batch(texts)
    ends = lengths.cumsum()
    return [flat[end - length : end].tolist() for end, length in zip(ends, lengths, strict=True)]


@pytest.mark.parametrize("made", TOKENIZERS)
def test_texts_are_read_as_transformers_reads_them(made, tmp_path):
    folder = folder_of(tmp_path, TOKENIZERS[made])
    tokenizer, peer = read_tokenizer(folder, 0), theirs(folder)
    for text in TEXTS:
        assert tokenizer.encode_prefix(text).ids.tolist() == peer(text)["input_ids"], text
    bare = [peer(text, add_special_tokens=False)["input_ids"] for text in TEXTS]
    assert batch_of(tokenizer, TEXTS) == bare


@pytest.mark.parametrize("made", TOKENIZERS)
def test_the_literal_tokenizer_reads_them_as_transformers_splits_them(made, tmp_path):
    folder = folder_of(tmp_path, TOKENIZERS[made])
    tokenizer, peer = read_tokenizer(folder, 0).literal, theirs(folder)
    for text in TEXTS:
        expected = peer(text, split_special_tokens=True)["input_ids"]
        assert tokenizer.encode_prefix(text).ids.tolist() == expected, text
    bare = [peer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"] for text in TEXTS]
    assert batch_of(tokenizer, TEXTS) == bare


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_the_settings_call_special_is_special(settings, tmp_path):
    folder = folder_of(tmp_path, TOKENIZERS["an end behind each text"], SETTINGS[settings])
    tokenizer, peer = read_tokenizer(folder, 0), theirs(folder)
    for text in TEXTS:
        assert tokenizer.encode_prefix(text).ids.tolist() == peer(text)["input_ids"], text


@pytest.mark.parametrize("made", TOKENIZERS)
def test_a_text_is_written_as_transformers_writes_it(made, tmp_path):
    folder = folder_of(tmp_path, TOKENIZERS[made])
    tokenizer, peer = read_tokenizer(folder, 0), theirs(folder)
    for text in TEXTS:
        ids = peer(text, add_special_tokens=False)["input_ids"]
        if PAD not in text:
            assert tokenizer.decode(ids) == peer.decode(ids, clean_up_tokenization_spaces=False)
        longer = ""
        for index in ids:
            longer = tokenizer.continue_text(longer, index)
        if text.isascii():  # a part of a character has no text of its own
            assert longer == tokenizer.decode(ids)


@pytest.mark.parametrize("puts_space_everywhere", [True, False])
def test_pieces_are_read_as_transformers_reads_them_and_written_to_be_read_again(
    puts_space_everywhere, tmp_path
):
    folder = write_tokenizer(tmp_path / "it", pieces(puts_space_everywhere), eos_token="</s>")
    tokenizer, peer = read_tokenizer(folder, 0), theirs(folder)
    for text in (CHAT, "The bat</s>and</s> noise", f"Who{TURN}user", "été</s>é", "</s></s> a"):
        ids = peer(text)["input_ids"]
        assert tokenizer.encode_prefix(text).ids.tolist() == ids
        spelt = peer(text, split_special_tokens=True)["input_ids"]
        assert tokenizer.literal.encode_prefix(text).ids.tolist() == spelt
        if not text.isascii() or (puts_space_everywhere and "> " in text):
            continue  # no token alone says what its part of such a text is
        longer = ""
        for index in ids[1:]:
            longer = tokenizer.continue_text(longer, index)
        assert tokenizer.encode_prefix(longer).ids.tolist() == ids, text


def ids_in(folder, **files):
    for name, values in files.items():
        (folder / f"{name}.json").write_text(json.dumps(values))
    return read_tokenizer(folder, 300)


def test_ends_come_from_how_the_model_writes_then_from_the_model_then_from_the_tokenizer(tmp_path):
    folder = folder_of(tmp_path, {}, {"eos_token": END_OF_TURN})
    end = byte_pairs().token_to_id(END_OF_TURN)
    assert ids_in(folder).end_ids == (end,)
    assert ids_in(folder, config={"eos_token_id": 7}).end_ids == (7,)
    assert ids_in(folder, generation_config={"eos_token_id": [9, end, 9]}).end_ids == (9, end)
    assert ids_in(folder, generation_config={"eos_token_id": None}).end_ids == (7,)
    assert ids_in(folder, generation_config={"eos_token_id": [-1, 10**9, 8]}).end_ids == (8,)


def test_a_beginning_marks_texts_only_where_the_tokenizer_puts_it_there(tmp_path):
    turn = byte_pairs().token_to_id(TURN)
    folder = folder_of(tmp_path, {})
    assert ids_in(folder, config={"bos_token_id": turn}).start_id is None
    folder = folder_of(tmp_path, TOKENIZERS["a beginning before each text"])
    tokenizer = ids_in(folder, config={"bos_token_id": turn})
    assert (tokenizer.start_id, tokenizer.marks_boundaries) == (turn, True)
    assert tokenizer.decode(tokenizer.encode_prefix(CHAT).ids) == CHAT


def test_padding_is_no_text_unless_it_is_an_end_as_well(tmp_path):
    folder = folder_of(tmp_path, {}, {"pad_token": PAD})
    pad = byte_pairs().token_to_id(PAD)
    tokenizer = ids_in(folder)
    assert tokenizer.padding_id == pad
    assert tokenizer.decode([pad, *tokenizer.encode("The bat"), pad]) == "The bat"
    assert tokenizer.continue_text("The", pad) == "The"
    assert ids_in(folder, config={"eos_token_id": [7, pad]}).padding_id is None


@pytest.mark.parametrize("place", ["settings", "list", "file"])
def test_the_template_of_chats_is_found_wherever_it_stands(place, tmp_path):
    several = [{"name": "tool_use", "template": "no"}, {"name": "default", "template": TEMPLATE}]
    given = {"settings": TEMPLATE, "list": several, "file": None}[place]
    folder = folder_of(tmp_path, {}, {"chat_template": given} if given else {})
    if place == "file":
        (folder / "chat_template.jinja").write_text(TEMPLATE)
    assert read_tokenizer(folder, 0).chat_template == TEMPLATE


def test_special_tokens_are_shown_as_such(tmp_path):
    tokenizer = read_tokenizer(folder_of(tmp_path, {"further": ("<tool>",)}), 0)
    read = tokenizer.encode_prefix(f"{TURN}user<tool>{END_OF_TURN}")
    shown = dict(zip(read.tokens, read.special, strict=True))
    assert (shown[TURN], shown[END_OF_TURN], shown["<tool>"]) == (True, True, False)
    spelt = tokenizer.literal.encode_prefix(TURN)
    assert not any(spelt.special)
    assert "".join(spelt.tokens) == TURN
    assert tokenizer.literal.literal is tokenizer.literal


def test_added_tokens_beside_vocab_and_merges_are_read(tmp_path):
    content = json.loads(byte_pairs(further=("<tool>",)).to_str())
    folder = tmp_path / "it"
    folder.mkdir()
    (folder / "vocab.json").write_text(json.dumps(content["model"]["vocab"]))
    merges = "\n".join(map(" ".join, content["model"]["merges"]))
    (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}\n")
    added = {token["content"]: token["id"] for token in content["added_tokens"]}
    (folder / "added_tokens.json").write_text(json.dumps(added))
    (folder / "special_tokens_map.json").write_text(json.dumps({"eos_token": END_OF_TURN}))
    tokenizer = read_tokenizer(folder, 0)
    assert tokenizer.encode(f"<tool>{END_OF_TURN}").tolist() == [added["<tool>"], added[END_OF_TURN]]
    assert tokenizer.end_ids == (added[END_OF_TURN],)
    assert added[END_OF_TURN] not in tokenizer.literal.encode(END_OF_TURN)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "generation_config.json",
            b'{"eos_token_id": "two"}',
            "eos_token_id is 'two', which is not a token id",
        ),
        ("config.json", b'{"bos_token_id": [true]}', r"bos_token_id is \[True\], which is not a token id"),
        ("generation_config.json", b"[]", "is not a JSON object"),
        ("chat_template.jinja", b"\xff", "cannot be read"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(name, content, sentence, tmp_path):
    folder = folder_of(tmp_path, {})
    (folder / name).write_bytes(content)
    with pytest.raises(LmvizError, match=sentence):
        read_tokenizer(folder, 0)
