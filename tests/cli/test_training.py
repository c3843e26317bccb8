"""A training from the command line: what it reads, how it ends, and how it goes on."""

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import said, start, train_words, wait_for
from patience import patience

from lmviz.base.errors import LmvizError
from lmviz.cli import run
from lmviz.training.run import Run


def test_what_the_text_is_cut_into_can_be_set(small_text, tmp_path, capsys):
    more = (
        "--tokenizer",
        "characters",
        "--set",
        "documents=line",
        "--set",
        "lower_case=true",
        "--steps",
        "2",
    )
    assert run(train_words("rnn", small_text, tmp_path / "run", *more)) == 0
    corpus = Run.open(tmp_path / "run").description.corpus
    assert corpus["marks_boundaries"] is True
    assert corpus["options"]["tokenizer"] == "characters"
    assert corpus["options"]["lower_case"] is True


def test_resuming_takes_no_more_than_the_folder(small_text, tmp_path, capsys):
    out = tmp_path / "run"
    run(train_words("gru", small_text, out, "--steps", "4"))
    capsys.readouterr()
    assert run(["train", "--resume", "--out", str(out), "--steps", "6", "--json"]) == 0
    assert said(capsys)[0]["step"] == 6


def test_a_run_whose_name_ends_like_a_step_is_forked(small_text, tmp_path, capsys):
    out = tmp_path / "rate@4"
    run(train_words("gru", small_text, out, "--steps", "6"))
    for named, step in ((out, 6), (f"{out}@4", 4)):
        assert (
            run(["train", "--fork", str(named), "--set", "steps=8", "--out", str(tmp_path / str(step))]) == 0
        )
        assert Run.open(tmp_path / str(step)).description.forked_from["step"] == step


def test_a_run_is_forked_with_another_rate(small_text, tmp_path, capsys):
    out, half = tmp_path / "run", tmp_path / "half"
    run(train_words("gru", small_text, out, "--steps", "6"))
    capsys.readouterr()
    words = ["train", "--fork", f"{out}@4", "--set", "learning_rate=0.001", "--out", str(half), "--json"]
    assert run(words) == 0
    assert said(capsys)[0]["step"] == 6
    assert Run.open(half).description.forked_from["step"] == 4
    assert Run.open(half).description.options.learning_rate == 0.001
    assert run(words) == 2
    assert "already holds a run: replace it with --overwrite, or name another folder." in said_of(capsys)
    assert run([*words, "--overwrite", "--family", "lstm"]) == 2
    assert "leave --family out" in said_of(capsys)
    assert run([*words, "--overwrite", "--set", "optimizer=sgd"]) == 0
    assert "The optimizer begins anew" in said_of(capsys)


def said_of(capsys):
    return capsys.readouterr().err


def test_what_a_text_is_for_is_recognised_said_and_told(tmp_path, monkeypatch, capsys):
    source, target, tagged = tmp_path / "x.en", tmp_path / "x.de", tmp_path / "tagged.txt"
    source.write_text("a cat\na dog\nyes\n", encoding="utf-8")
    target.write_text("eine Katze\n\nja\n", encoding="utf-8")
    tagged.write_text("time n\nflies v\n\nlike\n", encoding="utf-8")
    taken = []

    def prepare(family, corpus, *arguments, **settings):
        taken.append(corpus)
        raise LmvizError("That is enough.")

    monkeypatch.setattr("lmviz.api.training.prepare_training", prepare)
    rest = ["--family", "rnn", "--out", str(tmp_path / "run")]
    assert run(["train", "--corpus", str(source), "--target", str(target), *rest]) == 2
    said = capsys.readouterr().err
    assert "Two files, line by line: 2 pairs, and 1 line left out." in said
    assert "Line 2 is blank in x.de." in said
    assert run(["train", "--corpus", str(tagged), "--set", "task=tagging", *rest]) == 2
    assert "Line 4 has 1 column" in capsys.readouterr().err
    assert run(["train", "--corpus", str(tagged), *rest]) == 2
    assert [corpus.task for corpus in taken] == ["translation", "tagging", "next-token"]


@pytest.mark.slow
def test_a_training_killed_in_the_middle_resumes_to_the_same_weights(small_text, tmp_path, capsys):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    more = ("--steps", "400", "--set", "snapshots=6", "--set", "resume_seconds=1", "--set", "dropout=0.1")
    assert run(train_words("transformer", small_text, whole, *more)) == 0
    process = start(*train_words("transformer", small_text, killed, *more))
    wait_for(lambda: (killed / "resume" / "state.safetensors").exists(), process)
    process.kill()
    process.communicate()
    assert Run.open(killed).snapshots()[-1:] != [400]
    assert run(["train", "--resume", "--out", str(killed)]) == 0
    undisturbed, resumed = Run.open(whole).load_snapshot(400), Run.open(killed).load_snapshot(400)
    assert all((undisturbed[name] == resumed[name]).all() for name in undisturbed)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_ctrl_c_leaves_a_run_and_says_how_to_go_on(small_text, tmp_path):
    out = tmp_path / "run"
    process = start(*train_words("rnn", small_text, out, "--steps", "1000000", "--json"))
    wait_for(lambda: len(Run.open(out).snapshots()) > 3 if (out / "run.json").exists() else False, process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60 * patience())
    assert process.returncode == 130
    assert json.loads(output)["stopped"] != "finished"
    assert f"lmviz train --resume --out {out}" in errors
    assert Run.open(out).is_resumable


@pytest.mark.slow
def test_under_torchrun_one_process_speaks_for_all(small_text, tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "-m", "lmviz")
    words = train_words("rnn", small_text, tmp_path / "run", "--steps", "3", "--json")
    done = subprocess.run([sys.executable, *launcher, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["step"] == 3
    assert Run.open(tmp_path / "run").snapshots()[-1] == 3


@pytest.fixture
def far_run(small_text, tmp_path, monkeypatch):
    """A run whose text lies neither beside it nor in the folder one is in."""
    monkeypatch.chdir(tmp_path)
    assert run(train_words("rnn", small_text, Path("run"), "--steps", "3")) == 0
    return small_text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2)])
def test_a_text_outside_the_run_is_asked_for_at_a_terminal(far_run, monkeypatch, capsys, answer, code):
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    assert run(["train", "--resume", "--out", "run", "--steps", "5"]) == code
    said = capsys.readouterr().err
    assert f"run names {far_run} as its text. Read it?" in said
    assert ("name its text with --corpus" in said) == (code == 2)


def test_a_text_outside_the_run_is_named_where_nobody_can_be_asked(far_run, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert run(["train", "--resume", "--out", "run", "--steps", "5"]) == 0
    assert f"Reading {far_run}, which run names as its text." in capsys.readouterr().err


def test_a_text_that_is_given_or_lies_near_is_not_asked_for(far_run, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    assert run(["train", "--resume", "--out", "run", "--corpus", str(far_run), "--steps", "5"]) == 0
    out = str(Path("run").absolute())
    monkeypatch.chdir(far_run.parent)
    assert run(["train", "--resume", "--out", out, "--steps", "6"]) == 0
    assert "Read it?" not in capsys.readouterr().err


def test_a_run_is_overwritten_only_when_it_is_said(small_text, tmp_path, capsys):
    words = train_words("rnn", small_text, tmp_path / "run", "--steps", "2")
    assert run(words) == 0
    assert run(words) == 2
    told = capsys.readouterr().err
    assert "--resume" in told
    assert "--overwrite" in told
    assert run([*words, "--resume", "--overwrite"]) == 2
    assert run([*words, "--overwrite"]) == 0
