"""Chats, and questions with their answers, as texts of which the answers alone are to be learned.

A chat is written by the model's own template. What counts is what the assistant says, and the special token
behind it, with which an answer ends. A model without a template reads question and answer as two paragraphs.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.base.reporting import Report, unheard
from lmviz.text.chat import ASSISTANT, SYSTEM, USER, Turn, chat_text, places_of_turns
from lmviz.text.conversations import CONVERSATION_NAMES, turns_of
from lmviz.text.corpus import Corpus
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.documents import Documents, draw
from lmviz.text.examples import AnsweredTexts, Sequences
from lmviz.text.examples_for import Part
from lmviz.text.ordinary_files import read_file
from lmviz.text.stream import Stream
from lmviz.text.tokenizer import Tokenizer

PAIRS = (
    ("question", "answer"),
    ("prompt", "completion"),
    ("prompt", "response"),
    ("instruction", "output"),
    ("instruction", "response"),
    ("input", "output"),
)
"""Names of two fields, of which the second answers the first."""

ROLES = {"human": USER, "gpt": ASSISTANT, "bot": ASSISTANT, "model": ASSISTANT, "ai": ASSISTANT}
"""What some data sets call those who speak."""

LOOKED_AT = 64
"""Records that are looked at to tell what a file holds; some may be empty."""

LARGEST_FILE = 1_000_000_000
ENDINGS = (".jsonl", ".json", ".csv", ".tsv")
BREAK = "\n\n"

Dialogue = tuple[Turn, ...]


def holds_answers(path: str | Path) -> bool:
    """Whether a file is one of chats or of questions with answers, as far as its first records say."""
    if not isinstance(path, str | Path) or Path(path).suffix.lower() not in ENDINGS:
        return False
    try:
        return any(each is not None for each in islice(_dialogues(Path(path)), LOOKED_AT))
    except (LmvizError, OSError):
        return False


@loads("text")
def load_answers(
    source: str | Path,
    tokenizer: Tokenizer,
    *,
    validation: float = 0.1,
    seed: int = 0,
    progress: Report = unheard,
) -> Corpus:
    """A file of chats (`messages`), or of questions and answers, as a model with this tokenizer reads it.

    It is JSON, lines of JSON, or a table with the columns "question" and "answer", "prompt" and "completion",
    or others alike. LmvizError where it holds none of these.
    """
    path = Path(source)
    try:
        records = list(_dialogues(path))
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from None
    dialogues = [dialogue for dialogue in records if dialogue is not None]
    if not dialogues:
        raise LmvizError(
            f"{path} holds no chats and no questions with answers: its records need messages, or fields such "
            "as question and answer."
        )
    texts, ids, counts = [], [], []
    for place, dialogue in enumerate(dialogues):
        text, read, counted = written(tokenizer, dialogue)
        if counted.any():
            texts.append(text)
            ids.append(read)
            counts.append(counted.astype(np.uint8))
        progress((place + 1) / len(dialogues))
    if not texts:
        raise LmvizError(f"{path} holds no answer that counts: nobody speaks as the assistant.")
    held_out = draw(len(texts), validation, seed)
    parts = [_part(texts, ids, counts, ~held_out, tokenizer), _part(texts, ids, counts, held_out, tokenizer)]
    learned = sum(int(each.target.ids.sum()) for _, each in parts)
    left_out = len(records) - len(texts)
    said = f"{len(texts):,} chats, of which the {learned:,} tokens of the answers count alone."
    notes = (f"{left_out:,} chats without an answer are left out.",) if left_out else ()
    return Corpus(
        name=path.stem,
        sources=(str(path.absolute()),),
        options=replace(CorpusOptions(), validation=validation, seed=seed),
        tokenizer=tokenizer,
        training_stream=parts[0][0],
        validation_stream=parts[1][0],
        fingerprint=_fingerprint(texts, ids, counts, tokenizer, held_out),
        training_examples=parts[0][1],
        validation_examples=parts[1][1],
        recognised=said,
        complaints=notes,
        answers_only=True,
    )


def answers_for(corpus: Corpus, part: Part, tokenizer: Tokenizer) -> AnsweredTexts:
    """A part of a corpus of chats as another model with this tokenizer reads it; LmvizError as above."""
    if tokenizer.json != corpus.tokenizer.json:
        options = corpus.options
        corpus = load_answers(corpus.sources[0], tokenizer, validation=options.validation, seed=options.seed)
    found = corpus.training_examples if part == "training" else corpus.validation_examples
    assert isinstance(found, AnsweredTexts), "the corpus is one of chats"
    return found


def written(tokenizer: Tokenizer, dialogue: Sequence[Turn]) -> tuple[str, np.ndarray, np.ndarray]:
    """A chat as text, its ids (token,), and which of these count, (token,) bool."""
    if tokenizer.chat_template is None:
        text = BREAK.join(turn.text for turn in dialogue)
        places, at = [], 0
        for turn in dialogue:
            places.append((at, at + len(turn.text)))
            at += len(turn.text) + len(BREAK)
    else:
        text = chat_text(tokenizer, dialogue, answers=False)
        places = places_of_turns(tokenizer, dialogue, text)
    encoded = tokenizer.encode_prefix(text)
    counts = np.zeros(len(encoded), dtype=bool)
    for turn, (start, end) in zip(dialogue, places, strict=True):
        if turn.role == ASSISTANT:
            counts |= np.array([start < last and first < end for first, last in encoded.offsets], dtype=bool)
    ends = np.flatnonzero(counts[:-1] & ~counts[1:]) + 1
    special = np.array(encoded.special, dtype=bool)
    counts[ends[special[ends]]] = True
    ids = encoded.ids
    if tokenizer.chat_template is None and tokenizer.end_id is not None:
        ids, counts = np.append(ids, tokenizer.end_id), np.append(counts, counts[-1:].any())
    return text, ids, counts


def _part(
    texts: Sequence[str],
    ids: Sequence[np.ndarray],
    counts: Sequence[np.ndarray],
    chosen: np.ndarray,
    tokenizer: Tokenizer,
) -> tuple[Stream, AnsweredTexts]:
    """Some of the chats, as a stream and as examples."""
    places = np.flatnonzero(chosen).tolist()
    data = [texts[place].encode("utf-8") for place in places]
    ends = np.cumsum([len(each) + 1 for each in data], dtype=np.int64)
    spans = np.array([(end - len(each) - 1, end - 1) for each, end in zip(data, ends, strict=True)])
    documents = Documents(b"\n".join(data), spans.reshape(-1, 2).astype(np.int64), "\n")
    source = Sequences.of([ids[place] for place in places], tokenizer.vocabulary_size - 1)
    target = Sequences.of([counts[place] for place in places], 1)
    characters = sum(len(texts[place]) for place in places)
    none = np.zeros((0, 2), dtype=np.int64)
    stream = Stream(source.ids, characters, documents, tokenizer, source.starts, none, 0)
    return stream, AnsweredTexts(source, target)


def _fingerprint(
    texts: Sequence[str],
    ids: Sequence[np.ndarray],
    counts: Sequence[np.ndarray],
    tokenizer: Tokenizer,
    held_out: np.ndarray,
) -> str:
    digest = hashlib.sha256(b"answers")
    for text, read, counted in zip(texts, ids, counts, strict=True):
        digest.update(text.encode("utf-8") + b"\0" + read.tobytes() + counted.tobytes())
    digest.update(held_out.tobytes() + tokenizer.json.encode("utf-8"))
    return digest.hexdigest()


def _dialogues(path: Path) -> Iterator[Dialogue | None]:
    """What the records of a file say, None for each that is no dialogue."""
    for record in _records(path):
        yield _dialogue(record)


def _records(path: Path) -> Iterator[Any]:
    content = read_file(path, LARGEST_FILE).decode("utf-8-sig", errors="replace")
    kind = path.suffix.lower()
    if kind in (".csv", ".tsv"):
        try:
            yield from csv.DictReader(io.StringIO(content), delimiter="\t" if kind == ".tsv" else ",")
        except csv.Error as error:
            raise LmvizError(f"{path} is no table ({error}): choose another file.") from None
        return
    if kind == ".json":
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            raise LmvizError(f"{path} is not JSON: choose another file.") from None
        yield from found if isinstance(found, list) else [found]
        return
    for line in content.splitlines():
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                yield None


def _dialogue(record: Any) -> Dialogue | None:
    """The turns of a record; None where it has none, or where nobody answers."""
    if not isinstance(record, Mapping):
        return None
    named = {str(name).strip().lower(): value for name, value in record.items()}
    for name in CONVERSATION_NAMES & named.keys():
        turns = turns_of(named[name], name)
        if turns:
            return tuple(Turn(ROLES.get(role.lower(), role.lower()), said) for role, said in turns)
    for asked, answered in PAIRS:
        question, answer = named.get(asked), named.get(answered)
        if isinstance(question, str) and isinstance(answer, str) and question.strip() and answer.strip():
            system = named.get("system")
            more = named.get("input") if asked == "instruction" else None
            said = [each.strip() for each in (question, more) if isinstance(each, str) and each.strip()]
            first = (Turn(SYSTEM, system.strip()),) if isinstance(system, str) and system.strip() else ()
            return (*first, Turn(USER, BREAK.join(said)), Turn(ASSISTANT, answer.strip()))
    return None
