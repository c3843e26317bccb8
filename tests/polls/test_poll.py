"""What a poll computes: its choices, the right one, and numbers as they are written."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.polls.poll import Poll, PollChoice, is_written, numbers_in, written
from lmviz.polls.poll_file import open_poll, shipped_polls
from lmviz.text.resources import resource_path


@pytest.fixture
def order() -> Poll:
    return shipped_polls()[0]


def texts(poll: Poll) -> dict[str, str]:
    return {choice.letter: choice.text for choice in poll.filled}


def test_with_two_layers_another_choice_is_right(order: Poll) -> None:
    poll = order.with_experiment(replace(order.experiment, layers=2))
    right = poll.find_right()
    assert texts(poll)[right.letter] == "0.4691, 0.268, 2.2411, 0.1424"
    assert texts(poll)["A"] == "0.3839, 0.4427, 2.0226, 0.1621"
    assert right.letter != "A"


def test_without_the_mask_the_first_is_right_again(order: Poll) -> None:
    poll = order.with_experiment(replace(order.experiment, layers=2, causal=False))
    assert poll.find_right().letter == "A"


def test_choices_that_come_out_the_same_stand_there_once(order: Poll) -> None:
    assert len(order.choices) == 4
    assert list(texts(order)) == ["A", "B", "C"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0.1, −0.25", [(0.1, 1), (-0.25, 2)]),
        ("about 3e-2", [(0.03, 2)]),
        ("[2 -1]", [(2, 0), (-1, 0)]),
        ("none", []),
    ],
)
def test_numbers_are_found_with_their_decimals(text: str, found: list[tuple[float, int]]) -> None:
    assert numbers_in(text) == found


def test_a_number_is_right_to_its_last_decimal() -> None:
    assert is_written(np.array([0.7224, 0.1341]), "0.72, 0.13")
    assert not is_written(np.array([0.7224, 0.1341]), "0.73, 0.13")
    assert not is_written(np.array([0.7224]), "0.72, 0.13")
    assert is_written(np.array([0.46909, -1e-9]), written(np.array([0.46909, -1e-9])))


@pytest.mark.parametrize("size", ["1e309", "-1e309", f"1e{'9' * 5000}", f"1e-{'9' * 5000}"])
def test_a_number_of_any_size_may_be_a_choice(size: str) -> None:
    assert not is_written(np.array([2.0]), size)


def test_where_no_choice_has_the_numbers_none_is_right() -> None:
    poll = Poll("t", "q", (PollChoice("A", "1"), PollChoice("B", "2")), network="y = square(3)", value="y")
    right = poll.find_right()
    assert (right.letter, right.computed) == ("", "9")


def test_the_likeliest_text_is_the_model_s(tmp_path: Path) -> None:
    lmviz.train("ngram", lmviz.load_corpus("farm"), tmp_path / "run", order=3)
    model = lmviz.open_model(tmp_path / "run")
    poll = next(poll for poll in shipped_polls() if poll.needs_model)
    right = poll.find_right(model)
    scores = {
        choice.letter: text_log_probabilities(model, f"the cows eat {choice.text}").log_probability
        for choice in poll.choices
    }
    assert right.letter == max(scores, key=lambda letter: scores[letter])
    assert texts(poll)[right.letter] == "corn"
    assert right.computed.startswith("log-probabilities of the text: corn")
    assert right.said_by == "run", "a model is named with its opinion"
    with pytest.raises(LmvizError, match="open a language model"):
        poll.find_right()


def test_a_model_that_finds_two_texts_as_likely_to_within_rounding_has_no_opinion() -> None:
    poll = open_poll(next(resource_path("lectures").glob("*/stone.poll")))
    scores = {
        choice.letter: text_log_probabilities(model, f"{poll.likeliest_after} {choice.text}").log_probability
        for model in [lmviz.open_model("stories-5-gram")]
        for choice in poll.choices
    }
    assert 0 < abs(scores["A"] - scores["B"]) < 0.05, "needle and stone"
    right = poll.find_right(lmviz.open_model("stories-5-gram"))
    assert (right.letters, right.letter) == (("A", "B"), "")


def test_two_choices_that_state_the_same_number_are_both_right() -> None:
    choices = (PollChoice("A", "9"), PollChoice("B", "9.0"), PollChoice("C", "8"))
    assert Poll("t", "q", choices, network="y = square(3)", value="y").find_right().letters == ("A", "B")
