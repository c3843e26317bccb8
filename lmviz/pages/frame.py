"""A page in a frame within another document: once its own script runs, it takes the place of a picture.

The frame has no way out, neither around it nor to a network. All that it says is how tall it is, and it takes
the place only then: what is around it may forbid the scripts within it.
"""

from __future__ import annotations

import json

SHOWN = "display:block;width:100%;border:0"
WAITING = f"{SHOWN};height:480px;margin-bottom:-480px;position:relative;opacity:0;pointer-events:none"
"""Over the picture, unseen: a browser draws no page in a frame of no height."""

TALLEST = 1400
"""Pixels of the frame at most."""

REPLACING = "place.remove();"
BESIDE = 'place.className+=" in-print";frame.className="on-screen";'
"""What is done with the place once the frame before it has drawn its page: it goes, or is to be seen in print
alone."""

LIVE = """<script>(function(){{
var script=document.currentScript,place=script&&script.previousElementSibling;
if(!place||place.id!=="{id}")place=document.getElementById("{id}");
if(!place)return;
var frame=document.createElement("iframe");frame.title={title};frame.srcdoc={page};
frame.setAttribute("sandbox","allow-scripts");
frame.style.cssText="{waiting}";
addEventListener("message",function heard(told){{
if(!frame.isConnected)return removeEventListener("message",heard);
var height=told.source===frame.contentWindow&&Number(told.data&&told.data.lmvizHeight);
if(!(height>0))return;
if(place){{frame.style.cssText="{shown}";{put}place=null;}}
frame.style.height=Math.min(height,{tallest})+"px";}});
place.before(frame);
}})();</script>"""


def in_frame(id: str, title: str, page: str, *, keeps_print: bool = False) -> str:
    """The script that puts a page, the HTML of one, in the place of the element before it, which has this id.

    An output that was copied has the same id: what stands before the script is meant, wherever that is known.

    With `keeps_print`, what stood there is what is printed, by rules for `.in-print` and `.on-screen`.
    """
    put = BESIDE if keeps_print else REPLACING
    said = {"title": in_code(title or "lmviz"), "page": in_code(page)}
    return LIVE.format(id=id, waiting=WAITING, shown=SHOWN, tallest=TALLEST, put=put, **said)


def in_code(text: str) -> str:
    """A text as it stands in a script: nothing in it ends the script or the line."""
    told = json.dumps(text, ensure_ascii=True)
    return told.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
