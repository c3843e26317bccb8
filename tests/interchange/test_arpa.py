"""ARPA files: written and read back, as KenLM writes them, and refused when they are none."""

import gzip
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from told import is_told

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.inspection.tracing import trace
from lmviz.interchange.arpa import arpa_words, open_arpa, read_arpa, write_arpa
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram
from lmviz.models.tap import SCALES
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer

SENTENCES = ["the bat made noise at night", "the cow eats grass", "a cow made noise", "the night eats a bat"]

SMALL = """
an n-gram model

\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.30103
-0.5\t</s>
-0.4\ta\t-0.2
-0.6\tb\t0.1

\\2-grams:
-0.1\t<s> a
-0.30103\ta b
-0.7\tb </s>

\\end\\
"""


def trained(smoothing="kneser-ney", order=3, kind="words", marks_boundaries=True):
    tokenizer = train_tokenizer(
        SENTENCES, TokenizerOptions(kind=kind, minimum_count=1), marks_boundaries=marks_boundaries
    )
    ids = []
    for sentence in SENTENCES:
        between = ([tokenizer.start_id], [tokenizer.end_id]) if marks_boundaries else ([], [])
        ids += [*between[0], *tokenizer.encode(sentence), *between[1]]
    model = Ngram(NgramConfiguration(order, smoothing), tokenizer.vocabulary_size)
    start_id = tokenizer.start_id if marks_boundaries else None
    model.fit(count_ngrams(np.array(ids), order, tokenizer.vocabulary_size, start_id))
    return model, tokenizer, torch.tensor([ids])


def read_text(path, content: str | bytes):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_arpa(path)


@pytest.mark.parametrize("smoothing", ["kneser-ney", "add-k", "maximum-likelihood"])
@pytest.mark.parametrize(("kind", "marks_boundaries"), [("words", True), ("characters", False)])
@pytest.mark.parametrize("order", [1, 3])
def test_a_model_written_and_read_predicts_the_same(tmp_path, smoothing, kind, marks_boundaries, order):
    model, tokenizer, tokens = trained(smoothing, order, kind, marks_boundaries)
    write_arpa(tmp_path / "model.arpa", model, tokenizer)
    again = read_arpa(tmp_path / "model.arpa", tokenizer)
    torch.testing.assert_close(again(tokens).exp(), model(tokens).exp(), rtol=1e-5, atol=1e-7)
    targets = tokens.roll(-1)
    torch.testing.assert_close(
        *(
            each.log_probabilities(tokens, targets).clamp(min=-99 * math.log(10))  # how zero is written
            for each in (again, model)
        ),
        rtol=1e-5,
        atol=1e-5,
    )
    assert again.tokenizer is tokenizer


def test_without_a_tokenizer_ids_follow_the_file(tmp_path):
    model = read_text(tmp_path / "model.arpa", SMALL)
    assert model.words == ("<unk>", "<s>", "</s>", "a", "b")
    after_start = model(torch.tensor([[1]])).exp()[0, 0]
    left = 10**-0.30103
    expected = [left * 10**-1.0, 0, left * 10**-0.5, 10**-0.1, left * 10**-0.6]
    np.testing.assert_allclose(after_start, expected, rtol=1e-5)
    after_unlisted = model(torch.tensor([[0]])).exp()[0, 0]
    np.testing.assert_allclose(after_unlisted, [0.1, 0, 10**-0.5, 10**-0.4, 10**-0.6], rtol=1e-5)


def test_what_was_read_is_traced_and_shown_as_other_models_are(tmp_path):
    model = read_text(tmp_path / "model.arpa", SMALL)
    found = trace(model, [1, 3, 4])
    assert {traced.scale for traced in found.arrays.values()} <= set(SCALES)
    for address in found.arrays:
        assert address in [result for stage in found.stages for result in stage.results]
    for stage in found.stages:
        assert is_told(stage.title)
        assert all(f"{result}/".startswith(f"{stage.place}/") for result in stage.results) or (
            stage.place == "output"
        )


def test_START_is_never_predicted_whatever_the_file_says(tmp_path):
    changed = SMALL.replace("-99\t<s>", "-0.1\t<s>").replace("a b", "a <s>")
    model = read_text(tmp_path / "model.arpa", changed)
    assert (model(torch.tensor([[1, 3, 4]]))[..., 1] == -torch.inf).all()


