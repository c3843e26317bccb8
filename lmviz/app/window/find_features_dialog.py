"""Finding features: where, how many, what it takes; then its curves, while it runs and afterwards."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.session.finding_features import FINISHED, IDLE, PAUSED, RUNNING, FindingFeatures
from lmviz.app.widgets.base.building import STRETCH, column, named, row, sheet
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.steady import ComboBox
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.looks.look_card import LookCard
from lmviz.features.finding_look import finding_look
from lmviz.features.recipe import FeatureRecipe
from lmviz.inspection.names import title_of
from lmviz.looks.look import Look

SIZE = (1000, 620)
FORM = 300
"""Pixels at scale 1."""

MIDDLE = "the middle layer"
MEASURING = "Measuring how long it takes …"
INVITATION = (
    "A dictionary of features is learned of the states of the open text. Its curves are drawn here while it "
    "learns: what it explains, and what the model's loss is with it."
)
STABLE = (
    "Learns once more with another seed, on a third of the tokens, and says how many of the features come "
    "again: those that do not are one way among many to take the states apart."
)
SAID = {
    RUNNING: "Learning.",
    PAUSED: "Paused: it goes on exactly where it stopped, also after lmviz was closed, from Python.",
}


class FindFeaturesDialog(QDialog):
    """`FindFeaturesDialog(finding, parent)`: a form, the plan, and the curves; closing it stops nothing."""

    def __init__(self, finding: FindingFeatures, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("find_features_dialog")
        self.setWindowTitle("Find features")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._finding = finding
        self._failure = ""
        self.tap_choice = named(ComboBox(), "feature_tap_choice", "states whose features are found")
        self.form: ConfigurationForm[FeatureRecipe] = ConfigurationForm(finding.recipe)
        self.form.setObjectName("feature_recipe_form")
        self.form.set_shown(finding.recipe.used())
        self.plan_label = Label(name="feature_plan", role="muted", wraps=True)
        self.start_button = named(QPushButton("Find features"), "start_finding_button", role="primary")
        self.pause_button = named(QPushButton("Pause"), "pause_finding_button")
        self.stop_button = named(QPushButton("Stop and keep"), "stop_finding_button")
        self.stable_button = named(QPushButton("Stable?"), "stable_features_button")
        self.stable_button.setToolTip(paragraph(STABLE))
        self.card = LookCard("What they explain", lambda: finding.noun)
        side = sheet(
            column(
                Label("Of the states at"),
                self.tap_choice,
                self.form,
                self.plan_label,
                STRETCH,
                row(STRETCH, self.stable_button),
                row(STRETCH, self.stop_button, self.pause_button, self.start_button),
                gap=8,
            )
        )
        side.setFixedWidth(round(FORM * current_theme().scale))
        line = row(side, self.card, gap=12, margins=(12, 12, 12, 12), on=self)
        line.setStretchFactor(self.card, 1)
        self.resize(*(round(length * current_theme().scale) for length in SIZE))
        self.form.configuration_changed.connect(self._choose)
        self.tap_choice.activated.connect(lambda _: self._choose(self.form.configuration))
        self.start_button.clicked.connect(lambda _=False: self._start())
        self.stable_button.clicked.connect(lambda _=False: finding.test_stability())
        self.pause_button.clicked.connect(lambda _=False: finding.pause())
        self.stop_button.clicked.connect(lambda _=False: finding.stop())
        finding.changed.connect(self._refresh)
        finding.failed.connect(self._fail)
        self._measuring = QTimer(self)
        self._measuring.setSingleShot(True)
        self._measuring.timeout.connect(finding.measure)
        self._refresh()

    def _choose(self, recipe: FeatureRecipe) -> None:
        self._failure = ""
        self.form.set_shown(recipe.used())
        if recipe.transcoder != self._finding.recipe.transcoder:  # these stand elsewhere
            self.tap_choice.clear()
        self._finding.choose(recipe, self.tap_choice.currentData() or "")

    def _start(self) -> None:
        self._failure = ""
        if self._finding.phase == PAUSED:
            self._finding.go_on()
        else:
            self._finding.begin()

    def _fail(self, sentence: str) -> None:
        self._failure = sentence
        self._refresh()

    def _refresh(self) -> None:
        finding, phase = self._finding, self._finding.phase
        plan, is_free = finding.plan, phase in (IDLE, FINISHED)
        if is_free and not finding.obstacle and plan is None:
            self._measuring.start(0)
        refused = plan if isinstance(plan, str) else ""
        said = finding.obstacle or refused
        if plan is not None and not isinstance(plan, str):
            self._offer(plan.taps)
            said = said or plan.sentence
        self.plan_label.setText(self._failure or said or MEASURING)
        self.form.set_editable(None if is_free else ())
        self.tap_choice.setEnabled(is_free)
        can_start = is_free and not finding.obstacle and not refused and not self.form.complaint
        self.start_button.setText("Continue" if phase == PAUSED else "Find features")
        self.start_button.setEnabled(can_start or phase == PAUSED)
        self.pause_button.setEnabled(phase == RUNNING)
        self.stop_button.setEnabled(phase in (RUNNING, PAUSED) and finding.progress is not None)
        can_test = phase == FINISHED and not finding.is_testing and finding.stability is None
        self.stable_button.setEnabled(can_test)
        self.card.show_look(self._look())

    def _look(self) -> Look:
        finding = self._finding
        said = SAID.get(finding.phase, INVITATION)
        if finding.folder is not None and finding.phase == FINISHED:
            said = f"Kept in {finding.folder.path.name}."
        further = "" if finding.stability is None else finding.stability.sentence
        further = "Learning with another seed …" if finding.is_testing else further
        return finding_look(
            finding.progress, finding.dictionary, said=said, size=finding.size, further=further
        )

    def _offer(self, taps: tuple[str, ...]) -> None:
        """The taps that there are; what was chosen stays chosen."""
        offered = ("", *taps)
        if [self.tap_choice.itemData(at) for at in range(self.tap_choice.count())] == list(offered):
            return
        self.tap_choice.clear()
        for tap in offered:
            self.tap_choice.addItem(title_of(tap) if tap else MIDDLE, tap)
        chosen = self._finding.tap
        self.tap_choice.setCurrentIndex(offered.index(chosen) if chosen in offered else 0)
