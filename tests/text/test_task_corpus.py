import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text.concordance import concordance
from lmviz.text.corpus import Corpus, load_corpus, text_corpus
from lmviz.text.corpus_options import TASKS

TAGGED = "time/n flies/v like/p an/d arrow/n\ntime/n flies/n like/v an/d arrow/n\nfruit/n flies/n\n" * 10
LABELLED = "good\tthe film was fine END\nbad\tthe film was dull END\ngood\tfine END\nbad\tso dull END\n" * 5
PAIRS = "the cat\tdie Katze\nthe dog sees the cat\tder Hund sieht die Katze\nyes\tja\nno\tnein\n" * 5
CAPTIONS = "".join(f"{'.' * n}{'#' * (7 - n)}{('/' + '.' * 7) * 6}\tof {n} dots\n" for n in range(8)) * 2


def tokens(tokenizer, ids) -> list[str]:
    return [tokenizer.token(int(id)) for id in ids]


def test_tagged_text_has_a_tag_for_each_token():
    corpus = text_corpus(TAGGED)
    assert corpus.task == "tagging"
    assert corpus.labels == ("n", "d", "v", "p")
    assert len(corpus.training_examples) == 27
    assert len(corpus.validation_examples) == 3
    for examples, ids in (
        (corpus.training_examples, corpus.training),
        (corpus.validation_examples, corpus.validation),
    ):
        assert np.array_equal(examples.source.starts, examples.target.starts)
        assert np.array_equal(examples.source.ids, ids)
    first = corpus.training_examples.source[0], corpus.training_examples.target[0]
    assert tokens(corpus.tokenizer, first[0]) == ["time", "flies", "like", "an", "arrow"]
    assert [corpus.labels[id] for id in first[1]] in (list("nvpdn"), list("nnvdn"))
    assert not corpus.marks_boundaries


def test_labelled_text_has_one_label_each():
    corpus = text_corpus(LABELLED, validation=0)
    assert corpus.task == "classification"
    assert corpus.labels == ("bad", "good")
    assert corpus.training_examples.target.lengths.tolist() == [1] * 20
    assert tokens(corpus.tokenizer, corpus.training_examples.source[2]) == ["fine", "END"]
    assert corpus.labels[corpus.training_examples.target[2][0]] == "good"


@pytest.mark.parametrize("kind", ["words", "characters", "bpe:300"])
def test_pairs_end_and_targets_begin_too(kind):
    corpus = text_corpus(PAIRS, tokenizer=kind, validation=0)
    source, target = corpus.tokenizer, corpus.target_tokenizer
    assert corpus.task == "translation"
    assert source.start_id is None
    for n, (text, answer) in enumerate(
        [("the cat", "die Katze"), ("the dog sees the cat", "der Hund sieht die Katze")]
    ):
        example = corpus.training_examples.source[n], corpus.training_examples.target[n]
        assert example[0].tolist() == [*source.encode(text), source.end_id]
        assert example[1].tolist() == [target.start_id, *target.encode(answer), target.end_id]
    assert corpus.statistics().lengths[0] == len(source.encode("the cat"))


def test_a_picture_has_a_token_for_each_pixel_and_no_end():
    corpus = text_corpus(CAPTIONS, validation=0)
    source, target = corpus.tokenizer, corpus.target_tokenizer
    assert corpus.task == "captioning"
    assert corpus.recognised == "Pictures with captions: 16 pictures."
    assert set(corpus.training_examples.source.lengths) == {49}
    assert corpus.training_examples.source[2].tolist() == [0, 0, 1, 1, 1, 1, 1] + 42 * [0]
    answer = [target.start_id, *target.encode("of 2 dots"), target.end_id]
    assert corpus.training_examples.target[2].tolist() == answer
    assert source.tokens()[:2] == [".", "#"]
    assert source.start_id is None
    assert source.end_id is None
    assert len(corpus.statistics().lengths) == 16


def test_pictures_are_the_same_whichever_way_they_are_written():
    """With ones and zeros for pixels, and read with other captions."""
    corpus = text_corpus(CAPTIONS)
    digits = "".join(
        f"{picture.replace('#', '1').replace('.', '0')}\t{caption}\n"
        for picture, caption in (line.split("\t") for line in CAPTIONS.splitlines())
    )
    assert text_corpus(digits).fingerprint == corpus.fingerprint
    assert text_corpus(CAPTIONS.replace("dots", "points")).fingerprint != corpus.fingerprint


