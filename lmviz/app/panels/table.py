"""The table of panels: which there are, in which perspective and where.

A new panel is one file with one class and one row here, whose columns `PanelRow` explains:
`docs/adding-a-panel.md` builds one.
"""

from __future__ import annotations

from lmviz.app.panels.panel_row import PanelRow, Perspective

PERSPECTIVES = (
    Perspective("corpus", "Corpus", "Ctrl+1"),
    Perspective("train", "Train", "Ctrl+2"),
    Perspective("race", "Race", "Ctrl+Shift+T"),
    Perspective("inside", "Inside", "Ctrl+3"),
    Perspective("attention", "Attention", "Ctrl+4"),
    Perspective("sample", "Sample", "Ctrl+5"),
    Perspective("compare", "Compare", "Ctrl+6"),
    Perspective("difference", "Difference", "Ctrl+Shift+D"),
    Perspective("texts", "Texts", "Ctrl+Shift+X"),
    Perspective("circuits", "Circuits", "Ctrl+7"),
    Perspective("features", "Features", "Ctrl+Shift+F"),
    Perspective("autodiff", "Autodiff", "Ctrl+8", has_prefix=False),
    Perspective("scale", "Scale", "Ctrl+9", has_prefix=False),
    Perspective("polls", "Polls", "Ctrl+0", has_prefix=False),
)
"""In the order of the rail."""

_NEXT_WORD = "shared.next_word:NextWordPanel"
_CONFUSION = "shared.confusion:ConfusionPanel"
_SURGERY = "shared.surgery:SurgeryPanel"
_CHANGED_WEIGHTS = "difference.changed_weights:ChangedWeightsPanel"

