"""Plain text stays plain; what is of a form is recognised, and read; what does not fit is named."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text import corpus_options
from lmviz.text.catalogue import CATALOGUE, corpus_path
from lmviz.text.corpus import Corpus, load_corpus, text_corpus
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.forms import FORMS, PLAIN, recognise
from lmviz.text.table import QUOTES, SEPARATORS
from lmviz.text.task_reading import FoundExamples, read_examples

ROW = "{n}\tword\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
TAGGED = "time/n flies/v like/p an/d arrow/n\nwith/p time/n you/n will/v see/v\n"
SPAM = 'v1,v2,,,\nham,"Go until jurong point, crazy",,,\nham,Ok lar,,,\nspam,Free entry in 2 a wkly comp,,,\n'
SPAM += "ham,U dun say so early hor,,,\nspam,WINNER!! You have won,,,\n"
NER = "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\nGerman JJ B-NP B-MISC\ncall NN I-NP O\n"
CONLL_2003 = f"-DOCSTART- -X- -X- O\n\n{NER}\n{NER}\n-DOCSTART- -X- -X- O\n\n{NER}\n"
TATOEBA = "".join(
    f"Go now {n}.\tGeh jetzt {n}.\tCC-BY 2.0 (France) Attribution: tatoeba.org #{n} (CM) & #{n + 7}\n"
    for n in range(9)
)
FILMS = [("good" if n % 3 else "bad", f"the film number {n}") for n in range(9)]

plain_texts = {
    "prose": "It was either/or, and/or both.\nHe said: 1/2 is half.\n" * 20,
    "addresses": "http://a.org/x http://a.org/y\nhttp://b.org/z http://c.org/w\n" * 2,
    "indented": "def f():\n\treturn 1\n\nclass A:\n\tx = 2\n" * 9,
    "two words": "Tyger Tyger\nburning bright\n\nIn the\nforests of\nthe night\n" * 1,
    "names": "Anna Berger\nJohn Doe\n\nMary Major\nJan Novak\nErika Muster\nMax Power\nTom Thumb\nJo Do\n",
    "numbers in commas": "1,2,3\n4,5,6\n7,8,9\n1,2,4\n",
    "table of contents": "Chapter 1\t3\n\nThe beginning of it all, as it was told to me.\nAnd so on.\n" * 4,
    "one tab": "a\tb\n",
    "verse": "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate.\n" * 8,
    "commas": "Yes, he said it\nNo, she did not\nWell, who knows\nSo, let us go\n" * 1,
    "a refrain of four": "the sea the sea\nthe sky the sea\n\nthe sea the sky\nthe sky the sky\n\n" * 4,
    "one object": '{"text": "a", "label": "b"}\n',
    "header alone": "label,text\n",
    "empty": "\n \n",
}
formed = {
    "conllu": "# text = x\n" + "".join(ROW.format(n=n) for n in (1, 2, "3-4", 3, 4)) + "\n",
    "columns": "time n\nflies v\nlike p\n\nwith p\ntime n\nyou n\nwill v\nsee v\n\n" * 2,
    "slashes": TAGGED * 2,
    "fasttext": "".join(f"__label__{label} {text}\n" for label, text in FILMS),
    "jsonl": "".join(f'{{"text": "{text}", "label": "{label}"}}\n' for label, text in FILMS),
    "table": "label,text\n" + 'good,"a, b"\nbad,c\n' * 3,
    "labels": "".join(f"{label}\t{text}\n" for label, text in FILMS),
    "captions": "".join(f"{'.' * n}{'#' * (7 - n)}{('/' + '.' * 7) * 6}\tof {n} dots\n" for n in range(8)),
    "pairs": "".join(f"the house {n}\tdas Haus {n}\n" for n in range(9)),
}


def examples(text: str, name: str = "any.txt", **told: str) -> FoundExamples:
    found = read_examples([(name, text.encode())], CorpusOptions(**told))
    assert isinstance(found, FoundExamples)
    return found


def pairs_of(found: FoundExamples) -> list[tuple[str, str]]:
    text = found.text
    assert text is not None
    if text.targets is not None:
        return list(zip(text.sources, text.targets, strict=True))
    assert text.answers is not None
    answers = [" ".join(text.labels[id] for id in answer) for answer in text.answers]
    return list(zip(answers, text.sources, strict=True))


def opened(folder: Path, name: str, content: str | bytes, **settings) -> Corpus:
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return load_corpus(path, **settings)


def columns_of(corpus: Corpus) -> str:
    return corpus.options.columns


def test_the_forms_have_the_names_that_can_be_told():
    assert (PLAIN, *FORMS) == corpus_options.FORMS


@pytest.mark.parametrize("name", plain_texts)
def test_plain_text_stays_plain(name):
    assert recognise("any.txt", plain_texts[name].encode()) is None


@pytest.mark.parametrize("form", formed)
def test_a_form_is_recognised(form):
    found = recognise("any.txt", formed[form].encode())
    assert found is not None
    assert found.form == form


@pytest.mark.parametrize("form", formed)
def test_a_form_is_recognised_although_lines_are_spoilt_and_more_follows(form):
    text = formed[form] * 40
    found = recognise("any.txt", (text + "a spoilt line\n" + text * 80).encode())
    assert found is not None
    assert found.form == form


@pytest.mark.parametrize(
    "entry", [entry for entry in CATALOGUE if entry.is_present], ids=lambda entry: entry.name
)
def test_the_texts_of_the_catalogue_are_recognised_as_what_they_are(entry):
    found = recognise(entry.name, corpus_path(entry.name).read_bytes())
    assert (found.task if found else "next-token") == entry.task


@pytest.mark.parametrize(
    ("text", "task", "form"),
    [
        ("time/n flies/v\n", "tagging", "slashes"),
        ("time n\nflies v\n", "tagging", "columns"),
        ("good\tfine\n", "classification", "labels"),
        ("x,y\nfine,good\n", "classification", "table"),
        ("any", "translation", "pairs"),
    ],
)
def test_what_somebody_says_is_taken_for_it(text, task, form):
    found = recognise("any.txt", text.encode(), CorpusOptions(task=task))
    assert found is not None
    assert found.form == form


def test_a_form_that_does_not_serve_the_task_is_refused():
    with pytest.raises(LmvizError, match="CoNLL-U is for tagging, not for classification"):
        text_corpus(SPAM, form="conllu", task="classification")


# files as people bring them


def test_a_table_whose_names_do_not_tell_is_read_by_its_cells(tmp_path):
    content = SPAM + 'spam,"the password is ""MIX" to 85069, PO Box, MK17",,\n' + "ham,call £5 \x92,,,\n"
    corpus = opened(tmp_path, "spam.csv", content.encode("cp1252", "replace"))
    assert corpus.task == "classification"
    assert corpus.labels == ("ham", "spam")
    assert columns_of(corpus) == "label=v1,text=v2"
    assert corpus.recognised == (
        "A table with a heading: 7 texts, 2 classes (ham, spam). The label is in v1, and the text is in v2. "
        "Its characters are read as Windows-1252, which is likely but not certain."
    )
    assert corpus.complaints == (
        "1 row goes on in a column without a name, as line 7: what is there is not read.",
    )
    texts = {*corpus.training_documents, *corpus.validation_documents}
    assert {"Go until jurong point, crazy", "call £5 ?"} <= texts


def test_label_first_or_last_with_or_without_a_heading():
    rows = [*FILMS, *FILMS]
    for first in (True, False):
        for heading in ("", "kind,wording\n"):
            lines = (f"{label},{text}\n" if first else f"{text},{label}\n" for label, text in rows)
            found = examples(("" if not heading or first else "wording,kind\n") + (heading if first else "")
                             + "".join(lines), "films.csv")  # fmt: skip
            assert pairs_of(found) == rows
            assert found.layout.heading == bool(heading)


def test_fasttext_has_its_label_anywhere():
    found = examples(formed["fasttext"] + "so dull __label__bad\n__label__good\nnothing more\n")
    assert pairs_of(found) == [*FILMS, ("bad", "so dull")]
    assert found.complaints.sentences == ("Line 11 has no text.", "Line 12 has no label.")


def test_json_lines_are_read_by_name_or_by_what_stands_in_them():
    strange = formed["jsonl"].replace('"text"', '"wording"').replace('"label"', '"x"')
    for text in (formed["jsonl"], strange):
        found = examples(text + '{"text": oops}\n\n[1]\n{"text": "no label"}\n{"wording": "none"}\n')
        assert pairs_of(found) == FILMS
        assert found.complaints.sentences[:2] == (
            "Line 10 is not JSON (Expecting value at column 10).",
            "Line 12 is not an object of JSON, with names and values.",
        )
        assert [line.split(" has ")[0] for line in found.complaints.sentences[2:4]] == ["Line 13", "Line 14"]


def test_json_lines_with_numbers_and_with_objects_in_them():
    numbered = "".join(f'{{"id": {n}, "text": "a film {n}", "label": {n % 2}}}\n' for n in range(9))
    assert pairs_of(examples(numbered))[:2] == [("0", "a film 0"), ("1", "a film 1")]
    pairs = "".join(f'{{"translation": {{"en": "the {n}", "de": "das {n}"}}}}\n' for n in range(9))
    assert pairs_of(examples(pairs))[0] == ("the 0", "das 0")


def test_json_that_cannot_be_read_is_named():
    deep, long = "[" * 100_000, f'{{"text": {"9" * 5000}}}'
    found = examples(f"{formed['jsonl']}{deep}\n{long}\n")
    assert pairs_of(found) == FILMS
    assert all("is not JSON" in sentence for sentence in found.complaints.sentences)
    assert len(found.complaints.sentences) == 2


def test_conll_2003_gives_words_and_names(tmp_path):
    corpus = opened(tmp_path, "eng.train", CONLL_2003)
    assert corpus.labels == ("O", "B-MISC", "B-ORG")
    assert "The word is in word, and the tag is in name." in corpus.recognised
    assert set(corpus.training_documents) == {"EU rejects German call"}
    assert len(corpus.training_documents) + len(corpus.validation_documents) == 3
    chosen = opened(tmp_path, "eng.train", CONLL_2003, columns="word=word,tag=part of speech")
    assert chosen.labels == ("JJ", "NN", "NNP", "VBZ")


def test_columns_that_begin_with_numbers_have_words_in_the_second():
    rows = "# a comment\n1\tEU\tB-ORG\tO\n2\tgoes\tO\tO\n3\tto\tO\tO\n4\tRome\tB-LOC\tO\n\n"
    found = examples(rows * 4)
    assert pairs_of(found) == [("B-ORG O O B-LOC", "EU goes to Rome")] * 4


def test_pairs_may_have_further_columns(tmp_path):
    corpus = opened(tmp_path, "deu.txt", TATOEBA)
    assert corpus.task == "translation"
    assert columns_of(corpus) == "source=1,target=2"
    turned = opened(tmp_path, "deu.txt", TATOEBA, columns="source=2,target=1")
    assert "Geh jetzt 0." in {*turned.training_documents, *turned.validation_documents}


@pytest.mark.parametrize("names", [("train.en", "train.de"), ("en.txt.gz", "de.txt.gz"), ("x_src", "x_tgt")])
def test_two_files_named_alike_are_pairs(tmp_path, names):
    for name, text in zip(names, ("one\ntwo\nthree\n", "eins\nzwei\ndrei\n"), strict=True):
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    corpus = load_corpus([tmp_path / name for name in names])
    assert (corpus.task, len(corpus.training_documents) + len(corpus.validation_documents)) == (
        "translation",
        3,
    )
    assert (corpus.sources, corpus.target_sources) == tuple((str(tmp_path / name),) for name in names)
    again = load_corpus(corpus.sources[0], target=corpus.target_sources[0], options=corpus.options)
    assert again.fingerprint == corpus.fingerprint


def test_a_folder_of_pairs_is_read_whole_without_its_readme(tmp_path):
    for part in ("train", "val"):
        for language in ("de", "en", "fr"):
            (tmp_path / f"{part}.{language}").write_text(f"{part} {language} one\n{part} {language} two\n")
    (tmp_path / "README.md").write_text("what this is")
    corpus = load_corpus(tmp_path, columns="source=en,target=fr")
    assert corpus.task == "translation"
    assert sorted([*corpus.training_documents, *corpus.validation_documents])[0] == "train en one"
    assert corpus.complaints == (
        "README.md is about the texts, and is not read.",
        "The parts are those of the files: train.en to learn from, and val.en to validate with.",
    )
    again = load_corpus(corpus.sources, options=corpus.options)
    assert again.fingerprint == corpus.fingerprint
    with pytest.raises(LmvizError, match="no files for both 'en' and 'it'"):
        load_corpus(tmp_path, columns="source=en,target=it")


def test_folders_of_labels_are_read_again_from_their_files(tmp_path):
    for label in ("good", "bad"):
        (tmp_path / label).mkdir()
        for n in range(3):
            (tmp_path / label / f"{n}.txt").write_text(f"a {label} film, the {n}th")
    (tmp_path / "README").write_text("what this is")
    corpus = load_corpus(tmp_path)
    assert corpus.labels == ("bad", "good")
    assert load_corpus(corpus.sources, options=corpus.options).fingerprint == corpus.fingerprint


@pytest.mark.parametrize("address", ["https://example.org/spam.csv", "http://a.b/c"])
def test_an_address_is_said_to_be_one(address):
    for read in (load_corpus, text_corpus):
        with pytest.raises(LmvizError, match=r"is a web address, not a text"):
            read(address)


def test_a_table_of_nothing_but_numbers_is_plain_and_says_so(tmp_path):
    corpus = opened(tmp_path, "numbers.csv", "".join(f"{n},{2 * n},{n * n}\n" for n in range(30)))
    assert corpus.task == "next-token"
    assert corpus.recognised.startswith("Plain text. It could be a table of 3 columns")


@pytest.mark.parametrize("form", [*formed, "tatoeba", "spam", "conll"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_corpus_is_read_again_as_it_was(tmp_path, form, packed):
    text = (formed | {"tatoeba": TATOEBA, "spam": SPAM * 3, "conll": CONLL_2003})[form]
    corpus = opened(tmp_path, f"any.txt{'.gz' * packed}", text)
    assert corpus.task != "next-token"
    again = load_corpus(corpus.sources, options=corpus.options)
    assert (again.fingerprint, again.options) == (corpus.fingerprint, corpus.options)


def test_what_is_told_of_columns_is_checked():
    with pytest.raises(LmvizError, match=r"no column 'v9': there are v1, v2, column 3, column 4, column 5"):
        text_corpus(SPAM, columns="label=v1,text=v9")
    with pytest.raises(LmvizError, match="Write columns as"):
        text_corpus(SPAM, columns="v1")


def test_the_texts_of_a_column_are_documents(tmp_path):
    corpus = opened(tmp_path, "spam.csv", SPAM, columns="text=v2")
    assert corpus.task == "next-token"
    assert corpus.marks_boundaries
    texts = {*corpus.training_documents, *corpus.validation_documents}
    assert len(texts) == 5
    assert "Go until jurong point, crazy" in texts
    assert load_corpus(corpus.sources, options=corpus.options).fingerprint == corpus.fingerprint


# lines that do not fit


def test_a_label_a_tab_and_a_text():
    found = examples("good\tA fine film\t.\n\nbad\t\nno tab\nbad\tdull\n", form="labels")
    assert pairs_of(found) == [("good", "A fine film\t."), ("bad", "dull")]
    assert found.complaints.sentences == tuple(
        f"Line {n} has not a label and a text with a tab between them." for n in (3, 4)
    )


@pytest.mark.parametrize(
    ("header", "label", "text"),
    [
        ("label,text", 0, 1),
        ("id;Review;Sentiment", 2, 1),
        ("text\tlabel", 1, 0),
        ('"label","text"', 0, 1),
        ("tweet|airline_sentiment", 1, 0),
        ("name,age", None, None),
    ],
)
def test_a_header_says_where_labels_and_texts_are(header, label, text):
    separator = next(mark for mark in ",;\t|" if mark in header)
    row = separator.join("x" * (1 + header.count(separator)))
    found = recognise("any.txt", "\n".join([header, *[row] * 9]).encode())
    assert (found.roles if found else {}) == ({"label": label, "text": text} if label is not None else {})


def test_quotes_hold_commas_ends_of_line_and_quotes():
    found = examples('label,text\ngood,"one, two"\nbad,"first\nsecond"\n\ngood,"say ""hello"""\n')
    assert pairs_of(found) == [("good", "one, two"), ("bad", "first\nsecond"), ("good", 'say "hello"')]
    assert found.complaints.sentences == ()


