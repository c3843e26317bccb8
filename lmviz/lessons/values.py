"""The values that a lesson may name: one literal table. To add one, add a row.

A row has the name, what its arguments are, what it means, and the function of the situation that gives it.
The function raises `NotKnown` where there is no such value now. Arguments in square brackets may be left out.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from lmviz.base.faults import LineFault
from lmviz.lessons.controls import check_control
from lmviz.lessons.expression import Call, Expression, Literal, Operation, Result
from lmviz.lessons.faults import NotKnown
from lmviz.lessons.readings import (
    best_lane,
    cell,
    cell_value,
    count,
    drawn,
    furthest_reaching,
    gradient_factor,
    lane_loss,
    likeliest,
    log_probability,
    measured,
    most_held,
    named,
    network_cell,
    probability,
    shape,
    strongest,
    written,
)
from lmviz.lessons.situation import Settled, Situation


@dataclass(frozen=True)
class LessonValue:
    """One row. `takes` names the arguments, as in "PHRASE [TOKEN]"; "INDEX…" is any number of them."""

    name: str
    takes: str
    meaning: str
    give: Callable[..., Result]

    @property
    def written(self) -> str:
        """How a lesson writes it."""
        return f"{self.name}({', '.join(self.takes.split())})" if self.takes else self.name

    def accepts(self, count: int) -> bool:
        """Whether it can be asked with so many arguments."""
        names = self.takes.split()
        least = sum(not name.startswith("[") and not name.endswith("…") for name in names)
        return least <= count <= (len(names) if not any(name.endswith("…") for name in names) else 9)


VALUES = (
    # the window
    LessonValue("perspective", "", "the perspective that is shown", lambda now: now.perspective),
    LessonValue(
        "control",
        "NAME",
        "what is typed, chosen or set in the control of this object name",
        lambda now, name: _there(now.control(str(name)), f"no control {name!r} that can be seen"),
    ),
    LessonValue(
        "pressed",
        "NAME",
        "how often the button of this object name was pressed",
        lambda now, name: _there(now.presses(str(name)), f"no button {name!r} that can be seen"),
    ),
    LessonValue(
        "drawn",
        "PANEL ARRAY INDEX…",
        "a number that the panel of this object name draws, under the name by which it exports it",
        drawn,
    ),
    LessonValue(
        "strongest",
        "PANEL ARRAY INDEX…",
        "the place of the number of largest size along the last axis, counted from 0",
        strongest,
    ),
    # the text
    LessonValue("text", "", "the name of the open text", lambda now: now.corpus.name if now.corpus else ""),
    LessonValue(
        "text_tokens",
        "",
        "how many tokens its training part has",
        lambda now: float(len(_corpus(now).training)),
    ),
    LessonValue(
        "text_vocabulary",
        "",
        "how many different tokens it has",
        lambda now: float(_corpus(now).tokenizer.vocabulary_size),
    ),
    LessonValue(
        "count",
        "PHRASE [TOKEN]",
        "how often a phrase occurs with a token after it, or with this token",
        count,
    ),
    # the model
    LessonValue("model", "", "the name of the folder of the shown model", lambda now: now.model),
    LessonValue("family", "", "the family of the shown model", lambda now: now.family),
    LessonValue("setting", "NAME", "a setting of the shown model or of its training", named("settings")),
    LessonValue("planned", "NAME", "a setting of what would be trained; “family” too", named("planned")),
    LessonValue(
        "parameters", "", "how many numbers the model has learned", lambda now: _number(now.parameters)
    ),
    LessonValue("vocabulary", "", "how many tokens the model knows", lambda now: _number(_vocabulary(now))),
    LessonValue("step", "", "the step at which the model is shown", lambda now: _number(now.step)),
    LessonValue("last_step", "", "the last step of its training", lambda now: _number(now.last_step)),
    LessonValue(
        "training",
        "",
        "idle, preparing, running, paused, finished, stopped or failed",
        lambda now: now.training,
    ),
    LessonValue("trained", "", "the steps done by the training of this session", measured("step")),
    LessonValue("loss", "", "the newest loss of the training, in nats", measured("loss")),
    LessonValue("validation_loss", "", "the same on held-out text", measured("validation_loss")),
    LessonValue(
        "race", "", "how the race stands: empty, waiting, running, paused or ended", lambda now: now.race
    ),
    LessonValue("lanes", "", "how many lanes it has", lambda now: float(len(now.lanes))),
    LessonValue(
        "best_lane",
        "[RANK]",
        "the name of the lane with the lowest validation loss, or of that rank",
        best_lane,
    ),
    LessonValue("lane_loss", "[RANK]", "the lowest validation loss of that lane, in nats", lane_loss),
    LessonValue("compared", "", "the models beside the shown one", lambda now: ", ".join(now.compared)),
    # what it reads
    LessonValue("prefix", "", "the text that is typed", lambda now: now.prefix),
    LessonValue("source", "", "the text that is to be translated", lambda now: now.source),
    LessonValue("tokens", "", "how many tokens the model reads", lambda now: float(len(_trace(now)))),
    LessonValue("token", "POSITION", "the token there; -1 is the last", lambda now, at: _token(now, at)),
    LessonValue(
        "probability",
        "TOKEN [POSITION]",
        "the probability of this token, or label, after the position, or the last",
        probability,
    ),
    LessonValue(
        "likeliest",
        "[RANK] [POSITION]",
        "the token, or label, of this rank after the position, or the last",
        likeliest,
    ),
    LessonValue(
        "log_probability",
        "",
        "ln of the probability of the whole typed text, in nats",
        log_probability,
    ),
    LessonValue("most_held", "", "the token from which the memory cell of an LSTM holds most", most_held),
    LessonValue(
        "gradient_factor",
        "MODEL",
        "by what a step back multiplies the gradient, in the compared model of this name",
        gradient_factor,
    ),
    LessonValue(
        "furthest_reaching",
        "",
        "the name of the compared model in which a step back leaves most of the gradient",
        furthest_reaching,
    ),
    LessonValue(
        "value",
        "ADDRESS INDEX…",
        "a cell of the trace; an index is a number or a token",
        partial(cell, untouched=False),
    ),
    LessonValue(
        "untouched", "ADDRESS INDEX…", "the same without interventions", partial(cell, untouched=True)
    ),
    LessonValue("length", "ADDRESS AXIS", 'how long a tap is along an axis, such as "head"', shape),
    LessonValue(
        "interventions", "", "the interventions in force, in words", lambda now: "; ".join(now.interventions)
    ),
    LessonValue(
        "changes", "", "how many interventions are in force", lambda now: float(len(now.interventions))
    ),
    # where one looks
    LessonValue(
        "stage",
        "",
        "the stage of the computation that is shown",
        lambda now: _there(now.stage or None, "no stage"),
    ),
    LessonValue("position", "", "the shown position, counted from 0", lambda now: float(now.position)),
    LessonValue("pinned", "", "1 while a position is pinned", lambda now: float(now.is_pinned)),
    LessonValue("cell", "", "the address of the cell that is pointed at or pinned", lambda now: now.cell),
    LessonValue("cell_value", "", "the number in that cell", cell_value),
    LessonValue("chosen_head", "", "the chosen attention head, as “layer 1, head 4”", lambda now: _head(now)),
    LessonValue(
        "layer", "", "the layer of the chosen attention head, counted from 0", lambda now: float(now.head[0])
    ),
    LessonValue("head", "", "the chosen head in its layer, counted from 0", lambda now: float(now.head[1])),
    LessonValue(
        "feature",
        "",
        "the number of the feature that is looked at, -1 for none",
        lambda now: float(now.feature),
    ),
    # what is written
    LessonValue("sampling", "NAME", "an option of sampling, such as temperature", named("sampling")),
    LessonValue("written", "", "the tokens written after the prefix", written),
    LessonValue(
        "rolls",
        "",
        "how many tokens were written after the prefix",
        lambda now: float(len(now.branches.path())),
    ),
    LessonValue(
        "draws", "", "how often the die was rolled, in all branches", lambda now: float(now.branches.draws)
    ),
    # Autodiff
    LessonValue("network_title", "", "what the network is called", lambda now: now.network_title),
    LessonValue(
        "network", "NAME INDEX…", "a cell of a value of the network", partial(network_cell, gradient=False)
    ),
    LessonValue(
        "gradient",
        "NAME INDEX…",
        "the gradient of the output with respect to it",
        partial(network_cell, gradient=True),
    ),
    LessonValue(
        "modules", "", "how many modules the network has", lambda now: float(len(now.network.tape.modules))
    ),
    LessonValue(
        "pushed", "", "how many of them have computed their value", lambda now: float(now.network.tape.pushed)
    ),
    LessonValue(
        "popped",
        "",
        "how many of them the sweep has taken off the tape",
        lambda now: float(now.network.tape.popped),
    ),
    LessonValue(
        "network_changes",
        "",
        "how often the network or its numbers have changed",
        lambda now: float(now.network_changes),
    ),
    LessonValue("rate", "", "η, the rate of the next step of gradient descent on it", lambda now: now.rate),
    LessonValue("descents", "", "how many of these steps were taken", lambda now: float(now.descents)),
    LessonValue("checked", "", "how many of its modules were checked alone", lambda now: float(now.checked)),
    LessonValue(
        "broken",
        "",
        "the name of the broken module, once a check has found it",
        lambda now: _there(now.broken or None, "no broken module that was found"),
    ),
)

OF_CONTROLS = ("control", "pressed")
"""Values that ask for a control by its object name."""

_BY_NAME = {value.name: value for value in VALUES}


def look_up(now: Situation, name: str, arguments: list[Result]) -> Result:
    """A value of the table in a situation; NotKnown where there is none now, StillComing where it will be
    there, or will be another, once what it is read off has come."""
    found = _BY_NAME[name].give(Settled(now), *arguments)
    return found if isinstance(found, str) else float(found)


def check(expression: Expression) -> None:
    """LineFault where an expression names a value that does not exist, or asks for it wrongly."""
    for call in _calls(expression):
        value = _BY_NAME.get(call.name)
        if value is None:
            near = difflib.get_close_matches(call.name, _BY_NAME, n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/writing-a-lesson.md lists all values."
            raise LineFault(f"there is no value {call.name!r}: {hint} Put words in quotation marks.")
        if not value.accepts(len(call.arguments)):
            raise LineFault(f"{call.name} is written {value.written}.")
        if call.name in OF_CONTROLS and isinstance(call.arguments[0], Literal):
            check_control(str(call.arguments[0].value))


def names_values(expression: Expression) -> bool:
    """Whether it says something of the program, and is not only arithmetic of numbers."""
    return any(True for _ in _calls(expression))


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
    inner = expression.arguments if isinstance(expression, Call) else ()
    inner = expression.operands if isinstance(expression, Operation) else inner
    for each in inner:
        yield from _calls(each)


def _head(now: Situation) -> str:
    return f"layer {now.head[0] + 1}, head {now.head[1] + 1}"


def _there(value: Any, what: str) -> Any:
    if value is None:
        raise NotKnown(f"There is {what} yet.")
    return value


def _number(value: float | None) -> float:
    return float(_there(value, "no model"))


def _corpus(now: Situation) -> Any:
    return _there(now.corpus, "no text")


def _trace(now: Situation) -> Any:
    return _there(now.trace, "nothing that a model has read")


def _vocabulary(now: Situation) -> int | None:
    return None if now.tokenizer is None else now.tokenizer.vocabulary_size


def _token(now: Situation, at: Result) -> str:
    tokens = _trace(now).tokens
    if isinstance(at, str) or not -len(tokens) <= at < len(tokens):
        raise NotKnown(f"There is no token {at}.")
    return str(tokens[int(at)])
