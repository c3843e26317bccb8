"""Models written for other programs, and their checkpoints examined."""

import pytest
from command_line import said

from lmviz.cli import run


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


@pytest.mark.slow
def test_an_ngram_is_converted_and_opened_again(tmp_path, capsys):
    out = tmp_path / "stories.arpa"
    assert run(["convert", "stories-5-gram", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert run(["convert", "stories-gru", str(tmp_path / "gru.arpa")]) == 2
    assert "Only an n-gram" in capsys.readouterr().err
    assert run(["convert", str(out), str(tmp_path / "again.arpa")]) == 2
    assert "is in ARPA format already" in capsys.readouterr().err
    assert run(["sample", str(out), "--prefix", "Maya", "--tokens", "3", "--seed", "1", "--json"]) == 0
    assert said(capsys)[0]["text"].startswith("Maya")