PANELS: tuple[PanelRow, ...] = (
    PanelRow("texts", "Texts", "corpus", "left", width=288, least=(0, 300)),
    PanelRow("preview", "How it is read", "corpus", "centre", weight=9, least=(520, 420)),
    PanelRow("corpus_text", "Text", "corpus", "centre", weight=4, least=(266, 190), projected=True),
    PanelRow("concordance", "Concordance", "corpus", "centre", weight=5, least=(266, 190), projected=True),
    PanelRow("simplex", "Simplex", "corpus", "centre", tabbed=True, least=(266, 190)),
    PanelRow("vocabulary", "Vocabulary", "corpus", "right", width=330, least=(312, 300)),
    PanelRow("plan", "Model", "train", "left", width=310, least=(0, 300)),
    PanelRow("tuning", "Train further", "train", "left", tabbed=True, least=(0, 300)),
    PanelRow("loss", "Loss", "train", "centre", weight=6, least=(0, 240), projected=True),
    PanelRow("live_sample", "Sample", "train", "centre", weight=4, least=(0, 140), projected=True),
    PanelRow("algorithm", "Algorithm", "train", "centre", tabbed=True),
    PanelRow("forgetting", "What learning costs", "train", "centre", tabbed=True),
    PanelRow(
        "before_after", "Before and after", "train", "centre", tabbed=True, least=(0, 200), clears="right"
    ),
    PanelRow("noise", "Noise", "train", "centre", tabbed=True),
    PanelRow("recorded", "Recorded", "train", "centre", tabbed=True),
    PanelRow(
        "changed_weights", "What changed", "train", "centre", _CHANGED_WEIGHTS, tabbed=True, least=(300, 224)
    ),
    PanelRow("next_word", "Next word", "train", "right", _NEXT_WORD, width=340, least=(0, 124)),
    PanelRow("health", "Health", "train", "right", least=(0, 184)),
    PanelRow("over_time", "Over time", "train", "right", least=(0, 190)),
    PanelRow("race", "Race", "race", "centre", least=(400, 240), projected=True),
    PanelRow("lanes", "Lanes", "race", "right", width=490, least=(410, 296)),
    PanelRow("lane_words", "Next words", "race", "bottom", height=290, least=(300, 190)),
    PanelRow("picture", "Picture", "inside", "left", least=(340, 300), projected=True),
    PanelRow("lens_over_text", "Lens over the text", "inside", "left", tabbed=True),
    PanelRow("lenses", "Three lenses", "inside", "left", tabbed=True, clears="centre"),
    PanelRow("lens_over_training", "Since which step", "inside", "left", tabbed=True, clears="centre"),
    PanelRow("back_in_time", "Back in time", "inside", "left", tabbed=True, clears="centre"),
    PanelRow("through_time", "Through time", "inside", "left", tabbed=True),
    PanelRow("saliency", "Saliency", "inside", "left", tabbed=True),
    PanelRow("taught", "Taught by", "inside", "left", tabbed=True, clears="centre"),
    PanelRow("positions", "Positions", "inside", "left", tabbed=True),
    PanelRow("labels", "Labels", "inside", "left", tabbed=True),
    PanelRow("confusion", "Confusion", "inside", "left", _CONFUSION, tabbed=True),
    PanelRow("evidence", "Evidence", "inside", "left", tabbed=True),
    PanelRow("stage", "Stages", "inside", "centre", weight=5, least=(300, 196), projected=True),
    PanelRow("state", "Values over the text", "inside", "centre", weight=6, least=(254, 206)),
    PanelRow(
        "why", "Why?", "inside", "centre", "shared.why:WhyPanel", width=300, beside=True, least=(238, 146)
    ),
    PanelRow("unit", "Unit", "inside", "centre", width=300, tabbed=True),
    PanelRow("next_word", "Next word", "inside", "centre", _NEXT_WORD, width=300, tabbed=True),
    PanelRow("lens", "Lens", "inside", "centre", width=300, tabbed=True),
    PanelRow("surgery", "Surgery", "inside", "centre", _SURGERY, width=300, tabbed=True),
    PanelRow("heads", "All heads", "attention", "left", weight=4, width=330, least=(0, 136)),
    PanelRow("context", "Context", "attention", "left", tabbed=True, least=(0, 176)),
    PanelRow(
        "attention_why",
        "Why this number?",
        "attention",
        "left",
        "shared.why:WhyPanel",
        weight=5,
        least=(0, 163),
    ),
    PanelRow("attention", "Attention", "attention", "centre", least=(300, 260), projected=True),
    PanelRow("every_head", "Every head", "attention", "centre", tabbed=True, least=(300, 260), clears="left"),
    PanelRow(
        "alignment",
        "Alignment",
        "attention",
        "centre",
        tabbed=True,
        least=(300, 260),
        projected=True,
        translates=True,
    ),
    PanelRow(
        "next_word",
        "Next word",
        "attention",
        "right",
        _NEXT_WORD,
        weight=10,
        width=340,
        least=(0, 124),
        projected=True,
    ),
    PanelRow("surgery", "Surgery", "attention", "right", _SURGERY, weight=10, least=(0, 170)),
    PanelRow("attention_text", "In the text", "attention", "bottom", least=(0, 134)),
    PanelRow("channels", "Channels", "attention", "bottom", tabbed=True, least=(560, 134)),
    PanelRow(
        "alignment_text",
        "Between the two texts",
        "attention",
        "bottom",
        tabbed=True,
        least=(0, 167),
        translates=True,
    ),
    PanelRow("distribution", "Distribution", "sample", "left", least=(328, 240), projected=True),
    PanelRow("roll", "The die", "sample", "right", width=480, least=(280, 170), projected=True),
    PanelRow("branches", "Branches", "sample", "bottom", height=300, least=(240, 176)),
    PanelRow("beam", "Beam search", "sample", "bottom", tabbed=True, least=(240, 176)),
    PanelRow("side_by_side", "Side by side", "sample", "bottom", tabbed=True),
    PanelRow("teacher_forcing", "Teacher forcing", "sample", "bottom", tabbed=True, least=(240, 176)),
    PanelRow("copied", "Copied?", "sample", "bottom", tabbed=True, least=(420, 250), clears="foot"),
    PanelRow("asked_ways", "Chat or text", "sample", "bottom", tabbed=True, least=(320, 250), clears="foot"),
    PanelRow("chain_rule", "Chain rule", "sample", "foot", height=124, least=(312, 112)),
    PanelRow("compared_distributions", "Distributions", "compare", "centre", least=(0, 200), projected=True),
    PanelRow(
        "surprisal", "Surprisal", "compare", "bottom", weight=2, height=350, least=(300, 190), projected=True
    ),
    PanelRow("compared_labels", "Labels", "compare", "bottom", tabbed=True, projected=True),
    PanelRow("compared_samples", "Samples", "compare", "bottom", tabbed=True),
    PanelRow("scores", "Scores", "compare", "bottom", tabbed=True),
    PanelRow("quality_by_length", "By length", "compare", "bottom", tabbed=True),
    PanelRow("guess_word", "Guess", "compare", "bottom", least=(290, 190)),
    PanelRow("which_is_real", "Which is real?", "compare", "bottom", tabbed=True),
    PanelRow("confusion", "Confusion", "compare", "bottom", _CONFUSION, tabbed=True),
    PanelRow("difference", "Inside the two", "difference", "centre", least=(420, 238), projected=True),
    PanelRow("changed_text", "Text", "difference", "centre", tabbed=True, least=(420, 238)),
    PanelRow("transplant", "Transplant", "difference", "centre", tabbed=True, least=(420, 238)),
    PanelRow("strength", "Strength", "difference", "centre", tabbed=True, least=(420, 238)),
    PanelRow(
        "changed_words", "Next word", "difference", "right", width=420, least=(300, 250), projected=True
    ),
    PanelRow("moved_heads", "Heads", "difference", "bottom", weight=9, height=350, least=(420, 224)),
    PanelRow("changed_weights", "Weights", "difference", "bottom", weight=8, least=(380, 224)),
    PanelRow("text_rows", "Set", "texts", "left", width=404, least=(298, 260), projected=True),
    PanelRow("passages", "Passages", "texts", "left", tabbed=True, least=(298, 200)),
    PanelRow("row_measures", "Measure", "texts", "centre", weight=4, least=(300, 170)),
    PanelRow("loss_cuts", "Loss divided", "texts", "centre", tabbed=True, least=(336, 170)),
    PanelRow("row_effects", "Effects", "texts", "centre", weight=7, least=(300, 260), projected=True),
    PanelRow("loss_map", "Loss map", "texts", "centre", tabbed=True, least=(300, 200)),
    PanelRow("chosen_row", "One text", "texts", "right", weight=6, width=330, least=(256, 240)),
    PanelRow("costly_words", "Words", "texts", "right", tabbed=True, least=(256, 200)),
    PanelRow("second_model", "Second model", "texts", "right", weight=5, least=(256, 220)),
    PanelRow("contrast", "Two texts", "circuits", "centre", weight=1, least=(400, 150)),
    PanelRow("patching", "Patching", "circuits", "centre", weight=5, least=(300, 260), projected=True),
    PanelRow("circuit", "Circuit", "circuits", "centre", tabbed=True, least=(300, 304)),
    PanelRow("ablation", "Ablation", "circuits", "centre", tabbed=True, least=(300, 260)),
    PanelRow("feature_graph", "Features", "circuits", "centre", tabbed=True, least=(300, 400)),
    PanelRow("heads_over_time", "Heads", "circuits", "centre", tabbed=True, least=(440, 260)),
    PanelRow("probe", "Probe", "circuits", "centre", tabbed=True, least=(440, 300), clears="right"),
    PanelRow(
        "read_and_used", "Read, used", "circuits", "centre", tabbed=True, least=(440, 300), clears="right"
    ),
    PanelRow("directions", "Directions", "circuits", "centre", tabbed=True, least=(440, 300), clears="right"),
    PanelRow("steer", "Steer", "circuits", "centre", tabbed=True, least=(440, 300), clears="right"),
    PanelRow(
        "attribution",
        "Attribution",
        "circuits",
        "right",
        weight=5,
        width=500,
        least=(340, 320),
        projected=True,
    ),
    PanelRow("feature_bill", "Bill", "circuits", "right", tabbed=True, least=(340, 320)),
    PanelRow("more_features", "More features", "circuits", "right", tabbed=True, least=(340, 320)),
    PanelRow("head_pair", "Two heads", "circuits", "right", tabbed=True, least=(340, 320)),
    PanelRow("head_words", "Heads as words", "circuits", "right", tabbed=True, least=(340, 320)),
    PanelRow("surgery", "Surgery", "circuits", "right", _SURGERY, tabbed=True, least=(0, 170)),
    PanelRow("features", "Features", "features", "left", width=404, least=(290, 300), projected=True),
    PanelRow("feature", "Feature", "features", "centre", weight=7, least=(290, 260), projected=True),
    PanelRow("staying", "Staying on", "features", "centre", tabbed=True, least=(338, 260)),
    PanelRow("since_when", "Since when", "features", "centre", tabbed=True, least=(290, 260)),
    PanelRow("matched", "Matched", "features", "centre", tabbed=True, least=(330, 260)),
    PanelRow("features_text", "On at each word", "features", "centre", weight=4, least=(290, 190)),
    PanelRow("feature_words", "Words", "features", "right", weight=6, width=330, least=(260, 230)),
    PanelRow("feature_turn", "Turn it", "features", "right", weight=7, least=(260, 280)),
    PanelRow("surgery", "Surgery", "features", "right", _SURGERY, tabbed=True, least=(0, 170)),
    PanelRow("editor", "Network", "autodiff", "left", width=282, least=(214, 250), joins="network_why"),
    PanelRow("tape_code", "As code", "autodiff", "left", tabbed=True, least=(214, 250)),
    PanelRow("graph", "Graph", "autodiff", "centre", least=(354, 250), projected=True),
    PanelRow("tape", "Tape", "autodiff", "right", weight=6, width=290, least=(278, 160), projected=True),
    PanelRow("network_why", "Why this number?", "autodiff", "right", weight=5, least=(0, 166)),
    PanelRow("nudge", "Check by nudging", "autodiff", "bottom", weight=5, height=245, least=(420, 170)),
    PanelRow("descent", "One step", "autodiff", "bottom", weight=3, least=(330, 170)),
    PanelRow("surface", "Training", "autodiff", "bottom", tabbed=True),
    PanelRow("models_by_size", "Models", "scale", "centre", least=(270, 260), projected=True),
    PanelRow("total_compute", "Total compute", "scale", "centre", width=300, beside=True, least=(166, 260)),
    PanelRow("calculator", "Calculator", "scale", "right", width=460, least=(400, 260), projected=True),
    PanelRow("growth", "Graph", "scale", "bottom", height=260, least=(700, 200)),
    PanelRow("measured_length", "Measured", "scale", "bottom", tabbed=True),
    PanelRow("experiment", "Experiment", "scale", "bottom", tabbed=True),
    PanelRow("poll", "Poll", "polls", "centre", least=(340, 300), projected=True),
    PanelRow(
        "order", "Two words change places", "polls", "right", width=380, least=(300, 300), projected=True
    ),
)


def rows_of(perspective: str) -> tuple[PanelRow, ...]:
    """The panels of a perspective, in the order of the table."""
    return tuple(row for row in PANELS if row.perspective == perspective)


def projected_rows(perspective: str) -> tuple[PanelRow, ...]:
    """The panels of a perspective that are left in projector mode."""
    rows = rows_of(perspective)
    return tuple(row for row in rows if row.projected) or rows[:1]


def shown_perspectives() -> tuple[Perspective, ...]:
    """The perspectives that have panels."""
    return tuple(perspective for perspective in PERSPECTIVES if rows_of(perspective.name))


def has_prefix(perspective: str) -> bool:
    """Whether a perspective shows what is typed, and so what comes of a text."""
    return next(row.has_prefix for row in PERSPECTIVES if row.name == perspective)
