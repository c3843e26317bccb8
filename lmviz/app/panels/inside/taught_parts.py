"""What there is to see of an answer about who taught the model a word, part by part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.base.figures import count, percentage
from lmviz.base.figures import whole_percentage
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Inked
from lmviz.looks.parts import Bars, Curves, LookPart, Space, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.origins.influences import Influences, LineForm, Method
    from lmviz.runs.removal import Removal

UP, DOWN = "signed_positive", "signed_negative"
COUNTS = 4
"""Ends of the context whose counts are shown, the longest."""

CURVE = Curves(
    "taught_curve",
    says="the probability of the word at each snapshot",
    x_name="step",
    y_name="",
    possible=((0.0, np.inf), (0.0, 1.0)),
    logarithmic=(True, False),
    writes=(lambda step: count(round(step)), whole_percentage),
    share=1,
)
COUNTED = Bars("taught_counts", says="what follows the ends of the context in the text")
WHEN = Curves(
    "taught_when",
    says="the push for and against by snapshot",
    x_name="step",
    y_name="",
    possible=((0.0, np.inf), (-1.0, 1.0)),
    logarithmic=(True, False),
    writes=(lambda step: count(round(step)), whole_percentage),
    share=1,
)


def curve_parts(answer: Influences) -> tuple[LookPart, ...]:
    """The probability of the word over the training."""
    from lmviz.origins.influences import steepest

    now = float(answer.probabilities[-1])
    title = Words(text=[Inked(f"“{visible(answer.word)}”: {percentage(now)}", is_bold=True)])
    steps = np.maximum(1, np.array(answer.history))  # the axis is logarithmic
    curve = PlotCurve("p", steps, answer.probabilities, "training", said="")
    rise = steepest(answer.history, answer.probabilities)
    marks = [] if rise is None else [(float(max(1, rise[0])), ""), (float(rise[1]), "rise")]
    return title, replace(CURVE, curves=[curve], marks=marks, shown=len(steps) > 1)


def counts_parts(answer: Influences) -> tuple[LookPart, ...]:
    """Exact counts of what follows the ends of the context."""
    if answer.overlap is None or not answer.overlap.counted:
        return (Space(),)
    counted = answer.overlap.counted
    chosen = [each for each in counted if each.total][-COUNTS:]
    if not chosen:
        return (
            Words(text=[Inked("Counted, exactly", is_bold=True)]),
            Words(text="Its last word never stands in the text.", role="muted"),
        )
    longest = chosen[-1]
    names = answer.text.names
    labels, values, texts = [], [], []
    for each in chosen:
        labels.append("… " + " ".join(map(visible, answer.context[-each.length :])))
        values.append(each.count / each.total)
        rival = "" if each.other is None else f", {visible(names[each.other])} {count(each.other_count)}"
        texts.append(f"{count(each.count)} of {count(each.total)}{rival}")
    end = " ".join(map(visible, answer.context[-longest.length :]))
    said = (
        f"After “{end}” stands {visible(answer.word)} {times(longest.count)} in the whole text"
        + ("" if longest.other is None else f", {visible(names[longest.other])} {times(longest.other_count)}")
        + "."
    )
    return (
        Words(text=[Inked("Counted, exactly", is_bold=True)]),
        Words(text=said, role="muted"),
        replace(COUNTED, labels=labels, values=values, texts=texts, limit=1.0),
        Space(),
    )


def sentence_parts(answer: Influences, by: Method) -> tuple[LookPart, ...]:
    """What gave most of the push, in words."""
    forms = answer.forms(2, by, examples=1)
    if not forms:
        said: list[Inked] = [Inked("Nothing in the text pushed this word up.")]
    else:
        first = forms[0]
        what = "the text" if by == "overlap" else "what was read"
        said = [
            Inked(f"“{form_name(first)}”, {times(first.times)} in {what}, gave "),
            Inked(percentage(first.share), is_bold=True),
            Inked(" of the push for the word"),
        ]
        same = next((form for form in answer.forms(40, by, examples=1) if is_same(answer, form)), None)
        if same is not None and same is not first and form_name(same) != form_name(first):
            each = (first.share / first.times) or 1e-12
            said += [
                Inked(f"; the very end of this text, “{form_name(same)}”, {times(same.times)}, "),
                Inked(percentage(same.share), is_bold=True),
                Inked(f": one of these gave as much as {same.share / same.times / each:.1f} of those"),
            ]
        said.append(Inked("."))
    return Words(text=[Inked("Lines that taught it", is_bold=True)]), Words("taught_sentence", text=said)


def when_parts(answer: Influences) -> tuple[LookPart, ...]:
    """At which snapshots lines pushed."""
    if answer.products is None or len(answer.steps) < 2:
        said = "Gradients say at which snapshots lines pushed the word, and find what n-grams cannot."
        return Words(text=[Inked("When", is_bold=True)]), Words(text=said, role="muted"), Space()
    up, down = answer.when()
    steps = np.maximum(1, np.array(answer.steps))
    whole = up - down
    last = answer.steps[int(np.searchsorted(np.cumsum(whole), 0.99))] if whole.sum() else answer.steps[-1]
    said = (
        f"Nearly all push, for and against, lies up to step {count(last)}: a word that is sure teaches "
        "no more."
    )
    return (
        Words(text=[Inked("When", is_bold=True)]),
        Words(text=said, role="muted"),
        replace(
            WHEN,
            curves=[
                PlotCurve("for", steps, up, UP, said=""),
                PlotCurve("against", steps, down, DOWN, said=""),
            ],
        ),
    )


def form_name(form: LineForm) -> str:
    return " ".join(filter(None, (form.before, form.learned)))


def is_same(answer: Influences, form: LineForm) -> bool:
    return form.learned == visible(answer.word) and form.before == visible(answer.context[-1])


def times(number: int) -> str:
    return "once" if number == 1 else f"{count(number)} times"


def measured_in_words(answer: Influences, removal: Removal, by: Method) -> list[Inked]:
    lines = count(len(removal.lines))
    share = float(answer.line_shares(by)[list(removal.lines)].sum())
    known = ~np.isnan(removal.lost)
    if not known.any():
        return [Inked(f"Training without {lines} lines …")]
    lost, others = removal.lost[known], removal.lost_at_random[known]
    others = others[~np.isnan(others)]
    said = [
        Inked("Measured: ", is_bold=True),
        Inked(f"without these {lines} lines, said to give {percentage(share)} of the push, log p is "),
        Inked(f"{-lost.mean():+.2f}", is_bold=True),
        Inked(f" nats at step {count(removal.until)} ({_each(-lost)})"),
    ]
    if len(others):
        said.append(Inked(f"; without as many others {-others.mean():+.2f} ({_each(-others)})"))
    return [*said, Inked(".")]


def _each(values: np.ndarray) -> str:
    """The values of the seeds."""
    return "seeds: " + ", ".join(f"{value:+.2f}" for value in values.tolist())
