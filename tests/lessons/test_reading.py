"""Lessons from text: what is wrong is said at its line."""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lmviz.lessons
from lmviz.base.errors import LmvizError
from lmviz.lessons.answers import reply_to
from lmviz.lessons.faults import LessonFault
from lmviz.lessons.lesson import LessonQuestion
from lmviz.lessons.reading import LARGEST, is_lesson, open_lesson, read_lesson

PERSPECTIVES = ("corpus", "attention")
WHOLE = """# Counting
number: 3
about: One sentence.

## First
perspective: corpus
control: concordance_edit
open: text farm
open: plan ngram order=3 smoothing=maximum-likelihood
do: type it
until: control("concordance_edit") is "cows eat"
until: step >= 0
question: How many?
answer: count("cows eat")
tolerance: 0.5
check: text is farm
hint: Look
  at the title.
explanation: Because.

It **says** something.

And more.

## Second
question: Which?
choice: corn
choice: 0.1, 0.2
answer: 0.1, 0.2

Choose.
"""


def test_a_whole_lesson_is_read() -> None:
    lesson = read_lesson(WHOLE, PERSPECTIVES, "counting")
    assert (lesson.name, lesson.title, lesson.number, lesson.about) == (
        "counting",
        "Counting",
        3,
        "One sentence.",
    )
    first, second = lesson.steps
    assert (first.title, first.line, first.perspective, first.control) == (
        "First",
        5,
        "corpus",
        "concordance_edit",
    )
    assert first.sentences == "It **says** something.\n\nAnd more."
    assert [(each.kind, each.words) for each in first.openings] == [("text", "farm"), ("plan", "ngram")]
    assert first.openings[1].settings == {"order": "3", "smoothing": "maximum-likelihood"}
    [task] = first.tasks
    assert (task.words, [each.text for each in task.until]) == (
        "type it",
        ['control("concordance_edit") is "cows eat"', "step >= 0"],
    )
    assert first.question.hint == "Look at the title."
    assert first.question.tolerance == 0.5
    assert second.question.choices == ("corn", "0.1, 0.2")
    assert second.question.right == 1


@pytest.mark.parametrize(
    "tag", ["de", "pt-BR", "zh-Hant-TW", "de-CH-1996", "sl-rozaj-biske", "en-a-ext-x-own"]
)
def test_a_lesson_names_its_language_and_is_english_without(tag: str) -> None:
    assert read_lesson(WHOLE, PERSPECTIVES).language == "en"
    assert read_lesson(WHOLE.replace("number: 3", f"language: {tag}"), PERSPECTIVES).language == tag


@pytest.mark.parametrize(
    "tag", ["german", "d", "de_CH", "de-", 'de" onload="x', "de CH", "ðe", "x-own", "de-a"]
)
def test_what_is_no_tag_of_a_language_is_refused(tag: str) -> None:
    with pytest.raises(LessonFault, match="not a tag of a language"):
        read_lesson(WHOLE.replace("number: 3", f"language: {tag}"), PERSPECTIVES)


