"""Whatever is asked about many texts, or about who taught a word, ends soon after nobody wants it any more.

Between two look-ups nothing of it computes for longer than `SOON`. That is counted in seconds of the thread's
own processor time, as other programs on the machine are no news.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

import lmviz
from lmviz.api.training import corpus_of, find_run
from lmviz.circuits.row_values import measuring_rows
from lmviz.circuits.set_effects import EffectsPlan
from lmviz.models.interruption import Interrupted, interruptible
from lmviz.origins.copies import Copies
from lmviz.origins.memorised import memorised
from lmviz.origins.teaching import Teaching
from lmviz.runs.opening import open_model_of, open_recorded
from lmviz.runs.removal import remove
from lmviz.text.corpus import text_corpus
from lmviz.text.text_set import TextSet

SOON = 0.2
ROUNDS = 4
Phase = Callable[[Callable[[float | None], None]], object]
WHO = ("Mira", "Tom", "Ida", "Leo")
LINES = "\n".join(f"{who} owned a {thing} that was red ." for who in WHO for thing in ("horn", "drum") * 4)


def asked_rows(count: int) -> TextSet:
    names = [
        (one, other)
        for one in ("bat", "cat", "dog", "cow", "fox")
        for other in ("bird", "mouse", "goat", "bear")
    ]
    return lmviz.text_set(
        [
            {
                "text": f"The {one} made noise at",
                "changed": f"The {other} made noise at",
                "wanted": "night",
                "other": "the",
            }
            for one, other in names[:count]
        ]
    )


def drained(answers, look: Callable[[float | None], None]) -> None:
    for _ in answers:
        look(None)


def phases(run, corpus, rows, text: str, word: str, tokens: int) -> dict[str, Phase]:
    """Every phase of influences and of measuring a set, and what each does."""

    def opened(step):
        return open_model_of(run, step)

    def teaching() -> Teaching:
        return Teaching(run, corpus, opened, text, word, tokens=tokens)

    known: dict[str, object] = {}

    def asked() -> Teaching:
        return known.setdefault("teaching", teaching())

    def effects(by: str, look) -> None:
        model = opened(None)
        *_, found = measuring_rows(model, rows)
        look(None)
        plan = EffectsPlan.of(model, list(found.contrasts.values()), by)
        plan.rows(range(len(found.contrasts)))

    def removed(look) -> None:
        before, until = run.snapshots()[-2:]
        found = asked()
        drained(remove(run, corpus, found.text, found.asked, [0, 1], step=before, until=until), look)

    return {
        "the question": lambda look: teaching(),
        "n-grams": lambda look: next(asked().growing()),
        "the plan": lambda look: asked().plan(),
        "gradients": lambda look: drained(asked().growing(), look),
        "without the lines": removed,
        "learned by heart": lambda look: memorised(run, corpus, opened, tokens=tokens, progress=look),
        "copied": lambda look: Copies(corpus, look),
        "the measure of each row": lambda look: drained(measuring_rows(opened(None), rows), look),
        "without each part": lambda look: effects("mean", look),
        "parts carried over": lambda look: effects("patch", look),
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Phase]:
    """The phases for a small run."""
    corpus = text_corpus(LINES, tokenizer="words", documents="line", validation=0.2)
    folder: Path = tmp_path_factory.mktemp("runs") / "small"
    run = lmviz.train("gru", corpus, folder, steps=8, batch=4, snapshots=5, width=8)
    rows = lmviz.text_set(
        [
            {"text": f"{one} owned a", "changed": f"{other} owned a", "wanted": "horn", "other": "drum"}
            for one, other in pairwise(WHO)
        ]
    )
    return phases(run, corpus, rows, "Ida owned a", "drum", 200)


NAMES = tuple(phases(None, None, None, "", "", 0))


@pytest.mark.parametrize("name", NAMES)
def test_a_stop_ends_each_phase_at_its_next_look(small: dict[str, Phase], name: str) -> None:
    looks = 0

    def count(done: float | None = None) -> None:
        nonlocal looks
        looks += 1

    with interruptible(count):
        small[name](count)
    assert looks > 0
    for stop in {1, (looks + 1) // 2, looks}:
        left = stop

        def look(done: float | None = None) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                raise Interrupted

        with pytest.raises(Interrupted), interruptible(look):
            small[name](look)
        assert left == 0  # nothing went on, and nothing was asked again


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", ["stories-transformer", "stories-gru"])
def test_nothing_computes_for_long_between_two_looks(model: str, name: str) -> None:
    run = open_recorded(find_run(model))
    corpus = corpus_of(run)
    text = "Mira owned a purple button that had belonged to"
    if name == "without the lines" and not run.is_resumable:
        pytest.skip("a sample model keeps nothing to go on from")
    longest: list[float] = []
    while len(longest) < ROUNDS and min(longest, default=SOON) >= SOON:  # other work comes and goes
        work = phases(run, corpus, asked_rows(20), text, "her", 4000)[name]
        last, gaps = time.thread_time(), []

        def look(done: float | None = None) -> None:
            nonlocal last
            gaps.append(time.thread_time() - last)  # noqa: B023 - it is called in this round
            last = time.thread_time()

        with interruptible(look):
            work(look)
        look()
        longest.append(max(gaps))
    assert min(longest) < SOON, f"{longest}"
