"""The quick ways of encoding, against the Hugging Face tokenizer that the file describes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend

from lmviz.text.segments import SEGMENTS, SegmentEncoder
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer

TEXT = "The cows  eat corn.\n\nI don't know, İstanbul ΟΔΥΣΣΕΥΣ \t\u3000 漢字 “Hi” 3.14\r\n é e\u0301 😀 ſ K"
SPACES = " \n\t\r\x0b\x0c\x1c\x1d\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u180e"
CASES = [
    (kind, lower)
    for kind in (TokenizerOptions("characters"), TokenizerOptions(), TokenizerOptions("bpe", 300))
    for lower in (False, True)
]


def pair(options: TokenizerOptions, lower_case: bool) -> tuple[Tokenizer, Backend]:
    """A tokenizer of ours, and the library's of the same file."""
    tokenizer = train_tokenizer([TEXT], replace(options, lower_case=lower_case), marks_boundaries=True)
    backend = Backend.from_str(tokenizer.json)
    backend.encode_special_tokens = True
    return tokenizer, backend


MADE = [pair(*case) for case in CASES]


@pytest.mark.parametrize("made", MADE, ids=[f"{case[0].kind}-{case[1]}" for case in CASES])
@given(text=st.one_of(st.text(), st.text(alphabet=SPACES + "a.'İΣσς漢5", max_size=40)))
@example(text=TEXT)
@example(text="ΑΣ ΑΣ. İi̇ \x1c\x85 x\u2028\u2028y  ")
def test_the_quick_way_gives_what_the_library_gives(made, text):
    tokenizer, backend = made
    assert list(tokenizer.encode(text)) == backend.encode(text, add_special_tokens=False).ids


@given(texts=st.lists(st.text(alphabet="ab \n.", max_size=8), max_size=6))
def test_several_texts_are_encoded_one_by_one(texts):
    for tokenizer, _ in MADE:
        ids, lengths = tokenizer.encode_batch(texts)
        parts = np.split(ids, np.cumsum(lengths)[:-1]) if texts else []
        assert [list(part) for part in parts] == [list(tokenizer.encode(text)) for text in texts]


def test_it_encodes_right_after_forgetting(monkeypatch):
    monkeypatch.setattr("lmviz.text.segments._REMEMBERED", 2)
    tokenizer, backend = MADE[2]
    encoder = SegmentEncoder(backend, SEGMENTS["words"])
    for text in ("The cows eat", "corn and hay", "The cows eat"):
        assert list(encoder.encode([text])[0]) == list(tokenizer.encode(text))