def test_a_quote_that_is_never_closed_costs_one_line():
    text = 'label,text\ngood,fine\nbad,"no end\ngood,"quoted" more\ngood,it is 5" wide\n'
    text += "bad,a,b\n,x\nbad,\nbad,dull\n"
    found = examples(text, quotes="double")
    assert pairs_of(found) == [
        ("good", "fine"),
        ("good", '"quoted" more'),
        ("good", 'it is 5" wide'),
        ("bad", "dull"),
    ]
    assert found.complaints.sentences == (
        "Line 3 has a quote that is not closed.",
        "Line 6 has 3 columns in place of 2.",
        "Line 7 has no label.",
        "Line 8 has no text.",
    )


def test_a_source_a_tab_and_a_target():
    found = examples(
        "the cat\tdie Katze\n\nno tab\na\tb\tc\n\tx\n à \t b\n", task="translation", form="pairs"
    )
    assert pairs_of(found) == [("the cat", "die Katze"), ("à", "b")]
    assert found.complaints.sentences == tuple(
        f"Line {n} has not a source and a target with one tab between them." for n in (3, 4, 5)
    )


def test_of_rows_that_repeat_the_first_is_kept(tmp_path):
    pairs = "".join(f"the house {n % 5}\tdas Haus {n % 5}\n" for n in range(9))
    once = opened(tmp_path, "a.tsv", pairs)
    assert len([*once.training_documents, *once.validation_documents]) == 9
    assert not once.complaints
    kept = opened(tmp_path, "a.tsv", pairs, unrepeated=True)
    assert len([*kept.training_documents, *kept.validation_documents]) == 5
    assert kept.complaints == (
        "4 rows say what an earlier one says, line 6 as line 1: only the first of each is read.",
    )
    for language, words in (("en", "the house"), ("de", "das Haus")):
        (tmp_path / f"b.{language}").write_text("".join(f"{words} {n % 5}\n" for n in range(9)))
    kept = load_corpus([tmp_path / "b.en", tmp_path / "b.de"], unrepeated=True)
    assert len([*kept.training_documents, *kept.validation_documents]) == 5


