"""What each stage does to the chosen word, in one plain sentence: one literal table for every family.

A name in braces stands for something of the reading that is shown; `lmviz.inspection.stage_sentence` fills
it in and lists the names there are.
"""

from __future__ import annotations

LABELS, CLASS = "labels", "class"
"""In the place of a family: models that give each word a label, and those that give the text one.

The title of a stage may stand there too.
"""

SENTENCES: tuple[tuple[str, str, str], ...] = (
    # Transformer
    ("transformer", "embedding/token", "The row of the table that stands for {word}, wherever it occurs."),
    ("transformer", "embedding/projected", "That row for {word}, brought to the width of the stream."),
    ("transformer", "projected", "The end of the stream at {word}, brought to the width of an embedding."),
    ("transformer", "embedding/position", "What marks place {place} of the text, whatever word is there."),
    ("transformer", "embedding/sum", "{word} enters the stream that every layer reads and adds to."),
    ("transformer", "embedding/norm", "{word} brought to one scale before any layer reads it."),
    ("transformer", "layers/*/norm?", "The stream at {word}, brought to one scale, channel by channel."),
    ("transformer", "norm", "The stream at {word} after the last layer, brought to one scale."),
    ("transformer", "layers/*/attention/query", "Queries: what {word} is looking for, in head {head}."),
    ("transformer", "layers/*/attention/key", "Keys: what {word} can be found by, in head {head}."),
    ("transformer", "layers/*/attention/value", "Values: what {word} hands on to others, in head {head}."),
    (
        "transformer",
        "layers/*/attention/query_normed",
        "What {word} is looking for, brought to one scale, so that no score grows large.",
    ),
    (
        "transformer",
        "layers/*/attention/key_normed",
        "What {word} can be found by, brought to one scale, so that no score grows large.",
    ),
    (
        "transformer",
        "layers/*/attention/query_rotated",
        "What {word} is looking for, turned by its place, so that distance counts.",
    ),
    (
        "transformer",
        "layers/*/attention/key_rotated",
        "What {word} can be found by, turned by its place, so that distance counts.",
    ),
    (
        "transformer",
        "layers/*/attention/products",
        "How well what {word} is looking for fits what each word can be found by.",
    ),
    (
        "transformer",
        "layers/*/attention/bias",
        "What head {head} adds to the score of a word for its distance from {word}.",
    ),
    ("Scores as they are", "layers/*/attention/scaled", "The scores of {word}, which are not divided."),
    (
        "Scores times a factor",
        "layers/*/attention/scaled",
        "The scores of {word}, times the factor that this model has for them.",
    ),
    (
        "Capped scores",
        "layers/*/attention/scaled",
        "The scores of {word}, scaled, and bent so that none exceeds a cap.",
    ),
    (
        "Causal mask and window",
        "layers/*/attention/scores",
        "Words after {word} are hidden, and so are those that are too far back.",
    ),
    (
        "transformer",
        "layers/*/attention/scaled",
        "The scores of {word}, divided by √d, so that more channels do not make them larger.",
    ),
    ("transformer", "layers/*/attention/scores", "Words after {word} are hidden: it cannot look ahead."),
    (
        "transformer",
        "layers/*/attention/weights",
        "{word} looks most at {most}, with {share} of its attention in head {head}.",
    ),
    (
        "transformer",
        "layers/*/attention/mixed",
        "{word} collects the values of the words it looks at: {share} come from {most}.",
    ),
    (
        "transformer",
        "layers/*/attention/output",
        "What all heads have collected for {word}, joined to one vector.",
    ),
    (
        "transformer",
        "layers/*/attention/normed",
        "What all heads have collected for {word}, brought to one scale before it is added.",
    ),
    ("transformer", "layers/*/residual1", "What attention has found is added to the stream at {word}."),
    ("transformer", "layers/*/stream1", "What attention has found takes the place of the stream at {word}."),
    ("transformer", "layers/*/feedforward/gate", "How far the gate of each unit opens at {word}."),
    ("transformer", "layers/*/feedforward/hidden", "How strongly each unit responds to {word}."),
    ("transformer", "layers/*/feedforward/activation", "Which units are active at {word}, and how much."),
    ("transformer", "layers/*/feedforward/output", "What the active units contribute at {word}."),
    (
        "transformer",
        "layers/*/feedforward/normed",
        "What the active units contribute at {word}, brought to one scale before it is added.",
    ),
    (
        "transformer",
        "layers/*/residual2",
        "What the feed-forward units contribute is added to the stream at {word}.",
    ),
    (
        "transformer",
        "layers/*/stream2",
        "What the feed-forward units contribute takes the place of the stream at {word}.",
    ),
    # Recurrent networks
    ("lstm", "layers/**/forget", "How much of each cell is kept when {input} comes: {mean} on average."),
    (
        "lstm",
        "layers/**/input",
        "How much of what {input} brings is written to a cell: {mean} on average.",
    ),
    ("lstm", "layers/**/candidate", "What {input} and {memory} would write to each cell."),
    ("lstm", "layers/**/cell", "What is kept of each cell, plus what is newly written at {word}."),
    ("lstm", "layers/**/output", "How much of each cell is shown after {word}: {mean} on average."),
    ("lstm", "layers/**/hidden", "What layer {layer} shows of its cells after {word}."),
    (
        "gru",
        "layers/**/reset",
        "How much of {memory} the candidate may use when {input} comes: {mean} on average.",
    ),
    ("gru", "layers/**/update", "How much of {memory} stays as it is when {input} comes: {mean} on average."),
    ("gru", "layers/**/candidate", "The new state that {input} proposes, given {memory}."),
    ("gru", "layers/**/hidden", "Part of {memory} and part of the candidate: the state after {word}."),
    ("rnn", "layers/**/preactivation", "{input} and {memory}, each through its weights, are added up."),
    ("rnn", "layers/**/hidden", "The sums, squashed by the activation: what layer {layer} keeps of {word}."),
    # Fixed window
    ("window", "hidden", "Each unit reads the last words side by side, and no others: {window}."),
    # n-grams
    ("*", "orders/1/context", "The empty context: it looks at no word at all, so it always fits."),
    ("*", "orders/*/context", "{context} {seen} in the text that was counted."),
    ("ngram", "orders/1/counts", "How often each word occurs, whatever comes before it: {cases}."),
    ("ngram", "orders/*/counts", "What followed {context} in the text that was counted: {cases}."),
    ("ngram", "orders/1/backoff", "What the counts of single words leave to words never seen: {value}."),
    ("ngram", "orders/*/backoff", "What {context} leaves to shorter contexts: {value}."),
    ("ngram", "orders/1/weight", "How much of the prediction comes from single words: {value}."),
    ("ngram", "orders/*/weight", "How much of the prediction comes from {context}: {value}."),
    ("*", "orders/1/probabilities", "Without looking at any word, {leader} is the likeliest: {lead}."),
    ("*", "orders/*/probabilities", "With contexts of up to {words}, {leader} is the likeliest: {lead}."),
    ("ngram", "logits", "The logarithm of each probability: {leader} has the largest."),
    # Both directions, and texts that are read as a whole
    (
        "*",
        "layers/*/joined",
        "What is known at {word} of the words before it and of those after.",
    ),
    ("*", "pooling/scores", "A score for how much the state at {word} should count for the whole text."),
    ("*", "pooling/weights", "How much the state at {word} counts for the whole text: {value}."),
    ("*", "pooled", "One vector for the whole text, from the states at its words."),
    (LABELS, "logits", "A score for every label that {word} could have: {leader} has the largest."),
    (LABELS, "probabilities", "{word} is {leader}, with {lead}."),
    (CLASS, "logits", "A score for every label that the text could have: {leader} has the largest."),
    (CLASS, "probabilities", "The text is {leader}, with {lead}."),
    # Models that translate or write captions
    ("*", "picture", "One for each painted pixel: the picture, which enters here and never again."),
    ("*", "layers/*/start", "What layer {layer} begins with: all that it will ever be told of the picture."),
    ("*", "layers/*/previous", "The state before {word}, which layer {layer} goes on from."),
    ("*", "encoder/**", "Made of the source alone, before the first word is written."),
    ("*", "decoder/embedding", "The row of the table that stands for {word}, wherever it occurs."),
    ("*", "decoder/layers/*/start", "What the decoder begins with, made of the encoder's last states."),
    ("*", "decoder/layers/*/previous", "The state before {word}, which the decoder goes on from."),
    ("*", "attention/keys", "What each word of the source can be found by."),
    ("*", "attention/scores", "How well each word of the source fits the state before {word}."),
    ("*", "attention/weights", "How much of each word of the source is read at {word}."),
    ("*", "context", "What the decoder sees of the source at {word}."),
    ("*", "decoder/input", "{word} and what is seen of the source, side by side."),
    ("*", "decoder/**/cross/weights", "How much {word} looks at each word of the source, in head {head}."),
    # All families
    ("*", "embedding", "The row of the table that stands for {word}, wherever it occurs."),
    ("*", "logits", "A score for every word that could come after {word}: {leader} has the largest."),
    ("*", "probabilities", "After {word} comes {leader} with {lead}."),
)
"""Family, pattern of the address of what the stage makes, sentence; the first that fits holds."""

OTHERWISE = "{title} at {word}."
"""For a stage that the table does not know."""
