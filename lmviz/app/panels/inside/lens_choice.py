"""By what states are read, a lens or a probe: the same choice in every panel that shows a lens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.session.opened_model import Moment
from lmviz.app.session.probes import FittedProbes
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import counted, whole_percentage
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.recipes.recipe import arguments_of, lens_recipe, recipe_of, traced
from lmviz.inspection.stream import stream_places

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.readouts.fitted_lens import FittedLens

PROBE = "probe"

LENSES = {"logit": "logit lens", "tuned": "tuned lens", "jacobian": "Jacobian lens"}
"""What says words, by kind."""

CHOICES = {**LENSES, PROBE: "probe"}
"""What is offered, by kind."""

FORMULAS = {
    "logit": "W norm(h): the state as if it were the last, nothing fitted",
    "tuned": "W norm(A (h − mean) + b): the map of least squares to the last state",
    "jacobian": "W norm(J (h − mean) + mean of the end): carried on by the average derivative of the end",
    PROBE: "softmax(W h + b): labels and not words, by a logistic regression for each layer",
}
"""How a state h is read, by kind."""

NO_PROBE = (
    "No probe of labels is fitted to this model at this step. The panel Probe fits one for each layer, to "
    "the labels of the open text or to words that you mark."
)
SHOW_PROBE = "Show the panel Probe"
NOTHING_CLAIMED = ": no better than a control"

NO_TEXT = "open a text, on whose passages the {} can be fitted"


def can_choose(reading: Reading) -> bool:
    """Whether a lens can be fitted: to a language model of several layers."""
    several = len(stream_places(reading.trace.arrays, reading.trace.stages)) > 1
    return several and reading.trace.predicts.continues and not reading.model.reads_source


def lens_of(session: Session) -> str:
    """The chosen lens, also where a probe is chosen, which says no words: then states are read directly."""
    return session.lenses.kind if session.lenses.kind in LENSES else "logit"


def kind_for(session: Session, reading: Reading) -> str:
    """By what the states of a reading are to be read: directly where nothing else can be chosen."""
    return session.lenses.kind if can_choose(reading) else "logit"


def probes_for(session: Session, reading: Reading) -> FittedProbes | None:
    """The probes by which a reading's states are read; None where a lens reads them, or none is fitted."""
    if kind_for(session, reading) != PROBE:
        return None
    return session.lenses.probes.of((reading.model, reading.step))


def choose_lens(session: Session, moment: Moment | None, kind: str) -> None:
    """Read states by a lens or a probe; a lens that is not known yet is fitted on the open text."""
    lenses = session.lenses
    lenses.choose(kind)
    if moment is not None and kind not in ("logit", PROBE) and lenses.fitted(moment, kind) is None:
        lenses.fit(moment, kind)


def said_of(session: Session, reading: Reading) -> str:
    """What the chosen lens or probe was fitted on; or why states are still read directly."""
    lenses, moment = session.lenses, (reading.model, reading.step)
    kind, lens = kind_for(session, reading), lenses.chosen(moment)
    if kind == "logit":
        return ""
    if kind == PROBE:
        probes = probes_for(session, reading)
        return NO_PROBE if probes is None else fitted_in_words(probes)
    if lens is not None:
        growing = " so far" if lenses.is_fitting(moment, kind) else ""
        return f"{CHOICES[kind]}, fitted on {lens.passages or 0:,} passages{growing}"
    if lenses.is_fitting(moment, kind):
        return f"the {CHOICES[kind]} is being fitted; read directly until then"
    if session.text.corpus is None:
        return NO_TEXT.format(CHOICES[kind])
    return f"the {CHOICES[kind]} is not fitted to this model: choose it again"


def fitted_in_words(fitted: FittedProbes) -> str:
    """What probes were fitted on, in a few words."""
    return f"probe for {fitted.of}, fitted on {counted(fitted.probes.fitted, 'place')}"


def judged_in_words(fitted: FittedProbes) -> str:
    """How good probes are on texts that were held out, beside their controls."""
    probes = fitted.probes
    best = int(probes.gap.argmax())
    controls = [f"the commonest label {whole_percentage(probes.majority)}"]
    controls.append(f"random labels {whole_percentage(float(probes.shuffled[best]))}")
    controls.append(f"the words alone {whole_percentage(probes.words)}")
    if probes.untrained is not None:
        controls.append(f"before training {whole_percentage(float(probes.untrained[best]))}")
    no_more = float(probes.low[best]) <= float(probes.controls[best])
    return (
        f"At {place_in_words(probes.addresses[best])} it is right in "
        f"{whole_percentage(float(probes.accuracy[best]))} of {counted(probes.tested, 'place')} held out; "
        f"{', '.join(controls)}{NOTHING_CLAIMED if no_more else ''}."
    )


def chosen_recipe(
    session: Session, reading: Reading, lens: FittedLens | None, count: int, positions: list[int] | None
) -> str:
    """The lines that read states by a lens, bound to `lens`; empty for a lens that is not kept."""
    if lens is None:
        return lens_recipe(reading.moment, count, positions, after_layers=True)
    path = session.lenses.file((reading.model, reading.step), lens.kind)
    if path is None:
        return ""
    opened = f"fitted = lmviz.open_lens({str(path)!r}, model)"
    read = f"lens = fitted(trace, {arguments_of(count=count, positions=positions)})"
    return recipe_of(reading.moment, opened, *traced(reading.moment), read)


def probe_recipe(reading: Reading, fitted: FittedProbes, positions: list[int] | None) -> str:
    """The lines that read states by probes, bound to `read`; empty where they cannot be fitted again."""
    if not fitted.code:
        return ""
    read = f"read = probes.read(trace, {positions!r})"
    return recipe_of(reading.moment, *fitted.code, *traced(reading.moment), read)
