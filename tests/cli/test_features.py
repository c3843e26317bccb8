"""Features found from the command line, and written for another program."""

from command_line import said

import lmviz
from lmviz.cli import run

TEXT = "Maya owned a brown stone. She put it in the barrel. Later, Maya opened the barrel.\n"
SMALL = ["--tap", "hidden", "--size", "8", "-k", "2", "--tokens", "400", "--set", "batch=40"]


def test_features_are_planned_found_and_written_for_another_program(tmp_path, capsys):
    text, out = tmp_path / "text.txt", tmp_path / "features"
    text.write_text(TEXT * 30, encoding="utf-8")
    words = ["features", "stories-window", str(text), *SMALL]
    assert run([*words, "--plan", "--json"]) == 0
    assert said(capsys)[0]["tap"] == "hidden"
    assert run([*words, "--out", str(out), "--json"]) == 0
    found, _ = said(capsys)
    features = lmviz.open_features(out)
    assert (found["size"], found["loss_mean"]) == (8, features.worth.loss_mean)
    assert run(["features", str(out), "--form", "saelens", "--out", str(tmp_path / "sae"), "--json"]) == 0
    assert said(capsys)[0] == {"written": str(tmp_path / "sae")}
    assert lmviz.open_features(tmp_path / "sae").size == 8
    assert run([*words, "--out", str(out)]) == 2
    assert "holds features already" in capsys.readouterr().err
    assert run(words) == 2
    assert "--out" in capsys.readouterr().err
