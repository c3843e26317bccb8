"""Nothing fails unsaid: each question and each job is broken in turn, and the sentence read on the screen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QLineEdit, QSlider, QTreeWidget, QWidget
from pytestqt.exceptions import TimeoutError as WaitedTooLong
from pytestqt.qtbot import QtBot

import lmviz.app
from lmviz import api
from lmviz.app.opening.settings import Settings
from lmviz.app.panels.attention import heads
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.session.work import Work
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.other_programs import choose_model_file
from lmviz.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.inspection.interventions import scale_head
from lmviz.position_trial import TrialOptions
from lmviz.text.catalogue import Entry
from lmviz.text.corpus import load_corpus
from lmviz.training.options import TrainingOptions

WORDS = ("cows", "hens", "dog", "grass", "corn")


class Breaking:
    """Lets the work of one question or job fail, by the beginning of its name."""

    def __init__(self) -> None:
        self.times = 0
        """How often the broken work was done."""
        self._broken: tuple[str, str] | None = None

    @contextmanager
    def broken(self, name: str, sentence: str) -> Iterator[None]:
        self._broken, self.times = (name, sentence), 0
        try:
            yield
        finally:
            self._broken = None

    def instead_of(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        if self._broken is None or not name.startswith(self._broken[0]):
            return work
        sentence = self._broken[1]

        def fail(*arguments: object) -> None:
            self.times += 1
            raise LmvizError(sentence)

        return fail


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Breaking:
    """Where what is asked and started from now on can be broken."""
    found, ask, start_job = Breaking(), Work.ask, Work.start_job

    def ask_or_fail(self: Work, key: str, work: Callable[[], Any], *ends: Any) -> None:
        ask(self, key, found.instead_of(key, work), *ends)

    def start_or_fail(self: Work, name: str, work: Callable[..., Any], *ends: Any) -> Any:
        return start_job(self, name, found.instead_of(name, work), *ends)

    monkeypatch.setattr(Work, "ask", ask_or_fail)
    monkeypatch.setattr(Work, "start_job", start_or_fail)
    return found


@dataclass
class Scene:
    """The window with what a question needs, and a person's hands."""

    window: MainWindow
    session: Session
    qtbot: QtBot
    text_file: Path
    runs: dict[str, Path]
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def wait(self, condition: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()))

    def find(self, name: str) -> QWidget:
        return next(found for found in self.window.findChildren(QWidget, name) if found.isVisible())

    def show(self, place: str) -> None:
        """Bring what says it into sight: a panel may be behind another tab."""
        for panel in self.window.perspective.panels:
            if panel.objectName() == place:
                panel.parentWidget().raise_()
                self.wait(lambda panel=panel: panel.is_in_sight)

    def click(self, name: str) -> None:
        button = self.find(name)
        self.wait(button.isEnabled)
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    def type(self) -> None:
        """Another prefix."""
        number = next(self.numbers)
        words = " ".join(WORDS[(number + place) % len(WORDS)] for place in range(1 + number % 3))
        self.session.reading.set_prefix(f"the {words}")

    def settle(self) -> None:
        """Until what is typed has been read, with the model that is shown."""
        reading = self.session.reading
        self.wait(lambda: reading.current is not None and not reading.is_busy)

    def let_everything_be_answered(self) -> None:
        """Until whatever followed from what was asked so far has been drawn, and the reader is through."""
        panels = [panel for panel in self.window.perspective.panels if panel.is_in_sight]
        self.wait(lambda: all(panel.is_up_to_date for panel in panels))
        done: list[None] = []
        self.session.work.ask("asked last", lambda: None, done.append, pytest.fail)
        self.wait(lambda: done)

    def open_text(self) -> None:
        with self.qtbot.waitSignal(self.session.text.changed):
            self.session.text.open(self.text_file, documents="line")

    def open_model(self, family: str) -> None:
        with self.qtbot.waitSignal(self.session.library.model_changed):
            self.session.library.open(self.runs[family])

    def choose_cell(self, address: str) -> None:
        """Another cell of a tap, at the last position."""
        self.settle()
        trace = self.session.reading.current.trace
        array = trace[address].array
        stage = next(n for n, stage in enumerate(trace.stages) if address in stage.results)
        self.session.focus.choose_stage(stage)
        self.session.focus.choose_cell((address, (len(array) - 1, next(self.numbers) % array.shape[-1])))

    def says(self, place: str, sentence: str) -> bool:
        """Whether it can be read there."""
        labels = (label for found in self._places(place) for label in found.findChildren(QLabel))
        return any(label.isVisible() and sentence in label.text() for label in labels)

    def _places(self, name: str) -> list[QWidget]:
        if name == NOTICE:
            return [self.window.notice]
        if name == BELOW:
            return [self.window.transport.notice]
        return [panel for panel in self.window.perspective.panels if panel.objectName() == name]