def test_words_that_lmviz_would_cut_are_kept_whole():
    corpus = text_corpus("do/v n't/a 's/x :-)/s\n" * 4, validation=0)
    assert corpus.options.tokenizer == "spaces"
    assert tokens(corpus.tokenizer, corpus.training_examples.source[0]) == ["do", "n't", "'s", ":-)"]
    assert tokens(corpus.tokenizer, corpus.tokenizer.encode("n't :-)")) == ["n't", ":-)"]


@pytest.mark.parametrize("kind", ["characters", "bpe:300"])
def test_tagged_text_has_no_smaller_tokens_than_words(kind):
    with pytest.raises(LmvizError, match="choose words or spaces"):
        text_corpus(TAGGED, tokenizer=kind)


def test_the_task_can_be_said():
    plain = text_corpus(TAGGED, task="next-token")
    assert plain.task == "next-token"
    assert "time/n" in plain.training_text
    few = "time n\nflies v\n"
    assert text_corpus(few).task == "next-token"
    assert text_corpus(few, task="tagging", validation=0).labels == ("n", "v")
    assert text_corpus(LABELLED, task="translation").task == "translation"
    with pytest.raises(LmvizError, match=r"^text has no pair: .* \(Line 1 has not a source"):
        text_corpus("no tab here", task="translation")


def test_what_is_mostly_something_else_is_plain():
    tagged, prose = "time/n flies/v\n" * 9000, "and then there was prose\n" * 20_000
    assert text_corpus(tagged + prose[:9000]).task == "tagging"
    assert text_corpus(tagged + prose).task == "next-token"


def test_what_was_recognised_is_said():
    assert (
        text_corpus(TAGGED).recognised
        == "Words with a tag behind a slash: 30 sentences, 4 tags (n, d, v, p)."
    )
    assert text_corpus("one two three").recognised == "Plain text."
    spoilt = text_corpus(PAIRS + "no tab\n")
    assert spoilt.recognised == "Pairs: 20 pairs, and 1 line left out."
    assert spoilt.complaints == ("Line 21 has not a source and a target with one tab between them.",)


def test_two_files_and_several(tmp_path):
    (tmp_path / "x.en").write_text("a cat\na dog\nyes\n", encoding="utf-8")
    (tmp_path / "x.de").write_text("eine Katze\nein Hund\nja\n", encoding="utf-8")
    corpus = load_corpus(tmp_path / "x.en", target=tmp_path / "x.de", validation=0)
    assert corpus.task == "translation"
    assert corpus.target_sources == (str(tmp_path / "x.de"),)
    assert corpus.recognised == "Two files, line by line: 3 pairs. From x.en to x.de."
    assert tokens(corpus.target_tokenizer, corpus.training_examples.target[2]) == ["⟨start⟩", "ja", "⟨end⟩"]
    with pytest.raises(LmvizError, match="for translation, not for tagging"):
        load_corpus(tmp_path / "x.en", target=tmp_path / "x.de", task="tagging")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(TAGGED + "spoilt\n", encoding="utf-8")
    both = load_corpus([tmp_path / "a.txt", tmp_path / "b.txt"])
    assert len(both.training_examples) + len(both.validation_examples) == 60
    assert both.complaints[1] == "b.txt, line 31 has no word and tag in 'spoilt'."
    mixed = load_corpus([tmp_path / "a.txt", tmp_path / "x.en"])
    assert mixed.task == "next-token"


def test_folders_of_texts(tmp_path):
    for label, text in (("good", "a fine film"), ("bad", "a dull film")):
        (tmp_path / label).mkdir()
        for n in range(3):
            (tmp_path / label / f"{n}.txt").write_text(f"{text} {n}\nEND", encoding="utf-8")
    (tmp_path / "bad" / "3.txt").write_bytes(b"\xff\xfe broken")
    corpus = load_corpus(tmp_path, validation=0)
    assert corpus.task == "classification"
    assert corpus.recognised.startswith("Folders of texts: 6 texts, 2 classes (bad, good)")
    assert "3.txt" in corpus.complaints[0]
    assert load_corpus(tmp_path / "good").task == "next-token"
    assert load_corpus(tmp_path / "good", task="next-token").task == "next-token"


