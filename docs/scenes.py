"""The scenes of the guide's pictures: what is opened, chosen and pointed at before each is taken."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QSpinBox
from window_driver import Driver

from lmviz.app.panels.circuits.attribution import AttributionPanel
from lmviz.app.panels.circuits.feature_graph import FeatureGraphPanel
from lmviz.app.panels.circuits.head_pair import HeadPairPanel
from lmviz.app.panels.circuits.heads_over_time import HeadsOverTimePanel
from lmviz.app.panels.circuits.patching import PatchingPanel
from lmviz.app.panels.corpus.concordance import ConcordancePanel
from lmviz.app.panels.difference.difference import DifferencePanel
from lmviz.app.panels.features.feature import FeaturePanel
from lmviz.app.panels.features.feature_turn import FeatureTurnPanel
from lmviz.app.panels.features.feature_words import FeatureWordsPanel
from lmviz.app.panels.inside.saliency import SaliencyPanel
from lmviz.app.panels.inside.taught import TaughtPanel
from lmviz.app.panels.inside.through_time import ThroughTimePanel
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.sample.copied import CopiedPanel
from lmviz.lessons.shipped import name_of, shipped_files
from lmviz.text.catalogue import corpus_path

SIZE = (1440, 900)
LECTURE_HALL = (1280, 720)
BOTH = ("light", "dark")
STORY = "Maya put the brown stone in the barrel. Later, Maya opened the barrel, and there lay the brown"
CONTAINERS = "Maya owned a brown stone. She put it in the barrel. Later, Maya opened the"
TRAINED_STEPS = 600


@dataclass(frozen=True)
class Scene:
    """One picture: what is done before it is taken."""

    name: str
    play: Callable[[Driver], None]
    size: tuple[int, int] = SIZE
    themes: tuple[str, ...] = ("light",)
    projector: bool = False
    welcomes: bool = False
    """Whether the window is that of a first start, with nothing kept from an earlier one."""


def corpus(driver: Driver) -> None:
    """A text in words, and a phrase looked up in it."""
    driver.show("corpus")
    driver.open_text(driver.text, tokenizer="words", lower_case=True)
    driver.find("concordance_edit", QLineEdit).setText("cows eat" if driver.text == "farm" else "i am")
    driver.wait(lambda: bool(driver.panel(ConcordancePanel).found), "the concordance")


def train(driver: Driver) -> None:
    """A small Transformer in the middle of its training, in characters."""
    from lmviz.models.transformer_configuration import TransformerConfiguration
    from lmviz.training.options import TrainingOptions

    driver.show("train")
    driver.open_text(driver.text, tokenizer="characters")
    configuration = TransformerConfiguration(layers=2, heads=4, width=64, context=64)
    options = TrainingOptions(steps=2 * TRAINED_STEPS, validate_every=50)
    session = driver.session
    session.training.start("transformer", configuration, options)
    driver.wait(lambda: session.library.model is not None, "the run")
    session.reading.set_prefix("The king and the qu" if driver.text != "farm" else "The cows ea")
    driver.wait(
        lambda: (
            session.training.state.progress is not None
            and session.training.state.progress.step >= TRAINED_STEPS
        ),
        "the training",
        done=lambda: session.training.state.progress,
    )
    session.training.pause()


def inside(driver: Driver, model: str, address: str, *index: int) -> None:
    """The stage of a model's computation that makes a tap, and one cell of it explained."""
    driver.show("inside")
    driver.open_model(model)
    driver.type(STORY)
    session = driver.session
    stages = session.reading.current.trace.stages
    session.focus.choose_stage(next(at for at, stage in enumerate(stages) if address in stage.results))
    session.focus.choose_cell((address, index))


def inside_transformer(driver: Driver) -> None:
    inside(driver, "stories-transformer", "layers/1/attention/weights", 0, 20, 4)


def inside_lstm(driver: Driver) -> None:
    inside(driver, "stories-lstm", "layers/0/cell", 12, 40)


def inside_ngram(driver: Driver) -> None:
    driver.show("inside")
    driver.open_model("stories-5-gram")
    driver.type(STORY)


def gradient(driver: Driver) -> None:
    """The gradient of the last loss in the whole of Inside, a few words before it."""
    driver.show("inside")
    driver.open_model("stories-lstm")
    driver.type(STORY)
    session = driver.session
    session.focus.choose_position(session.reading.current.last - 1)
    session.focus.choose_stage(4)
    session.gradients.show(True)
    driver.wait(lambda: session.gradients.current is not None, "the gradient")


