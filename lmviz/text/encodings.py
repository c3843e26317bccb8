"""How a file writes its characters: what it says itself, what follows from its bytes, what is likely."""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

RECOGNISED = "recognised"
"""The setting that has the encoding, or another part of a text's form, found out."""

SAMPLE = 1 << 16
"""Bytes that are looked at where an encoding has to be guessed."""

OFFERED = {
    "utf-8": "UTF-8",
    "cp1252": "Windows-1252",
    "iso8859-1": "Latin-1",
    "mac-roman": "Mac Roman",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "utf-32": "UTF-32",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "koi8-r": "KOI8-R",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp1257": "Windows-1257",
    "cp850": "DOS 850",
    "cp437": "DOS 437",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp932": "Shift JIS",
    "euc_jp": "EUC-JP",
    "cp949": "Korean 949",
    "cp874": "Thai 874",
}
"""Encodings by Python's names, as a person reads them; the commoner ones first."""

_TOLD_BY_THEMSELVES = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_AROUND = 2000  # bytes of a long line that are looked at
_AS_ORDERLY, _AS_COHERENT = 0.06, 0.2  # in charset-normalizer's measures of mess and language, from 0 to 1


SHOWN, DROPPED, AS_WINDOWS = "shown", "dropped", "cp1252"
WRONG_CHOICES = (SHOWN, DROPPED, AS_WINDOWS)
"""What becomes of bytes that are no UTF-8: they are shown as \ufffd, left out, or read as Windows-1252."""

_NEVER = b"\xfe\xff\xc0\xc1"  # bytes that are in no UTF-8, and hardly letters of a western text
_ZERO = "\0"
_WRONG = re.compile("[\udc80-\udcff\0]+")
_STEP = 1 << 22  # bytes at a time


@dataclass(frozen=True)
class WrongBytes:
    """Bytes in a text that cannot be read: how many, and the first one with its line and place in it, from 1.

    `zeros` are those among them that are zero. `cuts` says that they are all at the end, where the text is
    cut within a character.
    """

    count: int
    byte: int
    line: int
    place: int
    zeros: int = 0
    cuts: bool = False

    def sentence(self, done: str) -> str:
        """What is said of them, and what is `done` with them, a choice of WRONG_CHOICES."""
        are = {SHOWN: "shown as \ufffd", DROPPED: "left out", AS_WINDOWS: "read as Windows-1252"}[done]
        if self.cuts:
            return f"The text is cut within a character at its end, line {self.line:,}: that is {are}."
        kinds = [("zero", self.zeros), ("no UTF-8", self.count - self.zeros)]
        named = " or ".join(kind for kind, count in kinds if count)
        what = f"byte is {named}, and is" if self.count == 1 else f"bytes are {named}, and are"
        first = f"line {self.line:,}, byte {self.place:,}: {self.byte:02X}"
        return f"{self.count:,} {what} {are} ({first if self.count == 1 else f'the first in {first}'})."


@dataclass(frozen=True)
class Found:
    """An encoding by Python's name, whether it is only the likeliest one, and what cannot be read in it."""

    encoding: str
    guessed: bool = False
    wrong: WrongBytes | None = None


def title_of(encoding: str) -> str:
    """The name of an encoding as a person reads it."""
    return OFFERED.get(encoding, encoding)


def find_encoding(raw: bytes) -> Found:
    """The encoding of the content of a file.

    A byte-order mark says it; UTF-8 and UTF-16 follow from the bytes; anything else is the likeliest that
    charset-normalizer finds. Bytes that are nearly all UTF-8 are UTF-8 with a fault in it, and bytes of no
    encoding at all are called UTF-8 too: whoever decodes them names the byte that does not belong there.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return Found(encoding)
    if b"\0" in raw[:SAMPLE]:
        return Found(next((name for name in ("utf-16-le", "utf-16-be") if _is_utf16(raw, name)), "utf-8"))
    if is_in(raw, "utf-8") or is_damaged_utf8(raw):
        return Found("utf-8")
    likely = next((name for name in _likely(_telling(raw)) if is_in(raw, name)), "")
    return Found(likely, guessed=True) if likely else Found("utf-8")


def is_in(raw: bytes, encoding: str) -> bool:
    """Whether bytes can be decoded."""
    return place_of_fault(raw, encoding) is None


def place_of_fault(raw: bytes, encoding: str) -> int | None:
    """The place of the first byte that cannot stand there; None where there is none."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    step = 1 << 20
    for start in range(0, len(raw), step):
        waiting = len(decoder.getstate()[0])
        try:
            decoder.decode(raw[start : start + step], final=start + step >= len(raw))
        except UnicodeDecodeError as error:
            return start - waiting + error.start
        except UnicodeError:
            return start
    return None


