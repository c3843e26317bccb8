"""The command line from end to end, in this process where that shows the same."""

import io
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from small_models import small_settings

from lmviz.cli import main, run
from lmviz.cli.terminal import duration, finite, prepare_streams, print_json, say
from lmviz.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.training.run import Run

RNN = ["train", "--corpus", "farm", "--family", "rnn", "--out", "x"]


def train_words(family: str, text: Path, out: Path, *more: str) -> list[str]:
    sizes = [f"{name}={value}" for name, value in small_settings(family).items()]
    settings = [word for size in sizes for word in ("--set", size)]
    return ["train", "--corpus", str(text), "--family", family, *settings, "--out", str(out), *more]


def said(capsys: pytest.CaptureFixture[str]) -> tuple[dict, str]:
    """The one JSON object on standard output, and what is on standard error."""
    captured = capsys.readouterr()
    return json.loads(captured.out, parse_constant=pytest.fail), captured.err


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_becomes_a_model_that_can_be_asked(family, small_text, tmp_path, capsys):
    out = tmp_path / "run"
    assert run(train_words(family, small_text, out, "--steps", "15", "--seed", "1", "--json")) == 0
    trained, _ = said(capsys)
    assert (trained["family"], trained["step"], trained["stopped"]) == (family, 15, "finished")
    assert trained["parameters"] > 0
    assert trained["validation_loss"] > 0

    assert run(["evaluate", str(out), str(small_text), "--json"]) == 0
    score, _ = said(capsys)
    figures = {"tokens", "negative_log_likelihood", "perplexity", "bits_per_character"}
    assert set(score) == figures | {"unknown", "unknown_share"}
    assert score["perplexity"] == pytest.approx(math.exp(score["negative_log_likelihood"]))

    assert run(["sample", str(out), "--prefix", "The cow", "--tokens", "5", "--top-k", "3", "--json"]) == 0
    sample, _ = said(capsys)
    assert sample["text"].startswith("The cow")
    assert len(sample["tokens"]) == 5
    assert all(0 < token["probability"] <= 1 and 0 <= token["draw"] < 1 for token in sample["tokens"])

    assert (
        run(["trace", str(out), "--text", "The cow eats", "--out", str(tmp_path / "trace.npz"), "--json"])
        == 0
    )
    trace, _ = said(capsys)
    assert trace["arrays"]["logits"]["axes"] == ["position", "token"]
    with np.load(tmp_path / "trace.npz") as arrays:
        assert [str(token) for token in arrays["tokens"]] == ["The", "cow", "eats"]
        assert arrays["probabilities"].sum(axis=1) == pytest.approx(1, abs=1e-4)


