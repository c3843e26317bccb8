"""Beam search, step by step: the kept and the pruned texts with their scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPoint, QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.sample.text_end import end_of
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.session import Session
from lmviz.app.session.surgery import in_words
from lmviz.app.widgets.base.building import column, named, picker
from lmviz.app.widgets.base.figures import counted, number, percentage
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.flow import labelled
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.base.steady import DoubleSpinBox, SpinBox
from lmviz.app.widgets.controls.inline_spin import fit_width
from lmviz.app.widgets.diagrams.tree_view import TreeNode, TreeView
from lmviz.base.configuration import Setting
from lmviz.decoding.beam import FINISHED, PRUNED, BeamNode, BeamTree, length_normaliser
from lmviz.decoding.options import BeamOptions
from lmviz.inspection.recipes.decoding import beam_recipe
from lmviz.text.tokenizer import visible

BETWEEN = 220  # milliseconds from one step to the next, so that the growth of the tree is seen


class BeamPanel(Panel):
    """The tree with its scores; the pointer on a node says how its score came about."""

    needs_next_word = "Open a language model to search for the likeliest continuation."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._tree = named(TreeView(), "beam_tree", "beam search")
        self._area = scrolling(self._tree, sideways=True)
        self._step = LinkButton("beam_step_button", "one step", "grow the beam by one token")
        self._run = LinkButton("beam_run_button", "run", "grow the beam to its length")
        self._again = LinkButton("beam_again_button", "clear", "remove the search")
        self._controls = BeamControls(self._step, self._run, self._again)
        self._said = MutedLine()
        self._is_running = False
        self._selected = -1
        self._next = QTimer(self, singleShot=True, interval=BETWEEN)
        self._next.timeout.connect(session.beam.grow)
        self._card = self.add_card(
            "Beam search",
            self._controls,
            column((self._area, 1), self._said, gap=4),
        )
        self._connect()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """For every node but the prefix: the node before it, its token's id, and its score."""
        nodes = self.session.beam.tree.nodes[1:] if self.session.beam.tree is not None else ()
        return {
            name: np.array([getattr(node, name) for node in nodes])
            for name in ("parent", "id", "score")
            if nodes
        }

    def recipe(self) -> str:
        session, beam = self.session, self.session.beam.tree
        if beam is None or not session.beam.is_grown:
            return ""  # the recipe's search would run to its end
        moment = session.reading.moment_of(beam.nodes[0].text)
        searched = replace(moment, step=session.beam.step, interventions=session.beam.interventions)
        return beam_recipe(searched, beam.options.unusual_values())

    def refresh(self) -> None:
        session, beam = self.session, self.session.beam.tree
        self._controls.set_options(session.beam.options)
        can_grow = session.writing.can_write and not session.beam.is_grown
        self._step.setEnabled(can_grow)
        self._run.setEnabled(can_grow)
        self._run.setText("pause" if self._is_running else "run")
        self._again.setEnabled(beam is not None)
        if beam is None:
            self._tree.set_nodes([])
            self._selected = -1
            self._say("Extends several texts at once and keeps the best: press one step, or run.")
            return
        self._draw(beam)

    def _draw(self, beam: BeamTree) -> None:
        if self._selected >= len(beam.nodes):
            self._selected = -1
        nodes = [TreeNode(end_of(beam.nodes[0].text))] + [
            TreeNode(
                visible(node.token),
                number(node.score, 2),
                node.parent,
                node.state == PRUNED,
                node.probability,
                _ending(beam, node),
            )
            for node in beam.nodes[1:]
        ]
        shown = beam.nodes[self._selected] if self._selected > 0 else beam.best
        self._tree.set_nodes(nodes, shown.index, self.session.reading.noun)
        text = shown.text[len(beam.nodes[0].text) :].strip(" ") or visible(shown.token)
        states = {FINISHED: "finished", PRUNED: "dropped"}
        best = "the best" if self.session.beam.is_grown else "best so far"
        state = best if shown == beam.best else states.get(shown.state, "kept")
        self._say(
            f"token {beam.depth} of {beam.options.length}{self._circumstances()} · {text} · "
            f"score {number(shown.score, 2)} · {state}"
        )
        place = self._tree.node_rectangle(shown.index).center().toPoint()
        QTimer.singleShot(0, self, lambda: self._area.ensureVisible(place.x(), place.y(), 120, 60))

    def _circumstances(self) -> str:
        """What model searches, where it is another than the one that is shown now, or a changed one."""
        session = self.session
        step = "" if session.beam.step == session.library.step else f", at step {session.beam.step:,}"
        changes = in_words(session.beam.interventions)
        if not changes and session.surgery.in_force:
            changes = "without the changes"
        return f"{step}, {changes}" if changes else step

    def _connect(self) -> None:
        session = self.session
        self._step.clicked.connect(session.beam.grow)
        self._run.clicked.connect(self._toggle)
        self._again.clicked.connect(session.beam.forget)
        self._controls.option_changed.connect(lambda name, value: session.beam.set_options(**{name: value}))
        self._tree.part_clicked.connect(self._select)
        self._tree.part_hovered.connect(self._explain)
        session.beam.changed.connect(self._go_on)
        self.show_failures(session.beam)
        session.beam.failed.connect(lambda _: self._pause())
        session.beam.failed.connect(lambda _: self.refresh_soon())
        self.follow(
            session.beam.changed,
            session.reading.encoding_changed,
            session.library.step_changed,
            session.surgery.changed,
        )

    def _toggle(self) -> None:
        """Grow to the end, or pause."""
        self._is_running = not self._is_running
        if self._is_running:
            self.session.beam.grow()
        else:
            self._next.stop()
        self.refresh_soon()

    def _go_on(self) -> None:
        session = self.session
        if session.beam.tree is None or session.beam.is_grown:
            self._is_running = False
            self._next.stop()
        elif self._is_running:
            self._next.start()

    def _select(self, node: int) -> None:
        self._selected = node
        self.refresh_soon()

    def _explain(self, node: int) -> None:
        """The card beside a node: its own probability, the sum along the path, and the normalisation."""
        beam = self.session.beam.tree
        if beam is None or node <= 0:
            HoverCard.leave(self._tree)
            return
        title, lines = score_in_words(beam.nodes[node], beam.options)
        place = self._tree.node_rectangle(node).bottomLeft().toPoint() + QPoint(0, 2)
        HoverCard.beside(self._tree, place, title, lines)

    def _say(self, sentence: str) -> None:
        self._said.set_text(sentence)

    def _pause(self) -> None:
        self._is_running = False
        self._next.stop()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._pause()