def test_paths_agree_and_cells_follow_from_their_operands(tmp_path):
    model = read_text(tmp_path / "model.arpa", SMALL)
    tokens = torch.tensor([[1, 3, 4, 0, 3, 2]])
    arrays = {}

    class Written:
        @staticmethod
        def ids():
            return tokens[0].numpy()

        @staticmethod
        def array(address):
            return arrays[address]

    logits = model.listen(
        tokens, lambda tap, value, position: arrays.setdefault(tap.address, value[0].numpy()) is None or value
    )
    torch.testing.assert_close(logits, model(tokens))
    seen = set()
    for tap in model.taps():
        for index in np.ndindex(arrays[tap.address].shape):
            arithmetic = tap.operation.explain(Written, tap.address, index)
            assert (arithmetic.address, arithmetic.index) == (tap.address, index)
            assert arithmetic.evaluate() == pytest.approx(arrays[tap.address][index], rel=1e-5)
            for factor in (factor for group in arithmetic.terms for factor in group.factors):
                if "." in factor.source:
                    stated = model.operand(factor.source, factor.indices)
                    np.testing.assert_allclose(stated, factor.values, rtol=1e-6)
            seen.add((tap.address, arithmetic.operation, tuple(group.label for group in arithmetic.terms)))
    assert seen >= {
        ("orders/2/backoff", "as listed", ("backoff weight",)),
        ("orders/2/backoff", "everything is left", ("the context is new",)),
        ("orders/2/probabilities", "as listed", ("listed",)),
        ("orders/2/probabilities", "not listed: backed off", ("lower order",)),
    }
    known = {tap.address: tap.operation for tap in model.taps()}
    for stage in model.stages():
        read = {operand.address for result in stage.results for operand in known[result].operands}
        assert set(stage.operands) == read - set(stage.results)
    assert sorted(known) == sorted(address for stage in model.stages() for address in stage.results)


def test_tokens_with_white_space_and_lookalikes_are_spelt_apart():
    tokenizer = train_tokenizer(
        ["a b\n\\ <s>"], TokenizerOptions(kind="characters", minimum_count=1), marks_boundaries=True
    )
    words = arpa_words(tokenizer)
    assert len(set(words)) == len(words)
    assert words[tokenizer.start_id] == "<s>"
    assert {"\\u0020", "\\u000a", "\\u005c", "a", "b"} <= set(words)
    assert not any(set(word) & set(" \n") for word in words)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("\\data\\", "data", "no line"),
        ("ngram 1=5", "ngram 1=6", "declares 6 1-grams and lists 5"),
        ("ngram 2=3", "ngram 3=3", "order 2 is not declared"),
        ("a b", "a c", "'c' is not in the vocabulary"),
        ("a b", "a", "too few"),
        ("a b", "<s> a", "listed twice"),
        ("b\t0.1", "a\t0.1", "listed twice"),
        ("-0.7", "nan", "not a logarithm"),
        ("-0.7", "0.7", "not a logarithm"),
        ("-0.7", "x", "could not convert"),
        ("\\end\\", "", "no line"),
        ("\\2-grams:", "\\3-grams:", "not where it should be"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, old, new, reason):
    with pytest.raises(LmvizError, match=reason):
        read_text(tmp_path / "model.arpa", SMALL.replace(old, new, 1))


def test_a_context_that_is_not_listed_is_refused(tmp_path):
    longer = SMALL.replace("ngram 2=3", "ngram 2=3\nngram 3=1")
    longer = longer.replace("\\end\\", "\\3-grams:\n-0.1\tb a b\n\n\\end\\")
    with pytest.raises(LmvizError, match="a context of the 3-grams"):
        read_text(tmp_path / "model.arpa", longer)


def test_files_that_are_no_text_or_not_there_are_refused(tmp_path):
    with pytest.raises(LmvizError, match="not UTF-8"):
        read_text(tmp_path / "model.arpa", b"\\data\\\xff")
    with pytest.raises(LmvizError, match="cannot be read"):
        read_arpa(tmp_path / "nowhere.arpa")


@given(data=st.data())
def test_any_bytes_give_a_model_or_one_sentence(tmp_path_factory, data):
    content = bytearray(SMALL.encode())
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 30))
        content[place : place + length] = data.draw(
            st.binary(max_size=10) | st.sampled_from([b"99999", b"\\", b"\n"])
        )
        content = content or bytearray(b"\n")
    path = tmp_path_factory.getbasetemp() / "damaged.arpa"
    try:
        model = read_text(path, bytes(content))
    except LmvizError:
        return
    assert not model(torch.tensor([[0, 0]])).isnan().any()


