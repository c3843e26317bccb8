"""Which columns are what: a pair or a class is never claimed only because columns are there."""

import pytest

from lmviz.text.column_names import is_about
from lmviz.text.column_roles import Choice, Nested, TableColumn, belong_together, choose_roles
from lmviz.text.conversations import Conversation
from lmviz.text.heading import is_heading

COUNT = 20
TEXTS = [f"the {'old ' * (n % 4)}man saw house number {n} and went on" for n in range(COUNT)]
MORE = [f"a second text{' very' * ((n * 7) % 5)} that is about number {n}" for n in range(COUNT)]
TRANSLATIONS = [f"der {'alte ' * (n % 4)}Mann sah Haus Nummer {n} und ging" for n in range(COUNT)]
LABELS = ["good" if n % 3 else "bad" for n in range(COUNT)]
cells = {
    "texts": TEXTS,
    "numbers": [str(n * 37) for n in range(COUNT)],
    "shares": [f"{n / 7:.3f}" for n in range(COUNT)],
    "dates": [f"2019-04-25T12:57:{n:02}Z" for n in range(COUNT)],
    "old dates": [f"Mon Apr {n + 1:02} 22:19:45 PDT 2009" for n in range(COUNT)],
    "addresses": [f"https://example.org/page?number={n}" for n in range(COUNT)],
    "ids": [f"<urn:uuid:{n:08x}-5f1c>" for n in range(COUNT)],
    "paths": [f"data/part-{n}/text.txt" for n in range(COUNT)],
    "titles": [f"Topic {n}" for n in range(COUNT)],
    "licences": [f"CC-BY 2.0 (France) by person {n}" for n in range(COUNT)],
    "labels": LABELS,
    "lists": [Nested(f'["B-PER", "{n}"]') for n in range(COUNT)],
}


def choice(task: str = "", **columns: list[str]) -> Choice:
    return choose_roles([TableColumn(name.strip("_"), found) for name, found in columns.items()], task)


def read(**columns: list[str]) -> dict[str, str]:
    """The names of columns by what they are."""
    names = list(columns)
    return {role: names[place] for role, place in choice(**columns).roles.items()}


@pytest.mark.parametrize("name", ["text", "content", "body", "document", "story", "review_text", "Tweet"])
@pytest.mark.parametrize("other", sorted(set(cells) - {"texts"}))
def test_a_usual_name_of_a_text_is_a_corpus_whatever_is_beside_it(name, other):
    assert read(**{"x": cells[other], name: TEXTS, "y": cells[other]}) == {"text": name}


@pytest.mark.parametrize("one", sorted(set(cells) - {"texts", "labels"}))
@pytest.mark.parametrize("other", sorted(set(cells) - {"texts", "labels"}))
def test_what_is_about_a_text_is_neither_a_label_nor_a_side(one, other):
    found = choice(a=cells[one], b=TEXTS, c=cells[other])
    assert dict(found.roles) == {"text": 1}
    assert found.guessed


def test_a_label_is_one_by_its_name_and_by_what_stands_in_it():
    assert read(text=TEXTS, label=LABELS) == {"label": "label", "text": "text"}
    assert read(text=TEXTS, stars=[str(n % 5) for n in range(COUNT)]) == {"label": "stars", "text": "text"}
    assert read(text=TEXTS, stars=[f"{n % 5}.0" for n in range(COUNT)]) == {"label": "stars", "text": "text"}
    assert read(text=TEXTS, label=[f"{n % 2}.00" for n in range(COUNT)]) == {"label": "label", "text": "text"}
    assert read(text=TEXTS, label=[str(100 + n % 3) for n in range(COUNT)]) == {
        "label": "label",
        "text": "text",
    }
    assert read(a=[str(1990 + n % 3) for n in range(COUNT)], b=TEXTS) == {"label": "a", "text": "b"}
    assert read(a=[f"1990050{n % 3}" for n in range(COUNT)], b=TEXTS) == {"text": "b"}
    assert read(text=TEXTS, rating=[f"{n}.0" for n in range(COUNT)]) == {"text": "text"}
    assert read(text=TEXTS, rating=cells["shares"]) == {"text": "text"}
    assert read(text=TEXTS, topic=cells["titles"]) == {"text": "text"}
    assert read(text=TEXTS, kategorie=LABELS) == {"label": "kategorie", "text": "text"}
    assert read(a=LABELS, b=TEXTS) == {"label": "a", "text": "b"}
    assert read(language=LABELS, b=TEXTS) == {"text": "b"}
    assert choice(text=TEXTS, label=cells["lists"]).doubt


def test_long_lists_and_chats_are_still_what_they_are():
    long_lists = [Nested(f'["{"B-PER" * 400}", "{n}"]') for n in range(COUNT)]
    chats = [Conversation(f"user: {text * 40}") for text in TEXTS]
    assert choice(text=TEXTS, label=long_lists).doubt
    assert read(dialog=chats, emotion=long_lists) == {"text": "dialog"}