NOTICE, BELOW = "the notice at the top", "the notice above the transport"


def read_text(scene: Scene) -> None:
    scene.session.text.open(scene.text_file, documents="line")


def paste(scene: Scene) -> None:
    QGuiApplication.clipboard().setText("the cows eat grass\nthe hens eat corn\n" * 20)
    scene.click("corpus_paste_button")


def download(scene: Scene) -> None:
    texts = scene.find("corpus_picker")
    assert isinstance(texts, QTreeWidget)
    scene.wait(lambda: texts.topLevelItem(0).text(1) == "download")
    place = texts.visualItemRect(texts.topLevelItem(0)).center()
    scene.qtbot.mouseClick(texts.viewport(), Qt.MouseButton.LeftButton, pos=place)


def look_up(scene: Scene) -> None:
    edit = scene.find("concordance_edit")
    assert isinstance(edit, QLineEdit)
    edit.setText(WORDS[next(scene.numbers) % len(WORDS)])


def weigh_words(scene: Scene) -> None:
    edit = scene.find("simplex_context")
    assert isinstance(edit, QLineEdit)
    edit.setText(("cows", "hens", "dog")[next(scene.numbers) % 3])


def other_step(scene: Scene) -> None:
    """Look at another step of the model, whose positions are drawn."""
    [panel] = scene._places("positions_view")
    _turn_to(panel, 0)
    weigh(scene)


def look_beyond(scene: Scene) -> None:
    """The same on the page of what lies behind the context."""
    [panel] = scene._places("positions_view")
    _turn_to(panel, 1)
    weigh(scene)


def try_kinds(scene: Scene) -> None:
    [panel] = scene._places("positions_view")
    _turn_to(panel, 2)
    trial = scene.session.position_trial
    trial.set_options(TrialOptions(width=8, layers=1, steps=10))
    scene.wait(lambda: not trial.is_running)
    scene.wait(panel.findChild(QWidget, "position_trial_button").isVisible)
    scene.click("position_trial_button")


def _turn_to(panel: QWidget, page: int) -> None:
    picker = panel.findChild(QComboBox, "positions_page_picker")
    picker.setCurrentIndex(page)
    picker.activated.emit(page)


def ask_the_model(scene: Scene) -> None:
    """Another poll about the model each time."""
    word = WORDS[next(scene.numbers) % len(WORDS)]
    path = scene.text_file.parent / f"{word}.poll"
    told = f"question: What follows?\nA: corn\nB: grass\nlikeliest after: the {word}\n"
    path.write_text(told, encoding="utf-8")
    scene.session.polls.open_file(path)


def read_nothing_known(scene: Scene) -> None:
    """Show a model words of which it knows none."""
    scene.session.reading.set_prefix("xyzzy plugh")
    scene.open_model("gru")
    scene.open_model("lstm")


def follow_a_context(scene: Scene) -> None:
    """Look at what an n-gram matched, after other words each time."""
    scene.type()
    scene.settle()
    stages = scene.session.reading.current.trace.stages
    bigrams = next(number for number, stage in enumerate(stages) if stage.place == "orders/2")
    scene.session.focus.choose_stage(bigrams)


