"""The four commands on files as they are found: odd CoNLL-U, a quoted CSV, two parallel texts."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmviz.cli import run

TREEBANK = """\
# newdoc id = weblog-1
# text = Don't fly like that!
1-2	Don't	_	_	_	_	_	_	_	SpaceAfter=No
1	Do	do	AUX	VB	Mood=Imp|VerbForm=Fin	3	aux	3:aux	_
2	n't	not	PART	RB	_	3	advmod	3:advmod	_
3	fly	fly	VERB	VB	Mood=Imp|VerbForm=Fin	0	root	0:root	_
4	like	like	ADP	IN	_	5	case	5:case	_
5	that	that	PRON	DT	Number=Sing|PronType=Dem	3	obl	3:obl:like	SpaceAfter=No
5.1	so	so	ADV	RB	_	_	_	3:advmod	_
6	!	!	PUNCT	.	_	3	punct	3:punct	_

1	Time	time	NOUN	NN	Number=Sing	2	nsubj	2:nsubj	_
2	flies	fly	VERB	VBZ	Number=Sing|Person=3	0	root	0:root	_

"""
ROWS = """\
good,"a film, in short, to like"
bad,"they call it ""art""
and mean it"
good,not dull
bad,dull
"""
ENGLISH, GERMAN = (
    "two dogs\na red car .\nthe cat sleeps\n",
    "zwei Hunde\nein rotes Auto .\ndie Katze schläft\n",
)


@dataclass(frozen=True)
class Case:
    """Files by name, the corpus first; what is said of them, what learns from them, and what that is asked.

    So many labels come as `answers`, and as many targets are `measured`; `tap` is what only such models have.
    """

    files: dict[str, str]
    said: str
    family: str
    setting: str
    question: tuple[str, ...]
    measured: int
    tap: str
    answers: int = 0
    target: str = ""


CASES = {
    "a treebank": Case(
        files={"treebank.conllu": TREEBANK * 6},
        said="CoNLL-U: 12 sentences, 7 tags.",
        family="gru",
        setting="direction=both",
        question=("--text", "Time flies like that !"),
        measured=6 * 8,
        tap="layers/0/joined",
        answers=5,
    ),
    "a table": Case(
        files={"reviews.csv": "label,text\n" + ROWS * 8},
        said="A table with a heading: 32 texts, 2 classes (bad, good).",
        family="lstm",
        setting="pooling=attention",
        question=("--text", "not dull"),
        measured=32,
        tap="pooling/weights",
        answers=1,
    ),
    "two files": Case(
        files={"pairs.en": ENGLISH * 8, "pairs.de": GERMAN * 8},
        said="Two files, line by line: 24 pairs.",
        family="gru",
        setting="attention=dot",
        question=("--source", "two dogs"),
        measured=24,
        tap="attention/weights",
        target="pairs.de",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_recognised_learned_from_judged_asked_and_traced(name: str, tmp_path: Path, capsys) -> None:
    case = CASES[name]
    for file, text in case.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")

    def command(*words: str) -> tuple[dict[str, Any], str]:
        assert run([*words, "--json"]) == 0
        told = capsys.readouterr()
        return json.loads(told.out), told.err

    corpus, out = str(tmp_path / next(iter(case.files))), str(tmp_path / "run")
    target = ("--target", str(tmp_path / case.target)) if case.target else ()
    settings = [word for setting in ("width=6", "batch=4", case.setting) for word in ("--set", setting)]
    learning = ("--family", case.family, "--steps", "4", "--out", out, *settings)
    trained, said = command("train", "--corpus", corpus, *target, *learning)
    assert case.said in said
    assert trained["validation_loss"] > 0
    judged, _ = command("evaluate", out, corpus, *target)
    assert judged["sentences" if case.target else "tokens"] == case.measured
    answered, _ = command("predict", out, *case.question)
    assert len(answered.get("labels", ())) == case.answers
    assert ("alignment" in answered) == bool(case.target)
    asked = case.question if not case.target else (*case.question, "--text", "zwei")
    command("trace", out, *asked, "--out", str(tmp_path / "trace.npz"))
    with np.load(tmp_path / "trace.npz") as arrays:
        assert np.isfinite(arrays[case.tap]).all()


SPAM = "v1,v2,,,\n" + "ham,Go until jurong point,,,\nspam,Free entry for £2,,,\nham,Ok lar,,,\n" * 8


def test_a_run_is_judged_on_what_it_has_not_learned_from(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spam.csv").write_bytes(SPAM.encode("cp1252"))
    learning = ("--family", "gru", "--steps", "2", "--set", "width=4", "--set", "batch=4", "--out", "run")
    columns = ("--set", "columns=label=v1,text=v2", "--set", "encoding=cp1252")
    assert run(["train", "--corpus", "spam.csv", *learning, *columns, "--json"]) == 0
    assert "The label is in v1, and the text is in v2." in capsys.readouterr().err
    assert run(["evaluate", "run", "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert judged["tokens"] == 2  # a tenth of 24 texts
    assert run(["evaluate", "run", "spam.csv", *columns, "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["tokens"] == 24
    assert "run has learned from spam.csv: without FILE it is judged on" in told.err
    assert run(["evaluate", "run", "spam.csv", "--set", "width=4"]) == 2
    assert "has no setting 'width'" in capsys.readouterr().err
    assert run(["train", "--resume", "--out", "run", "--steps", "3", "--json"]) == 0


def test_a_run_without_a_held_out_part_needs_a_file(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("the cow eats hay\n" * 9)
    learning = ("--family", "ngram", "--steps", "1", "--set", "validation=0", "--out", "run")
    assert run(["train", "--corpus", "a.txt", *learning, "--json"]) == 0
    assert run(["evaluate", "run"]) == 2
    assert "No part of the text of run was held out: name a file" in capsys.readouterr().err
