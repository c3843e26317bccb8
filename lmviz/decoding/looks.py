"""How distributions, samples, beams, labels, translations and disagreements look."""

from __future__ import annotations

import numpy as np

from lmviz.base.figures import counted, percentage, plain
from lmviz.decoding.beam import BeamTree
from lmviz.decoding.comparison import Disagreement
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.labels import Answer
from lmviz.decoding.sampling import Sampling, SamplingStep
from lmviz.decoding.translation import Translation
from lmviz.decoding.translation_evaluation import TranslationEvaluation
from lmviz.looks.look import Look
from lmviz.looks.parts import LookPart, Matrix, Table, Words
from lmviz.showing.pieces import MOST, counts, figures, in_nats, likeliest, numbers, placed, shares, texts

SHOWN = 20


def look_of_distribution(distribution: Distribution) -> Look:
    """The likeliest tokens, as many as can be seen."""
    options = distribution.options
    said = [f"temperature {plain(options.temperature)}"] * (options.temperature != 1)
    said += [f"top-k {options.top_k}"] * bool(options.top_k)
    said += [f"top-p {plain(options.top_p)}"] * (options.top_p < 1)
    said += [f"min-p {plain(options.min_p)}"] * (options.min_p > 0)
    return Look(
        (_bars(distribution, SHOWN),),
        title=f"The next token: {distribution.token(distribution.best)}, "
        f"{percentage(distribution.probability_of(distribution.best))}",
        aside=", ".join(
            [counted(distribution.choices, "choice"), f"entropy {distribution.entropy:.2f} bits", *said]
        ),
        arrays={"probabilities": distribution.probabilities},
    )


def look_of_step(step: SamplingStep) -> Look:
    """The token that was chosen, how, and among which."""
    how = "chosen" if step.draw is None else f"drawn with u = {step.draw:.4f}"
    return Look(
        (Words("text", text=step.text), _bars(step.distribution, 5)),
        title=f"{step.token} {how}",
        aside=f"probability {percentage(step.probability)}"
        + (", the end of the text" if step.is_end else ""),
    )


def look_of_sampling(sampling: Sampling) -> Look:
    """The tokens that have been drawn so far."""
    steps = sampling.steps
    if not steps:
        return Look(title="A sample", instead="Nothing has been drawn yet: iterate over it.")
    return Look(
        (
            Words("text", text=steps[-1].text),
            Table(
                "steps",
                columns=[
                    texts("token", (step.token for step in steps), tokens=True),
                    shares("probability", (step.probability for step in steps), bar=True),
                    numbers("draw", (step.draw for step in steps), lambda value: f"{value:.4f}"),
                ],
            ),
        ),
        title=f"A sample: {counted(len(steps), 'token')} drawn so far",
    )


def look_of_beam(tree: BeamTree) -> Look:
    """The texts that were found, best first."""
    results = tree.results[:MOST]
    return Look(
        (
            Table(
                "results",
                columns=[
                    texts("text", (node.text for node in results)),
                    numbers("score", (node.score for node in results), lambda value: plain(value, 4)),
                    numbers("total (nats)", (node.total for node in results), lambda value: plain(value, 4)),
                    texts("state", (node.state for node in results), spare=True),
                ],
            ),
        ),
        title=f"Beam search: {counted(len(tree.results), 'text')} after {counted(tree.depth, 'step')}",
        aside=f"width {tree.options.width}, {counted(len(tree.nodes), 'node')} considered",
    )


def look_of_answer(answer: Answer) -> Look:
    """A label for each token, or the labels of the text."""
    if answer.probabilities.ndim == 1:
        order = np.argsort(-answer.probabilities, kind="stable")[:SHOWN]
        bars = likeliest([answer.names[at] for at in order], answer.probabilities[order], "labels")
        return Look((bars,), title=f"The text is labelled {answer.labels[0]}")
    best = answer.probabilities.max(axis=-1)
    return Look(
        (
            Table(
                "labels",
                columns=[
                    counts("position", range(len(answer.tokens))),
                    texts("token", answer.tokens, tokens=True),
                    texts("label", answer.labels),
                    shares("probability", best, bar=True),
                ],
            ),
        ),
        title=f"Labels of {counted(len(answer.tokens), 'token')}",
    )


def look_of_translation(translation: Translation) -> Look:
    """What was written for what, and where in the source the model looked."""
    parts: list[LookPart] = [
        Words("text", text=translation.text),
        Words("source", text="for " + " ".join(translation.source_tokens), role="muted"),
    ]
    if translation.alignment is not None and translation.alignment.size:
        parts.append(
            Matrix(
                "alignment",
                values=translation.alignment[:MOST, :MOST],
                scale="share",
                rows=placed(translation.tokens[:MOST]),
                columns=placed(translation.source_tokens[:MOST]),
            )
        )
    return Look(
        parts,
        title="Translation",
        aside=f"log-probability {in_nats(translation.log_probability)}",
    )


def look_of_translations(found: TranslationEvaluation) -> Look:
    """How well sources are translated, over all and by length."""
    parts: list[LookPart] = [
        figures(
            [
                ("BLEU", plain(found.bleu)),
                ("exactly as wanted", percentage(found.exact_match)),
                ("accuracy of tokens", percentage(found.accuracy)),
                ("loss", f"{plain(found.negative_log_likelihood, 4)} nats per token"),
            ]
        )
    ]
    if found.by_length:
        parts.append(
            Table(
                "lengths",
                columns=[
                    counts("source tokens", found.by_length),
                    counts("sentences", (one.count for one in found.by_length.values())),
                    shares("exact", (one.exact_match for one in found.by_length.values()), bar=True),
                    numbers("BLEU", (one.bleu for one in found.by_length.values())),
                    numbers("loss (nats)", (one.negative_log_likelihood for one in found.by_length.values())),
                ],
            )
        )
    return Look(parts, title=f"Evaluation of {counted(found.sentences, 'translation')}")


def look_of_disagreement(found: Disagreement) -> Look:
    """Where models expect the most different things."""
    places = found.largest(MOST)
    by_place = dict(zip(map(int, found.places), map(float, found.divergence), strict=True))
    columns = [counts("characters read", places)]
    if found.text:
        columns.append(texts("after", (found.text[max(0, place - 24) : place] for place in places)))
    columns.append(numbers("divergence (bits)", (by_place[place] for place in places), bar=True))
    return Look(
        (Table("places", columns=columns),),
        title=f"Disagreement at {counted(len(found.places), 'place')}, largest first",
    )


def _bars(distribution: Distribution, most: int) -> LookPart:
    ranks = range(1, 1 + min(most, distribution.choices))
    candidates = [distribution.candidate(rank) for rank in ranks]
    return likeliest([each.token for each in candidates], [each.probability for each in candidates])


LOOKS = {
    Distribution: look_of_distribution,
    SamplingStep: look_of_step,
    Sampling: look_of_sampling,
    BeamTree: look_of_beam,
    Answer: look_of_answer,
    Translation: look_of_translation,
    TranslationEvaluation: look_of_translations,
    Disagreement: look_of_disagreement,
}
"""How each kind of result looks, by its class."""
