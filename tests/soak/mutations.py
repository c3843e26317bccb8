"""Small changes of a file, as damage and malice make them: of its bytes, or of the tensors in it."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable

import torch
from safetensors.torch import load, save

NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
STRANGE = (
    b"null", b"[]", b"{}", b'""', b"-1", b"0", b"1e999", b"NaN", b"2147483648", b"9" * 400, b"true",
    b"[" * 2000, b'"\\ud800"', b"\x00", b"\xff\xfe", b"1e-320", b"18446744073709551616", b"/dev/zero",
)  # fmt: skip
"""What stands for another value, or where none belongs."""


def mutate(content: bytes, chance: random.Random) -> bytes:
    """The content with one to four changes."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        chance.choice(CHANGES)(changed, chance)
    return bytes(changed)


def _flip(content: bytearray, chance: random.Random) -> None:
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def _set(content: bytearray, chance: random.Random) -> None:
    if content:
        content[chance.randrange(len(content))] = chance.choice((0, 0x7F, 0x80, 0xFF, chance.randrange(256)))


def _remove(content: bytearray, chance: random.Random) -> None:
    begin, end = _stretch(content, chance)
    del content[begin:end]


def _repeat(content: bytearray, chance: random.Random) -> None:
    begin, end = _stretch(content, chance)
    content[end:end] = content[begin:end] * chance.choice((1, 2, 50))


def _cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randint(0, len(content)) :]


def _insert(content: bytearray, chance: random.Random) -> None:
    place = chance.randint(0, len(content))
    content[place:place] = chance.choice((chance.choice(STRANGE), chance.randbytes(chance.randint(1, 16))))


def _another_number(content: bytearray, chance: random.Random) -> None:
    numbers = list(NUMBER.finditer(content[:200_000]))
    if numbers:
        begin, end = chance.choice(numbers).span()
        content[begin:end] = chance.choice(STRANGE)


def _another_value(content: bytearray, chance: random.Random) -> None:
    """A JSON value in the place of what follows a colon or a comma."""
    places = [match.end() for match in re.finditer(rb"[:,\[]\s*", content[:200_000])]
    if places:
        begin = chance.choice(places)
        end = re.compile(rb"[,}\]\n]|$").search(content, begin)
        content[begin : end.start() if end else begin] = chance.choice(STRANGE)


def mutate_tensors(content: bytes, chance: random.Random) -> bytes:
    """A safetensors file with one to four changes of its tensors, whose lengths are right throughout."""
    tensors = load(content)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    _change_tensors(tensors, chance)
    return save(tensors, header.get("__metadata__"))


def mutate_saved(content: bytes, chance: random.Random) -> bytes:
    """The same for a file of `torch.save` with the tensors under "model"."""
    values = torch.load(io.BytesIO(content), weights_only=True)
    _change_tensors(values["model"], chance)
    file = io.BytesIO()
    torch.save(values, file)
    return file.getvalue()


KINDS = (
    torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn, torch.int64, torch.int32, torch.int8,
    torch.uint8, torch.bool,
)  # fmt: skip
NUMBERS = (float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-45, 65504.0, 0.0, -0.0, 1.0)


def _change_tensors(tensors: dict[str, torch.Tensor], chance: random.Random) -> None:
    for _ in range(chance.randint(1, 4)):
        if tensors:
            name = chance.choice(sorted(tensors))
            # numbers more often than all else, for they alone get as far as a model
            change = chance.choice((_numbers, _numbers, _numbers, _numbers, _kind, _shape, _place))
            change(tensors, name, chance)


def _numbers(tensors: dict[str, torch.Tensor], name: str, chance: random.Random) -> None:
    tensor = tensors[name].clone()
    flat, number = tensor.reshape(-1), chance.choice(NUMBERS)
    if flat.numel() and tensor.dtype.is_floating_point and tensor.dtype.itemsize > 1:
        first = chance.randrange(flat.numel())
        flat[first : first + chance.choice((1, 1, 8, flat.numel()))] = number
    elif flat.numel() and not tensor.dtype.is_floating_point:
        flat[chance.randrange(flat.numel())] = chance.choice((0, 1, -1, 127)) if tensor.dtype.is_signed else 1
    tensors[name] = tensor


def _kind(tensors: dict[str, torch.Tensor], name: str, chance: random.Random) -> None:
    tensors[name] = tensors[name].to(chance.choice(KINDS))


def _shape(tensors: dict[str, torch.Tensor], name: str, chance: random.Random) -> None:
    tensor = tensors[name]
    shapes: list[Callable[[], torch.Tensor]] = [lambda: tensor.reshape(-1), lambda: tensor[None]]
    if tensor.dim():
        shapes += [lambda: tensor[:-1], lambda: tensor[:0], lambda: tensor.reshape(-1, 1), lambda: tensor.mT]
    if tensor.numel():
        shapes.append(lambda: tensor.reshape(-1)[0])
    try:
        tensors[name] = chance.choice(shapes)().clone().contiguous()
    except RuntimeError:  # what has one axis cannot be turned
        tensors[name] = tensor


def _place(tensors: dict[str, torch.Tensor], name: str, chance: random.Random) -> None:
    other = chance.choice(sorted(tensors))
    match chance.randrange(3):
        case 0:
            del tensors[name]
        case 1:
            tensors[name], tensors[other] = tensors[other], tensors[name].clone()
        case _:
            tensors[chance.choice((f"{name}.x", re.sub(r"\d+", "7", name), "", "é" * 300))] = tensors[
                name
            ].clone()


def _stretch(content: bytearray, chance: random.Random) -> tuple[int, int]:
    begin = chance.randint(0, len(content))
    return begin, min(len(content), begin + chance.choice((1, 2, 8, 64, 512)))


CHANGES = (_flip, _set, _remove, _repeat, _cut, _insert, _another_number, _another_value)


STATEMENTS = (
    "{% set x = [x, x] %}",
    "{% set x = 'a' * 99999 %}",
    "{{ x == x }}",
    "{% for y in range(99999) %}",
    "{% endfor %}",
    "{% break %}",
    "{{ x | tojson }}",
    "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "{{ messages | string }}",
    "{{ x.encode() * 999999999 }}",
    "{{ 9 // 0 }}",
    "{{ strftime_now('%Y') }}",
    "{% if x is defined %}",
    "{% endif %}",
)


def mutate_template(content: bytes, chance: random.Random) -> bytes:
    """A template with other bytes, or with statements taken away, repeated, moved and added."""
    if chance.random() < 0.2:
        return mutate(content, chance)
    pieces = re.findall(r"[{][%{].*?[}%][}]|[^{]+|[{]", content.decode(), re.DOTALL)
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(pieces))
        kind = chance.randrange(4)
        if kind == 0:
            pieces.insert(place, chance.choice(STATEMENTS))
        elif kind == 1:
            pieces.insert(place, chance.choice(pieces))
        elif kind == 2:
            pieces[place] = chance.choice(STATEMENTS)
        elif len(pieces) > 1:
            pieces.pop(place)
    return "".join(pieces).encode()