def saliency(driver: Driver) -> None:
    """What the gradient says of erasing each word, beside what erasing it does."""
    driver.show("inside")
    driver.open_model("stories-transformer")
    driver.type(STORY)
    driver.bring_to_front("saliency")
    driver.wait(lambda: bool(driver.panel(SaliencyPanel).found), "the saliency")


def circuits(driver: Driver) -> None:
    """Two stories that differ in a thing: where it sits in the model, and who wrote it."""
    driver.show("circuits")
    driver.open_model("stories-transformer")
    driver.wait(lambda: bool(driver.session.contrast.offers()), "the questions")
    driver.session.contrast.open(driver.session.contrast.offers()[0])
    patching = driver.panel(PatchingPanel)
    driver.wait(lambda: patching.patches is not None and patching.is_whole, "the patches")
    driver.wait(lambda: driver.panel(AttributionPanel).found is not None, "the attribution")


def texts(driver: Driver) -> None:
    """Sixty texts from a pattern, and what each head does to their answer."""
    driver.show("texts")
    driver.open_model("stories-transformer")
    driver.wait(
        lambda: bool(driver.find("pattern_edit", QPlainTextEdit).toPlainText()), "a pattern that is offered"
    )
    driver.click("use_pattern_button")
    many = driver.session.many
    driver.wait(lambda: many.values is not None and many.values.done == len(many.given), "the measure")
    many.start()
    driver.wait(lambda: many.effects is not None and many.effects.done == many.effects.of, "the effects")
    many.choose(int(many.values.values.argmin()))


def open_shipped_features(driver: Driver, text: str = "") -> None:
    """The features that come with the Transformer of stories, and what they do in a text."""
    driver.show("features")
    driver.open_text("stories")
    driver.open_model("stories-transformer")
    if text:
        driver.type(text)
    driver.click("shipped_features_button")
    found = driver.session.features
    driver.wait(
        lambda: found.reading is not None and not found.is_reading,
        "what the features do",
        done=lambda: found.reading and found.reading.tokens,
    )


def features(driver: Driver) -> None:
    """A feature of a Transformer of stories that raises the names of containers, and is taken out."""
    open_shipped_features(driver, CONTAINERS)
    driver.session.features.choose(443)
    panels: list[AskingPanel[Any, Any]] = [
        driver.panel(FeaturePanel),
        driver.panel(FeatureWordsPanel),
        driver.panel(FeatureTurnPanel),
    ]
    driver.wait(lambda: all("443" in repr(panel.asked and panel.asked.about) for panel in panels), "it")


def feature_graph(driver: Driver) -> None:
    """The answer to a story followed back through the features of the feed-forward networks."""
    open_shipped_features(driver)
    driver.show("circuits")
    driver.wait(lambda: bool(driver.session.contrast.offers()), "the questions")
    driver.session.contrast.open(driver.session.contrast.offers()[0])
    driver.bring_to_front("feature_graph")
    panel = driver.panel(FeatureGraphPanel)
    driver.wait(lambda: panel.is_whole and panel.found is not None and panel.found.kept is not None, "it")


def taught(driver: Driver) -> None:
    """The lines that taught a model whose a button is, by their gradients at all snapshots."""
    driver.show("inside")
    driver.open_text("stories")
    driver.open_model("stories-transformer")
    driver.type("Mira owned a purple button that had belonged to")
    driver.bring_to_front("taught")
    panel = driver.panel(TaughtPanel)
    driver.wait(lambda: panel.found is not None, "the lines by n-grams")
    driver.click("taught_read_button")
    driver.wait(
        lambda: panel.found.answer.products is not None and not driver.session.work.jobs,
        "the gradients",
        done=lambda: panel.found.answer.seconds,
    )


def copied(driver: Driver) -> None:
    """What of a story stands in the training text word for word, and of a hundred that were written."""
    driver.show("sample")
    driver.open_text("stories")
    driver.open_model("stories-transformer")
    driver.type(STORY)
    driver.bring_to_front("copied")
    panel = driver.panel(CopiedPanel)
    driver.wait(lambda: panel.found is not None, "the passages")
    driver.click("copied_write_button")
    driver.wait(lambda: panel.written is not None, "the texts")


def loss_map(driver: Driver) -> None:
    """Where one of two models is ahead of the other on a held-out text."""
    driver.show("texts")
    driver.open_text("stories")
    for name in ("stories-transformer", "stories-gru"):
        driver.open_model(name)
    session = driver.session
    first = session.library.models[0]
    session.comparison.choose(((first, first.snapshots[-1]),))
    driver.bring_to_front("passages", "loss_cuts", "loss_map", "costly_words")
    session.many.losses.show_difference(True)
    session.many.losses.measure()
    driver.wait(lambda: session.many.losses.shown is not None, "the losses")