def _ending(beam: BeamTree, node: BeamNode) -> str:
    """What became of a text that went no further, though it had not been dropped; "" otherwise."""
    if node.state == FINISHED:
        return "finished"
    after = beam.children(node)
    if node.state == PRUNED or not after or any(other.state != PRUNED for other in after):
        return ""
    best = max(other.score for other in after)
    offers = "1 offer" if len(after) == 1 else f"{len(after)} offers"
    return f"{offers} pruned, the best {number(best, 2)}"


def score_in_words(node: BeamNode, options: BeamOptions) -> tuple[str, tuple[str, ...]]:
    """How a node's score came about."""
    normaliser = length_normaliser(node.depth, options.length_penalty, options.length_formula)
    length = f"{node.depth}" if options.length_formula == "plain" else f"((5 + {node.depth}) ÷ 6)"
    state = {PRUNED: "dropped", FINISHED: "finished at END"}.get(node.state, "kept")
    return f"score {number(node.score)}", (
        f"ln p = {number(node.log_probability)}, p = {percentage(node.probability)}",
        f"sum over {counted(node.depth, 'token')} {number(node.total)}",
        f"÷ {length}^{options.length_penalty:g} = {number(normaliser)}",
        f"place {node.rank} of its step: {state}",
    )


SHOWN = {"width": "k", "continuations": "m", "length": "length", "length_penalty": "α"}
"""The options with a box of their own, and the name beside it."""

FORMULAS = {"shifted": "÷ ((5+n)÷6)^α", "plain": "÷ n^α"}

AS_WIDTH = "= k"


class BeamControls(FittingRow):
    """`BeamControls(*buttons)`: the options before some buttons, for which they give way, the last one first.

    `set_options(options)` emits nothing; `option_changed(name, value)` by a person.
    """

    option_changed = Signal(str, object)

    def __init__(self, *buttons: QWidget) -> None:
        settings = {item.name: item for item in BeamOptions.settings()}
        spins = {name: _spin(settings[name]) for name in SHOWN}
        choice = picker(
            "beam_choice_picker", "which continuations are taken", map(str, settings["choice"].choices)
        )
        choice.setToolTip(paragraph(settings["choice"].help))
        formula = picker("beam_length_formula_picker", "how scores are normalised by length")
        set_choices(formula, FORMULAS, "shifted")
        formula.setToolTip(paragraph(settings["length_formula"].help))
        further = {"continuations": (choice,), "length_penalty": (formula,)}
        groups = [
            named(labelled(SHOWN[name], spin, *further.get(name, ())), "", spin.accessibleName())
            for name, spin in spins.items()
        ]
        super().__init__((*groups, *buttons), groups[::-1])
        self._spins, self._choice, self._formula = spins, choice, formula
        for name, spin in spins.items():
            spin.valueChanged.connect(lambda value, name=name: self.option_changed.emit(name, value))
        choice.textActivated.connect(lambda words: self.option_changed.emit("choice", words))
        formula.activated.connect(lambda _: self.option_changed.emit("length_formula", formula.currentData()))
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()

    def set_options(self, options: BeamOptions) -> None:
        """Show other options."""
        for name, spin in self._spins.items():
            with QSignalBlocker(spin):
                spin.setValue(getattr(options, name))
        self._choice.setCurrentText(options.choice)
        set_choices(self._formula, FORMULAS, options.length_formula)

    def _adopt_theme(self) -> None:
        for spin in self._spins.values():
            fit_width(spin)


def _spin(setting: Setting) -> QSpinBox | QDoubleSpinBox:
    """A box for an option, with its name and limits."""
    assert setting.minimum is not None, "each option of the search has both limits"
    assert setting.maximum is not None, "each option of the search has both limits"
    spin: QSpinBox | QDoubleSpinBox
    if isinstance(setting.default, int):
        spin = SpinBox()
        spin.setRange(int(setting.minimum), int(setting.maximum))
    else:
        spin = DoubleSpinBox()
        spin.setRange(setting.minimum, setting.maximum)
        spin.setSingleStep(0.1)
    if setting.zero:
        spin.setSpecialValueText(AS_WIDTH)
    spin.setObjectName(f"beam_{setting.name}_spin")
    spin.setAccessibleName(f"beam {setting.label.lower()}")
    spin.setToolTip(paragraph(setting.help))
    return spin