BROKEN = {
    "no title": ("# Counting\n", "", 1, "begins with its title"),
    "two titles": ("## Second\n", "# Another\n\n## Second\n", 25, "one title"),
    "an empty title": ("## Second", "##", 25, "title after"),
    "an entry of a step above the first": ("number: 3", "until: step >= 0", 2, "belongs below a"),
    "two controls for one task": (
        "until: step >= 0",
        "control: a\ncontrol: b\nuntil: step >= 0",
        13,
        "twice",
    ),
    "two controls of a step": ("open: text farm", "control: a", 8, "is given twice"),
    "no steps": (WHOLE[WHOLE.index("## First") :], "", 1, "at least one part"),
    "words before the first step": ("about: One sentence.\n", "Hello.\n", 1, "is above the first"),
    "a number that is none": ("number: 3", "number: three", 2, "whole number"),
    "a language that is none": ("number: 3", "language: german", 2, "such as de or pt-BR"),
    "an unknown entry in the head": ("number: 3", "numbr: 3", 2, "did you mean number?"),
    "an unknown entry in a step": ("hint: Look", "hnt: Look", 17, "did you mean hint?"),
    "an entry without words": ("tolerance: 0.5", "tolerance:", 15, "nothing stands after"),
    "an entry that stands twice": ("tolerance: 0.5", "hint: A", 17, "is here twice"),
    "an unknown perspective": ("perspective: corpus", "perspective: corpse", 6, "no perspective 'corpse'"),
    "a step that says nothing": ("Choose.\n", "\n", 25, "says nothing"),
    "nothing that can be opened": ("open: text farm", "open: door", 8, "cannot be opened"),
    "unknown features": (
        "open: text farm",
        "open: features stories-gru/stat",
        8,
        "did you mean stories-gru/state?",
    ),
    "a feature that is no number": ("open: text farm", "open: feature first", 8, "not a whole number"),
    "an unknown text": ("open: text farm", "open: text fram", 8, "did you mean farm?"),
    "an unknown model": ("open: text farm", "open: model stories-6-gram", 8, "no model"),
    "an unknown network": ("open: text farm", "open: network x", 8, "no network"),
    "an unknown tape": ("open: text farm", "open: tape full", 8, "a tape is not 'full'"),
    "a step that is none": ("open: text farm", "open: step first", 8, "not a whole number"),
    "an unknown family": ("plan ngram", "plan ngrm", 9, "no family"),
    "an unknown setting": ("order=3", "ordr=3", 9, "did you mean order?"),
    "a setting out of range": ("order=3", "order=99", 9, "at most 7"),
    "a setting that no race has": (
        "plan ngram order=3 smoothing=maximum-likelihood",
        "race learning_rat=0.1",
        9,
        "a race has no setting 'learning_rat': did you mean learning_rate?",
    ),
    "a setting without a value": ("order=3", "order", 9, "name=value"),
    "a file that is not there": ("open: text farm", "open: text ./farm.txt", 8, "beside the lesson"),
    "a file elsewhere": ("open: text farm", "open: text ./../farm.txt", 8, "not beside the lesson"),
    "do without until": ("until: step >= 0", "do: more", 12, "needs an “until”"),
    "an unknown value": ("step >= 0", "stp >= 0", 12, "did you mean step?"),
    "a value asked for wrongly": ("step >= 0", "step(3) >= 0", 12, "is written step"),
    "a condition that cannot be read": ("step >= 0", "step >= (0", 12, "bracket"),
    "a question without an answer": ('answer: count("cows eat")\n', "", 13, "has no answer"),
    "an answer without a question": ("question: How many?\n", "", 13, "belongs to a question"),
    "an answer that cannot be read": (
        'answer: count("cows eat")',
        "answer: eleven places",
        14,
        "not expected",
    ),
    "an answer with an unknown value": ('count("cows eat")', "eleven", 14, "no value 'eleven'"),
    "an answer that is no choice": ("answer: 0.1, 0.2", 'answer: "corm"', 29, "none of the choices"),
    "words that are no choice": ("answer: 0.1, 0.2", "answer: corm and", 29, "one of the choices"),
    "a wrong answer that is no choice": (
        "answer: 0.1, 0.2",
        'answer: 0.1, 0.2\nwrong: "corm"\nreply: No.',
        30,
        "the wrong answer is none of the choices",
    ),
    "a wrong answer that cannot be read": (
        "hint: Look",
        "wrong: 1 +\nreply: No.\nhint: Look",
        17,
        "at the end",
    ),
    "a wrong answer without a reply": ("hint: Look", "wrong: 12\nhint: Look", 17, "needs a “reply”"),
    "a reply to nothing": ("hint: Look", "reply: No.\nhint: Look", 17, "below a “wrong”"),
    "a wrong answer that is the right one": (
        "hint: Look",
        'wrong: count("cows eat")\nreply: No.\nhint: Look',
        17,
        "the same as the right answer",
    ),
    "a wrong choice that is the right one": (
        "answer: 0.1, 0.2",
        "answer: 0.1, 0.2\nwrong: 0.1, 0.2\nreply: No.",
        30,
        "the same as the right answer",
    ),
    "a wrong answer that stands twice": (
        "hint: Look",
        "wrong: 12\nreply: No.\nwrong: 24 / 2\nreply: No.\nhint: Look",
        19,
        "the same as another wrong one",
    ),
    "a wrong answer without a question": ("question: Which?\n", "wrong: corn\n", 27, "belongs to a question"),
    "an unknown control": (
        "control: concordance_edit",
        "control: concordance_edti",
        7,
        "did you mean concordance_edit?",
    ),
    "a control like no other": (
        "control: concordance_edit",
        "control: zzz",
        7,
        "control-names.md lists them",
    ),
    "an unknown control of a task": (
        "until: step >= 0",
        "control: tape_forwrad\nuntil: step >= 0",
        12,
        "tape_forward?",
    ),
    "an unknown control in a condition": (
        'control("concordance_edit")',
        'control("concordance_edot")',
        11,
        "did you mean",
    ),
    "an entry in capital letters": ("until: step >= 0", "Until: step >= 0", 12, "small letters: “until:”"),
    "a tolerance with a comma": ("tolerance: 0.5", "tolerance: 0,001", 15, "such as 0.001"),
    "a number with a comma": ("step >= 0", "step >= 0,5", 12, "a decimal with a point"),
    "a margin with a comma": ("step >= 0", "step = 0 ± 0,001", 12, "such as 0.001"),
    "an unknown option of a text": ("open: text farm", "open: text farm lower=on", 8, "no setting 'lower'"),
    "an option of a text out of range": ("open: text farm", "open: text farm validation=2", 8, "0.9"),
    "one choice alone": ("choice: corn\n", "", 27, "two or more"),
    "two equal choices": ("choice: corn", "choice: 0.1, 0.2", 27, "all different"),
    "a tolerance that is none": ("tolerance: 0.5", "tolerance: some", 15, "not a tolerance"),
    "a negative tolerance": ("tolerance: 0.5", "tolerance: -1", 15, "not a tolerance"),
    "a check that cannot be read": ("check: text is farm", "check: text is", 16, "nothing stands after"),
    "too many characters": ("Choose.", "x" * (LARGEST + 1), 1, "at most 200,000 characters"),
    "too many steps": ("Choose.\n", "Choose.\n" + "\n## More\n\nSay.\n" * 99, 425, "at most 100 parts"),
    "an entry like no other in the head": ("number: 3", "zzz: 3", 2, "there are number, about, language."),
    "an entry of the head in a step": ("explanation: Because.", "number: 3", 19, "belongs above the first"),
    "a text like no other": ("open: text farm", "open: text zzz", 8, "there are farm"),
    "a seed that is none": ("open: text farm", "open: seed -1", 8, "not a whole number"),
    "a plan of nothing": ("plan ngram order=3 smoothing=maximum-likelihood", "plan", 9, "no family ''"),
    "a margin that is no number": ("step >= 0", "step = 0 ± some", 12, "a number after ±"),
    "a condition without an end": ("step >= 0", "step >=", 12, "nothing stands after “>=”"),
    "an expression too long": ("step >= 0", "step >= 0" + " + 0" * 150, 12, "at most 500 characters"),
    "brackets too deep": ("step >= 0", f"step >= {'(' * 40}0{')' * 40}", 12, "brackets are nested"),
    "powers too deep": ("step >= 0", "step >= 1" + "^1" * 40, 12, "powers are nested too deeply"),
    "a number that is missing": ("step >= 0", "step >= 1 + * 2", 12, "is missing before '*'"),
    "a number that is missing at the end": ("step >= 0", "step >= 1 +", 12, "is missing at the end"),
    "a function without its number": ("step >= 0", "step >= ln", 12, "write ln(…)"),
    "a function of two numbers": ("step >= 0", "step >= ln(1, 2)", 12, "ln takes one number"),
    "a sign that is none": ("step >= 0", "step >= 1 § 2", 12, "'§ 2' cannot be read"),
    "a value like no other": ("step >= 0", "zzzzz >= 0", 12, "lists all values"),
    "a condition without words": ("until: step >= 0", "until:", 12, "nothing stands after “until:”"),
}


