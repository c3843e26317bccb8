"""Controls: what a person sets, chooses, or is led to."""

from __future__ import annotations

from gallery import Exhibit, show
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from lmviz.app.widgets.controls.change_list import ChangeList, ListedChange
from lmviz.app.widgets.controls.command_palette import CommandPalette
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.controls.hinted_edit import HintedEdit
from lmviz.app.widgets.controls.lesson_list import LessonList, ListedLesson
from lmviz.app.widgets.controls.measured_cards import MeasuredBar, MeasuredCard, MeasuredCards
from lmviz.app.widgets.controls.preset_cards import PresetCard, PresetCards
from lmviz.app.widgets.controls.progress_dots import ProgressDots
from lmviz.app.widgets.controls.question_card import QuestionCard
from lmviz.app.widgets.controls.ring import Ring
from lmviz.app.widgets.controls.row_list import ListedRow, RowList
from lmviz.app.widgets.controls.sampling_controls import SamplingControls
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.controls.task_list import TaskList, Tick
from lmviz.app.widgets.controls.word_choice import WordChoice
from lmviz.decoding.options import SamplingOptions
from lmviz.models.transformer_configuration import TransformerConfiguration

COMMANDS = {
    "Open text…": "Ctrl+O",
    "Train": "Ctrl+T",
    "Pause training": "",
    "Dark theme": "",
    "Take a picture": "",
}


def change_list() -> QWidget:
    """Two changes, what each does alone, and both together."""
    view = ChangeList()
    view.set_changes([ListedChange("head 1·4 off", True), ListedChange("head 2·3 off", False)])
    view.set_effects("stone", 0.923, (0.038, 0.921), 0.03)
    return view


def command_palette() -> QWidget:
    """The palette within a page, after two letters."""
    page = QWidget()
    for name, keys in COMMANDS.items():
        action = QAction(name, page)
        action.setShortcut(keys)
        action.setEnabled(name != "Pause training")
        page.addAction(action)
    palette = CommandPalette(page.actions, page)
    palette.setWindowFlags(Qt.WindowType.Widget)
    QVBoxLayout(page).addWidget(palette)
    palette.open()
    palette.findChild(QLineEdit).setText("ta")
    return page


def configuration_form() -> QWidget:
    """A form in which one value does not fit the others."""
    form = ConfigurationForm(TransformerConfiguration())
    form.field("width").control.setValue(130)
    return form


def hinted_edit() -> QWidget:
    """The same hint where there is room for it, and where there is not."""
    page = QWidget()
    column = QVBoxLayout(page)
    for width in (230, 130):
        edit = HintedEdit("a phrase, such as cows eat", "a phrase")
        edit.setFixedWidth(width)
        column.addWidget(edit)
    return page


def lesson_list() -> QWidget:
    """Two lessons, one of them half done."""
    lessons = LessonList()
    lessons.set_lessons(
        [
            ListedLesson("1 · Counting", "Which word comes after which.", 3, 6),
            ListedLesson("2 · The die", "How a text is drawn.", 0, 7),
        ]
    )
    return lessons


def row_list() -> QWidget:
    """Runs below a heading; the second is chosen."""
    runs = RowList(3, ("Name", "Family", "Steps"))
    runs.set_rows(
        [
            ListedRow(("Your runs",)),
            ListedRow(("by hand", "GRU", "400"), 1, may_be_renamed=True),
            ListedRow(("farm-lstm", "LSTM", "1,200"), 2, may_be_renamed=True),
        ]
    )
    runs.choose(2)
    return runs


def progress_dots() -> QWidget:
    """Three of seven steps are done."""
    dots = ProgressDots()
    dots.set_dots(7, {0, 1, 2}, 3)
    return dots


def question_card() -> QWidget:
    """A question with its answer."""
    card = QuestionCard()
    card.set_question("At how many places does “cows eat” stand?", (), "The title says it.")
    card.allow(True)
    card.tell(True, "**Right: 11.** One word follows at each.", is_hint_shown=True)
    return card


def choices() -> QWidget:
    """A question with choices, before its task is done."""
    card = QuestionCard()
    card.set_question("What has changed?", ("The borders between all of the words.", "The number."), "")
    card.allow(False)
    return card


def ring() -> QWidget:
    """A ring around a button."""
    page = QWidget()
    button = QPushButton("a control", page)
    button.move(120, 30)
    around = Ring(page)
    page.showEvent = lambda event: around.surround(lambda: button)
    return page


def task_list() -> QWidget:
    """Two things to do, one of which is done."""
    tasks = TaskList()
    tasks.set_tasks(["take away the positions", "swap two words"], 1)
    return tasks


def tick() -> QWidget:
    """A tick alone."""
    made = Tick()
    made.set_state(is_done=True, is_next=False)
    return made


def preset_cards() -> QWidget:
    """Three lengths of a training."""
    cards = PresetCards()
    cards.set_cards(
        [
            PresetCard("quick", ("1 min", "2,000 steps", "3.7 ×")),
            PresetCard("good", ("4 min", "8,000 steps", "15 ×")),
            PresetCard("thorough", ("14 min", "30,000 steps", "56 ×")),
        ],
        "good",
    )
    return cards


def measured_cards() -> QWidget:
    """Two ways to train a model further, on common scales."""
    cards = MeasuredCards()
    cards.set_cards(
        [
            MeasuredCard(
                "all",
                "all weights",
                "rate 0.0001",
                (MeasuredBar("trained", 1.0, "135M"), MeasuredBar("each step", 1.0, "3.3 s")),
            ),
            MeasuredCard(
                "lora",
                "LoRA, rank 8",
                "rate 0.0003",
                (MeasuredBar("trained", 0.02, "2.4M"), MeasuredBar("each step", None, "…")),
            ),
        ],
        "lora",
    )
    return cards


def sampling_controls() -> QWidget:
    """How a next word is chosen."""
    made = SamplingControls()
    made.set_options(SamplingOptions(temperature=0.8, top_k=40))
    return made


def slider_row() -> QWidget:
    """A slider that says what its value means."""
    row = SliderRow("fork", "place of the fork")
    row.set_range(40, 17)
    row.show_value(17, "step 1,240")
    return row


def word_choice() -> QWidget:
    """Three words to choose from."""
    choice = WordChoice("guess_edit")
    choice.offer(["night", "river", "king"])
    return choice


EXHIBITS = (
    Exhibit("Changes", "", change_list, (360, 140)),
    Exhibit("Commands", "Ctrl+K", command_palette, (520, 320)),
    Exhibit("Model", "0.80 M · 3.2 MB", configuration_form, (320, 460)),
    Exhibit("Concordance", "", hinted_edit, (270, 110)),
    Exhibit("Lessons", "", lesson_list, (320, 140)),
    Exhibit("Runs", "", row_list, (360, 130)),
    Exhibit("Progress", "", progress_dots, (200, 60)),
    Exhibit("Question", "", question_card, (320, 220)),
    Exhibit("Choices", "", choices, (240, 200)),
    Exhibit("Ring", "", ring, (320, 120)),
    Exhibit("To do", "", task_list, (320, 90)),
    Exhibit("Tick", "", tick, (120, 70)),
    Exhibit("How long", "", preset_cards, (340, 130)),
    Exhibit("What is learned", "", measured_cards, (320, 170)),
    Exhibit("Sampling", "", sampling_controls, (560, 140)),
    Exhibit("Fork", "", slider_row, (320, 100)),
    Exhibit("What comes next?", "", word_choice, (360, 110)),
)

if __name__ == "__main__":
    show(EXHIBITS)
