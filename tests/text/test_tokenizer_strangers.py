"""A tokenizer.json from a stranger is a tokenizer or a sentence, within a second or two and little memory."""

import copy
import json
from contextlib import suppress

import pytest
from covering import parametrize_few
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import run_python

from lmviz.base.errors import LmvizError
from lmviz.text.tokenizer import Tokenizer

resource = pytest.importorskip("resource", reason="the limits are those of POSIX systems")

MEMORY = 3 << 30
SECONDS = 20
READER = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
from lmviz.base.errors import LmvizError
from lmviz.text.tokenizer import Tokenizer
try:
    tokenizer = Tokenizer.load(sys.argv[1])
    text = "a" * 40 + "!"
    tokenizer.encode(text), tokenizer.encode_prefix(text).tokens, tokenizer.decode([0, 1]), tokenizer.json
    print("a tokenizer")
except LmvizError as error:
    print(error)
"""

USUAL = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"a": 0, "<unk>": 1, "<s>": 2}, "unk_token": "<unk>"},
}


def vocabulary(**ids: int) -> dict:
    return {"model": {"type": "WordLevel", "vocab": {"<unk>": 0, **ids}, "unk_token": "<unk>"}}


def nested(chain: str, inside: str, depth: int) -> dict:
    part = DOUBLE
    for _ in range(depth):
        part = {"type": "Sequence", inside: [DOUBLE, part]}
    return {chain: part}


def template(pieces: list[str], ids: list[int]) -> dict:
    made = [
        {"Sequence": {"id": piece, "type_id": 0}}
        if piece in "AB"
        else {"SpecialToken": {"id": piece, "type_id": 0}}
        for piece in pieces
    ]
    known = {"<s>": {"id": "<s>", "ids": ids, "tokens": ["<s>"] * len(ids)}}
    return {"type": "TemplateProcessing", "single": made, "pair": [], "special_tokens": known}


def chain(name: str, inside: str, parts: list[dict]) -> dict:
    return {name: {"type": "Sequence", inside: parts}}


def split(pattern: str) -> dict:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


DOUBLE = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
FIXED = {"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_to_multiple_of": None}
FIXED |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "a"}
REFUSED = {
    "an id of 2^31": (vocabulary(a=2**31), "an id of its vocabulary"),
    "a negative id": (vocabulary(a=-1), "an id of its vocabulary"),
    "28 nested normalizers": (nested("normalizer", "normalizers", 28), "nested more than"),
    "28 nested decoders": (nested("decoder", "decoders", 28), "nested more than"),
    "a long template": ({"post_processor": template(["<s>"] * 10**5 + ["A"], [2] * 1000)}, "beside a text"),
    "an id outside": ({"post_processor": template(["<s>", "A"], [77])}, "not in its vocabulary"),
    "BERT's id outside": (
        {"post_processor": {"type": "BertProcessing", "sep": ["<s>", 77], "cls": ["<s>", 2]}},
        "not in its vocabulary",
    ),
    "a text repeated": (
        chain("post_processor", "processors", [template(["A", "A"], [2])] * 40),
        "repeats the text",
    ),
    "doubling normalizers": (chain("normalizer", "normalizers", [DOUBLE] * 40), "times as long"),
    "doubling bytes": (chain("pre_tokenizer", "pretokenizers", [BYTES] * 40), "times as long"),
    "doubling decoders": (chain("decoder", "decoders", [DOUBLE] * 40), "times as long"),
    "endless matching": ({"pre_tokenizer": split("(a+)+$")}, "looks back without bound"),
}
HARMLESS = {
    "padding to any length": {"padding": FIXED},
    "a known template": {"post_processor": template(["<s>", "A"], [2])},
}


def read_apart(tmp_path, change: dict) -> str:
    """What reading the file says, in a process of its own that may take so much and no more."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(USUAL | change), encoding="utf-8")
    done = run_python(READER, str(path), seconds=3 * SECONDS)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@parametrize_few("name", REFUSED, quick=5)
def test_what_asks_for_too_much_is_refused_in_a_sentence(tmp_path, name):
    change, reason = REFUSED[name]
    said = read_apart(tmp_path, change)
    assert reason in said
    assert said.endswith(".")
    assert len(said) < 1000


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_no_harm_is_read(tmp_path, name):
    assert read_apart(tmp_path, HARMLESS[name]) == "a tokenizer"


def test_tokenizers_like_the_published_ones_are_read(tmp_path):
    """The chains of Llama 2, DeepSeek, ALBERT and BERT, in a small vocabulary."""
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    quotes = {"type": "Replace", "pattern": {"String": "``"}, "content": '"'}
    spaces = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    llama = chain("normalizer", "normalizers", [{"type": "Prepend", "prepend": "▁"}, replace])
    llama |= chain(
        "decoder",
        "decoders",
        [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    )
    deepseek = chain("pre_tokenizer", "pretokenizers", [split(r"\p{N}{1,3}"), split("[一-龥]+"), BYTES])
    unicode = [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]
    albert = chain("normalizer", "normalizers", [quotes, quotes, *unicode, spaces])
    bert = {"post_processor": {"type": "BertProcessing", "sep": ["<unk>", 1], "cls": ["<s>", 2]}}
    for change in (llama, deepseek, albert, bert):
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(USUAL | change), encoding="utf-8")
        assert Tokenizer.load(path).encode_prefix("a a").tokens


def test_a_name_that_is_there_twice_does_not_hide_what_it_holds(tmp_path):
    path = tmp_path / "tokenizer.json"
    text = json.dumps(USUAL)
    twice = text.replace('"normalizer": null', f'"normalizer": {json.dumps(DOUBLE)}, "normalizer": null')
    path.write_text(twice, encoding="utf-8")
    assert len(Tokenizer.load(path).encode_prefix("a")) == 1


def places(value, path=()) -> list[tuple]:
    """All paths into a nest of lists and dictionaries."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


FULL = (
    USUAL
    | chain("normalizer", "normalizers", [{"type": "Lowercase"}, DOUBLE])
    | chain("pre_tokenizer", "pretokenizers", [split("a"), BYTES])
    | {"post_processor": template(["<s>", "A"], [2]), "decoder": {"type": "Fuse"}}
)
PLACES = [place for place in places(FULL) if place]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300)
@given(place=st.sampled_from(PLACES), other=JSON | st.sampled_from([DOUBLE, BYTES, "Sequence", [], {}]))
def test_any_value_in_any_place_is_read_or_refused(tmp_path, place, other):
    changed = copy.deepcopy(FULL)
    inside = changed
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = other
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(changed), encoding="utf-8")
    with suppress(LmvizError):
        tokenizer = Tokenizer.load(path)
        tokenizer.encode_prefix("a b!")
        tokenizer.decode(tokenizer.encode("a b!"))
        tokenizer.tokens()
