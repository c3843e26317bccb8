"""Tables with columns of any kind, in any order and written in any way: what is told is what is read."""

import csv
import io
import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text.corpus import load_corpus
from lmviz.text.forms import recognise
from lmviz.text.table import SEPARATORS

_SAID = "the an old new house river cat, dog sees; likes and “or” it's 7 Zoë large small runs away"
WORDS = _SAID.split()
_CALLED = (
    "id url title date created_at score n_tokens language source meta.kind author user split domain license "
    "path index rank timestamp length quality spam toxic group mark notes field_1 x y wing hue Unnamed Name "
    "articleId crawl seen views is_new version color weight.kg 名前 größe"
)
NAMES = _CALLED.split()


def _text(random: Random, least: int = 5, most: int = 30) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(least, most)))


KINDS = {
    "texts": lambda random, n: _text(random),
    "titles": lambda random, n: _text(random, 1, 4).title(),
    "numbers": lambda random, n: str(random.randint(0, 10 ** random.randint(1, 9))),
    "shares": lambda random, n: f"{random.random():.4f}",
    "counted": lambda random, n: str(n),
    "flags": lambda random, n: random.choice(["0", "1"]),
    "truths": lambda random, n: random.choice(["true", "false"]),
    "kinds": lambda random, n: random.choice(["good", "bad", "so so"]),
    "languages": lambda random, n: random.choice(["en", "de", "fr"]),
    "dates": lambda random, n: f"20{n % 25:02}-0{random.randint(1, 9)}-1{n % 10}",
    "times": lambda random, n: f"20{n % 25:02}-04-25T12:{random.randint(10, 59)}:00Z",
    "addresses": lambda random, n: f"https://a{n % 3}.org/{_text(random, 1, 2).replace(' ', '/')}?q={n}",
    "ids": lambda random, n: f"{random.getrandbits(64):016x}",
    "blank": lambda random, n: random.choice(["", "", "seen"]),
    "always": lambda random, n: "web",
}


class AnyTable:
    """A table drawn at random, some of whose columns have names; with `named` one of texts is called text."""

    def __init__(self, random: Random, *, named: bool) -> None:
        count = random.randint(8, 40)
        kinds = [random.choice(list(KINDS)) for _ in range(random.randint(1, 6))]
        self.names = random.sample(NAMES, len(kinds))
        if named:
            place = random.randrange(len(kinds) + 1)
            kinds.insert(place, "texts")
            self.names.insert(place, random.choice(["text", "Text", "text", "TEXT"]))
        self.rows = [[KINDS[kind](random, n) for kind in kinds] for n in range(count)]
        self.way = random.choice(["csv", "csv", "jsonl", "json"]) if len(kinds) > 1 else "jsonl"
        self.separator = random.choice(list(SEPARATORS.values()))
        self.quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        self.indent = random.choice([None, 2])

    @property
    def name(self) -> str:
        return f"any.{self.way}"

    @property
    def text(self) -> str:
        entries = [dict(zip(self.names, row, strict=True)) for row in self.rows]
        if self.way == "jsonl":
            return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        if self.way == "json":
            return json.dumps(entries, indent=self.indent)
        made = io.StringIO()
        csv.writer(made, delimiter=self.separator, quoting=self.quoting).writerows([self.names, *self.rows])
        return made.getvalue()

    def column(self, place: int) -> list[str]:
        return [row[place].strip() for row in self.rows]


@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_column_named_text_is_a_corpus_and_hardly_ever_anything_else(count):
    wrong, doubted = [], 0
    for seed in range(count):
        table = AnyTable(Random(seed), named=True)
        found = recognise(table.name, table.text.encode())
        assert found is not None, (seed, table.names)
        if found.doubt:
            doubted += 1
        elif set(found.roles) != {"text"} or found.names[found.roles["text"]].lower() != "text":
            wrong.append((seed, table.names, found))
    assert len(wrong) <= count / 1000, wrong
    assert doubted <= count / 30  # most are of two columns, of which the other has few words


TOLD = {"next-token": ("text",), "classification": ("label", "text"), "translation": ("source", "target")}


@given(random=st.randoms(use_true_random=False), task=st.sampled_from(sorted(TOLD)), by_number=st.booleans())
@settings(max_examples=80)
def test_what_is_told_is_what_is_read(tmp_path_factory, random, task, by_number):
    table = AnyTable(random, named=random.random() < 0.5)
    roles = TOLD[task]
    if len(table.names) < len(roles):
        return
    places = random.sample(range(len(table.names)), len(roles))
    told = (str(place + 1) if by_number else table.names[place] for place in places)
    columns = ",".join(f"{role}={name}" for role, name in zip(roles, told, strict=True))
    rows = list(zip(*map(table.column, places), strict=True))
    whole = [row for row in rows if all(row)]
    path = tmp_path_factory.getbasetemp() / table.name
    path.write_text(table.text, encoding="utf-8")
    heading = {"heading": "yes"} if table.way == "csv" else {}
    told = {"columns": columns, "validation": 0, "tokenizer": "characters", **heading}
    if not whole:
        with pytest.raises(LmvizError):
            load_corpus(path, **told)
        return
    corpus = load_corpus(path, **told)
    assert corpus.task == task
    texts = list(corpus.training_documents)
    assert texts == [row[roles.index("text" if "text" in roles else "source")] for row in whole]
    if task == "classification":
        examples = corpus.training_examples
        assert [corpus.labels[int(answer[0])] for answer in examples.target] == [row[0] for row in whole]
    if task == "translation":
        assert list(corpus.target_streams[0].documents) == [row[1] for row in whole]


@given(random=st.randoms(use_true_random=False), form=st.sampled_from(["plain", "own"]))
@settings(max_examples=40)
def test_a_form_that_is_told_is_what_is_read(tmp_path_factory, random, form):
    table = AnyTable(random, named=True)
    path = tmp_path_factory.getbasetemp() / f"{table.way}.txt"
    path.write_text(table.text, encoding="utf-8", newline="\n")
    own = "table" if table.way == "csv" else table.way
    settings_of_table = {"form": "plain"} if form == "plain" else {"form": own, "columns": "text=text"}
    if "text" not in table.names and form == "own":
        return
    corpus = load_corpus(path, validation=0, tokenizer="characters", boundary="none", **settings_of_table)
    if form == "plain":
        assert corpus.training_text.split() == table.text.split()
    else:
        assert list(corpus.training_documents) == table.column(table.names.index("text"))