def test_words_of_sentences_may_repeat(tmp_path):
    kept = opened(tmp_path, "a.txt", TAGGED * 4, form="slashes", unrepeated=True)
    assert kept.fingerprint == opened(tmp_path, "a.txt", TAGGED * 4, form="slashes").fingerprint


def test_two_files_go_line_by_line(tmp_path):
    def read(one: str, other: str) -> Corpus:
        (tmp_path / "x.en").write_text(one)
        (tmp_path / "x.de").write_text(other)
        return load_corpus(tmp_path / "x.en", target=tmp_path / "x.de", validation=0)

    corpus = read("a\n\nb\nc\nd\ne\n", "A\n\n\nC\n")
    assert list(corpus.training_documents) == ["a", "c"]
    assert corpus.complaints == (
        "Line 3 is blank in x.de.",
        "x.de ends at line 4: the 2 further lines of x.en are left out.",
    )
    assert read("a\n", "A\nB\n").complaints == (
        "x.en ends at line 1: the 1 further lines of x.de are left out.",
    )


CONLLU = """# sent_id = 1
# text = Vámonos al mar.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_
5.1\tvamos\tir\tVERB\t_\t_\t_\t_\t_\t_
6\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

# sent_id = 2
1\t1 000\t1000\tNUM\t_\t_\t0\troot\t_\t_
2\t#\t#\tSYM\t_\t_\t1\tnmod\t_\t_
"""


