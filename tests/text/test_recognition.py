"""Plain text stays plain; what is of a form is recognised."""

import pytest

from lmviz.text.catalogue import CATALOGUE, corpus_path
from lmviz.text.recognition import FORMS, are_labels, form_for, recognise

ROW = "{n}\tword\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
TAGGED = "time/n flies/v like/p an/d arrow/n\nwith/p time/n you/n will/v see/v\n"

PLAIN = {
    "prose": "It was either/or, and/or both.\nHe said: 1/2 is half.\n" * 20,
    "addresses": "http://a.org/x http://a.org/y\nhttp://b.org/z http://c.org/w\n" * 2,
    "indented": "def f():\n\treturn 1\n\nclass A:\n\tx = 2\n" * 9,
    "two words": "Tyger Tyger\nburning bright\n\nIn the\nforests of\nthe night\n" * 1,
    "names": "Anna Berger\nJohn Doe\n\nMary Major\nJan Novak\nErika Muster\nMax Power\nTom Thumb\nJo Do\n",
    "numbers in commas": "1,2,3\n4,5,6\n7,8,9\n1,2,4\n",
    "table of contents": "Chapter 1\t3\n\nThe beginning of it all, as it was told to me.\nAnd so on.\n" * 4,
    "one tab": "a\tb\n",
    "verse": "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate.\n" * 8,
    "header alone": "label,text\n",
    "empty": "\n \n",
}
FORMED = {
    "conllu": "# text = x\n" + "".join(ROW.format(n=n) for n in (1, 2, "3-4", 3, 4)) + "\n",
    "columns": "time n\nflies v\nlike p\n\nwith p\ntime n\nyou n\nwill v\nsee v\n\n" * 2,
    "slashes": TAGGED * 2,
    "table": "label,text\n" + 'good,"a, b"\nbad,c\n' * 3,
    "labels": "".join(f"{'good' if n % 3 else 'bad'}\tthe film number {n}\n" for n in range(9)),
    "captions": "".join(f"{'.' * n}{'#' * (7 - n)}{('/' + '.' * 7) * 6}\tof {n} dots\n" for n in range(8)),
    "pairs": "".join(f"the house {n}\tdas Haus {n}\n" for n in range(9)),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_text_stays_plain(name):
    assert recognise(PLAIN[name].encode()) == ""


@pytest.mark.parametrize("form", FORMED)
def test_a_form_is_recognised(form):
    assert recognise(FORMED[form].encode()) == form


@pytest.mark.parametrize("form", FORMED)
def test_a_form_is_recognised_although_lines_are_spoilt_and_more_follows(form):
    text = FORMED[form] * 40
    assert recognise((text + "a spoilt line\n" + text * 80).encode()) == form


@pytest.mark.parametrize(
    "entry", [entry for entry in CATALOGUE if entry.is_present], ids=lambda entry: entry.name
)
def test_the_texts_of_the_catalogue_are_recognised_as_what_they_are(entry):
    form = recognise(corpus_path(entry.name).read_bytes())
    assert (FORMS[form].task if form else "next-token") == entry.task


def test_what_somebody_says_is_taken_for_it():
    assert form_for(b"time/n flies/v\n", "tagging") == "slashes"
    assert form_for(b"time n\nflies v\n", "tagging") == "columns"
    assert form_for(b"good\tfine\n", "classification") == "labels"
    assert form_for(b"x,y\nfine,good\n", "classification") == "table"
    assert form_for(b"any", "translation") == "pairs"


def test_folders_are_labels_where_each_holds_several_short_files(tmp_path):
    files = []
    for label in ("good", "bad"):
        (tmp_path / label).mkdir()
        for n in range(2):
            files.append(tmp_path / label / f"{n}.txt")
            files[-1].write_text("a film", encoding="utf-8")
    assert are_labels(tmp_path, files)
    assert not are_labels(tmp_path, files[:2])
    assert not are_labels(tmp_path, files[:3])
    (tmp_path / "readme").write_text("x", encoding="utf-8")
    assert not are_labels(tmp_path, [*files, tmp_path / "readme"])
    files[0].write_text("a book\n" * 20_000, encoding="utf-8")
    assert not are_labels(tmp_path, files)