def sentences(path, text: str | bytes):
    """What `lmviz.evaluate` says of a text."""
    (path / "text.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    return lmviz.evaluate(open_arpa(path / "model.arpa"), path / "text.txt")


def test_each_line_is_a_sentence_and_all_of_its_words_count(tmp_path):
    (tmp_path / "model.arpa").write_text(SMALL)
    told = sentences(tmp_path, "a b\n\nc b\n")
    start = -0.30103
    of_lines = (
        [-0.1, -0.30103, -0.7],  # <s> a b </s>
        [start - 0.5],
        [start - 1.0, -0.6, -0.7],
    )
    expected = [number for line in of_lines for number in line]
    assert told.tokens == len(expected)
    assert told.unknown == 1
    assert told.perplexity == pytest.approx(10 ** (-sum(expected) / len(expected)))


def test_only_ends_of_line_part_lines_and_only_spaces_of_ascii_words(tmp_path):
    (tmp_path / "model.arpa").write_text(SMALL.replace("\ta", "\tä\xa0é").replace("a b", "ä\xa0é\vb", 1))
    with pytest.raises(LmvizError):  # one word too few
        open_arpa(tmp_path / "model.arpa")
    named = SMALL.replace("a", "x\xa0y").replace("dx\xa0ytx\xa0y", "data")
    named = named.replace("x\xa0yn n-grx\xa0ym model", "").replace("grx\xa0ym", "gram").replace("b", "z\vz")
    named = named.replace("<s> ", "<s>\t")
    (tmp_path / "model.arpa").write_text(named, newline="\r\n")
    model = open_arpa(tmp_path / "model.arpa")
    assert model.words == ("<unk>", "<s>", "</s>", "x\xa0y", "z\vz")
    told = sentences(tmp_path, b"x\xc2\xa0y\rx\xc2\xa0y z\vz \xc2\x85\r\n\xe2\x80\xa8\n")
    assert told.tokens == 5 + 1 + 2
    assert told.unknown == 2 + 1 + 1  # z twice, U+0085, U+2028
    assert model.tokenizer.encode_prefix("x\xa0y  okapi").unknown == (False, False, True)
    assert model.tokenizer.decode([3, 3]) == "x\xa0y x\xa0y"


def test_UNK_in_capitals_is_the_unknown_word(tmp_path):
    (tmp_path / "model.arpa").write_text(SMALL.replace("<unk>", "<UNK>").replace("a b", "a <UNK>"))
    model = open_arpa(tmp_path / "model.arpa")
    assert model.words[0] == "<unk>"
    assert sentences(tmp_path, "a zebra\n").negative_log_likelihood == pytest.approx(
        (0.1 + 0.30103 + 0.5) * math.log(10) / 3
    )


def test_START_written_in_a_text_has_the_probability_that_is_listed(tmp_path):
    (tmp_path / "model.arpa").write_text(SMALL.replace("-99\t<s>", "-2\t<s>"))
    told = sentences(tmp_path, "<s>\n")
    assert told.negative_log_likelihood == pytest.approx((0.30103 + 2 + 0.30103 + 0.5) * math.log(10) / 2)
    after = open_arpa(tmp_path / "model.arpa")(torch.tensor([[1]])).exp()[0, 0]
    assert after[1] == 0


def test_where_no_unknown_word_is_listed_one_costs_a_hundred_powers_of_ten(tmp_path):
    (tmp_path / "model.arpa").write_text(SMALL.replace("-1.0\t<unk>\n", "").replace("1=5", "1=4"))
    told = sentences(tmp_path, "zebra\n")
    assert told.negative_log_likelihood == pytest.approx((0.30103 + 100 + 0.5) * math.log(10) / 2)


def test_a_compressed_file_is_read_and_one_that_is_cut_short_refused(tmp_path, monkeypatch):
    path = tmp_path / "small.arpa.gz"
    path.write_bytes(gzip.compress(SMALL.encode()))
    model = lmviz.open_model(path)
    assert model.words == ("<unk>", "<s>", "</s>", "a", "b")
    assert model.name == "small.arpa.gz"
    monkeypatch.setattr("lmviz.interchange.arpa.machine_memory", lambda: 8 * 100)
    with pytest.raises(LmvizError, match="holds more than"):
        lmviz.open_model(path)
    monkeypatch.undo()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(LmvizError, match="cannot be decompressed"):
        lmviz.open_model(path)
    path.write_bytes(b"\x1f\x8b" + b"x" * 50)
    with pytest.raises(LmvizError, match="cannot be decompressed"):
        lmviz.open_model(path)


WORDS = ["a", "b", "the", "été", "x\xa0y", "日本", "▁sub", "<UNK>x", "-", "1.5", "\\u0041"]


@st.composite
def arpa_texts(draw) -> str:
    """Models of random numbers, in which every n-gram's context is listed, as KenLM demands."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, unique=True))
    unknown = draw(st.sampled_from([[], ["<unk>"], ["<UNK>"]]))
    listed = [[(word,) for word in ["<s>", "</s>", *unknown, *words]]]
    for _ in range(draw(st.integers(1, 3))):
        contexts = draw(st.lists(st.sampled_from(listed[-1]), unique=True))
        ends = [gram[0] for gram in listed[0] if gram[0] != "<s>"]
        grams = [
            (*gram, word) for gram in contexts if gram[-1] != "</s>" for word in ends if draw(st.booleans())
        ]
        # KenLM wants the n-gram without its first word as well
        grams = [gram for gram in grams if gram[1:] in listed[-1]]
        if not grams and len(listed) > 1:
            break
        listed.append(grams or [("<s>", "</s>")])  # and two orders at least
    logarithm = st.sampled_from([-99, 0]) | st.floats(-7, 0).map(lambda value: round(value, 5))
    weight = st.floats(-3, 1).map(lambda value: round(value, 5))
    lines = ["\\data\\", *(f"ngram {n}={len(grams)}" for n, grams in enumerate(listed, 1)), ""]
    for order, grams in enumerate(listed, 1):
        lines.append(f"\\{order}-grams:")
        for gram in grams:
            number = draw(logarithm if gram == ("<s>",) else st.floats(-7, -0.01).map(lambda v: round(v, 5)))
            backoff = f"\t{draw(weight)}" if order < len(listed) and gram[-1] != "</s>" else ""
            lines.append(f"{number}\t{' '.join(gram)}{backoff}")
        lines.append("")
    return "\n".join([*lines, "\\end\\", ""])


def texts() -> st.SearchStrategy[str]:
    further = ["zebra", "<s>", "</s>", "<unk>", "<UNK>", "<unk>x", "<s></s>", "\u2028", "\x85"]
    words = st.lists(st.sampled_from([*WORDS, *further]), max_size=6)
    spaces = st.sampled_from([" ", "  ", "\t", "\v", "\r", "\f"])
    lines = st.builds(
        lambda line, space, end: space.join(line) + end, words, spaces, st.sampled_from(["", " ", "\r"])
    )
    return (
        st.lists(lines, min_size=1, max_size=5)
        .filter(lambda found: any(map(str.strip, found)))
        .map("\n".join)
    )


@pytest.mark.slow
@settings(max_examples=200)
@given(arpa_texts(), texts(), st.booleans())
def test_evaluate_says_of_lines_what_kenlm_says(tmp_path, model, text, is_compressed):
    kenlm = pytest.importorskip("kenlm", reason="KenLM is not installed")
    path = tmp_path / ("model.arpa.gz" if is_compressed else "model.arpa")
    path.write_bytes(gzip.compress(model.encode()) if is_compressed else model.encode())
    (tmp_path / "text.txt").write_bytes(f"{text}\n".encode())
    theirs = kenlm.Model(str(path))
    words = [word for line in text.split("\n") for word in theirs.full_scores(line)]
    ours = lmviz.evaluate(path, tmp_path / "text.txt")
    assert ours.tokens == len(words)
    assert ours.unknown == sum(is_unknown for _, _, is_unknown in words)
    mean = -sum(score for score, _, _ in words) / len(words)
    assert ours.negative_log_likelihood / math.log(10) == pytest.approx(mean, rel=1e-5, abs=1e-5)


@pytest.mark.slow
def test_kenlm_gives_every_word_the_same_probability(tmp_path):
    kenlm = pytest.importorskip("kenlm", reason="KenLM is not installed")
    model, tokenizer, _ = trained()
    write_arpa(tmp_path / "model.arpa", model, tokenizer)
    theirs = kenlm.Model(str(tmp_path / "model.arpa"))
    for sentence in [*SENTENCES, "the zebra made a night"]:
        ids = [tokenizer.start_id, *tokenizer.encode(sentence), tokenizer.end_id]
        ours = model(torch.tensor([ids]))[0].log_softmax(-1).double() / np.log(10)
        scores = [score for score, _, _ in theirs.full_scores(sentence)]
        assert [float(ours[at, next]) for at, next in enumerate(ids[1:])] == pytest.approx(scores, abs=1e-5)