def save_elsewhere(scene: Scene) -> None:
    """Save the shown model for other programs, at a place that a person would have chosen."""
    with pytest.MonkeyPatch.context() as patch:
        place = scene.text_file.parent / f"saved-{next(scene.numbers)}"
        patch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(place), ""))
        choose_model_file(scene.session, scene.window)


def weigh(scene: Scene) -> None:
    """Look at another step of the model that is shown."""
    model, step = scene.session.library.shown_moment
    scene.session.library.choose_step(next(other for other in model.snapshots if other != step))


def train(scene: Scene) -> None:
    training = scene.session.training
    if not training.state.is_active:
        options = TrainingOptions(steps=10_000, batch=2, length=8, snapshots=12, validate_every=0)
        training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)


def write(scene: Scene) -> None:
    scene.settle()
    scene.click("sample_step_button")


def search_unit(scene: Scene) -> None:
    scene.choose_cell("layers/0/hidden")
    scene.click("unit_search_button")


def change_a_head(scene: Scene) -> None:
    scene.session.surgery.add(scale_head(0, 0, next(scene.numbers)))


def swap_context(scene: Scene) -> None:
    scene.settle()
    scene.find("other_source_edit").setText("abc"[: 1 + next(scene.numbers) % 3])
    scene.click("swap_state_button")


def take_gradient(scene: Scene) -> None:
    scene.settle()
    scene.session.gradients.choose(("layers/0/hidden", (0, next(scene.numbers) % 8)))


def scale_recurrence(scene: Scene) -> None:
    scene.settle()
    [panel] = scene._places("through_time_view")
    slider = panel.findChild(QSlider)
    scene.wait(slider.isVisible)
    slider.setValue(10 + next(scene.numbers) % 9)


def without_positions(scene: Scene) -> None:
    scene.settle()
    scene.click("no_positions_button")


def measure(scene: Scene) -> None:
    scene.click("measure_button")


