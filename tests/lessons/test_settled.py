"""Nothing is said of what is on its way: no value of a lesson is read off what is about to be replaced."""

from types import SimpleNamespace
from typing import get_args

import pytest

from lmviz.lessons.answers import is_right, reply_to, right_answer
from lmviz.lessons.condition import parse_condition
from lmviz.lessons.expression import parse
from lmviz.lessons.faults import NotKnown, StillComing
from lmviz.lessons.lesson import LessonQuestion, Reply
from lmviz.lessons.situation import READ_OFF, Settled, Situation, Source
from lmviz.lessons.values import VALUES, look_up

PUT_THERE = {
    *("perspective", "control", "pressed", "planned", "prefix", "source", "interventions", "changes"),
    *("position", "pinned", "sampling"),
    *("training", "trained", "loss", "validation_loss", "race", "lanes", "best_lane", "lane_loss"),
}
"""What a person has put there, and what a training and a race say of themselves step by step."""


class Waiting:
    """A situation in which some sources are on their way. What there is besides is older."""

    def __init__(self, *coming: str, **members: object) -> None:
        self._coming = coming
        vars(self).update(members)

    def coming(self, source: str) -> str:
        return f"The {source} is on its way" if source in self._coming else ""


def test_each_member_of_a_situation_says_what_it_is_read_off() -> None:
    members = {name for name in vars(Situation) if not name.startswith("_")} - {"coming"}
    assert READ_OFF.keys() == members
    assert {source for sources in READ_OFF.values() for source in sources} == set(get_args(Source))


@pytest.mark.parametrize("name", READ_OFF)
def test_no_member_is_told_while_one_of_its_sources_is_on_its_way(name: str) -> None:
    for source in READ_OFF[name]:
        with pytest.raises(StillComing, match=f"{source} is on its way: answer again"):
            getattr(Settled(Waiting(source, **{name: 0})), name)
    others = set(get_args(Source)) - set(READ_OFF[name])
    assert getattr(Settled(Waiting(*others, **{name: 0})), name) == 0


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.name)
def test_every_value_waits_for_what_it_is_read_off(value) -> None:
    """All but those of `PUT_THERE`, whatever else they need."""
    now = Waiting(*get_args(Source))
    arguments = ["word"] * sum(not name.startswith("[") for name in value.takes.split())
    if value.name in PUT_THERE:
        with pytest.raises(AttributeError):  # it asks for a member that this situation does not have
            look_up(now, value.name, arguments)
    else:
        with pytest.raises(StillComing):
            look_up(now, value.name, arguments)


def coming(name, arguments):
    if name == "tokens":
        return 4.0
    raise StillComing(f"The {name} is on its way.")


def test_an_answer_is_not_judged_while_anything_it_is_judged_by_is_on_its_way() -> None:
    question = LessonQuestion("How many?", parse("tokens"))
    assert right_answer(question, coming) == 4
    of_check = LessonQuestion("How many?", parse("tokens"), check=parse_condition("step = tokens"))
    with pytest.raises(StillComing, match="The step"):
        is_right(of_check, "4", coming)
    with pytest.raises(StillComing, match="The text"):
        is_right(LessonQuestion("How many?", parse('count("text")')), "4", lambda *_: coming("text", []))
    of_reply = LessonQuestion("How many?", parse("tokens"), replies=(Reply("No.", parse("last_step")),))
    with pytest.raises(StillComing, match="The last_step"):
        reply_to(of_reply, "3", coming)


def test_a_condition_on_something_that_comes_is_neither_so_nor_otherwise() -> None:
    condition = parse_condition("step >= tokens")
    assert not condition.holds(coming)
    assert "The step" in str(condition.coming(coming))
    assert parse_condition("tokens = 4").coming(coming) is None

    def unknown(name, arguments):
        raise NotKnown("There is none.")

    assert condition.coming(unknown) is None


@pytest.mark.parametrize("name", ["step", "last_step", "parameters", "vocabulary"])
def test_without_a_model_its_numbers_are_not_known(name: str) -> None:
    members = dict.fromkeys(("step", "last_step", "parameters", "tokenizer"))
    with pytest.raises(NotKnown, match="no model"):
        look_up(SimpleNamespace(coming=lambda source: "", **members), name, [])
