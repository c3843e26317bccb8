"""The number that is asked about, in words that a person reads."""

import pytest

from lmviz.inspection.scalar_words import scalar_in_words

TOKENS = ("the", " cows", " eat", "\n")
ANSWERS = (" -", " cows", "stone", "bell", "jack-in-the-box", "-", "\n", "VERB")


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("loss", "all losses"),
        ("loss@1", "loss of “␣cows”"),
        ("loss@-1", "loss of “⏎”"),
        ("logit:stone", "logit of “stone”"),
        ("logit:stone-bell@3", "logit of “stone” − “bell”"),
        ("probability: cows-\n@1", "probability of “␣cows” − “⏎” at token 2, “␣cows”"),
        ("logit: -@3", "logit of “␣-”"),
        ("logit: --\n", "logit of “␣-” − “⏎”"),
        ("logit:---", "logit of “-” − “-”"),
        ("logit:jack-in-the-box", "logit of “jack-in-the-box”"),
        ("logit:jack-in-the-box-bell", "logit of “jack-in-the-box” − “bell”"),
        ("loss:VERB@0", "loss of “VERB” at token 1, “the”"),
        ("logit:not-known@9", "logit of “not-known”"),
        ("loss@9", "loss@9"),
        ("layers/0/hidden[3, 17]", "layers/0/hidden[3, 17]"),
    ],
)
def test_it_names_words_as_they_are_shown(of, said):
    assert scalar_in_words(of, TOKENS, ANSWERS.__contains__) == said