def measure_noise(scene: Scene) -> None:
    """Measure the gradients of the shown model on its own text."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.show("noise_view")
    scene.click("measure_noise_button")


def measure_machine(scene: Scene) -> None:
    scene.click("measure_pace_button")


def translate_all(scene: Scene) -> None:
    """Measure translators on the text that they learned from."""
    [pairs] = scene.session.library.model.description.corpus["sources"]
    if scene.session.text.corpus.sources != (pairs,):
        with scene.qtbot.waitSignal(scene.session.text.changed):
            scene.session.text.open(pairs, tokenizer="characters", task="translation")
    scene.wait(lambda: scene.window.findChild(QWidget, "quality_button").isVisible())
    scene.click("quality_button")


@dataclass(frozen=True)
class Row:
    """A question or job by the beginning of its name, where its failure is read, and what has it asked.

    The act is done once while its work is broken and once more, so that it asks something new each time.
    """

    name: str
    perspective: str
    place: str
    act: Callable[[Scene], object]


ROWS = (
    Row("open ", "corpus", NOTICE, lambda scene: scene.session.library.open(scene.runs["lstm"])),
    Row("concordance", "corpus", "concordance_view", look_up),
    Row("simplex", "corpus", "simplex_view", weigh_words),
    Row("Reading ", "corpus", "texts_view", read_text),
    Row("Reading ", "corpus", "texts_view", paste),
    Row("Downloading ", "corpus", "texts_view", download),
    Row("reading", "train", NOTICE, Scene.type),
    Row("fitting text", "train", NOTICE, read_nothing_known),
    Row("live sample", "train", "live_sample_view", Scene.type),
    Row("over time", "train", "over_time_view", Scene.type),
    Row("weight sizes", "train", "health_view", weigh),
    Row("Measuring gradients of ", "train", "noise_view", measure_noise),
    Row("Counting n-grams to compare with", "train", "loss_view", read_text),
    Row("live", "train", BELOW, train),
    Row("why", "inside", "why_view", lambda scene: scene.choose_cell("layers/0/hidden")),
    Row("numbers", "inside", "stage_view", lambda scene: scene.choose_cell("layers/0/hidden")),
    Row("whole model", "inside", "picture_view", Scene.type),
    Row("ladder", "inside n-gram", "picture_view", Scene.type),
    Row("window", "inside window", "picture_view", Scene.type),
    Row("classes", "inside classifier", "labels_view", Scene.type),
    Row("lens", "inside", "lens_view", Scene.type),
    Row("gradient", "inside", "state_view", take_gradient),
    Row("through time", "inside", "through_time_view", Scene.type),
    Row("saliency", "inside", "saliency_view", Scene.type),
    Row("table of positions", "inside transformer", "positions_view", other_step),
    Row("beyond", "inside transformer", "positions_view", look_beyond),
    Row("Trying kinds of positions", "inside transformer", "positions_view", try_kinds),
    Row("losses by states", "inside", "through_time_view", Scene.type),
    Row("steps", "inside", "through_time_view", Scene.type),
    Row("scaled", "inside", "through_time_view", scale_recurrence),
    Row("Searching for unit ", "inside", "unit_view", search_unit),
    Row("evidence", "inside n-gram", "unit_view", follow_a_context),
    Row("Saving ", "attention", NOTICE, save_elsewhere),
    Row("thumbnails", "attention", "heads_view", Scene.type),
    Row("positions", "attention", "surgery_view", without_positions),
    Row("effects", "attention", "surgery_view", change_a_head),
    Row("swap", "attention translator", "context_view", swap_context),
    Row("prospect", "sample", "distribution_view", Scene.type),
    Row("choice", "sample", "roll_view", write),
    Row("chain rule", "sample", "chain_rule_view", Scene.type),
    Row("greedy", "sample", "side_by_side_view", Scene.type),
    Row("outcome of ", "sample", "side_by_side_view", write),
    Row("histories", "sample", "teacher_forcing_view", Scene.type),
    Row("beam", "sample", "beam_view", lambda scene: scene.click("beam_step_button")),
    Row("compare", "compare", "compare_view", Scene.type),
    Row("trio", "compare", "compare_view", lambda scene: scene.open_model("gru")),
    Row("surprisal", "compare", "surprisal_view", Scene.type),
    Row("compared labels", "compare classifier", "compared_labels_view", Scene.type),
    Row("samples", "compare", "compared_samples_view", Scene.type),
    Row("Evaluating ", "compare", "scores_view", measure),
    Row("poll", "polls", "poll_view", ask_the_model),
    Row("Translating with ", "compare translators", "quality_by_length_view", translate_all),
    Row("guess", "compare", "guess_view", lambda scene: scene.click("guess_play_button")),
    Row("own runs", "scale", "calculator_view", lambda scene: scene.session.scale.look_for_runs()),
    Row("Measuring this machine", "scale", "calculator_view", measure_machine),
    Row(
        "Measuring lengths",
        "scale",
        "measured_length_view",
        lambda scene: scene.click("measure_lengths_button"),
    ),
    Row("Scaling experiment", "scale", "experiment_view", lambda scene: scene.click("experiment_button")),
    Row("which is real", "compare", "real_view", lambda scene: scene.click("real_play_button")),
)
"""All but "torch", which is asked before anything else can be."""


@pytest.fixture(scope="session")
def runs(
    make_run: Callable[..., Path],
    lstm_run: Path,
    transformer_run: Path,
    translator_run: Path,
    attending_run: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """A run of each family that is opened here."""
    made = {"lstm": lstm_run, "transformer": transformer_run}
    made |= {"translator": attending_run, "other translator": translator_run}
    small = {"ngram": make_run("ngram", 2), "window": make_run("window", 2, width=6)}
    return made | small | {"gru": make_run("gru", 2, width=6), "classifier": _classifier(tmp_path_factory)}


def _classifier(folders: pytest.TempPathFactory) -> Path:
    """A run of an LSTM that tells two kinds of sentences apart."""
    folder = folders.mktemp("classifier")
    lines = ["good\tthe cows eat grass", "bad\tthe dog sees the hens"] * 8
    (folder / "labelled.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpus = load_corpus(folder / "labelled.tsv", task="classification")
    api.train("lstm", corpus, folder / "run", steps=2, batch=2, validate_every=0, width=8)
    return folder / "run"


OPENED = {
    "corpus": (),
    "inside n-gram": ("ngram",),
    "inside window": ("window",),
    "inside transformer": ("transformer",),
    "inside classifier": ("classifier",),
    "attention": ("transformer",),
    "attention translator": ("translator",),
    "compare classifier": ("classifier",),
    "compare": ("transformer", "lstm"),
    "compare translators": ("other translator", "translator"),
}
"""The models of a scene, where it is not the LSTM alone."""


@pytest.fixture
def scene(
    breaking: Breaking,
    window: MainWindow,
    session: Session,
    text_file: Path,
    runs: dict[str, Path],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    qtbot: QtBot,
) -> Scene:
    """The window at a perspective, with a text, a prefix and the models that it takes."""
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("lmviz.text.download.download", lambda entry, report: None)
    monkeypatch.setattr(heads, "AT_ONCE", 0)  # these models are small
    entry = Entry("play", "A play", "A test.", 100, "none", "0" * 64, address="http://127.0.0.1/play")
    for module in ("lmviz.text.catalogue", "lmviz.app.panels.corpus.texts"):
        monkeypatch.setattr(f"{module}.CATALOGUE", (entry,))
    made = Scene(window, session, qtbot, text_file, runs)
    window.show_perspective(request.param.split()[0])
    made.open_text()
    opened = OPENED.get(request.param, ("lstm",))
    for family in opened:
        made.open_model(family)
    made.type()
    if opened:
        made.settle()
    if len(opened) > 1:
        session.comparison.choose([(session.library.models[0], 2)])
    return made


SCENES = tuple(dict.fromkeys(row.perspective for row in ROWS))


@pytest.mark.parametrize("scene", SCENES, indirect=True, ids=str)
def test_what_fails_is_said_where_it_was_asked_until_it_is_answered(
    scene: Scene, breaking: Breaking, request: pytest.FixtureRequest
) -> None:
    shown = request.node.callspec.params["scene"]
    for row in ROWS:
        if row.perspective != shown:
            continue
        sentence = f"What is asked as “{row.name}” was broken by a test."
        scene.show(row.place)
        try:
            with breaking.broken(row.name, sentence):
                row.act(scene)
                scene.wait(lambda row=row, sentence=sentence: scene.says(row.place, sentence))
                if row.name != "live":  # which is asked anew twice a second, with newer weights each time
                    scene.let_everything_be_answered()
                    failed = breaking.times
                    for _ in range(3):
                        scene.let_everything_be_answered()
                    assert breaking.times == failed, f"“{row.name}” is asked again and again"
        except WaitedTooLong:
            pytest.fail(f"a failure of “{row.name}” is not said in {row.place}")
        try:
            row.act(scene)
            scene.wait(lambda row=row, sentence=sentence: not scene.says(row.place, sentence))
        except WaitedTooLong:
            pytest.fail(f"{row.place} still says that “{row.name}” failed, once it was answered")


def test_without_torch_the_window_says_so(
    breaking: Breaking, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    sentence = "torch could not be loaded, says a test."
    with breaking.broken("torch", sentence):
        session = Session(tmp_path / "runs")
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    window.show()
    session.start()
    scene = Scene(window, session, qtbot, tmp_path, {})
    scene.wait(lambda: scene.says(NOTICE, sentence))
    assert not session.work.is_ready


@pytest.mark.parametrize("perspective", [row.name for row in shown_perspectives()])
@pytest.mark.parametrize("with_model", [False, True])
def test_every_panel_has_a_place_for_what_it_complains_about(
    window: MainWindow, read: Session, perspective: str, with_model: bool, qtbot: QtBot
) -> None:
    if not with_model:
        read.library.close(read.library.model)
    window.show_perspective(perspective)
    scene = Scene(window, read, qtbot, Path(), {})
    for panel in window.perspective.panels:
        scene.show(panel.objectName())
        panel.catch_up()
        panel.complain("It cannot be written.", "export")
        assert scene.says(panel.objectName(), "It cannot be written."), panel.objectName()
        panel.complain("", "export")
        assert not scene.says(panel.objectName(), "It cannot be written."), panel.objectName()


def test_the_table_has_every_question_and_every_job() -> None:
    assert names_asked_under() == {"torch", *(row.name for row in ROWS)}


Function = ast.FunctionDef | ast.AsyncFunctionDef
CLASS_KEYS = ("key", "job_name")


def names_asked_under() -> set[str]:
    """What the program asks under and calls its jobs: constants, or the constant beginnings of names.

    They are arguments of `Work.ask` and `Work.start_job`, and of whatever hands a name on to these.
    """
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(*lmviz.app.__path__).rglob("*.py")]
    class_keys = {name for tree in trees for name in _class_keys(tree)}
    calls = [found for tree in trees for found in _calls(tree)]
    places = {"ask": {0}, "start_job": {0}}
    while True:
        known = sum(map(len, places.values()))
        for _, function, call in calls:
            for argument in _names(call, places):
                if isinstance(argument, ast.Name) and argument.id in _texts_taken(function):
                    place = _parameters(function).index(argument.id)
                    places.setdefault(function.name, set()).add(place)
        if known == sum(map(len, places.values())):
            break
    asked: set[str] = set()
    for tree, function, call in calls:
        arguments = _names(call, places)
        found = {name for argument in arguments for name in _beginnings(argument, function, tree, class_keys)}
        handed_on = any(isinstance(arg, ast.Name) and arg.id in _texts_taken(function) for arg in arguments)
        assert found or handed_on or not arguments, f"under which name? {ast.unparse(call)}"
        asked |= found
    return asked


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Module, Function, ast.Call]]:
    """The calls in each function, those in functions within it apart."""

    def within(node: ast.AST, function: Function | None) -> Iterator[tuple[ast.Module, Function, ast.Call]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call) and function is not None:
                yield tree, function, child
            yield from within(child, child if isinstance(child, Function) else function)

    return within(tree, None)


def _names(call: ast.Call, places: dict[str, set[int]]) -> list[ast.expr]:
    """The arguments of a call that may be a name to ask under."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return [call.args[place] for place in places.get(called, ()) if place < len(call.args)]