def test_the_only_column_beside_a_label_is_asked_about():
    strands = [f"{n:04b}".translate({48: "A", 49: "CG"}) * 8 for n in range(COUNT)]
    for other in (strands, cells["addresses"]):
        found = choice(sequence=other, label=LABELS)
        assert dict(found.roles) == {"label": 1, "text": 0}
        assert found.doubt
    assert "label" not in choice(count=cells["numbers"], label=LABELS).roles


def test_a_pair_is_one_by_its_names_or_by_its_lengths():
    assert read(source=TEXTS, target=MORE) == {"source": "source", "target": "target"}
    assert read(id=cells["ids"], de=TRANSLATIONS, en=TEXTS) == {"source": "de", "target": "en"}
    assert read(question=MORE, answer=TEXTS) == {"source": "question", "target": "answer"}
    sides = {"English words/sentences": TEXTS, "German words/sentences": TRANSLATIONS}
    assert list(read(**sides).values()) == list(sides)
    assert read(de_text=TRANSLATIONS, en_text=TEXTS) == {"source": "de_text", "target": "en_text"}
    assert read(src_text=TEXTS, tgt_text=MORE) == {"source": "src_text", "target": "tgt_text"}
    assert read(source_url=cells["addresses"], target_text=TEXTS) == {"text": "target_text"}
    assert read(german_text=TEXTS, label=LABELS) == {"label": "label", "text": "german_text"}
    assert read(text=TEXTS, prompt=MORE, response=MORE) == {"text": "text"}
    assert read(a=TEXTS, b=TRANSLATIONS, c=cells["licences"]) == {"source": "a", "target": "b"}
    assert "source" not in read(a=TEXTS, b=MORE)
    assert belong_together(TEXTS, TRANSLATIONS)
    assert not belong_together(TEXTS, MORE)
    assert not belong_together([], [])


def test_many_columns_are_not_compared_with_each_other(monkeypatch):
    compared = []
    monkeypatch.setattr("lmviz.text.column_roles.belong_together", lambda *both: compared.append(both))
    choice(**{f"x{n}": [f"{text} {n}" for text in TEXTS] for n in range(40)})
    assert len(compared) < 40


def test_where_nothing_tells_there_is_a_doubt():
    assert choice(a=TEXTS, b=MORE).doubt
    assert choice(a=LABELS, b=LABELS[::-1], c=TEXTS).doubt
    assert not choice(a=cells["numbers"], b=cells["dates"]).roles


def test_a_task_that_is_told_is_found_where_it_can_be():
    assert dict(choice("translation", a=TEXTS, b=MORE).roles) == {"source": 0, "target": 1}
    assert dict(choice("next-token", a=LABELS, b=TEXTS).roles) == {"text": 1}
    assert dict(choice("classification", text=TEXTS, kind=LABELS).roles) == {"label": 1, "text": 0}


@pytest.mark.parametrize("name", ["id", "created_at", "pub.date", "articleId", "num_tokens", "Word Count"])
def test_names_of_what_is_about_a_text(name):
    assert is_about(name)
    assert not is_about("wording")


PHRASES = [["the house and the dog", "Haus und Hund"], ["the tree and the cat", "Baum und Katze"]] * 4


@pytest.mark.parametrize(
    ("first", "rows", "expected"),
    [
        (["good morning", "guten Morgen"], PHRASES, False),
        (["hello", "hallo"], PHRASES, False),
        (["neutral", "it is so so"], [["good", "it is fine so"], ["bad", "it is so dull"]] * 4, False),
        (["source", "target"], PHRASES, True),
        (["en", "de"], PHRASES, True),
        (["v1", "v2"], PHRASES, True),
        (["kind", "wording"], [["good", "it is fine so"], ["bad", "it is so dull"]] * 4, True),
        (["stage", "mark"], [["1", "good"], ["2", "bad"]] * 4, True),
        (["", "text"], [[str(n), "it is so"] for n in range(8)], True),
        (["5", "6"], [["1", "2"], ["3", "4"]] * 4, False),
        (["It was late.", "x"], [["1", "2"], ["3", "4"]] * 4, False),
        (["text", "text"], PHRASES, False),
        (["", ""], PHRASES, False),
    ],
)
def test_a_heading_is_one_by_its_words_and_by_how_it_differs(first, rows, expected):
    assert is_heading([first, *rows]) == expected


@pytest.mark.parametrize("name", ["spam", "generated", "clickbait", "stance"])
def test_the_one_column_beside_a_text_is_asked_about_where_few_cells_come_again(name):
    rows = [(f"a text of several words, number {n}", "yes" if n % 3 else "no") for n in range(30)]
    text, label = (list(cells) for cells in zip(*rows, strict=True))
    columns = [TableColumn("text", text), TableColumn(name, label)]
    found = choose_roles(columns)
    assert (found.roles, found.doubt) == ({"text": 0, "label": 1}, f"{name} may be the label")
    assert choose_roles([*columns, TableColumn("url", text)]).roles == {"text": 0}, "a corpus with more"
    about = choose_roles([columns[0], TableColumn("date", ["2024-01-01", "2024-01-02"] * 15)])
    assert (about.roles, about.doubt) == ({"text": 0}, "")
