"""A page of examples shows the words of the file, those among them that the vocabulary lacks too."""

import lmviz
from lmviz.app.panels.corpus.corpus_text import page_at, shown_examples


def test_unknown_words_of_both_sides_are_shown_as_they_are_written(tmp_path):
    lines = [f"good day Name{n} .\tguten Tag Name{n} .\n" for n in range(9)]
    (tmp_path / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    corpus = lmviz.load_corpus(
        tmp_path / "pairs.tsv", task="translation", tokenizer="words", minimum_count=2, validation=0
    )
    shown = shown_examples(corpus, page_at(corpus, 0))
    assert [example.words for example in shown] == [
        ("good", "day", f"Name{n}", ".", "⟨end⟩") for n in range(9)
    ]
    assert [example.target for example in shown] == [
        ("⟨start⟩", "guten", "Tag", f"Name{n}", ".", "⟨end⟩") for n in range(9)
    ]
    assert all(example.unknown == (2,) for example in shown)


def test_unknown_words_of_tagged_text_are_shown_as_they_are_written(tmp_path):
    (tmp_path / "tagged.txt").write_text("the/d cat/n runs/v\nthe/d Dog/n runs/v\n" * 2 + "the/d old/a\n")
    corpus = lmviz.load_corpus(tmp_path / "tagged.txt", minimum_count=2, validation=0)
    shown = shown_examples(corpus, page_at(corpus, 0))
    assert shown[-1].words == ("the", "old")
    assert shown[-1].unknown == (1,)