def _is_utf16(raw: bytes, encoding: str) -> bool:
    """Whether bytes with zeros among them are text in UTF-16 without a mark."""
    sample = raw[: SAMPLE & ~1]
    high = encoding == "utf-16-le"  # the place in each pair where the zeros of Latin letters and spaces are
    zeros = [sample[0::2].count(0), sample[1::2].count(0)]
    if len(raw) % 2 or zeros[high] < 9 * zeros[not high]:
        return False
    text = sample.decode(encoding, "ignore")
    odd = sum(unicodedata.category(sign) in ("Cc", "Cn", "Co") and sign not in "\t\n\r\f" for sign in text)
    return is_in(raw, encoding) and odd == 0


def is_damaged_utf8(raw: bytes) -> bool:
    """Whether bytes beyond ASCII are UTF-8 but for a few, or but for a cut at the end."""
    fault = place_of_fault(raw, "utf-8")
    if fault is not None and _is_cut(raw, fault):
        return True
    text = _telling(raw).decode("utf-8", "surrogateescape")
    wrong = [sign for sign in text if "\udc80" <= sign <= "\udcff"]
    if all(ord(sign) - 0xDC00 in _NEVER for sign in wrong) and len(wrong) <= len(raw) / 50:
        return True
    return sum(sign > "\x7f" for sign in text) - len(wrong) >= 2 * len(wrong)


def _is_cut(raw: bytes, fault: int) -> bool:
    """Whether all that is wrong is a character that the end cuts."""
    try:
        raw[fault:].decode("utf-8")
    except UnicodeDecodeError as error:
        return len(raw) - fault < 4 and error.start == 0 and error.reason == "unexpected end of data"
    return False


def mend_utf8(raw: bytes, wrong: str) -> tuple[bytes, WrongBytes | None]:
    """UTF-8 with something done about what is wrong in it, a choice of WRONG_CHOICES, and what that was."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    pieces: list[bytes] = []
    count = 0
    for start in range(0, len(raw), _STEP):
        text = decoder.decode(raw[start : start + _STEP], final=start + _STEP >= len(raw))
        count += sum(map(len, _WRONG.findall(text)))
        pieces.append(_WRONG.sub(lambda met: _in_place_of(met[0], wrong), text).encode("utf-8"))
    if not count:
        return raw, None
    fault, zero = place_of_fault(raw, "utf-8"), raw.find(b"\0")
    first = min(place for place in (fault, zero) if place is not None and place >= 0)
    place = first - raw.rfind(b"\n", 0, first)
    cuts = zero < 0 and _is_cut(raw, first)
    line = raw.count(b"\n", 0, first) + 1
    return b"".join(pieces), WrongBytes(count, raw[first], line, place, raw.count(0), cuts)


def _in_place_of(wrong: str, done: str) -> str:
    """What stands in the place of bytes that are wrong, given as surrogates, and zeros."""
    if done == DROPPED:
        return ""
    if done == SHOWN:
        return "\ufffd"
    return "".join(
        "\ufffd" if sign == _ZERO else sign.encode("utf-8", "surrogateescape").decode("cp1252", "replace")
        for sign in wrong
    )


def _telling(raw: bytes) -> bytes:
    """The lines with something beyond ASCII on them, up to a limit: the others say nothing."""
    found: list[bytes] = []
    end, size = 0, 0
    while size < SAMPLE and (met := _BEYOND_ASCII.search(raw, end)):
        start = max(raw.rfind(b"\n", 0, met.start()) + 1, met.start() - _AROUND)
        stop = raw.find(b"\n", met.start(), met.start() + _AROUND)
        end = met.start() + _AROUND if stop < 0 else stop + 1
        found.append(raw[start:end])
        size += end - start
    return b"".join(found)


def _likely(sample: bytes) -> list[str]:
    """Encodings that a text may have, the likeliest first; of those about as likely, the commonest."""
    from charset_normalizer import from_bytes  # slow to load, and seldom needed

    names = {codecs.lookup(name).name: name for name in OFFERED if name not in _TOLD_BY_THEMSELVES}
    matches = from_bytes(sample, cp_isolation=list(names.values()), preemptive_behaviour=False)
    if not matches:
        return []
    best = matches[0]
    likely = [
        match
        for match in matches
        if match.chaos <= best.chaos + _AS_ORDERLY and match.coherence >= best.coherence - _AS_COHERENT
    ]
    found = {
        names[codecs.lookup(name).name]
        for match in likely
        for name in (match.encoding, *match.could_be_from_charset)
        if codecs.lookup(name).name in names
    }
    return sorted(found, key=list(OFFERED).index)
