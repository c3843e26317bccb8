"""Each question and each job: where its failure is read, and what a person does to have it asked."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from made_features import made_features
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QSlider, QWidget
from window_scene import BELOW, NOTICE, WORDS, Scene

import lmviz
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.table import PANELS
from lmviz.app.widgets.controls.row_list import RowList
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.app.window.lessons import perspective_names
from lmviz.families import FAMILIES
from lmviz.inspection.interventions import scale_head
from lmviz.lectures.bundle import pack
from lmviz.lectures.reading import open_lecture
from lmviz.readouts.direction import StateDirection
from lmviz.scaling.position_trial import TrialOptions
from lmviz.training.options import TrainingOptions


def change_a_word(scene: Scene) -> None:
    """Another prefix, and beside it the same with another last word."""
    scene.type()
    text = scene.session.reading.prefix
    begun, last = text.rsplit(" ", 1)
    scene.session.contrast.set_other(f"{begun} {WORDS[(WORDS.index(last) + 1) % len(WORDS)]}")


def sort_by_effect(scene: Scene) -> None:
    """Every head by what the answer loses without it, again for another text that is typed."""
    [panel] = scene.places("every_head_view")
    picker = panel.findChild(QComboBox, "sort_heads_picker")
    picker.setCurrentIndex(picker.count() - 1)
    scene.type()


def type_long(scene: Scene) -> None:
    """A text so long that it is cut into tokens beside the window."""
    scene.session.reading.set_prefix(f"{'the cows eat ' * 400}{WORDS[next(scene.numbers) % len(WORDS)]}")


def ablate_text(scene: Scene) -> None:
    """The loss over the open text without each head, again for another text that is typed."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.type()
    scene.settle()
    [panel] = scene.places("ablation_view")
    picker = panel.findChild(QComboBox, "ablated_number_picker")
    scene.wait(lambda: picker.model().item(1).isEnabled())
    picker.setCurrentIndex(1)
    picker.activated.emit(1)


def open_a_race(scene: Scene) -> None:
    folder = scene.text_file.parent / "race"
    for family in ("gru", "lstm"):
        if not (folder / family).exists():
            shutil.copytree(scene.runs[family], folder / family)
    scene.session.race.open(folder)


def type_beside_lanes(scene: Scene) -> None:
    """Another prefix, with the lanes of a race open."""
    race = scene.session.race
    if not race.lanes:
        open_a_race(scene)
        scene.wait(lambda: race.lanes and all(map(race.opened, race.lanes)))
    scene.type()


def open_again(scene: Scene) -> None:
    """Another model, of which another tab comes in front, and then the Transformer."""
    for family in ("lstm", "transformer"):
        scene.open_model(family)
        scene.settle()
    scene.show("heads_over_time_view")


def read_text(scene: Scene) -> None:
    scene.session.text.open(scene.text_file, documents="line")


def paste(scene: Scene) -> None:
    QGuiApplication.clipboard().setText("the cows eat grass\nthe hens eat corn\n" * 20)
    scene.click("corpus_paste_button")


def download(scene: Scene) -> None:
    texts = scene.find("corpus_picker")
    assert isinstance(texts, RowList)
    scene.wait(lambda: texts.rows[0].words[1] == "download")
    place = texts.visualRect(texts.model().index(0, 0)).center()
    scene.qtbot.mouseClick(texts.viewport(), Qt.MouseButton.LeftButton, pos=place)
    scene.qtbot.mouseClick(scene.find("corpus_download_button"), Qt.MouseButton.LeftButton)


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
    [panel] = scene.places("positions_view")
    turn_to(panel, 0)
    weigh(scene)


def say_again(scene: Scene) -> None:
    """Another text that says its last word again."""
    number = next(scene.numbers)
    words = ("chair", "apple", "queen", "map", "rope")
    told = [words[(number + place) % len(words)] for place in range(3)]
    scene.session.reading.set_prefix(" ".join([*told, *told[:2]]))


def look_beyond(scene: Scene) -> None:
    """The same on the page of what lies behind the context."""
    [panel] = scene.places("positions_view")
    turn_to(panel, 1)
    weigh(scene)


def try_kinds(scene: Scene) -> None:
    [panel] = scene.places("positions_view")
    turn_to(panel, 2)
    trial = scene.session.position_trial
    trial.set_options(TrialOptions(width=8, layers=1, steps=10))
    scene.wait(lambda: not trial.is_running)
    scene.wait(panel.findChild(QWidget, "position_trial_button").isVisible)
    scene.click("position_trial_button")