def heads_over_time(driver: Driver) -> None:
    """All heads of a model that has learned to repeat, and the steps in which it did."""
    driver.show("circuits")
    driver.open_model("echo-transformer")
    driver.wait(lambda: bool(driver.session.contrast.offers()), "the questions")
    driver.session.contrast.open(driver.session.contrast.offers()[0])
    driver.bring_to_front("heads_over_time", "head_pair")
    heads, pair = driver.panel(HeadsOverTimePanel), driver.panel(HeadPairPanel)
    driver.wait(lambda: heads.is_whole and pair.is_whole, "the heads at every snapshot")
    driver.session.attention.choose_head(1, 2)


def series(driver: Driver) -> None:
    """The snapshots of a sample model as checkpoints of transformers, and what Trainer would record."""
    folder = driver.session.training.runs_folder.parent / "stories"
    write_series(folder)
    driver.show("train")
    driver.window.open_paths([folder])
    library = driver.session.library
    driver.wait(lambda: library.model is not None, "the series")
    driver.type(STORY)
    library.choose_step(2500)
    driver.rest()


def write_series(folder: Path) -> None:
    """A folder of `checkpoint-N/` from the sample Transformer, as if another program had trained it."""
    from lmviz.api.training import convert, find_run
    from lmviz.runs.opening import open_recorded

    run = open_recorded(find_run("stories-transformer"))
    names = {"loss": "loss", "validation_loss": "eval_loss", "learning_rate": "learning_rate"}
    for step in run.snapshots():
        place = convert("stories-transformer", folder / f"checkpoint-{step}", step)
        lines = [line for line in run.metrics() if line["step"] <= step]
        history = [
            {"step": line["step"], name: line[own]}
            for line in lines
            for own, name in names.items()
            if own in line
        ]
        state = {"global_step": step, "log_history": history, "max_steps": run.snapshots()[-1]}
        (place / "trainer_state.json").write_text(json.dumps(state))