def test_conllu_gives_words_and_tags_without_ranges_and_empty_nodes():
    found = examples(CONLLU)
    assert pairs_of(found) == [
        ("VERB PRON ADP DET NOUN PUNCT", "Vamos nos a el mar ."),
        ("NUM SYM", "1_000 #"),
    ]
    assert found.complaints.sentences == ()
    lemmas = examples(CONLLU, columns="word=FORM,tag=LEMMA")
    assert pairs_of(lemmas)[0][0] == "ir nosotros a el mar ."


def test_a_malformed_row_is_named_and_the_others_are_kept():
    rows = [
        "1\ta\t_\tDET" + "\t_" * 6,
        "2\tb\t_\tNOUN",
        "x\tb\t_\tNOUN" + "\t_" * 6,
        "3\tc\t_\t_" + "\t_" * 6,
    ]
    rows += ["4\t\t_\tNOUN" + "\t_" * 6, "5\td\t_\tVERB" + "\t_" * 6, "1\te\t_\tDET" + "\t_" * 6]
    found = examples("\n".join(rows), form="conllu")
    assert pairs_of(found) == [
        ("DET VERB", "a d"),
        ("DET", "e"),
    ]  # the second begins although no blank line does
    assert found.complaints.sentences == (
        "Line 2 has 4 columns in place of 10.",
        "Line 3 begins with 'x' in place of the number of a word.",
        "Line 4 has no tag in its column UPOS.",
        "Line 5 has no word in its column FORM.",
    )


