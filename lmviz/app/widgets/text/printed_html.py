"""Pages to be handed out as HTML: on a screen, what is drawn answers the pointer."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence

from lmviz.app.widgets.text.printed import (
    LONGEST,
    OWN_LANGUAGE,
    Printed,
    PrintedDrawing,
    PrintedPart,
    rows_of,
    words_of,
)
from lmviz.base.plain_text import on_one_line, seen
from lmviz.pages.frame import in_frame

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #141414 }
h2 { margin-top: 2.2em } figure { margin: 1em 0 } figcaption { font-size: .8em; color: #555 }
.drawings { display: flex; align-items: flex-start; gap: 1em; margin-bottom: .6em }
.drawings img { min-width: 0; width: 100%; height: auto }
.question { font-weight: bold } ul { list-style: none; padding-left: 0 }
.line { border-bottom: 1px solid #aaa; height: 2.2em }
@media (max-width: 36em) { .drawings { flex-direction: column } }
@media screen { .in-print { display: none } }
@page { margin: 16mm } @media print { .on-screen { display: none }
body { font-size: 10.5pt; max-width: none; margin: 0; padding: 0 } h1 { margin-top: 0 }
h2 { margin-top: 1.4em } h2, .question { break-after: avoid } section, figure { break-inside: avoid } }
"""
LINE_TO_WRITE_ON = '<div class="line"></div>'


def html_of(printed: Printed) -> bytes:
    """The whole as one HTML file, which names no other."""
    title = html.escape(on_one_line(printed.title))
    about = html.escape(seen(printed.about))
    body = "\n".join(_section(part, printed.language, at) for at, part in enumerate(printed.parts, 1))
    return (
        f'<!DOCTYPE html>\n<html lang="{printed.language}"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>{f'<p>{about}</p>' if about else ''}\n{body}\n</body></html>\n"
    ).encode()


def _section(part: PrintedPart, around: str, number: int) -> str:
    """An item as HTML, between others in the language `around`; what it draws answers the pointer."""
    figure = "".join(
        f'<div class="drawings">{"".join(map(_img, row))}</div>' for row in rows_of(part.drawings)
    )
    if part.live:
        id = f"drawn-{number}"
        live = in_frame(id, on_one_line(part.title), part.live, keeps_print=True)
        figure = f'<div id="{id}">{figure}</div>{live}'
    figure += f"<figcaption>{_said(part.caption)}</figcaption>" if part.caption else ""
    told = [
        _fragment(part.words) if part.words else "",
        _boxes(part.tasks),
        f'<p class="question">{_said(part.question)}</p>' if part.question else "",
        _boxes(part.choices),
        f"<p>{_said(part.answer)}</p>" if part.answer else "",
        f"<p>{_said(part.because)}</p>" if part.because else "",
    ]
    pieces = [
        f"<h2>{_said(part.title)}</h2>",
        f"<figure{_spoken(OWN_LANGUAGE, around)}>{figure}</figure>" if figure else "",
        f"<div{_spoken(part.language or around, around)}>{''.join(told)}</div>" if any(told) else "",
        f'<div class="answer">{LINE_TO_WRITE_ON * part.lines}</div>' if part.lines else "",
    ]
    return f"<section>{''.join(pieces)}</section>"


def _spoken(language: str, around: str) -> str:
    """What a tag says of the language, where it is another than that around it."""
    return "" if language == around else f' lang="{language}"'


def _img(drawing: PrintedDrawing) -> str:
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawing.svg).decode()}"
    said = html.escape(on_one_line(drawing.said))
    style = f"flex: {drawing.aspect:.3f}; max-width: {0.8 * drawing.width:.0f}px"
    return f'<img alt="{said}" style="{style}" src="{source}">'


def _fragment(markdown: str) -> str:
    """Markdown as HTML, as Qt writes it, but without its sizes and colours, and with no links."""
    written = words_of(markdown).toHtml()
    body = re.sub(r"(?s).*<body[^>]*>(.*)</body>.*", r"\1", written)
    for style, tag in (("font-weight:[67]00", "b"), ("font-style:italic", "i")):
        body = re.sub(rf'(?s)<span style="[^"]*{style}[^"]*">(.*?)</span>', rf"<{tag}>\1</{tag}>", body)
    return re.sub(r'(?s)</?a\b[^>]*>| style="[^"]*"', "", body)


def _boxes(words: Sequence[str]) -> str:
    items = "".join(f"<li>☐ {_said(each)}</li>" for each in words)
    return f"<ul>{items}</ul>" if items else ""


def _said(text: str) -> str:
    return html.escape(seen(text[:LONGEST]), quote=False)
