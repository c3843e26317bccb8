"""What cannot fit into memory is refused in a sentence, before the system ends the program for it."""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from lmviz.api.training import open_model, train
from lmviz.base import machine_memory as machine
from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import machine_memory
from lmviz.families import FAMILIES
from lmviz.text.corpus import load_corpus, text_corpus
from lmviz.training import cost
from lmviz.training.cost import check_memory, training_cost
from lmviz.training.options import TrainingOptions

TRANSFORMER = FAMILIES["transformer"].configuration


def test_the_machine_has_some_memory() -> None:
    memory = machine_memory()
    assert memory is None or memory > 2**27


def test_a_length_of_nought_is_the_context() -> None:
    given = training_cost(TRANSFORMER(context=32), TrainingOptions(length=32), 100)
    assert training_cost(TRANSFORMER(context=32), TrainingOptions(), 100) == given


def test_what_fits_is_let_through_and_what_does_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    options = TrainingOptions(device="cpu")
    needed = training_cost(TRANSFORMER(), options, 100).bytes
    monkeypatch.setattr(cost, "machine_memory", lambda: needed)
    check_memory(training_cost(TRANSFORMER(), options, 100), options)
    monkeypatch.setattr(cost, "machine_memory", lambda: needed - 1)
    with pytest.raises(LmvizError, match="smaller model"):
        check_memory(training_cost(TRANSFORMER(), options, 100), options)


def test_a_graphics_card_has_its_own_memory_and_the_machine_needs_room_for_the_weights_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = training_cost(TRANSFORMER(), TrainingOptions(), 100)
    monkeypatch.setattr(cost, "machine_memory", lambda: whole.bytes - 1)
    check_memory(whole, TrainingOptions(device="cuda"))
    for has_card in (True, False):
        monkeypatch.setattr("torch.cuda.is_available", lambda has=has_card: has)
        monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
        with nullcontext() if has_card else pytest.raises(LmvizError, match="smaller model"):
            check_memory(whole, TrainingOptions(device="auto"))
    monkeypatch.setattr(cost, "machine_memory", lambda: 4 * whole.parameters - 1)
    with pytest.raises(LmvizError, match="smaller model"):
        check_memory(whole, TrainingOptions(device="cuda"))


def test_a_limit_of_its_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine, "GROUP_LIMITS", (str(limit),))
    limit.write_text("123456789\n")
    assert machine_memory() == 123_456_789
    limit.write_text("max\n")
    assert machine_memory() != 123_456_789


def test_a_system_that_does_not_say_how_much_memory_it_has_is_not_held_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> int:
        raise ValueError(f"unrecognized configuration name {name}")

    monkeypatch.setattr(machine.os, "sysconf", unknown, raising=False)
    monkeypatch.setattr(machine, "GROUP_LIMITS", (str(tmp_path / "no such file"),))
    assert machine_memory() is None
    check_memory(training_cost(TRANSFORMER(), TrainingOptions(), 100), TrainingOptions(device="cpu"))


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("the/d cat/n runs/v\ncats/n run/v\n", {}),
        ("good\ta fine film\nbad\ta dull film\n", {"pooling": "attention"}),
        ("one two\tuno dos y tres\nthree\ttres\n", {}),
    ],
)
def test_the_cost_on_a_corpus_is_that_of_the_model_that_is_trained_on_it(
    text: str, settings: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text(text * 4, encoding="utf-8")
    corpus = load_corpus(tmp_path / "text.txt", validation=0)
    assert corpus.task != "next-token"
    found = cost.cost_on(FAMILIES["gru"].configuration(width=6, **settings), TrainingOptions(batch=2), corpus)
    train("gru", corpus, tmp_path / "run", steps=1, batch=2, width=6, **settings)
    assert found.parameters == open_model(tmp_path / "run").parameter_count()


def test_a_text_without_examples_is_read_in_excerpts_of_the_usual_length() -> None:
    corpus, options = text_corpus("the cows eat grass " * 40, "meadow"), TrainingOptions()
    for family in ("gru", "transformer"):
        configuration = FAMILIES[family].configuration()
        expected = training_cost(configuration, options, corpus.tokenizer.vocabulary_size)
        assert cost.cost_on(configuration, options, corpus) == expected


def test_longer_examples_cost_more(tmp_path: Path) -> None:
    configuration, costs = FAMILIES["gru"].configuration(width=6), []
    for words in (3, 6):
        (tmp_path / "text.txt").write_text(f"good\t{'a film ' * words}\nbad\t{'no film ' * words}\n" * 4)
        corpus = load_corpus(tmp_path / "text.txt", task="classification", validation=0)
        costs.append(cost.cost_on(configuration, TrainingOptions(batch=2), corpus))
    assert costs[1].operations_per_step == 2 * costs[0].operations_per_step


def test_a_training_that_cannot_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    corpus = text_corpus("the cows eat grass " * 40, "meadow")
    with pytest.raises(LmvizError, match="GB of memory"):
        train("transformer", corpus, tmp_path / "run", width=16384, layers=64, heads=16, device="cpu")
    assert not (tmp_path / "run").exists()


def test_the_cost_is_known_without_torch() -> None:
    code = "import sys, lmviz.training.cost; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