def test_a_text_read_for_a_model_has_its_ids():
    first = text_corpus(PAIRS, validation=0)
    again = text_corpus(PAIRS, tokenizer=first.tokenizer, validation=0)
    assert np.array_equal(again.training, first.training)
    assert again.fingerprint == first.fingerprint


def test_labels_of_a_model_are_kept(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("bad\tdull END\ngood\tfine END\nbad\tso dull END\nbad\tdull\n", encoding="utf-8")
    corpus = load_corpus(path, labels=("fair", "good", "bad"), validation=0)
    assert corpus.labels == ("fair", "good", "bad")
    assert [int(answer[0]) for answer in corpus.training_examples.target] == [2, 1, 2, 2]
    with pytest.raises(LmvizError, match="The label 'bad' is none of those"):
        load_corpus(path, labels=("fair", "good"))


def test_the_fingerprint_covers_the_answers():
    prints = [
        text_corpus(text, **changes).fingerprint
        for text, changes in (
            (TAGGED, {}),
            (TAGGED.replace("like/v", "like/p"), {}),
            (TAGGED.replace("time/n flies/v", "time/v flies/n"), {}),  # as many of each tag
            (TAGGED, {"seed": 1}),
            (PAIRS, {}),
            (PAIRS.replace("nein", "ne"), {}),
            (LABELLED, {}),
            (LABELLED.replace("bad\tso", "good\tso"), {}),
            (LABELLED, {"task": "translation"}),
        )
    ]
    assert len(set(prints)) == len(prints)
    assert text_corpus(TAGGED, task="tagging").fingerprint == prints[0]


def test_what_the_text_says_by_itself_is_not_in_the_fingerprint_of_plain_text():
    assert (
        text_corpus("one two three").fingerprint
        == text_corpus("one two three", task="next-token").fingerprint
    )


def test_a_concordance_does_not_reach_into_the_next_sentence():
    corpus = text_corpus("a/x b/y\na/x c/y\nb/y a/x\n" * 4, validation=0)
    assert [(word.token, word.count) for word in concordance(corpus, "a").words] == [("b", 4), ("c", 4)]
    place = concordance(corpus, "a").places[1]
    assert (place.before, place.match, place.after) == ("", "a", "")


@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.text(alphabet='ab/\t\n ,"1_#.', max_size=200).map(str.encode),
        st.lists(
            st.sampled_from([*TAGGED.split("\n"), *PAIRS.split("\n"), *CAPTIONS.split("\n"), "x", "", '"'])
        )
        .map("\n".join)
        .map(str.encode),
    ),
    task=st.sampled_from(["recognised", *TASKS]),
    kind=st.sampled_from(["words", "spaces", "characters"]),
)
@settings(max_examples=200)
def test_any_bytes_are_a_corpus_of_any_task_or_a_clear_sentence(tmp_path_factory, data, task, kind):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(data)
    try:
        corpus = load_corpus(path, kind, task=task)
    except LmvizError:
        return
    assert isinstance(corpus, Corpus)
    assert task in ("recognised", corpus.task)
    corpus.statistics()
    examples = corpus.training_examples
    if corpus.task == "next-token":
        assert examples is None
        return
    assert len(examples.source) == len(examples.target) >= 1
    if corpus.task == "tagging":
        assert np.array_equal(examples.source.lengths, examples.target.lengths)
    if corpus.labels:
        assert examples.target.ids.max() < len(corpus.labels)


@given(source=st.binary(max_size=60), target=st.text(alphabet="ab \n\r\t", max_size=60).map(str.encode))
@settings(max_examples=60)
def test_any_two_files_are_pairs_or_a_clear_sentence(tmp_path_factory, source, target):
    paths = [tmp_path_factory.getbasetemp() / name for name in ("any.en", "any.de")]
    for path, data in zip(paths, (source, target), strict=True):
        path.write_bytes(data)
    try:
        corpus = load_corpus(paths[0], target=paths[1])
    except LmvizError:
        return
    assert corpus.task == "translation"
    assert all(len(answer) >= 2 for answer in corpus.training_examples.target)