def told(what: str) -> LessonFault:
    """What is said of one of the broken lessons."""
    before, after, _, _ = BROKEN[what]
    assert before in WHOLE
    with pytest.raises(LessonFault) as refused:
        read_lesson(WHOLE.replace(before, after), PERSPECTIVES)
    return refused.value


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_is_said_at_its_line(what: str) -> None:
    _, _, line, words = BROKEN[what]
    said = [fault.sentence for fault in told(what).faults if fault.line == line]
    assert any(words in sentence for sentence in said), told(what)
    assert f"Line {line}:" in str(told(what))


@pytest.mark.parametrize(
    "line", ["word: what a token is", "else:", "note: it\n  goes on", "hnt\\: any", "hint\\: any"]
)
def test_a_line_that_begins_with_a_word_of_its_own_is_text(line: str) -> None:
    found = read_lesson(WHOLE.replace("Choose.", f"Choose.\n{line}\nAnd more."), PERSPECTIVES)
    assert found.steps[1].sentences == f"Choose.\n{line}\nAnd more."
    assert found.steps[1].question == read_lesson(WHOLE, PERSPECTIVES).steps[1].question


def test_who_means_text_by_what_looks_like_an_entry_is_told_how_to_write_it() -> None:
    for line, written in (("hnt: any", "hnt\\:"), ("number: 3", "number\\:"), ("Until: then", "Until\\:")):
        with pytest.raises(LessonFault) as refused:
            read_lesson(WHOLE.replace("Choose.", line), PERSPECTIVES)
        assert f"In the text write “{written}”" in str(refused.value)
        read_lesson(WHOLE.replace("Choose.", line.replace(":", "\\:")), PERSPECTIVES)