@pytest.mark.parametrize("mark", ["\t", "  ", " "])
def test_two_columns_by_tabs_or_spaces(mark):
    text = f"time{mark}n\nflies{mark}v\n\nlike\nan{mark}d\n{mark}\nx{mark}y{mark}z\n"
    found = examples(text, form="columns")
    assert pairs_of(found) == [("n v", "time flies"), ("d", "an")]
    assert found.complaints.sentences == (
        "Line 4 has 1 column in place of a word and its tag.",
        "Line 7 has 3 columns in place of a word and its tag.",
    )


def test_tags_behind_a_slash():
    found = examples(
        "time/n flies/v\n\n1/2/num ⟨x⟩/sym\nlike an/d\n/d time/n\nwith/p you/n\n", form="slashes"
    )
    assert pairs_of(found) == [("n v", "time flies"), ("num sym", "1/2 <x>"), ("p n", "with you")]
    assert found.complaints.sentences == (
        "Line 4 has no word and tag in 'like'.",
        "Line 5 has no word and tag in '/d'.",
    )


def test_labels_are_numbered_by_how_often_they_occur():
    found = examples("a/x b/z c/y d/y\ne/z f/y\n", form="slashes")
    assert found.text is not None
    assert found.text.labels == ("y", "z", "x")


def test_of_many_complaints_the_first_are_told_and_the_others_counted():
    told = examples("a/b\n" + "word\n" * 80, form="slashes").complaints.sentences
    assert len(told) == 51
    assert told[0].startswith("Line 2 ")
    assert told[-1] == "And 30 more."


