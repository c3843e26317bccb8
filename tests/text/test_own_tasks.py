"""What the corpora that lmviz writes promise."""

import datetime
import math
import re
from dataclasses import replace

import pytest
from covering import parametrize_few

from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import CATALOGUE, corpus_path, find_entry
from lmviz.text.corpus import load_corpus
from lmviz.text.own_tasks import grammar_of, twin
from lmviz.text.tag_readers import best_reader
from tests.text.grammar_outcomes import outcomes


def lines(name: str) -> list[list[str]]:
    return [line.split("\t") for line in corpus_path(name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "entry", [entry for entry in CATALOGUE if entry.is_present], ids=lambda entry: entry.name
)
def test_a_corpus_is_of_its_task_and_has_nothing_to_complain_of(entry):
    corpus = load_corpus(entry.name)
    assert corpus.task == entry.task
    assert corpus.complaints == ()
    assert corpus.statistics().unknown_rate == 0.0 or entry.name == "farm"


def test_the_four_sentences_are_those_of_the_lecture():
    corpus = load_corpus("four-sentences")
    assert [
        " ".join(
            f"{corpus.tokenizer.token(word)}/{corpus.labels[tag]}"
            for word, tag in zip(words, tags, strict=True)
        )
        for words, tags in zip(corpus.training_examples.source, corpus.training_examples.target, strict=True)
    ] == [
        "time/n flies/v like/p an/d arrow/n",
        "time/n flies/n like/v an/d arrow/n",
        "flies/n fly/v with/p their/n wings/n",
        "with/p time/n you/n will/v see/v",
    ]
    assert len(corpus.validation_examples) == 0
    assert corpus.floor == pytest.approx(4 * math.log(2) / 20)
    assert corpus.floor == pytest.approx(0.1386, abs=5e-5)


@pytest.mark.slow
def test_the_floor_of_ambiguous_is_that_of_its_grammar():
    told = outcomes(grammar_of("ambiguous"), "sentence")
    sentences = [(words.split(), tags.split(), share) for (words, tags), share in told.items()]
    both, left = (best_reader(sentences, sees) for sees in ("both", "left"))
    assert load_corpus("ambiguous").floor == pytest.approx(both.nats, abs=1e-12)
    assert left.nats > both.nats + 0.2
    assert left.accuracy < 0.83 < 0.98 < both.accuracy
    garden_path = "the old man the boats"
    assert [tags for words, tags in told if words == garden_path] == ["DET NOUN VERB DET NOUN"]
    assert any(words.startswith("the old man vanished") for words, _ in told)


def test_the_text_of_ambiguous_follows_its_grammar():
    corpus = load_corpus("ambiguous", validation=0.0)
    examples = corpus.training_examples
    words = [[corpus.tokenizer.token(int(id)) for id in source] for source in examples.source]
    tags = [[corpus.labels[id] for id in target] for target in examples.target]
    seen = best_reader([(*pair, 1.0) for pair in zip(words, tags, strict=True)], "both")
    assert seen.nats == pytest.approx(corpus.floor, abs=0.01)


def test_no_review_is_both_good_and_bad():
    labels = {}
    for label, text in lines("reviews"):
        assert labels.setdefault(text, label) == label
        assert text.endswith(" END")
    assert set(labels.values()) == {"good", "bad"}
    assert labels["The movie was terrible END"] == "bad"
    assert labels["The movie was not terrible END"] == "good"
    corpus = load_corpus("reviews")
    assert corpus.floor == 0.0
    assert corpus.tokenizer.token(int(corpus.training_examples.source[0][-1])) == "END"


def test_backwards_is_the_reverse():
    pairs = lines("backwards")
    assert all(source == target[::-1] for source, target in pairs)
    assert {len(source) for source, _ in pairs} == set(range(1, 21))
    assert max(load_corpus("backwards", span=3).statistics().lengths) == 3


def test_dates_are_right():
    ordinals = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
    for written, iso in lines("dates"):
        date = datetime.date.fromisoformat(iso)
        assert str(date.year) in written
        assert date.strftime("%b") in written
        numbers = re.findall(r"\b(\d{1,2})(?:st|nd|rd|th)?\b", written)
        assert numbers in ([str(date.day)], [])
        if not numbers and date.day <= 9:
            assert ordinals[date.day - 1] in written
        if "day" in written:
            assert date.strftime("%A") in written
    assert {"the 1st of", "the 2nd of", "the 3rd of", "the 11th of", "the 22nd of"} <= {
        found[0] for written, _ in lines("dates") for found in re.finditer(r"the \d+\w\w of", written)
    }


def test_twin_has_one_translation_of_each_sentence_and_agrees():
    translations = {}
    for english, french in lines("twin"):
        assert translations.setdefault(english, french) == french
    together = " ".join(translations.values())
    assert not re.search(
        r"\b(la|une|cette|ma|petite|grande) (cheval|chien|chat|lapin|canard|renard|garçon|roi)\b", together
    )
    assert not re.search(
        r"\b(le|ce|mon|petit|grand) (vache|chèvre|poule|souris|fille|reine|grenouille|mouche)\b", together
    )
    assert re.search(r"\bvache brune\b", together)
    assert re.search(r"\bvaches brunes\b", together)
    assert re.search(r"\bcheval brun\b", together)
    assert max(len(english.split()) for english in translations) == 15


def test_twin_is_as_long_as_one_says():
    lengths = [len(line.split("\t")[0].split()) for line in twin(50).splitlines()]
    assert max(lengths) == 50
    assert all(sum(1 for length in lengths if low <= length < low + 10) > 300 for low in range(1, 51, 10))


def test_a_key_comes_back():
    for span in (0, 4):
        corpus = load_corpus("recall", span=span)
        words = [text.split() for text in corpus.training_documents]
        assert {len(line) for line in words} == {(span or 10) + 3}
        assert all(line[0] == line[-1] and line[-2] == "?" and line[0] not in line[1:-1] for line in words)
        nats = math.log(8) + (span or 10) * math.log(20)
        assert corpus.floor == pytest.approx(nats / ((span or 10) + 4))


def test_an_echo_repeats_the_pairs_of_its_own_line():
    corpus = load_corpus("echo", validation=0.0)
    partners, nats = [], 0.0
    for line in corpus.training_documents:
        words = line.split()
        pairs = list(zip(words[::2], words[1::2], strict=True))
        known = dict(pairs)
        assert len(pairs) == 16
        assert [known[first] for first, _ in pairs] == [second for _, second in pairs]
        assert not set(known) & set(known.values())
        partners += known.items()
        said, left = set(), 28
        for pair in pairs:  # what who knows the rule pays for this line
            nats += math.log(5)
            if pair not in said:
                nats += math.log(left * (left - 1)) - math.log(5 - len(said))
                said.add(pair)
                left -= 2
    assert len(set(partners)) == 28 * 27, "every word is now and then followed by every other"
    assert corpus.floor == pytest.approx(nats / 33 / len(corpus.training_documents), rel=2e-3)


def test_a_span_is_refused_where_there_is_none():
    with pytest.raises(LmvizError, match="only recall, backwards, twin have"):
        load_corpus("farm", span=3)
    with pytest.raises(LmvizError, match="from 3 to 50, and not 51"):
        load_corpus("twin", span=51)


def test_a_floor_is_only_given_where_it_holds():
    assert find_entry("recall").floor is not None
    assert load_corpus("recall", documents="file").floor is None
    assert load_corpus("recall", minimum_count=10_000).floor is None
    assert load_corpus("ambiguous", task="next-token").floor is None
    letters = load_corpus("recall", "characters", validation=0.0)
    length = sum(map(len, letters.training_documents)) / len(letters.training_documents)
    assert letters.floor == pytest.approx((math.log(8) + 10 * math.log(20)) / (length + 1))


@parametrize_few(("name", "lines"), [("farm", 344), ("sums", 10_000)])
def test_the_floor_of_a_list_is_that_of_drawing_a_line(name, lines):
    corpus = load_corpus(name)
    tokens = len(corpus.training) + len(corpus.validation) - lines  # START is given, END is not
    assert corpus.floor == pytest.approx(lines * math.log(lines) / tokens)
    letters = load_corpus(name, "characters", lower_case=not corpus.options.lower_case)
    assert letters.floor < corpus.floor if name == "farm" else letters.floor == corpus.floor


def test_what_is_told_twice_as_often_costs_less(monkeypatch, tmp_path):
    entry = replace(find_entry("farm"), name="rhyme", make=lambda: "a b\na b\nc\nd\n", sha256="")
    monkeypatch.setattr("lmviz.text.catalogue.CATALOGUE", (entry,))
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path))
    corpus = load_corpus("rhyme", validation=0.0)
    nats = 0.5 * math.log(2) + 2 * 0.25 * math.log(4)
    assert corpus.floor == pytest.approx(nats * 4 / 10)
    assert load_corpus("rhyme", validation=0.0, documents="file").floor is None
