"""Dictionaries in files of other programs: their arrays by the names that all of them use, checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.features.dictionary import Dictionary
from lmviz.features.dictionary_file import LARGEST, check_dictionary
from lmviz.models.other_names import LENS, OTHER_NAMES, own_address

PROGRAMS = "find some with lmviz.find_features, or choose a file of SAELens, Gemma Scope or circuit-tracer"


@contextmanager
def reading_features(path: Path, program: str) -> Iterator[None]:
    """What is wrong with the arrays of a file, as a sentence about it."""
    from safetensors import SafetensorError

    try:
        yield
    except (SafetensorError, ValueError, TypeError, KeyError, IndexError, RecursionError) as fault:
        said = f"{fault.args[0]} is missing" if isinstance(fault, KeyError) and fault.args else fault
        raise LmvizError(f"{path} holds no features of {program} ({said}): {PROGRAMS}.") from fault


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file in single precision; ValueError and the like where it is none."""
    from safetensors.torch import load

    from lmviz.text.ordinary_files import read_file

    found = load(read_file(path, LARGEST))
    return {name: tensor.float().numpy() for name, tensor in found.items()}


def stored_dictionary(
    arrays: Mapping[str, np.ndarray],
    kind: str,
    tap: str,
    *,
    written: str = "",
    k: int | None = None,
    is_subtracted: bool = False,
    is_rescaled: bool = False,
    model: str = "",
) -> Dictionary:
    """The dictionary of arrays `W_enc` (channel, feature), `W_dec` (feature, channel), `b_enc` and `b_dec`.

    With `is_subtracted`, `b_dec` is taken from a state before it is read; with `is_rescaled`, scores are
    compared as if the directions had length 1. ValueError and KeyError where they do not fit one another.
    """
    named = {name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()}
    encoder, decoder = named["W_enc"].T, named["W_dec"]
    encoder_bias, decoder_bias = named["b_enc"], named["b_dec"]
    if encoder.ndim != 2 or decoder.ndim != 2 or encoder_bias.ndim != 1 or decoder_bias.ndim != 1:
        raise ValueError("its arrays have not the axes of an encoder and a decoder")
    if len(encoder) != len(decoder) or len(encoder) != len(encoder_bias):
        raise ValueError("its encoder and decoder differ in the number of features")
    if is_subtracted:
        encoder_bias = encoder_bias - encoder @ decoder_bias
    if is_rescaled:
        lengths = np.linalg.norm(decoder, axis=1)
        encoder, encoder_bias = encoder * lengths[:, None], encoder_bias * lengths
        decoder = decoder / np.where(lengths > 0, lengths, 1)[:, None]

    def single(array: np.ndarray | None) -> np.ndarray | None:
        return None if array is None else np.ascontiguousarray(array, dtype=np.float32)

    threshold = named.get("threshold") if kind == "jumprelu" else None
    found = Dictionary(
        kind=kind,  # type: ignore[arg-type]  # it is checked below
        tap=tap,
        written=written,
        encoder=np.ascontiguousarray(encoder, dtype=np.float32),
        encoder_bias=np.ascontiguousarray(encoder_bias, dtype=np.float32),
        decoder=np.ascontiguousarray(decoder, dtype=np.float32),
        decoder_bias=np.ascontiguousarray(decoder_bias, dtype=np.float32),
        k=k,
        threshold=single(threshold),
        skip=single(named.get("W_skip")),
        model=model,
    )
    check_dictionary(found)
    return found


def named_arrays(dictionary: Dictionary) -> dict[str, np.ndarray]:
    """The arrays of a dictionary by the names that other programs use; nothing is subtracted or rescaled."""
    arrays = {
        "W_enc": np.ascontiguousarray(dictionary.encoder.T),
        "W_dec": dictionary.decoder,
        "b_enc": dictionary.encoder_bias,
        "b_dec": dictionary.decoder_bias,
    }
    if dictionary.threshold is not None:
        arrays["threshold"] = dictionary.threshold
    if dictionary.skip is not None:
        arrays["W_skip"] = dictionary.skip
    return arrays


def hook_name(address: str) -> str:
    """What TransformerLens calls a tap; the address itself where it has no name for it."""
    for row in OTHER_NAMES:
        numbers = re.findall(r"layers/(\d+)", address)
        name = row.name.replace("{layer}", numbers[0]) if numbers else row.name
        if row.program == LENS and (LENS, address) == own_address(name, [address]):
            return name
    return address


def plain_number(value: Any, name: str) -> int:
    """A whole number of a file; ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        raise ValueError(f"{name} is {value!r}")
    return value
