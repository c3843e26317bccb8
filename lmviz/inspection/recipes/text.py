"""Python code that reproduces what is shown of a corpus; see `recipes`.

`sources` and `settings` are what `load_corpus` takes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lmviz.inspection.recipes.recipe import arguments_of

if TYPE_CHECKING:
    from lmviz.base.configuration import Configuration
    from lmviz.text.corpus import Corpus


def loading_of(corpus: Corpus) -> str:
    """The line that loads a corpus, bound to `corpus`."""
    source = corpus.sources[0] if len(corpus.sources) == 1 else list(corpus.sources)
    return f"corpus = lmviz.load_corpus({arguments_of(source, **settings_of(corpus))})"


def settings_of(corpus: Corpus) -> dict[str, Any]:
    """The options with which the corpus was read, as far as they differ from its source's defaults."""
    from lmviz.text.catalogue import find_entry

    entry = find_entry(corpus.sources[0]) if len(corpus.sources) == 1 else None
    usual = type(corpus.options)(**(entry.options if entry else {})).to_values()
    target = {"target": corpus.target_sources[0]} if corpus.target_sources else {}
    values = corpus.options.to_values().items()
    told = {name: value for name, value in values if value != usual[name]}
    if told.get("encoding") == "utf-8":
        del told["encoding"]  # which is recognised without fail
    return target | told


def vocabulary_recipe(sources: Sequence[str], settings: Mapping[str, Any], side: str = "source") -> str:
    """The tokens that occur, with their counts, the most frequent first, bound to `vocabulary`."""
    told = "" if side == "source" else repr(side)
    return _recipe(
        sources,
        settings,
        f"statistics, tokens = corpus.statistics({told}), corpus.tokenizer_of({side!r}).tokens()",
        "counted = zip(statistics.by_rank, statistics.rank_frequency, strict=True)",
        "vocabulary = [(tokens[id], int(count)) for id, count in counted]",
    )


def page_recipe(sources: Sequence[str], settings: Mapping[str, Any], first: int, count: int) -> str:
    """Some tokens of the training text, bound to `ids` and `tokens`."""
    return _recipe(
        sources,
        settings,
        f"page = Stretches(corpus.training_stream).at({first}, {first + count})",
        "ids, tokens = page.ids, page.words()",
        imports=("from lmviz.text.stretch import Stretches",),
    )


def merges_recipe(
    sources: Sequence[str], settings: Mapping[str, Any], first: int, count: int, learned: int
) -> str:
    """The same text in pieces when some of the byte-pair merges had been learned, bound to `pieces`."""
    return _recipe(
        sources,
        settings,
        f"text = Stretches(corpus.training_stream).at({first}, {first + count}).text",
        f"pieces = apply_merges(text, bpe_merges(corpus.tokenizer), {learned})",
        imports=(
            "from lmviz.text.merges import apply_merges, bpe_merges",
            "from lmviz.text.stretch import Stretches",
        ),
    )


def concordance_recipe(
    sources: Sequence[str], settings: Mapping[str, Any], phrase: str, side: str = "source"
) -> str:
    """The words that follow a phrase, with their counts, bound to `words`."""
    told = "" if side == "source" else f", side={side!r}"
    return _recipe(
        sources,
        settings,
        f"found = concordance(corpus, {phrase!r}{told})",
        "words = [(word.token, word.count) for word in found.words]",
        imports=("from lmviz.text.concordance import concordance",),
    )


def simplex_recipe(
    sources: Sequence[str], settings: Mapping[str, Any], context: str, shares: Sequence[float]
) -> str:
    """The log likelihood of what follows a context under some shares, bound to `likelihood`, and its most."""
    return _recipe(
        sources,
        settings,
        f"counted = counted_words(corpus, {context!r})",
        f"likelihood = counted.log_likelihood(np.array({[round(share, 12) for share in shares]}))",
        "most = counted.log_likelihood(counted.best)",
        imports=("import numpy as np", "from lmviz.text.simplex import counted_words"),
    )


def places_recipe(sources: Sequence[str], settings: Mapping[str, Any], ids: Sequence[int]) -> str:
    """Where token ids occur in a text, bound to `places`: position, before, match, next token, after."""
    row = "place.position, place.before, place.match, place.token, place.after"
    return _recipe(
        sources,
        settings,
        f"found = concordance_of_ids(corpus, {list(ids)!r})",
        f"places = [({row}) for place in found.places]",
        imports=("from lmviz.text.concordance import concordance_of_ids",),
    )


def turns_recipe(
    sources: Sequence[str],
    settings: Mapping[str, Any],
    train: Callable[..., Generator[Any, None, Any]],
    options: Configuration,
    *printed: str,
) -> str:
    """What models trained in turn on the text have reached, printed at the end.

    `train(options, corpus)` yields fractions, and tuples of what is known so far of every model; `printed`
    are expressions of `trained`, each of the last tuple.
    """
    kind = type(options)
    return _recipe(
        sources,
        settings,
        f"options = {kind.__name__}({arguments_of(**options.to_values())})",
        f"for found in {train.__name__}(options, corpus):",
        "    if isinstance(found, tuple):",
        "        models = found",
        "for trained in models:",
        f"    print({', '.join(printed)})",
        imports=(f"from {kind.__module__} import {kind.__name__}, {train.__name__}",),
    )


def _recipe(
    sources: Sequence[str], settings: Mapping[str, Any], *lines: str, imports: Sequence[str] = ()
) -> str:
    source = sources[0] if len(sources) == 1 else list(sources)
    load = f"corpus = lmviz.load_corpus({arguments_of(source, **settings)})"
    return "\n".join(["import lmviz", *imports, "", load, *lines, ""])