def turn_to(panel: QWidget, page: int, name: str = "positions_page_picker") -> None:
    picker = panel.findChild(QComboBox, name)
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


def want_a_line(scene: Scene) -> None:
    """Want an example of a model whose text is not there, with nothing typed."""
    scene.session.reading.set_prefix("")
    scene.open_model("gru")
    scene.open_model("lstm")
    scene.settle()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scene.session.permission, "read_once_allowed", lambda *given: given[-1]())
        scene.session.fitting.want_example()


def follow_a_context(scene: Scene) -> None:
    """Look at what an n-gram matched, after other words each time."""
    scene.type()
    scene.settle()
    stages = scene.session.reading.current.trace.stages
    bigrams = next(number for number, stage in enumerate(stages) if stage.place == "orders/2")
    scene.session.focus.choose_stage(bigrams)


def ask_who_taught(scene: Scene) -> None:
    """Look at another text beside the one that the model learned from."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.show("taught_view")
    scene.type()


def look_back_in_time(scene: Scene) -> None:
    """Read another text, with states of the open one to put in the place of its own."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.show("back_in_time_view")
    scene.type()


def look_up_copies(scene: Scene) -> None:
    """Look another text up in the one that the model learned from."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.show("copied_view")
    scene.type()


def write_texts(scene: Scene) -> None:
    """Have the model write texts that are looked up."""
    look_up_copies(scene)
    scene.settle()
    scene.click("copied_write_button")


def look_for_lines(scene: Scene) -> None:
    """Have lines read at every snapshot of a network."""
    look_up_copies(scene)
    scene.settle()
    scene.click("learned_by_heart_button")


def ask_gradients(scene: Scene) -> None:
    """Have the text read for the gradients of a word."""
    ask_who_taught(scene)
    scene.settle()
    scene.click("taught_read_button")


def train_without_lines(scene: Scene) -> None:
    """Train again without what taught a word that stands in the text."""
    ask_who_taught(scene)
    word = WORDS[next(scene.numbers) % len(WORDS)]
    scene.session.reading.set_prefix(f"the {word} the cows eat grass")
    scene.settle()
    scene.session.focus.choose_position(len(scene.session.reading.encoding) - 2)
    scene.click("taught_remove_button")


def look_back(scene: Scene) -> None:
    """Look at a word of a new text before its last, as if the vocabulary were large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lmviz.inspection.later_rows.FEWEST", 0)
        with scene.qtbot.waitSignal(scene.session.reading.changed):
            scene.session.reading.set_prefix(f"{WORDS[next(scene.numbers) % len(WORDS)]} the cows")
    scene.settle()
    scene.session.focus.choose_position(scene.session.reading.position - 1)


def save_elsewhere(scene: Scene) -> None:
    """Save the shown model for other programs, at a place that a person would have chosen."""
    with pytest.MonkeyPatch.context() as patch:
        place = scene.text_file.parent / f"saved-{next(scene.numbers)}"
        patch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(place), ""))
        scene.window.commands.choosing.save_model()


def export_a_page(scene: Scene) -> None:
    """Have a page made of what a panel shows."""
    from lmviz.app.board.page_export import export_page

    place = scene.text_file.parent / f"page-{next(scene.numbers)}.html"
    [panel], asked = scene.places("heads_view"), list[object]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QFileDialog, "getSaveFileName", lambda *given: asked.append(given) or (str(place), ""))
        export_page([panel])
        scene.wait(lambda: asked or panel.complains("export"))


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
    [panel] = scene.places("through_time_view")
    slider = panel.findChild(QSlider)
    scene.wait(slider.isVisible)
    slider.setValue(10 + next(scene.numbers) % 9)


def without_positions(scene: Scene) -> None:
    scene.settle()
    scene.click("no_positions_button")


def pack_lecture(scene: Scene) -> None:
    """A lecture that shows the poll that is shown."""
    path = scene.text_file.with_name("small.lecture")
    path.write_text("# Small\n## One\npoll: order\n", encoding="utf-8")
    scene.window.student_files.pack(path, path.with_suffix(".lmvizbundle"))