# any way of writing a table

cells = st.text(
    st.sampled_from(["a", "é", "漢", " ", ",", ";", "|", "\t", '"', "'", "\n", "7", "."]), max_size=12
)


@given(
    rows=st.lists(st.tuples(st.sampled_from(["good", "bad", "so so"]), cells), min_size=8, max_size=20),
    separator=st.sampled_from(sorted(SEPARATORS)),
    quote=st.sampled_from(["double", "single"]),
    first=st.booleans(),
    further=st.integers(0, 2),
    heading=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    packed=st.booleans(),
)
@settings(max_examples=120)
def test_a_table_written_in_any_way_is_read_as_it_was_written(
    tmp_path_factory, rows, separator, quote, first, further, heading, encoding, line_end, packed
):
    mark, around = SEPARATORS[separator], QUOTES[quote]

    def written(*cells: str) -> str:
        inner = (f"{around}{cell.replace(around, 2 * around)}{around}" for cell in cells)
        return mark.join(inner) + line_end

    rows = [(label, f"it says {text.strip()} so") for label, text in rows]
    names = ("label", "text") if first else ("text", "label")
    table = [row if first else row[::-1] for row in rows]
    lines = [written(*names, *("note",) * further)] if heading else []
    lines += [written(*row, *(f"note {n}",) * further) for n, row in enumerate(table)]
    data = "".join(lines).replace("\n", line_end).replace("\r\r", "\r").encode(encoding)
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(gzip.compress(data) if packed else data)
    label, text = (1, 2) if first else (2, 1)
    corpus = load_corpus(
        path,
        quotes=quote,
        separator=separator,
        heading="yes" if heading else "no",
        columns=f"label={label},text={text}",
        tokenizer="characters",
        validation=0,
    )
    assert [said for said in corpus.complaints if "not read" not in said] == []
    assert list(corpus.training_documents) == [text for _, text in rows]
    found = [corpus.labels[int(answer[0])] for answer in corpus.training_examples.target]
    assert found == [label for label, _ in rows]


@given(data=st.binary(max_size=400), name=st.sampled_from(["a.csv", "a.jsonl", "a.txt", "a.gz", "a.en"]))
@settings(max_examples=150)
def test_any_bytes_are_a_corpus_or_a_clear_sentence(tmp_path_factory, data, name):
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(data)
    try:
        said = load_corpus(path).recognised
    except LmvizError as error:
        said = str(error)
    assert said
    assert "did not expect" not in said


def test_labels_behind_tabs_may_stand_in_quotes():
    lines = [f'"{label}"\t"{text}"\n' for label, text in FILMS]
    assert pairs_of(examples("".join(lines), "films.tsv")) == [*FILMS]


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_heading_above_labels_behind_tabs_is_no_label(quote):
    def line(one: str, other: str) -> str:
        return f"{quote}{one}{quote}\t{quote}{other}{quote}\n"

    rows = [("true" if n % 2 else "false", f"it is the film number {n}") for n in range(20)]
    text = "".join(line(*row) for row in [("crawl", "Text"), *rows])
    found = recognise("films.tsv", text.encode())
    assert found is not None
    assert found.heading
    assert found.doubt == "crawl may be the label"
