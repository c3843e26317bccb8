import pytest

from lmviz.text.labelled import LabelledCollector, read_labels, read_table
from lmviz.text.table import Table, find_table, guess_table
from lmviz.text.task_text import Complaints


def read(reader, *given):
    found, complaints = LabelledCollector(), Complaints()
    reader(*given, found, complaints)
    result = found.finish("any")
    pairs = [
        (result.labels[answer[0]], text) for answer, text in zip(result.answers, result.sources, strict=True)
    ]
    return pairs, complaints.sentences


def table(text: str):
    return read(read_table, text.encode(), find_table(text.split("\n")[0]))


def test_a_label_a_tab_and_a_text():
    pairs, complaints = read(read_labels, b"good\tA fine film\t.\n\nbad\t\nno tab\nbad\tdull\n")
    assert pairs == [("good", "A fine film\t."), ("bad", "dull")]
    assert complaints == tuple(
        f"Line {n} has not a label and a text with a tab between them." for n in (3, 4)
    )


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("label,text", Table(",", 2, 0, 1)),
        ("id;Review;Sentiment", Table(";", 3, 2, 1)),
        ("text\tlabel", Table("\t", 2, 1, 0)),
        ('"label","text"', Table(",", 2, 0, 1)),
        ("name,age", None),
        ("label,text,review", None),
        ("The label, the text", None),
    ],
)
def test_a_header_says_where_labels_and_texts_are(header, expected):
    assert find_table(header) == expected


def test_quotes_hold_commas_ends_of_line_and_quotes():
    pairs, complaints = table('label,text\ngood,"one, two"\nbad,"first\nsecond"\n\ngood,"say ""hello"""\n')
    assert pairs == [("good", "one, two"), ("bad", "first\nsecond"), ("good", 'say "hello"')]
    assert complaints == ()


def test_a_quote_that_is_never_closed_costs_one_line():
    text = 'label,text\ngood,fine\nbad,"no end\ngood,"quoted" more\ngood,it is 5" wide\n'
    text += "bad,a,b\n,x\nbad,\nbad,dull\n"
    pairs, complaints = table(text)
    assert pairs == [("good", "fine"), ("good", 'it is 5" wide'), ("bad", "dull")]
    assert complaints == (
        "Line 3 has a quote that is not closed, or goes on after it was.",
        "Line 4 has a quote that is not closed, or goes on after it was.",
        "Line 6 has 3 columns in place of 2.",
        "Line 7 has not a label.",
        "Line 8 has not a text.",
    )


def test_the_columns_of_a_header_that_says_nothing_are_guessed():
    rows = [f"{n},{'yes' if n % 2 else 'no'},this is the sentence {n}" for n in range(10)]
    assert guess_table("\n".join(["a,b,c", *rows]).encode()) == Table(",", 3, 1, 2)
    assert guess_table(b"one column\nonly\n") is None