def unpack_lecture(scene: Scene) -> None:
    path, packed = scene.text_file.with_name("small.lecture"), scene.text_file.with_name("small.lmvizbundle")
    path.write_text("# Small\n## One\npoll: order\n", encoding="utf-8")
    pack(path, packed, perspective_names())
    scene.window.open_paths([packed])


def write_pages(scene: Scene) -> None:
    path = scene.text_file.with_name("small.lecture")
    path.write_text("# Small\n## One\npoll: order\n", encoding="utf-8")
    scene.window.student_files.write_pages(open_lecture(path, perspective_names()), path.with_name("site"))


def measure(scene: Scene) -> None:
    scene.click("measure_button")


def measure_change(scene: Scene) -> None:
    """Compare the shown model with another step on the held-out text."""
    if scene.session.text.corpus is None:
        scene.open_text()
    [panel] = scene.places("changed_text_view")
    turn_to(panel, 1, "changed_text_picker")
    scene.click("measure_change_button")


def ask_many(scene: Scene) -> None:
    """Ask the shown model about the rows of another pattern."""
    number = next(scene.numbers)
    animals = ("cows", "hens", "dog")[number % 3 :] or ("cows",)
    pattern = f"the {{animal}} sees the\nanimal: {', '.join(animals)}\nwanted: corn\nseed: {number}"
    scene.session.many.take_pattern(pattern)


def try_parts(scene: Scene) -> None:
    """Measure what each part does over a set, once its rows are known."""
    ask_many(scene)
    scene.wait(lambda: scene.session.many.values is not None and not scene.session.many.is_measuring)
    scene.session.many.start()


def measure_losses(scene: Scene) -> None:
    """Measure the losses of the open text."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.show("loss_map_view")
    scene.session.many.losses.measure()


def measure_noise(scene: Scene) -> None:
    """Measure the gradients of the shown model on its own text."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.show("noise_view")
    scene.click("measure_noise_button")


def fit_a_lens(scene: Scene) -> None:
    """Fit what is not fitted yet; a model's step after its first has none of it."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.show("lenses_view")
    scene.settle()
    scene.click("fit_jacobian_lens")


def carry_a_state(scene: Scene) -> None:
    """Carry the state of another text along the passages of the open one."""
    if scene.session.text.corpus is None:
        scene.open_text()
    scene.show("lenses_view")
    scene.type()
    scene.settle()
    scene.click("read_lens_column")


def say_by_step(scene: Scene) -> None:
    """Look since which step another next word could be said."""
    scene.show("lens_over_training_view")
    scene.type()


def other_weights(scene: Scene) -> None:
    """Look at the heads at another step."""
    scene.show("head_words_view")
    library = scene.session.library
    steps = [step for step in library.model.snapshots if step != library.step]
    library.choose_step(steps[next(scene.numbers) % len(steps)])


def add_a_direction(scene: Scene) -> None:
    """Add another word's direction, once the list is there."""
    scene.show("directions_view")
    scene.settle()
    directions = scene.session.directions
    scene.wait(lambda: directions.file is not None)
    [panel] = scene.places("directions_view")
    edit = panel.findChild(QLineEdit, "direction_word_edit")
    scene.wait(edit.isVisible)
    edit.setText(WORDS[next(scene.numbers) % len(WORDS)])
    edit.returnPressed.emit()


def look_at_a_direction(scene: Scene) -> None:
    """Put another direction on the list, which is then looked at in the open text."""
    corpus = scene.session.text.corpus
    if corpus is None or corpus.task != "next-token":
        scene.open_text()
    scene.show("directions_view")
    scene.settle()
    directions = scene.session.directions
    scene.wait(lambda: directions.file is not None)
    width = len(scene.session.reading.current.trace["layers/0/hidden"].array[0])
    vector = np.arange(1.0, width + 1) + next(scene.numbers)
    directions.add(StateDirection.of("layers/0/hidden", vector, "made up"))


def take_means(scene: Scene) -> None:
    """Take the difference of means of another set."""
    number = next(scene.numbers)
    rows = [{"text": f"the {WORDS[number % 5]}", "changed": f"the {WORDS[(number + 1) % 5]}"}] * 2
    scene.show("directions_view")
    scene.wait(lambda: scene.session.directions.file is not None)
    scene.session.many.take(lmviz.text_set(rows))
    scene.click("direction_means_button")


