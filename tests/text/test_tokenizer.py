import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text.tokenizer import END, START, UNKNOWN, Tokenizer, visible
from lmviz.text.tokenizer_file import vocabulary_in
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer

TEXT = 'The bat made noise at night.\n"The cows eat corn," said Otto; the cows eat grass. 7+8=15 €5\n'
KINDS = ("characters", "words", "spaces", "bpe:300")


def make(specification: str, marks_boundaries: bool = True, text: str = TEXT, **changes) -> Tokenizer:
    options = TokenizerOptions.from_specification(specification)
    values = {**options.to_values(), **changes}
    return train_tokenizer([text], TokenizerOptions(**values), marks_boundaries)


MADE = {kind: make(kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("marks_boundaries", [True, False])
@pytest.mark.parametrize("lower_case", [True, False])
def test_the_file_alone_restores_everything(tmp_path, kind, marks_boundaries, lower_case):
    tokenizer = make(kind, marks_boundaries, lower_case=lower_case)
    tokenizer.save(tmp_path / "tokenizer.json")
    restored = Tokenizer.load(tmp_path / "tokenizer.json")
    for name in ("kind", "vocabulary_size", "start_id", "end_id", "unknown_id", "marks_boundaries"):
        assert getattr(restored, name) == getattr(tokenizer, name), name
    assert restored.kind == kind.partition(":")[0]
    assert restored.tokens() == tokenizer.tokens()
    text = f"{TEXT} An {START}unknown{END} WORD {UNKNOWN}"
    assert np.array_equal(restored.encode(text), tokenizer.encode(text))
    assert restored.encode_prefix(text).tokens == tokenizer.encode_prefix(text).tokens
    assert restored.lower_case == lower_case


@pytest.mark.parametrize("kind", KINDS)
def test_boundaries_are_in_the_vocabulary_only_where_documents_are_marked(kind):
    single = make(kind, marks_boundaries=False)
    assert single.start_id is None
    assert single.end_id is None
    assert single.encode_prefix("The bat").offsets[0] != (0, 0)
    marked = MADE[kind]
    prefix = marked.encode_prefix("The bat")
    assert prefix.ids[0] == marked.start_id
    assert prefix.offsets[0] == (0, 0)
    assert prefix.tokens[0] == "⟨start⟩"
    assert np.array_equal(prefix.ids[1:], marked.encode("The bat"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_looks_like_a_special_token_in_a_text_is_text(kind):
    tokenizer = MADE[kind]
    ids = tokenizer.encode(f"{START} the {END}")
    assert tokenizer.start_id not in ids
    assert tokenizer.end_id not in ids


@given(text=st.text())
@settings(max_examples=50)
def test_every_text_goes_through_characters_and_back(text):
    tokenizer = make("characters", text=text + "x")
    assert tokenizer.decode(tokenizer.encode(text)) == text


@given(text=st.text())
def test_every_text_goes_through_byte_pairs_and_back(text):
    assert MADE["bpe:300"].decode(MADE["bpe:300"].encode(text)) == text


@given(text=st.text(alphabet=st.characters(), max_size=20))
@settings(max_examples=50)
@pytest.mark.parametrize("kind", KINDS)
def test_any_string_at_all_can_be_encoded(kind, text):
    lone = text + "\ud800"
    prefix = MADE[kind].encode_prefix(lone)
    assert len(prefix) == len(prefix.tokens) == len(prefix.offsets) == len(prefix.unknown)
    assert np.array_equal(prefix.ids[1:], MADE[kind].encode(lone))
    assert all(0 <= start <= end <= len(lone) for start, end in prefix.offsets)


def test_unknown_words_are_marked_and_stand_as_replacement_characters():
    tokenizer = MADE["words"]
    prefix = tokenizer.encode_prefix("The zebra eat")
    assert prefix.tokens == ("⟨start⟩", "The", "zebra⟨?⟩", "eat")
    assert prefix.unknown == (False, False, True, False)
    assert tokenizer.decode(prefix.ids) == "The \ufffd eat"
    assert np.array_equal(tokenizer.encode(tokenizer.decode(prefix.ids)), prefix.ids[1:])


def test_words_decode_to_text_one_can_read():
    tokenizer = MADE["words"]
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT.replace("7+8=15 €5", "7 + 8 = 15 €5")


def test_spaces_alone_part_the_tokens():
    tokenizer = make("spaces", text="don't stop: e.g. at 3,5 \n go on")
    assert tokenizer.encode_prefix("don't stop: e.g. at 3,5\ngo").tokens == (
        *(START, "don't", "stop:", "e.g.", "at", "3,5", "\n", "go"),
    )
    assert tokenizer.decode(tokenizer.encode("stop:  don't\n go on")) == "stop: don't\ngo on"


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_grows_token_by_token_into_what_decode_gives(kind):
    tokenizer = MADE[kind]
    text = 'The cows eat corn," said' if kind == "spaces" else "The cows eat corn,"
    grown = ""
    for index in tokenizer.encode(text):
        grown = tokenizer.continue_text(grown, int(index))
    assert grown == text
    assert tokenizer.continue_text(grown, tokenizer.end_id) == text


def test_parts_of_a_character_are_shown_with_the_character():
    prefix = MADE["bpe:300"].encode_prefix("a 漢!")
    assert prefix.tokens == ("⟨start⟩", "a", " ", "漢⟨1/3⟩", "漢⟨2/3⟩", "漢⟨3/3⟩", "!")
    assert prefix.offsets[3:6] == ((2, 3),) * 3


def test_every_token_of_the_vocabulary_can_be_shown():
    for tokenizer in MADE.values():
        assert len(tokenizer.tokens()) == tokenizer.vocabulary_size
        assert all(tokenizer.tokens())
        assert tokenizer.token(tokenizer.end_id) == "⟨end⟩"
    assert MADE["characters"].token(MADE["characters"].id_of("\n")) == "\n"
    assert " cows" in make("bpe:300", text="the cows eat the cows" * 9).tokens()


def test_white_space_can_be_made_visible():
    assert visible("a b\t\n") == "a␣b⇥⏎"


def test_lower_case_keeps_the_places_in_the_text():
    tokenizer = make("words", lower_case=True)
    prefix = tokenizer.encode_prefix("THE Cows")
    assert prefix.tokens == ("⟨start⟩", "the", "cows")
    assert prefix.offsets[1:] == ((0, 3), (4, 8))


@given(data=st.binary(max_size=300))
@settings(max_examples=60)
def test_any_bytes_are_a_tokenizer_or_a_clear_sentence(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "strange.json"
    path.write_bytes(data)
    with pytest.raises(LmvizError, match=r"strange\.json"):
        Tokenizer.load(path)


@st.composite
def damaged_files(draw):
    """A tokenizer.json with one value somewhere replaced by another."""
    description = json.loads(MADE[draw(st.sampled_from(KINDS))].json)
    node = description
    while isinstance(node, (dict, list)) and node:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        key = draw(st.sampled_from(keys))
        if not isinstance(node[key], (dict, list)) or not node[key] or draw(st.booleans()):
            strange = st.one_of(st.none(), st.booleans(), st.integers(-5, 2**40), st.text(max_size=5))
            node[key] = draw(st.one_of(strange, st.just([]), st.just({})))
            break
        node = node[key]
    return json.dumps(description)


@given(text=damaged_files())
@settings(max_examples=150)
def test_a_damaged_file_is_a_tokenizer_or_a_clear_sentence(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_text(text, encoding="utf-8")
    try:
        tokenizer = Tokenizer.load(path)
    except LmvizError as error:
        sentence = str(error)
        assert sentence.endswith(".")
    else:
        ids = tokenizer.encode("The cows eat 漢 corn.")
        assert isinstance(tokenizer.decode(ids), str)
        assert all(0 <= index < tokenizer.vocabulary_size for index in ids)
        assert len(tokenizer.tokens()) == tokenizer.vocabulary_size


def test_a_foreign_tokenizer_is_read_too(tmp_path):
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models, pre_tokenizers

    backend = Backend(models.WordLevel({"▁the": 0, "▁cat": 1, "<unk>": 2, "</s>": 3}, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    backend.enable_truncation(2)
    backend.enable_padding(length=8)
    backend.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer.load(tmp_path / "tokenizer.json")
    assert tokenizer.kind == "other"
    assert list(tokenizer.encode("the cat the dog")) == [0, 1, 0, 2]
    assert tokenizer.tokens() == [" the", " cat", "⟨unknown⟩", "⟨end⟩"]
    assert tokenizer.continue_text("the", 1) == "the cat"


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(LmvizError, match=r"missing\.json cannot be read"):
        Tokenizer.load(tmp_path / "missing.json")


def test_a_vocabulary_of_words_is_read_without_the_tokenizer(tmp_path):
    for kind in ("characters", "words", "spaces"):
        MADE[kind].save(tmp_path / "tokenizer.json")
        assert vocabulary_in(tmp_path / "tokenizer.json") == tuple(MADE[kind].tokens())
    MADE["bpe:300"].save(tmp_path / "tokenizer.json")
    with pytest.raises(LmvizError, match="no vocabulary of words"):
        vocabulary_in(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["The cat", "日本 ist é𝄞", "", "aé"])
def test_ids_are_shown_as_the_tokens_of_their_text(kind, text):
    tokenizer = MADE[kind]
    read = tokenizer.encode_prefix(text)
    if not any(read.unknown):  # of ids alone nobody knows the word
        assert tokenizer.tokens_of(read.ids) == read.tokens


def test_bytes_that_are_no_text_are_shown_one_by_one():
    tokenizer = MADE[next(kind for kind in KINDS if kind.startswith("bpe"))]
    ids = tokenizer.encode("日")
    assert tokenizer.tokens_of(ids) == ("日⟨1/3⟩", "日⟨2/3⟩", "日⟨3/3⟩")
    assert tokenizer.tokens_of(ids[1:]) == ("\\x97", "\\xa5")


def of_others():
    """Tokenizers of other programs: byte pairs with special tokens, pieces with ▁, words and unigrams."""
    from foreign_tokenizers import byte_pairs, pieces
    from tokenizers import Tokenizer as Backend
    from tokenizers import models

    backends = {
        "byte pairs": byte_pairs(further=("<tool>",)),
        "pieces": pieces(False),
        "pieces after spaces": pieces(True),
        "word pieces": Backend(models.WordPiece({"[UNK]": 0, "bat": 1, "##s": 2, "s": 3}, unk_token="[UNK]")),
        "unigrams": Backend(models.Unigram([("<unk>", 0.0), ("▁bat", -1.0), ("bat", -2.0)], unk_id=0)),
    }
    return {name: Tokenizer(backend) for name, backend in backends.items()}


@pytest.mark.parametrize("tokenizer", [*MADE.values(), *of_others().values()], ids=[*MADE, *of_others()])
def test_a_token_is_found_by_what_it_is_displayed_as(tokenizer):
    shown = tokenizer.tokens()
    alike = {token for token in shown if shown.count(token) > 1}
    assert len(alike) < len(shown) / 2
    for index, token in enumerate(shown):
        if token not in alike:
            assert tokenizer.id_of(token) == index, token
        else:
            assert tokenizer.token(tokenizer.id_of(token)) == token
    for index, spelling in enumerate(tokenizer.spellings()):
        if spelling and spelling not in shown:
            assert tokenizer.id_of(spelling) == index
    assert tokenizer.id_of("no such token") is None


def test_a_byte_pair_is_named_with_its_blank():
    tokenizer = make("bpe:300", text="the cows eat the cows" * 9)
    assert tokenizer.id_of(" cows") == tokenizer.id_of("Ġcows") is not None
