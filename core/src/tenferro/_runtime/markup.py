"""Text inside HTML and SVG: signs of the markup are escaped.

Characters that XML cannot hold are dropped, so that what is shown parses as XML, too. Reports and
pictures in notebooks use it.
"""

from __future__ import annotations


def escape(text: str) -> str:
    """Escape text for an element or a quoted attribute; characters outside XML are dropped."""
    kept = "".join(c for c in text if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff"))
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        kept = kept.replace(sign, entity)
    return kept.replace("\ufffe", "").replace("\uffff", "")
