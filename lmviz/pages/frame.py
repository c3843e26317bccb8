"""A page in a frame within another document: where scripts run, it takes the place of a picture.

The frame has no way out: neither to what is around it nor to a network. All that it says is how tall it is.
"""

from __future__ import annotations

import json

HEIGHT, TALLEST = 480, 1400
"""Pixels of the frame before the page has said how tall it is, and at most."""

REPLACING = "place.replaceChildren(frame);"
BESIDE = 'place.className+=" in-print";frame.className="on-screen";place.before(frame);'
"""What is done with the frame: it replaces what stood in its place, or stands before it, which is then to be
seen in print alone."""

LIVE = """<script>(function(){{
var place=document.getElementById("{id}");if(!place)return;
var frame=document.createElement("iframe");frame.title={title};frame.srcdoc={page};
frame.setAttribute("sandbox","allow-scripts");
frame.style.cssText="width:100%;border:0;height:{height}px";
addEventListener("message",function(told){{if(told.source!==frame.contentWindow)return;
var height=Number(told.data&&told.data.lmvizHeight);
if(height>0)frame.style.height=Math.min(height,{tallest})+"px";}});
{put}
}})();</script>"""


def in_frame(id: str, title: str, page: str, *, keeps_print: bool = False) -> str:
    """The script that puts a page, the HTML of one, in the place of the element with an id of our own.

    With `keeps_print`, what stood there is what is printed, by rules for `.in-print` and `.on-screen`.
    """
    put = BESIDE if keeps_print else REPLACING
    said = {"title": in_code(title or "lmviz"), "page": in_code(page)}
    return LIVE.format(id=id, height=HEIGHT, tallest=TALLEST, put=put, **said)


def in_code(text: str) -> str:
    """A text as it stands in a script: nothing in it ends the script or the line."""
    told = json.dumps(text, ensure_ascii=True)
    return told.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
