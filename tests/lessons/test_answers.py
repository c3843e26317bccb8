"""A number may be typed as people write it: as a fraction, in per cent, with a comma."""

import pytest

from lmviz.app.panels.table import shown_perspectives
from lmviz.lessons.answers import PER_CENT, is_right, reply_to
from lmviz.lessons.expression import Result, parse
from lmviz.lessons.faults import NotKnown
from lmviz.lessons.lesson import LessonQuestion
from lmviz.lessons.shipped import shipped_lessons


def judged(answer: str, given: str) -> bool:
    return is_right(LessonQuestion("How many?", parse(answer)), given, lambda name, arguments: 0.0)


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        ("2.5", "2,5"),
        ("2.5", "5/2"),
        ("3646", "3,646"),
        ("3646", "3646"),
        ("1234567.5", "1,234,567.5"),
        ("0.364", "36,4 %"),
        ("-0.7", "−0,7"),
        ("3.646", "3,646"),
    ],
)
def test_a_number_is_read_as_it_was_meant(answer: str, given: str) -> None:
    assert judged(answer, given)


@pytest.mark.parametrize(
    ("answer", "given"), [("25", "2,5"), ("2.5", "25"), ("3646", "3,64"), ("3646", "36,46")]
)
def test_a_comma_makes_no_wrong_number_right(answer: str, given: str) -> None:
    assert not judged(answer, given)


@pytest.mark.parametrize("given", ["", "two", "2,,5", ",", "1,2,3,4x"])
def test_what_is_no_number_is_not_judged(given: str) -> None:
    with pytest.raises(NotKnown, match="Type a number"):
        judged("2.5", given)


def judged_word(answer: str, given: str) -> bool:
    return is_right(LessonQuestion("Which value?", parse("broken")), given, lambda name, arguments: answer)


@pytest.mark.parametrize("given", ["ŷ", "y\u0302", "yhat", "y hat", "y-hat", "Y^", "“ŷ”"])
def test_a_letter_with_a_hat_can_be_typed_on_any_keyboard(given: str) -> None:
    assert judged_word("ŷ", given)


@pytest.mark.parametrize(("answer", "given"), [("ŷ", "y"), ("y", "yhat"), ("ŷ", "zhat"), ("z", "z^")])
def test_a_hat_makes_another_name(answer: str, given: str) -> None:
    assert not judged_word(answer, given)


PERSPECTIVES = tuple(row.name for row in shown_perspectives())


@pytest.mark.parametrize(
    ("title", "probability", "smoothing", "given", "right"),
    [
        ("What the model says", 4 / 11, "maximum-likelihood", "4/11", True),
        ("What the model says", 4 / 11, "maximum-likelihood", "36 %", True),
        ("What the model says", 4 / 11, "maximum-likelihood", "36.4 %", True),
        ("What the model says", 4 / 11, "maximum-likelihood", "35 %", False),
        ("Add one", 5 / 426, "add-k", "1.2 %", True),
        ("Add one", 5 / 426, "add-k", "5/426", True),
        ("Add one", 5 / 426, "add-k", "4/426", False),
    ],
)
def test_a_share_may_be_typed_as_the_panel_rounds_it(
    title: str, probability: float, smoothing: str, given: str, right: bool
) -> None:
    counting = next(lesson for lesson in shipped_lessons(PERSPECTIVES) if lesson.number == 1)
    question = next(step.question for step in counting.steps if step.title == title)
    assert question is not None
    known: dict[str, Result] = {"probability": probability, "setting": smoothing}
    assert is_right(question, given, lambda name, arguments: known[name]) == right


@pytest.mark.parametrize(
    ("answer", "given", "said"),
    [
        ("0.94", "94", PER_CENT),
        ("4/11", "36.36", PER_CENT),
        ("0.94", "93", ""),
        ("0.94", "9400 %", ""),
        ("94", "9400", ""),
    ],
)
def test_a_share_in_per_cent_without_its_sign_is_told_so(answer: str, given: str, said: str) -> None:
    assert reply_to(LessonQuestion("How many?", parse(answer)), given, lambda name, arguments: 0.0) == said