def test_without_json_people_read_sentences(small_text, tmp_path, capsys):
    out = tmp_path / "run"
    assert run(train_words("rnn", small_text, out, "--steps", "3")) == 0
    assert run(["evaluate", str(out), str(small_text)]) == 0
    assert run(["sample", str(out), "--prefix", "The"]) == 0
    assert (
        run(["trace", str(out), "--text", "The", "--out", str(tmp_path / "t.npz"), "--taps", "*/hidden"]) == 0
    )
    assert run(["models", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert f"{out}: rnn, " in captured.out
    assert "nats per token" in captured.out
    assert "layers/0/hidden" in captured.out
    assert "logits" not in captured.out
    assert "validation" in captured.err


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


def test_a_probability_of_zero_is_null_in_json(small_text, tmp_path, capsys):
    out, other = tmp_path / "run", tmp_path / "other.txt"
    run(train_words("ngram", small_text, out, "--set", "smoothing=maximum-likelihood", "--steps", "2"))
    other.write_text("corn eats The cow . cow cow\n" * 2, encoding="utf-8")
    capsys.readouterr()
    assert run(["evaluate", str(out), str(other), "--json"]) == 0
    score, _ = said(capsys)
    assert score["perplexity"] is None


def test_resuming_takes_no_more_than_the_folder(small_text, tmp_path, capsys):
    out = tmp_path / "run"
    run(train_words("gru", small_text, out, "--steps", "4"))
    capsys.readouterr()
    assert run(["train", "--resume", "--out", str(out), "--steps", "6", "--json"]) == 0
    assert said(capsys)[0]["step"] == 6


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nonsense"], "There is no file, run or command 'nonsense'"),
        (["trian"], "did you mean train?"),
        (["--nonsense"], "No such option"),
        (["train", "--family", "lstm", "--out", "x"], "without --corpus"),
        (["train", "--corpus", "farm", "--out", "x"], "without --family"),
        (["train", "--corpus", "farm", "--family", "lstm"], "Missing option '--out'"),
        (["train", "--corpus", "farm", "--family", "bert", "--out", "x"], "There is no family 'bert'"),
        (["train", "--corpus", "nowhere.txt", "--family", "rnn", "--out", "x"], "nowhere.txt"),
        ([*RNN, "--set", "width"], "not of the form"),
        (
            [*RNN, "--set", "width=-1"],
            "must be at least",
        ),
        (
            [*RNN, "--set", "with=1"],
            "did you mean width?",
        ),
        (["train", "--resume", "--out", "x"], "without --corpus"),
        (["evaluate", "nowhere", "x.txt"], "There is no run at nowhere"),
        (["sample", "nowhere", "--tokens", "0"], "--tokens"),
        (["models", "--step", "3"], "No such option"),
        (["x" * 5000], "There is no file, run or command"),
        (["sample", "x" * 5000], "There is no run at"),
        (["sample", ""], "There is no run at"),
        (["train", "--corpus", "", "--family", "rnn", "--out", "x"], "There is no file to read"),
        (["train", "--corpus", "farm", "--family", "rnn", "--out", ""], "There is no folder to write"),
        (["models", "nowhere"], "There is no folder 'nowhere'"),
        (["one", "two"], "(two): see `lmviz --help`."),
        (["trace", "stories-5-gram", "--text", "x", "--out", ""], "'.' cannot be written"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err
    assert captured.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_path_opens_the_window_unless_it_is_a_command(tmp_path, monkeypatch, small_text):
    import lmviz.app.main

    opened = []
    monkeypatch.setattr(lmviz.app.main, "main", lambda path: opened.append(path) or 7)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").write_text("a text with the name of a command", encoding="utf-8")
    assert [run([]), run([str(small_text)]), run(["./models"]), run(["models", "--json"])] == [7, 7, 7, 0]
    assert opened == [None, str(small_text), "./models"]


def test_the_lists_are_one_object_each(capsys):
    assert run(["models", "--json"]) == 0
    assert isinstance(said(capsys)[0]["models"], list)
    assert run(["corpora", "--json"]) == 0
    tasks = {entry["name"]: entry["task"] for entry in said(capsys)[0]["corpora"]}
    assert tasks.items() >= {"farm": "next-token", "ambiguous": "tagging", "twin": "translation"}.items()
    run(["doctor", "--json"])
    assert {"python", "torch", "libraries"} <= {finding["name"] for finding in said(capsys)[0]["findings"]}


def test_what_a_text_is_for_is_recognised_said_and_told(tmp_path, monkeypatch, capsys):
    source, target, tagged = tmp_path / "x.en", tmp_path / "x.de", tmp_path / "tagged.txt"
    source.write_text("a cat\na dog\nyes\n", encoding="utf-8")
    target.write_text("eine Katze\n\nja\n", encoding="utf-8")
    tagged.write_text("time n\nflies v\n\nlike\n", encoding="utf-8")
    taken = []

    def prepare(family, corpus, *arguments, **settings):
        taken.append(corpus)
        raise LmvizError("That is enough.")

    monkeypatch.setattr("lmviz.api.prepare_training", prepare)
    rest = ["--family", "rnn", "--out", str(tmp_path / "run")]
    assert run(["train", "--corpus", str(source), "--target", str(target), *rest]) == 2
    said = capsys.readouterr().err
    assert "Two files, line by line: 2 pairs, and 1 line left out." in said
    assert "Line 2 is blank in x.de." in said
    assert run(["train", "--corpus", str(tagged), "--set", "task=tagging", *rest]) == 2
    assert "Line 4 has 1 column" in capsys.readouterr().err
    assert run(["train", "--corpus", str(tagged), *rest]) == 2
    assert [corpus.task for corpus in taken] == ["translation", "tagging", "next-token"]


def test_help_comes_without_torch_and_at_once():
    code = (
        "import sys, time; from lmviz.cli import run; run(['--help'])\n"
        "print('torch' in sys.modules, time.process_time())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, seconds = done.stdout.split()[-2:]
    assert loaded == "False"
    assert float(seconds) < 0.4


def test_every_setting_is_explained_in_the_help_of_train(capsys):
    assert run(["train", "--help"]) == 0
    helped = capsys.readouterr().out
    names = set().union(*(family.configuration.names() for family in FAMILIES.values()))
    assert all(f"{name}=" in helped for name in names | {"learning_rate", "documents"})


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lmviz", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition, process: subprocess.Popen[str]) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_ctrl_c_leaves_a_run_and_says_how_to_go_on(small_text, tmp_path):
    out = tmp_path / "run"
    process = start(*train_words("rnn", small_text, out, "--steps", "1000000", "--json"))
    wait_for(lambda: len(Run.open(out).snapshots()) > 3 if (out / "run.json").exists() else False, process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
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


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_any_encoding_takes_what_is_printed(encoding, tmp_path, monkeypatch):
    odd = tmp_path / "☃ 🦇 é"
    written, complained = io.BytesIO(), io.BytesIO()
    for name, stream in (("stdout", written), ("stderr", complained)):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(stream, encoding=encoding, write_through=True))
    for words, codes in ((["doctor"], (0, 1)), (["models", str(odd)], (2,))):
        monkeypatch.setattr(sys, "argv", ["lmviz", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in codes
    assert "Python" in written.getvalue().decode(encoding)
    assert complained.getvalue().decode(encoding).startswith("There is no folder")
    assert "\\u2603" in complained.getvalue().decode(encoding)


def test_json_is_exact_in_every_encoding(monkeypatch):
    values = {"prefix": "☃ 🦇 é \udcff"}
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    print_json(values)
    assert json.loads(sys.stdout.getvalue()) == values
    for encoding in ("ascii", "utf-8"):
        written = io.BytesIO()
        stream = io.TextIOWrapper(written, encoding=encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        prepare_streams()
        print_json(values)
        stream.flush()
        assert json.loads(written.getvalue()) == values


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux alone has a device that is always full")
@pytest.mark.parametrize("words", [["models"], ["corpora", "--json"], ["--help"]])
def test_output_that_cannot_be_written_is_one_sentence(words):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "lmviz", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "The output could not be used" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_program_without_a_console_prints_nowhere(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    prepare_streams()
    say("nobody reads this")
    print_json({"a": 1})
    sys.stdout.close()
    sys.stderr.close()


def test_numbers_that_json_does_not_have_become_null():
    assert finite({"a": [math.nan, 1.5], "b": (math.inf, {"c": -math.inf})}) == {
        "a": [None, 1.5],
        "b": [None, {"c": None}],
    }


def test_durations_read_like_clocks():
    assert [duration(seconds) for seconds in (0.4, 61, 3661)] == ["0:00", "1:01", "1:01:01"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("", "There is no file of the name '': leave it out"),
        (" ", "There is no file of the name ' ': leave it out"),
        ("nothing.txt", "There is no file, run or command 'nothing.txt'"),
        ("nothing\0", "There is no file, run or command 'nothing\\x00'"),
        ("\udcff", "There is no file, run or command '\\udcff'"),
        ("empty", "The folder empty is empty"),
        ("pipe", "pipe cannot be opened (it is no ordinary file)"),
        ("/dev/zero", "/dev/zero cannot be opened (it is no ordinary file)"),
        ("a" * 5000, "There is no file, run or command 'aaa"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="pipes and devices are files on POSIX systems")
@pytest.mark.timeout(30)
def test_what_cannot_be_opened_is_a_sentence_and_no_window(capsys, tmp_path, monkeypatch, path, sentence):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    os.mkfifo("pipe")
    monkeypatch.setattr("lmviz.app.main.main", lambda path=None: pytest.fail("a window opened"))
    assert run([path]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert len(said) < 1000


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


def test_models_are_converted_and_a_checkpoint_is_examined(tmp_path, capsys):
    out = tmp_path / "out"
    assert run(["convert", "shakespeare-transformer", str(out), "--json"]) == 0
    assert said(capsys)[0] == {"written": str(out)}
    assert run(["doctor", str(out), "--json"]) == 0
    found, _ = said(capsys)
    assert found["sound"]
    assert "GPT-2" in found["findings"][0]["sentence"]
    assert run(["sample", str(out), "--prefix", "First", "--tokens", "3", "--seed", "1", "--json"]) == 0
    sampled, _ = said(capsys)
    assert (
        run(["sample", "shakespeare-transformer", "--prefix", "First", "--tokens", "3", "--seed", "1"]) == 0
    )
    assert capsys.readouterr().out.strip() == sampled["text"].strip()
    (out / "model.safetensors").unlink()
    assert run(["doctor", str(out)]) == 1
    assert "holds no weights" in capsys.readouterr().out
    assert run(["doctor", str(tmp_path / "nothing")]) == 2
    assert "There is no checkpoint" in capsys.readouterr().err


def test_an_ngram_is_converted_and_opened_again(tmp_path, capsys):
    out = tmp_path / "stories.arpa"
    assert run(["convert", "stories-5-gram", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert run(["convert", "stories-gru", str(tmp_path / "gru.arpa")]) == 2
    assert "Only an n-gram" in capsys.readouterr().err
    assert run(["sample", str(out), "--prefix", "Maya", "--tokens", "3", "--seed", "1", "--json"]) == 0
    assert said(capsys)[0]["text"].startswith("Maya")