def find_kept_directions(scene: Scene) -> None:
    """Have those of the shown model looked for, as where it is first shown."""
    scene.show("directions_view")
    scene.open_model("gru")
    scene.open_model("lstm")
    directions = scene.session.directions
    scene.wait(lambda: directions.moment is not None)
    directions.look_for()


def map_answers(scene: Scene) -> None:
    """Map where the answers of a set of texts are read and used."""
    rows = [
        {"text": f"the {word} the", "wanted": wanted}
        for word, wanted in zip(WORDS, ("the", ".") * len(WORDS), strict=False)
    ]
    scene.session.many.take(lmviz.text_set(rows * 6))
    scene.show("read_and_used_view")
    scene.settle()
    scene.click("read_and_used_button")


def probe_labels(scene: Scene) -> None:
    """Probe the shown model for tags of a text."""
    path = scene.text_file.with_name("tagged.tsv")
    if not path.exists():
        path.write_text("the\tD\ncows\tN\n\nthe\tD\nhens\tN\n\n" * 20, encoding="utf-8")
        with scene.qtbot.waitSignal(scene.session.text.changed):
            scene.session.text.open(path, task="tagging")
    scene.show("probe_view")
    scene.settle()
    scene.click("probe_button")


def look_at_features(scene: Scene) -> None:
    """Features of a Transformer over the open text, another one chosen, and another text typed."""
    features, path = scene.session.features, scene.text_file.with_name("drawn.safetensors")
    if scene.session.text.corpus is None:
        scene.open_text()
    if not path.exists():
        made_features(lmviz.open_model(scene.runs["transformer"]), "layers/0/residual2", "the cows").save(
            path
        )
    if features.opened is None:
        with scene.qtbot.waitSignal(features.taken):
            features.open_file(path)
    scene.type()
    scene.wait(lambda: features.reading is not None and not features.is_reading)
    features.choose((features.chosen + 1) % 24)


def bill_features(scene: Scene) -> None:
    """The bill of another text, with the same dictionary."""
    path = scene.text_file.with_name("drawn.safetensors")
    if not path.exists():
        made_features(lmviz.open_model(scene.runs["transformer"]), "layers/0/residual2", "the cows").save(
            path
        )
    if scene.session.features.opened is None:
        scene.show("feature_bill_view")
        with scene.qtbot.waitSignal(scene.session.features.taken):
            scene.session.features.open_file(path)
    change_a_word(scene)


def more_features(scene: Scene) -> None:
    """Another pair of texts, with the same dictionary."""
    bill_features(scene)
    scene.show("more_features_view")


def score_in_pairs(scene: Scene) -> None:
    """Another score of the first layer, with features of the words."""
    path = scene.text_file.with_name("words.safetensors")
    if not path.exists():
        made_features(lmviz.open_model(scene.runs["transformer"]), "embedding/sum", "the cows").save(path)
        with scene.qtbot.waitSignal(scene.session.features.taken):
            scene.session.features.open_file(path)
    scene.settle()
    address = "layers/0/attention/scaled"
    array = scene.session.reading.current.trace[address].array
    query = array.shape[1] - 1
    scene.session.focus.choose_cell((address, (0, query, next(scene.numbers) % (query + 1))))


def graph_features(scene: Scene) -> None:
    """The graph of another text, with the same dictionary."""
    scene.show("feature_graph_view")
    bill_features(scene)


def try_an_edge(scene: Scene) -> None:
    """The first edge into the answer, of another text each time."""
    graph_features(scene)
    [panel] = scene.places("feature_graph_view")
    asked = (scene.session.reading.prefix, scene.session.contrast.other)
    scene.wait(lambda: panel.is_whole and (panel.found.contrast.text, panel.found.contrast.changed) == asked)
    panel.findChild(SignedBars, "feature_graph_edges").part_clicked.emit(0)


def read_features(scene: Scene) -> None:
    """The same dictionary opened again, which is read again."""
    path = scene.text_file.with_name("drawn.safetensors")
    if scene.session.text.corpus is None:
        scene.open_text()
    if not path.exists():
        made_features(lmviz.open_model(scene.runs["transformer"]), "layers/0/residual2", "the cows").save(
            path
        )
    scene.session.features.open_file(path)


def list_active(scene: Scene) -> None:
    """The features that are on at the last token of another text."""
    look_at_features(scene)
    [panel] = scene.places("features_view")
    turn_to(panel, 1, "features_picker")
    scene.type()


