"""What is said of a corpus is counted in it, and nothing is said where nothing stands out."""

import random
from collections import Counter

import lmviz
from lmviz.base.figures import percentage
from lmviz.text.remarks import corpus_remark


def test_the_few_words_that_make_half_of_a_text_are_counted():
    corpus = lmviz.load_corpus("stories", tokenizer="words")
    counted = Counter(corpus.tokenizer.token(int(id)) for id in corpus.training)
    for boundary in (corpus.tokenizer.start_id, corpus.tokenizer.end_id):
        counted.pop(corpus.tokenizer.token(boundary))
    left, half = sum(counted.values()) / 2, 0
    for _, times in counted.most_common():
        left, half = left - times, half + 1
        if left <= 0:
            break
    once = sum(times == 1 for times in counted.values())
    assert corpus_remark(corpus) == (
        f"Half of the text consists of {half} of its {len(counted):,} words, and {once} occur only once."
    )


def test_a_text_of_equally_frequent_words_says_nothing(tmp_path):
    path = tmp_path / "even.txt"
    path.write_text("one two three four five six seven eight nine ten\n" * 20, encoding="utf-8")
    assert corpus_remark(lmviz.load_corpus(path, tokenizer="words")) == ""


def test_a_class_that_most_texts_have_is_said_and_even_classes_are_not(tmp_path):
    for often, said in ((0.8, True), (0.5, False)):
        path = tmp_path / f"{often}.tsv"
        draw = random.Random(3)
        rows = [f"this film was number {n}\t{'good' if n % 10 < often * 10 else 'bad'}" for n in range(200)]
        draw.shuffle(rows)
        path.write_text("\n".join(["text\tlabel", *rows]), encoding="utf-8")
        corpus = lmviz.load_corpus(path)
        assert corpus.task == "classification"
        labels = Counter(corpus.labels[id] for id in corpus.training_examples.target.ids)
        label, times = labels.most_common(1)[0]
        expected = f"{percentage(times / labels.total())} of the texts are “{label}”"
        assert corpus_remark(corpus).startswith(expected) is said


def test_tags_say_how_far_the_most_frequent_one_of_each_word_goes():
    corpus = lmviz.load_corpus("ambiguous")
    tags: dict[int, Counter[int]] = {}
    examples = corpus.training_examples
    for word, tag in zip(examples.source.ids.tolist(), examples.target.ids.tolist(), strict=True):
        tags.setdefault(word, Counter())[tag] += 1
    usual = sum(found.most_common(1)[0][1] for found in tags.values())
    several = sum(len(found) > 1 for found in tags.values())
    assert corpus_remark(corpus) == (
        f"{several} of {len(tags)} words have several tags; each word's most frequent tag is right for "
        f"{percentage(usual / len(examples.source.ids))} of the text."
    )


def test_pairs_say_which_side_is_longer_where_one_is():
    corpus = lmviz.load_corpus("dates")
    sources = sum(len(text) for text in corpus.training_documents)
    targets = sum(len(text) for text in corpus.training_examples.texts)
    assert f"there are {targets / sources:.2f} characters of its target" in corpus_remark(corpus)
    assert corpus_remark(lmviz.load_corpus("backwards")) == ""