def _parameters(function: Function) -> list[str]:
    return [argument.arg for argument in function.args.args if argument.arg != "self"]


def _texts_taken(function: Function) -> set[str]:
    """The parameters that are a str."""
    annotated = (argument for argument in function.args.args if isinstance(argument.annotation, ast.Name))
    return {argument.arg for argument in annotated if argument.annotation.id == "str"}


def _beginnings(node: ast.expr, function: Function, tree: ast.Module, class_keys: set[str]) -> set[str]:
    """What is known of a text: all of a constant, the constant beginning of an f-string."""
    if isinstance(node, ast.Constant):
        return {node.value} if isinstance(node.value, str) else set()
    if isinstance(node, ast.Attribute):
        return class_keys if node.attr in CLASS_KEYS else set()
    if isinstance(node, ast.Name):
        values = [*_assigned(node.id, function.body), *_assigned(node.id, tree.body)]
        return {name for value in values for name in _beginnings(value, function, tree, class_keys)}
    if isinstance(node, ast.JoinedStr):
        first = node.values[0]
        first = first.value if isinstance(first, ast.FormattedValue) else first
        return _beginnings(first, function, tree, class_keys)
    return set()


def _assigned(name: str, body: list[ast.stmt]) -> Iterator[ast.expr]:
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    yield statement.value


def _class_keys(tree: ast.Module) -> Iterator[str]:
    """The names under which classes ask and start jobs, as attributes of theirs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for value in (value for name in CLASS_KEYS for value in _assigned(name, node.body)):
                if isinstance(value, ast.Constant) and value.value:
                    yield value.value