def test_an_entry_in_capital_letters_is_the_only_fault_of_its_line() -> None:
    """What follows it is not said to lack it."""
    with pytest.raises(LessonFault) as refused:
        read_lesson("# A\n## B\nQuestion: Why?\nanswer: 1\n\nSay.\n", PERSPECTIVES)
    assert [fault.line for fault in refused.value.faults] == [3]


@cache
def all_told() -> frozenset[str]:
    """Every sentence that is said of a broken lesson."""
    return frozenset(fault.sentence for what in BROKEN for fault in told(what).faults)


def refusals() -> Iterator[str]:
    """The sentences by which the code of lessons refuses one, each with “…” for what varies."""
    for path in sorted(Path(lmviz.lessons.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = node.func if isinstance(node, ast.Call) else None
            if getattr(name, "id", getattr(name, "attr", "")) in ("LineFault", "Fault", "_say"):
                sentence = node.args[-1]
                parts = sentence.values if isinstance(sentence, ast.JoinedStr) else [sentence]
                yield "".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in parts)


def is_said(sentence: str) -> bool:
    pattern = ".*".join(map(re.escape, sentence.split("…")))
    return any(re.fullmatch(pattern, each) for each in all_told())


@pytest.mark.parametrize("sentence", sorted(set(refusals())))
def test_every_refusal_has_its_broken_lesson(sentence: str) -> None:
    assert is_said(sentence)


def test_the_page_lists_every_refusal() -> None:
    page = (Path(__file__).parents[2] / "docs" / "writing-a-lesson.md").read_text("utf-8")
    rows = page.partition("## What is refused")[2].partition("\n## ")[0].splitlines()
    listed = {row.split(" | ")[1].removesuffix(" |") for row in rows if row.startswith("| ")} - {"it says"}
    passed_on = {sentence for sentence in refusals() if not sentence.replace("…", "")}
    assert listed == set(refusals()) - passed_on


def test_everything_that_is_wrong_is_said_at_once() -> None:
    text = WHOLE.replace("text farm", "text fram").replace("step >= 0", "stp >= 0")
    with pytest.raises(LessonFault) as refused:
        read_lesson(text, PERSPECTIVES)
    assert [fault.line for fault in refused.value.faults] == [8, 12]


PIECES = st.sampled_from([*WHOLE.split("\n"), "# ", "##", "open: text ./\0", "until: " + "(" * 50, "  more"])


@given(st.lists(PIECES | st.text(max_size=30), max_size=30).map("\n".join))
def test_any_text_is_a_lesson_or_has_faults(text: str) -> None:
    try:
        steps, faults = read_lesson(text, PERSPECTIVES).steps, ()
    except LessonFault as refused:
        steps, faults = (), refused.faults
    assert bool(steps) != bool(faults)
    assert all(1 <= fault.line <= text.count("\n") + 1 for fault in faults)


@given(st.binary(max_size=200))
def test_any_file_is_a_lesson_or_a_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.md"
    path.write_bytes(content)
    assert isinstance(is_lesson(path), bool)
    with pytest.raises(LmvizError):
        open_lesson(path, PERSPECTIVES)


@given(st.binary(max_size=40), st.integers(0, 900), st.integers(0, 60))
def test_a_damaged_lesson_is_a_lesson_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, put: bytes, place: int, cut: int
) -> None:
    path, whole = tmp_path_factory.getbasetemp() / "damaged.md", WHOLE.encode()
    path.write_bytes(whole[:place] + put + whole[place + cut :])
    with suppress(LmvizError):
        assert open_lesson(path, PERSPECTIVES).steps


