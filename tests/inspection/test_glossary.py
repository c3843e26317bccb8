"""Terms are explained where they are used, as whole words, each in one sentence."""

from lmviz.inspection.glossary import TERMS, terms_in


def test_the_terms_of_a_text_are_explained_and_no_others():
    assert terms_in("layer 1, attention query, head 1, position 19 “brown”, channel 5") == (
        TERMS["channel"],
        TERMS["head"],
        TERMS["query"],
    )
    assert terms_in("keyboard, unity, “brown”") == ()


def test_each_is_a_short_sentence():
    for sentence in TERMS.values():
        assert sentence.endswith(".")
        assert len(sentence) <= 110
