"""Polls as files: those that come with lmviz, and what is wrong with others, said at its line."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.polls.poll import Poll
from lmviz.polls.poll_file import PollFault, open_poll, read_poll, shipped_polls

PLAIN = """# Capitals
question: Which letter is second?
A: alpha
B: beta
right: b
"""
ORDER = """question: What now?
A: {before}
B: {kept weights}
vectors: 1 0; 0 1; 1 1
query: 1 2
exchange: 1 2
"""
NETWORK = """question: What is y?
A: 3
B: 4
value: y
network:
  x = 2
  y = square(x)
"""


def faults(text: str) -> list[tuple[int, str]]:
    with pytest.raises(PollFault) as raised:
        read_poll(text)
    return [(fault.line, fault.sentence) for fault in raised.value.faults]


def by_title(title: str) -> Poll:
    return next(poll for poll in shipped_polls() if poll.title == title)


def test_a_poll_is_read() -> None:
    poll = read_poll(PLAIN)
    assert (poll.title, poll.question) == ("Capitals", "Which letter is second?")
    assert [(choice.letter, choice.text) for choice in poll.filled] == [("A", "alpha"), ("B", "beta")]
    assert poll.find_right().letter == "B"


@pytest.mark.parametrize("poll", shipped_polls(), ids=lambda poll: poll.title)
def test_each_poll_that_comes_with_lmviz_has_one_right_choice(poll: Poll) -> None:
    assert poll.because
    if not poll.needs_model:
        assert poll.find_right().letter in [choice.letter for choice in poll.filled]


@pytest.mark.parametrize(
    ("title", "right"),
    [
        ("Order", "0.1, 0.2, 1.2, 0.1"),
        ("Forgetting", "2.953"),
        ("Softmax and cross-entropy", "0.15, 0.72, 0.13"),
        ("What attention costs", "28"),
        ("What goes back", "0.15, −0.28, 0.13"),
    ],
)
def test_the_right_choice_is_computed(title: str, right: str) -> None:
    poll = by_title(title)
    letter = poll.find_right().letter
    assert next(choice.text for choice in poll.filled if choice.letter == letter) == right


def test_a_poll_may_ask_for_a_gradient() -> None:
    value = NETWORK.replace("A: 3", "A: 9").replace("B: 4", "B: 6").replace("x = 2", "x = 3")
    asked = value.replace("value: y", "gradient: x")
    assert (read_poll(value).find_right().letter, read_poll(asked).find_right().letter) == ("A", "B")
    assert read_poll(asked).find_right().computed == "6"
    assert [line for line, _ in faults(asked.replace("gradient: x", "gradient: q"))] == [4]
    assert "A gradient is one of a network" in faults(asked[: asked.index("network:")])[0][1]
    both = faults(asked.replace("gradient: x", "gradient: x\nvalue: y"))
    assert any("keep one of the two" in sentence for _, sentence in both)


def test_the_first_poll_is_the_position_poll_of_the_lecture() -> None:
    poll = shipped_polls()[0]
    assert [choice.text for choice in poll.filled] == [
        "0.1, 0.2, 1.2, 0.1",
        "0.1, 0.6, 0.4, 0.1",
        "0.1, 0.2, 0.6, 0.1",
    ]
    assert poll.find_right().letter == "A"


def test_a_name_without_a_title_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.poll"
    path.write_text(PLAIN.partition("\n")[2], encoding="utf-8")
    assert open_poll(path).title == "mine"


def test_a_line_that_is_indented_goes_on() -> None:
    text = PLAIN.replace("second?", "second\n   in the alphabet?")
    assert read_poll(text).question == "Which letter is second in the alphabet?"


BROKEN_POLLS = [
    (PLAIN.replace("question", "qestion"), 2, "“qestion” is not part of a poll"),
    (PLAIN.replace("right: b", "right: D"), 5, "“D” is none of the choices A, B."),
    (PLAIN.replace("right: b\n", ""), 0, "Nothing says which choice is right"),
    (PLAIN.replace("B: beta", "C: beta"), 4, "There is no choice B"),
    (PLAIN.replace("B: beta\n", ""), 0, "at least two choices"),
    (PLAIN.replace("beta", "alpha"), 4, "The choice is the same as A"),
    (PLAIN.replace("alpha", ""), 3, "There is nothing after the colon"),
    (PLAIN.replace("alpha", "a" * 400), 3, "400 characters, and 300 fit"),
    (PLAIN + "A: again", 6, "“A” is already on line 3"),
    (PLAIN + "value: y", 6, "Line 5 says already which choice is right"),
    ("   lost\n" + PLAIN, 1, "An indented line continues"),
    ("A: a\nB: b\nright: A", 0, "There is no question"),
    (ORDER.replace("{before}", "{befor}"), 2, "{befor} is none of {before}"),
    (ORDER.replace("0 1;", "0 x;"), 4, "“ 0 x” are not numbers"),
    (ORDER.replace("0 1;", "0;"), 4, "different lengths"),
    (ORDER.replace("query: 1 2", "query: 1 2 3"), 4, "The query has 3 numbers"),
    (ORDER.replace("; 1 1", "; 1e-320 0"), 4, "too small or too large"),
    (ORDER.replace("; 1 1", "; 1e300 0"), 4, "too small or too large"),
    (ORDER.replace("query: 1 2\n", ""), 4, "The last vector needs a query"),
    (ORDER.replace("exchange: 1 2", "exchange: 1"), 6, "“1” are not two places"),
    (ORDER.replace("exchange: 1 2", f"exchange: 1 {'9' * 5000}"), 6, "are not two places"),
    (ORDER.replace("exchange: 1 2", "exchange: 1 3"), 4, "Places 1 and 3 cannot be exchanged"),
    (ORDER + "mask: some", 7, "“some” is none of causal, none."),
    (ORDER + "layers: 3", 7, "“3” is none of 1, 2."),
    (NETWORK.replace("value: y", "value: z"), 4, "The network has no value 'z'"),
    (NETWORK.replace("square", "sqare"), 7, "square"),
    (NETWORK.partition("network")[0], 4, "write “network:”"),
]


def test_a_brace_without_its_other_half_is_a_character() -> None:
    written = read_poll(ORDER.replace("{before}", "3 {[ before"))
    assert written.choices[0].text == "3 {[ before"


@pytest.mark.parametrize(("text", "line", "sentence"), BROKEN_POLLS)
def test_what_is_wrong_is_said_at_its_line(text: str, line: int, sentence: str) -> None:
    assert any(number == line and sentence in said for number, said in faults(text))


def test_all_faults_are_said_at_once_in_the_order_of_the_lines() -> None:
    found = faults("A: a\nhello\nA: b\nright: Q")
    assert [line for line, _ in found] == [0, 0, 2, 3, 4]


def test_a_file_that_is_no_text_or_not_there_is_said(tmp_path: Path) -> None:
    path = tmp_path / "bytes.poll"
    path.write_bytes(b"\xff\xfe\x00question")
    with pytest.raises(LmvizError, match="is not a text"):
        open_poll(path)
    with pytest.raises(LmvizError, match="cannot be read"):
        open_poll(tmp_path / "none.poll")


_LINES = st.sampled_from(
    [*PLAIN.splitlines(), *ORDER.splitlines(), *NETWORK.splitlines(), "layers: 2", "mask: none"]
)


@given(st.lists(st.one_of(_LINES, st.text(max_size=30)), max_size=12))
def test_any_text_is_a_poll_or_a_sentence(lines: list[str]) -> None:
    try:
        poll = read_poll("\n".join(lines))
    except LmvizError:
        return
    assert len(poll.filled) >= 1
    if not poll.needs_model:
        poll.find_right()


@given(st.binary(max_size=200), st.integers(0, 200), st.sampled_from([PLAIN, ORDER, NETWORK]))
def test_any_file_is_a_poll_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, place: int, whole: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.poll"
    for damaged in (content, whole.encode()[:place] + content + whole.encode()[place:]):
        path.write_bytes(damaged)
        with suppress(LmvizError):
            assert len(open_poll(path).filled) >= 1