def test_a_folder_carries_what_its_lesson_opens(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "lesson.md").write_text(WHOLE.replace("text farm", "text ./mine.txt"), "utf-8")
    with pytest.raises(LessonFault, match="beside the lesson"):
        open_lesson(folder, PERSPECTIVES)
    (folder / "mine.txt").write_text("one two", "utf-8")
    lesson = open_lesson(folder, PERSPECTIVES)
    assert (lesson.name, lesson.folder) == ("own", folder)
    assert is_lesson(folder)
    assert is_lesson(folder / "lesson.md")
    assert not is_lesson(folder / "mine.txt")
    (folder / "notes.md").write_text("# Notes\n\n## Monday\n\nNothing of the kind.\n", "utf-8")
    assert not is_lesson(folder / "notes.md"), "an ordinary text in Markdown stays a text"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("# Counting\nabout: One sentence.\n\nType it.\n", True),
        ("# Counting\n\nperspective: corpus\nType it.\n", True),
        ("perspective: corpus\nType it.\n", True),
        ("# Counting\n\nabout: cows, and what they eat\n", False),
        ("# Counting\n\nOne, two, three.\n", False),
        ("## Monday\nNote: the answer: no\n", False),
        ("", False),
    ],
)
def test_a_lesson_is_known_by_its_entries_and_not_by_its_steps(
    tmp_path: Path, text: str, is_one: bool
) -> None:
    path = tmp_path / "mine.md"
    path.write_text(text, "utf-8")
    assert is_lesson(path) is is_one
    if is_one:
        with pytest.raises(LessonFault, match=r"begin (it|one above it) with “## ”"):
            open_lesson(path, PERSPECTIVES)


def test_a_wrong_answer_has_a_reply_of_its_own() -> None:
    text = WHOLE.replace("tolerance: 0.5\n", 'wrong: count("cows eat") - 1\nreply: One too\n  few.\n')
    text = text.replace("answer: 0.1, 0.2\n", "answer: 0.1, 0.2\nwrong: corn\nreply: A word.\n")
    first, second = (step.question for step in read_lesson(text, PERSPECTIVES).steps)

    def said(question: LessonQuestion, given: str) -> str:
        return reply_to(question, given, lambda name, arguments: {"count": 11.0, "text": "farm"}[name])

    assert [said(first, given) for given in ("10", "20/2", "9", "11", "ten")] == ["One too few."] * 2 + [
        ""
    ] * 3
    assert [said(second, given) for given in second.choices] == ["A word.", ""]


def test_a_task_may_have_a_control_of_its_own() -> None:
    text = WHOLE.replace("do: type it\n", "do: type it\ncontrol: prefix_edit\n")
    text = text.replace("question: How many?", "do: look\nuntil: step >= 1\nquestion: How many?")
    step = read_lesson(text, PERSPECTIVES).steps[0]
    assert [task.control for task in step.tasks] == ["prefix_edit", ""]
    assert [step.control_at(done) for done in (0, 1, 2)] == [
        "prefix_edit",
        "concordance_edit",
        "concordance_edit",
    ]


def test_a_text_takes_the_options_of_reading_it() -> None:
    text = WHOLE.replace("open: text farm", "open: text farm tokenizer=characters lower_case=off")
    opening = read_lesson(text, PERSPECTIVES).steps[0].openings[0]
    assert (opening.words, opening.settings) == ("farm", {"tokenizer": "characters", "lower_case": "off"})


def test_of_each_kind_the_last_opening_counts() -> None:
    text = WHOLE.replace("choice: corn\n", "open: text stories\nchoice: corn\n")
    lesson = read_lesson(text, PERSPECTIVES)
    assert {each.words for each in lesson.openings_before(0)} == {"farm", "ngram"}
    assert {each.words for each in lesson.openings_before(1)} == {"ngram", "stories"}


def test_another_network_begins_with_a_tape_of_its_own() -> None:
    text = WHOLE.replace("open: text farm", "open: network lecture\nopen: tape empty")
    text = text.replace("choice: corn\n", "open: network diamond\nchoice: corn\n")
    lesson = read_lesson(text, PERSPECTIVES)
    assert {each.words for each in lesson.openings_before(0)} == {"lecture", "empty", "ngram"}
    assert {each.words for each in lesson.openings_before(1)} == {"ngram", "diamond"}
