import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.byte_level import readable_piece
from lmviz.text.corpus import load_corpus
from lmviz.text.merges import apply_merges, bpe_merges


@pytest.fixture(scope="module")
def tokenizer():
    return load_corpus("farm", "bpe:400").tokenizer


def test_merges_are_told_in_the_order_of_learning(tokenizer):
    merges = bpe_merges(tokenizer)
    assert len(merges) == 400 - 256 - 2
    assert merges[0] == ("h", "e")
    assert readable_piece("".join(merges[2])) == " the"


def test_merging_step_by_step_ends_at_the_tokens(tokenizer):
    merges = bpe_merges(tokenizer)
    text = "the cows"
    assert apply_merges(text, merges, 0) == list(text)
    assert apply_merges(text, merges, 2)[:2] == ["the", " "]
    lengths = [len(apply_merges(text, merges, count)) for count in range(len(merges) + 1)]
    assert lengths == sorted(lengths, reverse=True)
    tokens = [tokenizer.token(int(index)) for index in tokenizer.encode(text)]
    assert apply_merges(text, merges, len(merges)) == tokens


def test_parts_of_characters_show_their_bytes(tokenizer):
    assert apply_merges("é", bpe_merges(tokenizer), 0) == ["\\xc3", "\\xa9"]


def test_other_tokenizers_merge_nothing():
    with pytest.raises(LmvizError, match="choose bpe"):
        bpe_merges(load_corpus("farm").tokenizer)