def read_words_off(scene: Scene) -> None:
    """The words of the typed text, of which the shown model knows others of their kind or not."""
    look_at_features(scene)
    scene.show("staying_view")
    scene.click("remembered_button")


def read_the_steps(scene: Scene) -> None:
    look_at_features(scene)
    scene.show("since_when_view")
    scene.click("since_when_button")


def match_with_itself(scene: Scene) -> None:
    look_at_features(scene)
    scene.show("matched_view")
    [panel] = scene.places("matched_view")
    panel.open_other(scene.text_file.with_name("drawn.safetensors"))


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


def close_model(scene: Scene) -> None:
    library = scene.session.library
    if library.model is None:
        scene.open_model("lstm")
    library.close(library.model)


ELSEWHERE: dict[str, tuple[str, Callable[[Scene], object]]] = {
    "before and after": ("train tuned", Scene.type),
    "changed weights": ("difference", weigh),
    "compared labels": ("compare classifier", Scene.type),
    "back in time": ("inside", look_back_in_time),
    "a feature turned": ("features", look_at_features),
    "feature": ("features", look_at_features),
    "features over the text": ("features", look_at_features),
    "staying features": ("features", look_at_features),
    "words of a feature": ("features", look_at_features),
    "more features at a word": ("circuits transformer", more_features),
    "head words": ("circuits transformer", other_weights),
    "directions": ("circuits", look_at_a_direction),
    "evidence": ("inside n-gram", follow_a_context),
    "steer": ("circuits", change_a_word),
    "who taught it this": ("inside", ask_who_taught),
    "copied": ("sample", look_up_copies),
}
"""By the key of a panel that asks: the scene and the act, where they are not its perspective, and typing."""


def rows_of_panels() -> Iterator[Row]:
    """The question of each `AskingPanel`, which says itself what it asks under."""
    for row in {row.name: row for row in PANELS}.values():
        kind = row.load()
        if issubclass(kind, AskingPanel):
            scene, act = ELSEWHERE.get(kind.key, (row.perspective, Scene.type))
            yield Row(kind.key, scene, kind.view_name(), act)


