"""How the conditions of lessons are brought about through the window.

For each condition a table says how: `ACTS` of a lesson's own file, `acts_07.py` for the seventh, or
`BY_TEXT`, both by the whole condition; or `BY_VALUE`, by the value that it asks for. A lesson that waits
for something new needs a row, and nothing else.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QTabWidget,
    QWidget,
)

from lmviz.app.widgets.controls.row_list import RowList
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.lessons.condition import Condition
from lmviz.lessons.expression import Call, Literal, evaluate
from tests.app.lessons.person import Driver


def act(driver: Driver, condition: Condition) -> None:
    """Bring a condition about through the window."""
    by_text = {**BY_TEXT, **own_acts(driver.session.lesson.lesson.number)}
    if condition.text in by_text:
        by_text[condition.text](driver)
        return
    first = condition.first
    assert isinstance(first, Call), f"the driver does not know how to do {condition.text!r}: add a row"
    assert first.name in BY_VALUE, f"the driver does not know how to do {condition.text!r}: add a row"
    BY_VALUE[first.name](driver, condition)


def own_acts(number: int) -> dict[str, Callable[[Driver], None]]:
    """How the conditions of one lesson are brought about, where that lesson has a file of its own for it."""
    path = Path(__file__).with_name(f"acts_{number:02}.py")
    return runpy.run_path(str(path))["ACTS"] if path.exists() else {}


def wanted(driver: Driver, condition: Condition) -> str:
    """The words or the number that a condition asks for, as it would be typed."""
    if condition.second is None:
        return condition.words
    number = evaluate(condition.second, driver.session.lesson.value)
    step = {">": 1, "<": -1}.get(condition.relation, 0)
    return f"{number + step:g}"


def _set_control(driver: Driver, condition: Condition) -> None:
    """Put into a control what the condition asks for."""
    [name] = [each.value for each in condition.first.arguments if isinstance(each, Literal)]
    _bring_forward(driver, name)
    control = driver.control(name)
    if isinstance(control, QLineEdit | QPlainTextEdit):
        driver.type(name, wanted(driver, condition))
    elif isinstance(control, QComboBox):
        words = wanted(driver, condition)
        at = _choice(driver, control, words)
        control.setCurrentIndex(at)
        control.activated.emit(at)
    elif isinstance(control, QSpinBox | QDoubleSpinBox | QAbstractSlider):
        control.setValue(type(control.value())(float(wanted(driver, condition))))
    elif isinstance(control, QAbstractButton):
        driver.press(name)


def _choice(driver: Driver, control: QComboBox, words: str) -> int:
    """The place of a choice, once it is on the list: a panel may first have to find what can be chosen."""

    def places() -> list[int]:
        return [n for n in range(control.count()) if control.itemText(n).casefold() == words.casefold()]

    driver.wait(places, f"{words} is not among the choices of {control.objectName()}")
    return places()[0]


def _bring_forward(driver: Driver, name: str) -> None:
    """Click the tab behind which a panel stands, where the control is not in sight already."""
    if driver.window.find_control(name) is not None:
        return  # another panel may have a control of this name
    inside = next(iter(driver.window.perspective.findChildren(QWidget, name)), None)
    for place in driver.window.perspective.findChildren(QTabWidget):
        for tab in range(place.count()):
            if inside is not None and place.widget(tab).isAncestorOf(inside):
                place.setCurrentIndex(tab)


def _type_prefix(driver: Driver, condition: Condition) -> None:
    if condition.relation == "is":
        driver.type("prefix_edit", condition.words)
    else:
        words = " the" if condition.relation == "changes" else f" {condition.words}"
        driver.qtbot.keyClicks(driver.control("prefix_edit"), words)


def _open_text(driver: Driver, condition: Condition) -> None:
    driver.window.rail.findChild(QAbstractButton, "perspective_corpus").click()
    texts = driver.control("corpus_picker")
    assert isinstance(texts, RowList)
    driver.session.text.open(condition.words)


def _open_model(driver: Driver, condition: Condition) -> None:
    title = f"Open sample model {condition.words}"
    next(action for action in driver.window.commands.all() if action.text() == title).trigger()


def _pin(driver: Driver, condition: Condition) -> None:
    if condition.relation == "not":
        driver.qtbot.keyClick(driver.control("prefix_edit"), Qt.Key.Key_Escape)
        return
    at = driver.session.focus.shown_position
    if condition.second is not None:
        at = int(float(wanted(driver, condition)))
    driver.session.focus.hover_position(None)  # the pointer has left the cell that it pointed at
    tokens = driver.control("prefix_tokens")
    assert isinstance(tokens, TokenStrip)
    tokens.part_clicked.emit(at)


def _choose_head(driver: Driver, condition: Condition) -> None:
    heads = driver.control("heads_view").findChild(HeadMosaic)
    layer, head = driver.session.attention.head
    if condition.relation == "changes":
        heads.head_clicked.emit(0 if layer else 1, head)
    else:
        at = int(float(wanted(driver, condition)))
        heads.head_clicked.emit(*((at, head) if condition.first.name == "layer" else (layer, at)))


def _point_at_cell(driver: Driver, condition: Condition) -> None:
    name = driver.session.lesson.step.control
    driver.wait(lambda: driver.control(name).findChild(HeatmapView) is not None)
    driver.control(name).findChild(HeatmapView).cell_hovered.emit(1, 0)


def _change_step(driver: Driver, condition: Condition) -> None:
    slider = driver.control("snapshot_slider")
    end = condition.relation in ("=", ">", "≥")
    driver.qtbot.keyClick(slider, Qt.Key.Key_End if end else Qt.Key.Key_Home)


def _go_to_stage(driver: Driver, condition: Condition) -> None:
    value = driver.session.lesson.value
    before = condition.state(value)
    for _ in range(200):
        driver.press("stage_next")
        if condition.holds(value, before):
            return


def _roll(driver: Driver, condition: Condition) -> None:
    """Roll until it is so: a roll that comes while the text changes falls under the table."""
    writing = driver.session.writing
    before = condition.state(driver.session.lesson.value)
    for _ in range(50):
        driver.press("sample_step_button")
        driver.wait(lambda: not writing.is_choosing, "the die does not come to rest")
        if condition.holds(driver.session.lesson.value, before):
            return


def _set_sampling(driver: Driver, condition: Condition) -> None:
    [name] = [each.value for each in condition.first.arguments if isinstance(each, Literal)]
    spin = driver.control(f"{name}_spin")
    spin.setValue(type(spin.value())(float(wanted(driver, condition))))


def _train(driver: Driver, condition: Condition) -> None:
    driver.press("new_run_button")


def _sweep(driver: Driver, condition: Condition) -> None:
    """Push or pop modules until it is so, or all at once where the lesson says so."""
    lesson, button = (
        driver.session.lesson,
        f"tape_{'back' if condition.first.name == 'popped' else 'for'}ward",
    )
    outlined = lesson.step.control_at(lesson.tasks_done)
    for _ in range(400):
        if condition.holds(lesson.value, before=-1.0):
            return
        driver.press(outlined if outlined.startswith("tape_run_") else button)


def _rewrite(new: str, *old: str) -> Callable[[Driver], None]:
    """Change a part of the program of Autodiff, which may stand there in several ways, and have it read."""

    def rewrite(driver: Driver) -> None:
        program = driver.control("autodiff_editor").toPlainText()
        part = next((each for each in old if each in program), None)
        assert part is not None, f"{old} is not in the program"
        driver.control("autodiff_editor").setPlainText(program.replace(part, new))

    return rewrite


def _nudge_by(epsilon: float) -> Callable[[Driver], None]:
    def nudge(driver: Driver) -> None:
        driver.control("nudge_view").findChild(LinePlot, "error_plot").cursor_moved.emit(epsilon)

    return nudge


def _find_fault(driver: Driver) -> None:
    """Check one module after the other."""
    for node in driver.session.network.current.tape.modules:
        if driver.session.module_checks.found is None:
            driver.session.module_checks.check(node.name)


def _set_rate(driver: Driver, condition: Condition) -> None:
    row = driver.control("descent_view").findChild(SliderRow)
    for at in range(row.slider.maximum() + 1):
        row.slider.setValue(at)
        if condition.holds(driver.session.lesson.value, ""):
            return


def _descend(driver: Driver, condition: Condition) -> None:
    """Take a step of gradient descent, or take it back."""
    back = driver.session.descent.place > float(wanted(driver, condition))
    driver.press("undo_step_button" if back else "take_step_button")


BY_TEXT: dict[str, Callable[[Driver], None]] = {
    'network("x[1]") = 3': _rewrite("[3; -0.5; 1; 1]", "[2; -0.5; 1; 1]"),
    'network("x[1]") = 2': _rewrite("[2; -0.5; 1; 1]", "[3; -0.5; 1; 1]"),
    'network("U") = 0.9': _rewrite("U = 0.9", "U = 1"),
    'network("x[1]", 0) = 1': _rewrite("[1 2.2; 2 -2; 0 3.5]", "[2 -2; 0 3.5; 1 2.2]"),
    'control("nudged_cell") contains 1e−5': _nudge_by(1e-5),
    'control("nudged_cell") contains 1e−12': _nudge_by(1e-12),
    'network("x[1]", 1) = 3.5': _rewrite(
        "[0 3.5; 1 2.2; 2 -2]", "[1 2.2; 2 -2; 0 3.5]", "[2 -2; 0 3.5; 1 2.2]"
    ),
    'network("x[3]") = 9': _rewrite("[1; 2; 9]", "[1; 2; 3]"),
    'network("x[2]", 2) = 2': _rewrite("0 0 2 0; 0 1 0 0", "0 1 0 0; 0 0 2 0"),
    'control("saboteur_verdict") contains hidden': lambda driver: driver.press("saboteur_button"),
    "broken is not none": _find_fault,
    "interventions contains position": lambda driver: driver.press("no_positions_button"),
    "changes = 0": lambda driver: driver.session.surgery.clear(),
    "interventions contains backward": lambda driver: driver.press("silence_backward_button"),
}
"""How a condition is brought about that takes more than one control, by the whole of it."""

BY_VALUE: dict[str, Callable[[Driver, Condition], None]] = {
    "control": _set_control,
    "prefix": _type_prefix,
    "source": lambda driver, condition: driver.type("source_edit", condition.words),
    "text": _open_text,
    "model": _open_model,
    "perspective": lambda driver, condition: driver.press(f"perspective_{condition.words}"),
    "position": _pin,
    "pinned": _pin,
    "chosen_head": _choose_head,
    "head": _choose_head,
    "layer": _choose_head,
    "cell": _point_at_cell,
    "step": _change_step,
    "stage": _go_to_stage,
    "rolls": _roll,
    "draws": _roll,
    "written": _roll,
    "training": _train,
    "trained": _train,
    "loss": _train,
    "family": _train,
    "setting": _train,
    "sampling": _set_sampling,
    "pushed": _sweep,
    "popped": _sweep,
    "rate": _set_rate,
    "descents": _descend,
}
"""How a condition is brought about, by the value that it asks for."""
