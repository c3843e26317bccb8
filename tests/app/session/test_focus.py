import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.focus import Focus


@pytest.fixture
def focus() -> Focus:
    looking = Focus()
    looking.fit_positions(5)
    looking.fit_stages([("", "one"), ("", "two"), ("", "three")])
    return looking


def test_without_a_pin_the_position_is_the_last_and_follows_what_is_typed(focus: Focus) -> None:
    assert focus.position == 4
    focus.fit_positions(7)
    assert focus.position == 6
    assert not focus.is_position_pinned


def test_a_pin_stays_while_the_text_grows_and_gives_way_when_it_shrinks(focus: Focus) -> None:
    focus.choose_position(2)
    focus.fit_positions(7)
    assert focus.position == 2
    focus.fit_positions(1)
    assert focus.position == 0
    focus.fit_positions(7)
    assert focus.position == 2


def test_what_the_text_is_now_is_said_before_the_position_in_it(focus: Focus) -> None:
    said: list[str] = []
    focus.position_changed.connect(lambda: said.append("position"))
    focus.fit_positions(7, lambda: said.append(f"text, at {focus.position}"))
    assert said == ["text, at 6", "position"]
    focus.fit_positions(7)
    assert len(said) == 2, "it has not moved"


@pytest.mark.parametrize("nowhere", [None, -1])
def test_hovering_previews_and_leaving_returns(focus: Focus, nowhere: int | None, qtbot: QtBot) -> None:
    focus.choose_position(1)
    with qtbot.waitSignal(focus.hovered_position_changed):
        focus.hover_position(3)
    assert (focus.position, focus.shown_position) == (1, 3)
    focus.hover_position(nowhere)
    assert focus.shown_position == 1


def test_what_is_hovered_goes_when_its_position_does(focus: Focus) -> None:
    focus.hover_position(4)
    focus.fit_positions(2)
    assert focus.hovered_position is None
    focus.hover_position(9)
    assert focus.hovered_position is None


def test_steps_beyond_the_ends_stay_at_the_ends(focus: Focus) -> None:
    focus.choose_position(-3)
    assert focus.position == 0
    focus.choose_position(99)
    assert focus.position == 4
    focus.choose_stage(99)
    assert focus.stage == 2
    focus.choose_stage(-1)
    assert focus.stage == 0


def test_with_no_positions_nothing_can_be_chosen() -> None:
    focus = Focus()
    focus.choose_position(0)
    assert focus.position == focus.shown_position == -1


def test_escape_lets_go_of_the_cell_first_and_then_of_the_position(focus: Focus) -> None:
    focus.choose_position(1)
    focus.choose_cell(("hidden", (1, 2)))
    focus.hover_cell(("hidden", (0, 0)))
    assert focus.shown_cell == ("hidden", (0, 0))
    focus.release()
    assert (focus.shown_cell, focus.position) == (None, 1)
    focus.release()
    assert focus.position == 4


def test_saying_the_same_again_is_no_change(focus: Focus, qtbot: QtBot) -> None:
    focus.choose_position(2)
    focus.choose_stage(1)
    with (
        qtbot.assertNotEmitted(focus.position_changed),
        qtbot.assertNotEmitted(focus.stage_changed),
        qtbot.assertNotEmitted(focus.hovered_position_changed),
    ):
        focus.choose_position(2)
        focus.choose_stage(1)
        focus.hover_position(None)


def test_an_operand_under_the_pointer_leaves_the_pinned_cell_explained(focus: Focus) -> None:
    pinned, operand = ("hidden", (0, 0)), ("preactivation", (0, 0))
    focus.choose_cell(pinned)
    focus.hover_cell(operand, as_operand=True)
    assert (focus.shown_cell, focus.explained_cell) == (operand, pinned)
    focus.hover_cell(None)
    focus.hover_cell(operand)
    assert focus.explained_cell == operand


def test_the_stage_stays_while_there_is_nothing_to_read(focus: Focus) -> None:
    stages = [("", "one"), ("", "two"), ("", "three")]
    focus.choose_stage(2)
    focus.fit_stages([])  # the text is empty for a moment
    focus.fit_stages(stages)
    assert focus.stage == 2


@pytest.mark.parametrize(
    ("now", "position"),
    [
        ("the cows eat the green grass", 2),  # further on
        ("then the cows eat grass", 3),
        ("cows eat grass", 1),
        ("the hens eat grass", 2),
        ("the cows ate grass", 2),  # the word itself is edited
        ("a wholly different text about stones", None),
        ("", None),
    ],
)
def test_a_pinned_position_stays_at_its_word_and_with_no_other_text(
    focus: Focus, now: str, position: int | None
) -> None:
    before = ["the", "cows", "eat", "grass"]
    focus.fit_positions(len(before))
    focus.choose_position(2)
    words = now.split()
    focus.follow_words(before, words)
    focus.fit_positions(len(words))
    assert (focus.position if focus.is_position_pinned else None) == position