def recorded(driver: Driver) -> None:
    """The loop of the page about one's own training, recorded as it stands there."""
    page = (Path(__file__).parent / "guide" / "watching.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    folder = driver.session.training.runs_folder / "mine"
    exec(code.replace('"runs/mine"', repr(str(folder))), {})
    driver.show("train")
    driver.window.open_paths([folder])
    library = driver.session.library
    driver.wait(lambda: library.model is not None, "the recording")
    driver.type("the cat sat on the mat and the d")
    library.choose_step(64)
    driver.rest()


def through_time(driver: Driver) -> None:
    """A loss going back through four families, and truncation after twelve steps."""
    driver.show("inside")
    for model in ("stories-rnn", "stories-gru", "stories-transformer", "stories-lstm"):
        driver.open_model(model)
    session = driver.session
    others = [model for model in session.library.models if model != session.library.model]
    session.comparison.choose([(model, model.snapshots[-1]) for model in others])
    driver.type(STORY)
    driver.bring_to_front("through_time")
    panel = driver.panel(ThroughTimePanel)
    driver.find("truncation_spin", QSpinBox).setValue(12)
    driver.wait(lambda: len(panel.reaches) == 4 and panel.stretch.norms is not None, "the gradients")


def attention(driver: Driver) -> None:
    """The attention of one head, pointed at."""
    driver.show("attention")
    driver.open_model("stories-transformer")
    driver.choose_head("induction", STORY)


def channels(driver: Driver) -> None:
    """The heads of a layer as channels of a convolution, the diagonal of one lit."""
    driver.show("attention")
    driver.open_model("shakespeare-transformer")
    driver.type("To be or not to be that is the question")
    driver.bring_to_front("channels")
    driver.session.attention.choose_head(0, 2)
    driver.session.attention.choose_offset(-1)


def tagging(driver: Driver) -> None:
    """A tag in the middle of a sentence, and what it owes to the words on either side."""
    driver.show("inside")
    driver.open_model("ambiguous-gru-both")
    driver.open_text("ambiguous")
    driver.type("the old man the boats")
    session = driver.session
    trace = session.reading.current.trace
    session.focus.choose_position(2)
    session.focus.choose_stage(len(trace.stages) - 2)
    verb = session.library.model.description.labels.index("VERB")
    session.focus.choose_cell(("logits", (2, verb)))
    driver.bring_to_front("why")


def preview(driver: Driver) -> None:
    """A table whose names do not tell, in an encoding that has to be guessed, before it is read."""
    lines = corpus_path("reviews").read_text("utf-8").splitlines()[:600]
    rows = [line.split("\t") for line in lines]
    written = [
        f'{label},"{text}{" Café Zoë" if n % 9 == 4 else ""}",' for n, (label, text) in enumerate(rows)
    ]
    written[40] = 'good,"The café is ""fine" END, and so on,'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "films.csv"
        path.write_bytes("\n".join(["v1,v2,", *written]).encode("cp1252"))
        driver.window.open_paths([path])
        driver.wait(lambda: driver.window.session.text.offer is not None, "the preview")


def classification(driver: Driver) -> None:
    """A review that turns, with what each of its words adds."""
    driver.show("inside")
    driver.open_model("reviews-lstm")
    driver.open_text("reviews")
    driver.type("The film was great but the story was not charming END")
    driver.bring_to_front("labels")


def alignment(driver: Driver) -> None:
    """A translation with other word order, and where one of its words comes from."""
    driver.show("attention")
    driver.open_model("twin-gru-attention-long")
    driver.find("source_edit", QLineEdit).setText("the small black horse follows the cats and this hen sings")
    driver.type("le petit cheval noir suit les chats et cette poule chante")
    driver.session.focus.choose_position(3)


def surgery(driver: Driver) -> None:
    """A head taken out, and what this does to the next word."""
    attention(driver)
    driver.click("zero_head_button")
    driver.wait(lambda: driver.session.reading.current.baseline is not None, "the reading without the head")


def sample(driver: Driver) -> None:
    """Some rolls of the die, a branch, and a beam search."""
    driver.show("sample")
    driver.open_model("stories-transformer")
    driver.type(STORY)
    session = driver.session
    session.writing.set_sampling(temperature=0.9, top_k=40, top_p=0.95, seed=7, seed_locked=True)
    driver.wait(lambda: session.writing.prospect is not None, "the distribution")
    for rolls in (5, 3):
        for _ in range(rolls):
            roll(driver)
        if rolls == 5:
            for _ in range(4):
                session.writing.step_back()
            session.writing.set_sampling(seed=3)
            driver.rest()
    driver.click("beam_run_button")
    driver.wait(lambda: session.beam.is_grown, "the beam search")


def roll(driver: Driver) -> None:
    """Roll the die once, and wait for the token."""
    writing = driver.session.writing
    before = writing.branches
    driver.click("sample_step_button")
    driver.wait(lambda: writing.branches is not before and not writing.is_choosing, "the roll")


def finetune(driver: Driver) -> None:
    """A Transformer of stories that goes on learning from another text, by LoRA and with all its weights."""
    from dataclasses import replace

    driver.show("train")
    driver.open_model("stories-transformer")
    driver.open_text("farm")
    driver.type("The cat")
    driver.bring_to_front("tuning")
    session = driver.session
    base = session.library.model
    small = replace(session.tuning.options, steps=60, length=64, validate_every=5)
    session.tuning.change(options=small)
    for way in ("all", "lora"):
        session.library.choose(base)
        session.tuning.choose(way)
        tune(driver)
    driver.bring_to_front("forgetting")
    driver.wait(lambda: session.tuning.known is not None and not session.tuning.is_measuring, "the plans")


def tune(driver: Driver) -> None:
    """Go on training as the plan says, to the end."""
    training, library = driver.session.training, driver.session.library
    driver.click("tune_button")
    begun = training.state.folder
    driver.wait(
        lambda: training.state.phase == "finished" and library.model.folder == begun,
        "the training",
        done=lambda: training.state.progress,
    )


def difference(driver: Driver) -> None:
    """Two steps of the training of a Transformer, between which it learned to look back."""
    driver.show("difference")
    driver.open_text("stories")
    driver.open_model("stories-transformer")
    driver.session.library.choose_step(3517)
    driver.session.pair.choose_before((driver.session.library.model, 2062))
    driver.type(f"Maya owned a brown stone. She put it in the barrel. {STORY.partition('. ')[2]}")
    driver.wait(lambda: "similarity" in driver.panel(DifferencePanel).exported_arrays(), "the similarity")


def compare(driver: Driver) -> None:
    """An n-gram, an LSTM and a Transformer on one prefix."""
    driver.show("compare")
    for model in ("stories-5-gram", "stories-lstm", "stories-transformer"):
        driver.open_model(model)
    driver.open_text("stories")
    driver.type(STORY)
    session = driver.session
    session.comparison.choose([(model, model.snapshots[-1]) for model in session.library.models[:-1]])


def race(driver: Driver) -> None:
    """A GRU at four learning rates, and one of them gone on with from a snapshot at half its rate."""
    from lmviz.models.recurrent_configuration import GRUConfiguration
    from lmviz.training.options import TrainingOptions

    driver.show("race")
    driver.open_text("stories")
    session = driver.session
    options = TrainingOptions(steps=300, length=32, schedule="constant", validate_every=20)
    session.plan.set("gru", GRUConfiguration(width=48), options)
    session.reading.set_prefix(STORY)
    for button in ("add_values_button", "race_start_button"):
        driver.click(button)

    def ended() -> bool:
        return bool(session.race.lanes[-1].step) and not session.race.is_active

    def steps() -> list[int]:
        return [lane.step for lane in session.race.lanes]

    driver.wait(ended, "the race", done=steps)
    parent = session.race.lanes[2]
    step = session.race.opened(parent).nearest_snapshot(100)
    session.race.fork(parent.folder, step, {"learning_rate": 0.005})
    driver.wait(lambda: len(session.race.lanes) == 5 and ended(), "the fork", done=steps)
    session.race.choose(session.race.lanes[-1].name)
    driver.click("forking_tab")


def autodiff(driver: Driver) -> None:
    """The net of the lecture, three modules into the backward sweep, and one of its gradients explained."""
    from lmviz.app.session.network_focus import NetworkCell

    driver.show("autodiff")
    for _ in range(3):
        driver.click("tape_backward")
    driver.session.network_focus.choose_cell(NetworkCell("β", (1, 0), is_gradient=True))


def scale(driver: Driver) -> None:
    """Public models and sample models by size, and what GPT-3 would take on this machine."""
    driver.show("scale")
    for model in ("stories-lstm", "stories-transformer"):
        driver.open_model(model)
    driver.type(STORY)
    driver.wait(lambda: driver.session.scale.pace is not None, "the pace of this machine")


def lesson(name: str, driver: Driver) -> None:
    """The first step of a lesson, set up."""
    from lmviz.app.window.lessons import perspective_names
    from lmviz.lessons.shipped import shipped_lessons

    driver.click("lessons_button")
    found = next(each for each in shipped_lessons(perspective_names()) if each.name == name)
    session = driver.session
    session.lesson.open(found, 0)
    needs_text = any(opening.kind == "text" for opening in found.steps[0].openings)
    driver.wait(lambda: not needs_text or session.text.corpus is not None, "the text")
    driver.wait(lambda: not session.text.is_opening and not session.reading.is_busy, "what it opens")
    if any(opening.kind == "features" for opening in found.steps[0].openings):
        features = session.features
        driver.wait(lambda: features.reading is not None and features.reading.tokens > 8_000, "features")
        features.stop()  # reading all of the text takes minutes


def lecture(driver: Driver) -> None:
    """The item of the shipped lecture at which a head looks back."""
    from lmviz.app.window.lessons import perspective_names
    from lmviz.lectures.reading import open_lecture, shipped_lectures

    driver.window.lectures.open(open_lecture(shipped_lectures()[0], perspective_names()), 7)
    driver.wait(lambda: driver.session.library.model is not None, "the model of the scene")
    driver.window.notice.clear()


SCENES = (
    Scene("corpus", corpus),
    Scene("train", train, themes=BOTH),
    Scene("inside", inside_transformer),
    Scene("inside-lstm", inside_lstm),
    Scene("inside-ngram", inside_ngram),
    Scene("gradient", gradient),
    Scene("saliency", saliency),
    Scene("through-time", through_time),
    Scene("attention", attention, themes=BOTH),
    Scene("channels", channels),
    Scene("tagging", tagging),
    Scene("classification", classification),
    Scene("preview", preview),
    Scene("alignment", alignment),
    Scene("surgery", surgery),
    Scene("sample", sample),
    Scene("compare", compare),
    Scene("finetune", finetune),
    Scene("difference", difference),
    Scene("race", race),
    Scene("circuits", circuits),
    Scene("texts", texts),
    Scene("features", features),
    Scene("feature-graph", feature_graph),
    Scene("taught", taught),
    Scene("copied", copied),
    Scene("loss-map", loss_map),
    Scene("heads-over-time", heads_over_time),
    Scene("series", series),
    Scene("recorded", recorded),
    Scene("autodiff", autodiff),
    Scene("scale", scale),
    Scene("lecture", lecture, size=LECTURE_HALL, projector=True),
    Scene("projector", attention, size=LECTURE_HALL, projector=True),
    Scene("small", attention, size=(1000, 640)),
    Scene("first-launch", lambda driver: None, welcomes=True),
    *(Scene(f"lesson-{name}", partial(lesson, name)) for name in map(name_of, shipped_files())),
)
