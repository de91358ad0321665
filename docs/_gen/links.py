"""Check the built site: `python docs/_gen/links.py SITE` fails where a link leads nowhere.

Every link, picture, script and style sheet of every page must be a file of the site, every anchor
an id of the page that it points into, and every place that the search lists must exist. Links to
other hosts are not followed. MkDocs checks the links of Markdown; this also reads what the theme,
the hooks and raw HTML put into the pages.
"""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

INDEX = "search/search_index.json"


class Page(HTMLParser):
    """The ids of a page, and the addresses that it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value or "")
            elif name in ("href", "src"):
                self.addresses.append(value or "")


def broken(site: Path) -> list[str]:
    """Return a line for each address of the site that leads nowhere."""
    pages = {
        path.relative_to(site).as_posix(): Page(path.read_text("utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    used = [(name, address) for name, page in pages.items() for address in page.addresses]
    index = json.loads((site / INDEX).read_text("utf-8"))
    used += [(INDEX, f"/{entry['location']}") for entry in index["docs"]]
    found = ((name, address, problem(site, pages, name, address)) for name, address in used)
    return [f"{name}: {address}: {why}" for name, address, why in found if why]


def problem(site: Path, pages: dict[str, Page], name: str, address: str) -> str:
    """Return the reason why an address on a page leads nowhere; empty if it is right."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    path = unquote(urljoin(f"/{name}", parts.path)).lstrip("/")
    if path == "" or path.endswith("/"):
        path += "index.html"
    if not (site / path).is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and path in pages and anchor not in pages[path].ids:
        return "no such anchor"
    return ""


def main(folder: str) -> int:
    """Print what is broken; return 1 if anything is."""
    found = broken(Path(folder))
    print("\n".join(found) or "All links and anchors of the site resolve.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