ROWS = (
    *rows_of_panels(),
    Row("open ", "corpus", NOTICE, lambda scene: scene.session.library.open(scene.runs["lstm"])),
    Row("concordance", "corpus", "concordance_view", look_up),
    Row("simplex", "corpus", "simplex_view", weigh_words),
    Row("Reading ", "corpus", "texts_view", read_text),
    Row("Reading ", "corpus", "texts_view", paste),
    Row("Downloading ", "corpus", "texts_view", download),
    Row("forget ", "corpus", NOTICE, close_model),
    Row("reading", "train", NOTICE, Scene.type),
    Row("Cutting the text into tokens", "train", NOTICE, type_long),
    Row("fitting text", "train", NOTICE, read_nothing_known),
    Row("own line", "train", NOTICE, want_a_line),
    Row("live sample", "train", "live_sample_view", Scene.type),
    Row("over time", "train", "over_time_view", Scene.type),
    Row("weight sizes", "train", "health_view", weigh),
    Row("Measuring gradients of ", "train", "noise_view", measure_noise),
    Row("Counting n-grams to compare with", "train", "loss_view", read_text),
    Row("live", "train", BELOW, train),
    Row("What taught it “", "inside", "taught_view", ask_gradients),
    Row("Writing ", "sample", "copied_view", write_texts),
    Row("Looking for lines learned by heart", "sample", "copied_view", look_for_lines),
    Row("Training without ", "inside", "taught_view", train_without_lines),
    Row("why", "inside", "why_view", lambda scene: scene.choose_cell("layers/0/hidden")),
    Row("score as pairs of features", "inside transformer", "why_view", score_in_pairs),
    Row("numbers", "inside", "stage_view", lambda scene: scene.choose_cell("layers/0/hidden")),
    Row("whole model", "inside", "picture_view", Scene.type),
    Row("ladder", "inside n-gram", "picture_view", Scene.type),
    Row("window", "inside window", "picture_view", Scene.type),
    Row("classes", "inside classifier", "labels_view", Scene.type),
    Row("lens", "inside", "lens_view", Scene.type),
    Row("Carrying one state", "inside transformer", "lenses_view", carry_a_state),  # while none is fitted
    Row("Fitting the ", "inside transformer", "lenses_view", fit_a_lens),
    Row("lens over training", "inside", "lens_over_training_view", say_by_step),
    Row("kept lens ", "inside transformer", "lens_view", other_step),
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
    Row("size of ", "inside n-gram", NOTICE, weigh),
    Row("Saving ", "attention", NOTICE, save_elsewhere),
    Row("Making a page", "attention", "heads_view", export_a_page),
    Row("next word", "attention", "next_word_view", look_back),
    Row("thumbnails", "attention", "heads_view", Scene.type),
    Row("every head", "attention", "every_head_view", Scene.type),
    Row("effect of every head", "attention", "every_head_view", sort_by_effect),
    Row("positions", "attention", "surgery_view", without_positions),
    Row("effects", "attention", "surgery_view", change_a_head),
    Row("swap", "attention translator", "context_view", swap_context),
    Row("prospect", "sample", "distribution_view", Scene.type),
    Row("choice", "sample", "roll_view", write),
    Row("chain rule", "sample", "chain_rule_view", Scene.type),
    Row("greedy", "sample", "side_by_side_view", Scene.type),
    Row("outcome of ", "sample", "side_by_side_view", write),
    Row("asked ways", "sample chat", "asked_ways_view", Scene.type),
    Row("beam", "sample", "beam_view", lambda scene: scene.click("beam_step_button")),
    Row("open race", "race", "lanes_view", open_a_race),
    Row("lane words", "race", "lane_words_view", type_beside_lanes),
    Row("lane samples", "race", "lane_words_view", type_beside_lanes),
    Row("compare", "compare", "compare_view", Scene.type),
    Row("trio", "compare", "compare_view", lambda scene: scene.open_model("gru")),
    Row("samples", "compare", "compared_samples_view", Scene.type),
    Row("Evaluating ", "compare", "scores_view", measure),
    Row("learned directions", "difference", "changed_weights_view", weigh),
    Row("strength curve", "difference", "strength_view", weigh),
    Row("Comparing two models on the held-out text", "difference", "changed_text_view", measure_change),
    Row("Asking ", "texts", "text_rows_view", ask_many),
    Row(
        "questions as a set",
        "texts",
        "text_rows_view",
        lambda scene: scene.session.many.take_questions(scene.session.contrast),
    ),
    Row("Effects over many texts", "texts", "row_effects_view", try_parts),
    Row("Losses of ", "texts", "loss_map_view", measure_losses),
    Row("What features do in the text", "features", "features_view", read_features),
    Row("active features", "features", "features_view", list_active),
    Row("Features at the steps", "features", "since_when_view", read_the_steps),
    Row("Reading words off ", "features", "staying_view", read_words_off),
    Row("matched features", "features", "matched_view", match_with_itself),
    Row("contrast", "circuits", "contrast_view", change_a_word),
    Row("patching", "circuits", "patching_view", change_a_word),
    Row("attribution", "circuits", "attribution_view", change_a_word),
    Row("ablation", "circuits", "ablation_view", change_a_word),
    Row("bill of features", "circuits transformer", "feature_bill_view", bill_features),
    Row("graph of features", "circuits transformer", "feature_graph_view", graph_features),
    Row("edge of features tried", "circuits transformer", "feature_graph_view", try_an_edge),
    Row("Probing ", "circuits", "probe_view", probe_labels),
    Row("Mapping ", "circuits transformer", "read_and_used_view", map_answers),
    Row("places of a direction", "circuits", "directions_view", look_at_a_direction),
    Row("direction of a word", "circuits", "directions_view", add_a_direction),
    Row("direction of means", "circuits", "directions_view", take_means),
    Row("kept directions ", "circuits", "directions_view", find_kept_directions),
    Row("steer curve", "circuits", "steer_view", change_a_word),
    Row("two heads", "circuits repeater", "head_pair_view", say_again),
    Row("answer by step", "circuits repeater", "head_pair_view", say_again),
    Row("loss without a part", "circuits transformer", "ablation_view", ablate_text),
    Row("circuit", "circuits", "circuit_view", change_a_word),
    Row("heads over time", "circuits transformer", "heads_over_time_view", open_again),
    Row("poll", "polls", "poll_view", ask_the_model),
    Row("Packing ", "polls", NOTICE, pack_lecture),
    Row("Writing pages of ", "polls", NOTICE, write_pages),
    Row("Unpacking ", "polls", NOTICE, unpack_lecture),
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
