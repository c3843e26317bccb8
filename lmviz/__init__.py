"""See a language model think, while it learns.

    import lmviz

    corpus = lmviz.load_corpus("input.txt", tokenizer="words")
    run = lmviz.train("lstm", corpus, out="runs/first", steps=500, seed=0, width=128)
    model = lmviz.open_model("runs/first")
    trace = lmviz.trace(model, "The bat made")

Importing this imports neither Qt nor torch; the names below load what they need when first used, and so
do `lmviz.autodiff` and `lmviz.interventions`, where `interventions.zero` says more than `lmviz.zero`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError, LmvizWarning

if TYPE_CHECKING:
    from lmviz import autodiff as autodiff
    from lmviz.api.chats import chat
    from lmviz.api.circuits import (
        ablate,
        attribute,
        circuit,
        compositions,
        contrast,
        head_kernels,
        head_scores,
        head_words,
        patch,
        weights,
    )
    from lmviz.api.differences import before_and_after, difference, interpolate, transplant
    from lmviz.api.feature_graphs import (
        alone_by_size,
        feature_graph,
        open_feature_graph,
        save_feature_graph,
        score_pairs,
        try_edge,
    )
    from lmviz.api.feature_readings import (
        change_feature,
        feature_bill,
        features_over_time,
        match_features,
        read_features,
        remembered_words,
        staying_features,
        turn_feature,
        written_words,
    )
    from lmviz.api.features import (
        features_plan,
        find_features,
        open_features,
        save_features,
        stability,
        with_features,
    )
    from lmviz.api.origins import copied, influences, memorised
    from lmviz.api.pages import page
    from lmviz.api.questions import (
        beam_search,
        compare,
        evaluate,
        explain,
        gradient,
        logit_lens,
        next_token,
        predict,
        sample,
    )
    from lmviz.api.questions import trace as trace
    from lmviz.api.races import race
    from lmviz.api.readouts import (
        direction,
        direction_places,
        lens,
        lens_column,
        lens_over_training,
        open_direction,
        open_lens,
        probe,
        probe_number,
        replace_states,
        save_directions,
        steer,
        use_map,
        word_direction,
    )
    from lmviz.api.sets import contrasts, divergence, loss_map, text_set, words
    from lmviz.api.showing import progress_bar, show
    from lmviz.api.training import (
        convert,
        fork,
        load_corpus,
        open_model,
        save_pretrained,
        train,
        training_plan,
    )
    from lmviz.features.dictionary import Dictionary
    from lmviz.inspection import interventions as interventions
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.interventions import add, replace, scale, scale_head, zero
    from lmviz.inspection.trace import Trace
    from lmviz.recording.lightning_callback import LightningCallback
    from lmviz.recording.readings import Readings, open_readings
    from lmviz.recording.recording import Recording, record
    from lmviz.recording.trainer_callback import TrainerCallback
    from lmviz.text.tokenizer import Tokenizer
    from lmviz.training.run import Run

__version__ = "0.2.0"

__all__ = [
    "Dictionary",
    "Intervention",
    "LightningCallback",
    "LmvizError",
    "LmvizWarning",
    "Readings",
    "Recording",
    "Run",
    "Tokenizer",
    "Trace",
    "TrainerCallback",
    "ablate",
    "add",
    "alone_by_size",
    "attribute",
    "beam_search",
    "before_and_after",
    "change_feature",
    "chat",
    "circuit",
    "compare",
    "compositions",
    "contrast",
    "contrasts",
    "convert",
    "copied",
    "difference",
    "direction",
    "direction_places",
    "divergence",
    "evaluate",
    "explain",
    "feature_bill",
    "feature_graph",
    "features_over_time",
    "features_plan",
    "find_features",
    "fork",
    "gradient",
    "head_kernels",
    "head_scores",
    "head_words",
    "influences",
    "interpolate",
    "lens",
    "lens_column",
    "lens_over_training",
    "load_corpus",
    "logit_lens",
    "loss_map",
    "match_features",
    "memorised",
    "next_token",
    "open_direction",
    "open_feature_graph",
    "open_features",
    "open_lens",
    "open_model",
    "open_readings",
    "page",
    "patch",
    "predict",
    "probe",
    "probe_number",
    "progress_bar",
    "race",
    "read_features",
    "record",
    "remembered_words",
    "replace",
    "replace_states",
    "sample",
    "save_directions",
    "save_feature_graph",
    "save_features",
    "save_pretrained",
    "scale",
    "scale_head",
    "score_pairs",
    "show",
    "stability",
    "staying_features",
    "steer",
    "text_set",
    "trace",
    "train",
    "training_plan",
    "transplant",
    "try_edge",
    "turn_feature",
    "use_map",
    "weights",
    "with_features",
    "word_direction",
    "words",
    "written_words",
    "zero",
]

_HOMES = {
    "Dictionary": "lmviz.features.dictionary",
    "Intervention": "lmviz.inspection.intervention",
    "LightningCallback": "lmviz.recording.lightning_callback",
    "Readings": "lmviz.recording.readings",
    "Recording": "lmviz.recording.recording",
    "Run": "lmviz.training.run",
    "Tokenizer": "lmviz.text.tokenizer",
    "Trace": "lmviz.inspection.trace",
    "TrainerCallback": "lmviz.recording.trainer_callback",
    "chat": "lmviz.api.chats",
    **dict.fromkeys(
        ("features_plan", "find_features", "open_features", "save_features", "stability", "with_features"),
        "lmviz.api.features",
    ),
    **dict.fromkeys(("copied", "influences", "memorised"), "lmviz.api.origins"),
    "page": "lmviz.api.pages",
    **dict.fromkeys(
        (
            "alone_by_size",
            "feature_graph",
            "open_feature_graph",
            "save_feature_graph",
            "score_pairs",
            "try_edge",
        ),
        "lmviz.api.feature_graphs",
    ),
    **dict.fromkeys(
        (
            "change_feature",
            "feature_bill",
            "features_over_time",
            "match_features",
            "read_features",
            "remembered_words",
            "staying_features",
            "turn_feature",
            "written_words",
        ),
        "lmviz.api.feature_readings",
    ),
    "race": "lmviz.api.races",
    **dict.fromkeys(("progress_bar", "show"), "lmviz.api.showing"),
    "open_readings": "lmviz.recording.readings",
    "record": "lmviz.recording.recording",
    **dict.fromkeys(
        (
            "direction",
            "direction_places",
            "lens",
            "lens_column",
            "lens_over_training",
            "open_direction",
            "open_lens",
            "probe",
            "probe_number",
            "replace_states",
            "save_directions",
            "steer",
            "use_map",
            "word_direction",
        ),
        "lmviz.api.readouts",
    ),
    **dict.fromkeys(
        (
            "ablate",
            "attribute",
            "circuit",
            "compositions",
            "contrast",
            "head_kernels",
            "head_scores",
            "head_words",
            "patch",
            "weights",
        ),
        "lmviz.api.circuits",
    ),
    **dict.fromkeys(("before_and_after", "difference", "interpolate", "transplant"), "lmviz.api.differences"),
    **dict.fromkeys(("contrasts", "divergence", "loss_map", "text_set", "words"), "lmviz.api.sets"),
    **dict.fromkeys(("add", "replace", "scale", "scale_head", "zero"), "lmviz.inspection.interventions"),
    **dict.fromkeys(
        ("convert", "fork", "load_corpus", "open_model", "save_pretrained", "train", "training_plan"),
        "lmviz.api.training",
    ),
}
"""Where names are defined; the others are questions to a model."""

_MODULES = {"autodiff": "lmviz.autodiff", "interventions": "lmviz.inspection.interventions"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "lmviz.api.questions")), name)
    raise AttributeError(f"module 'lmviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
