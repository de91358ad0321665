"""Open every page of the built site in a browser: `python docs/_gen/browser.py SITE`.

It fails where a page is wider than its window, at 360 and at 1280 pixels, where a script fails or
a file is missing, and where a page loads something from another host. The pages are served as the
hosted site has them: in a folder of their version, below the list of versions that `mike` writes.

It needs playwright and a Chromium: that of the system, or one from `playwright install chromium`.
`links.py` checks where the links lead; no browser is needed for that.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

WIDTHS = (360, 1280)
HEIGHT = 800
COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: The parts of a page that reach beyond the window and do not scroll in a box of their own.
TOO_WIDE = """() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const scrolls = (e) => e && e !== document.body &&
        (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement));
    const found = [...document.body.querySelectorAll("*")].filter((e) =>
        e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement));
    return found.slice(0, 3).map((e) =>
        `<${e.tagName.toLowerCase()}> ${(e.textContent || "").trim().slice(0, 60)}`);
}"""


class Handler(SimpleHTTPRequestHandler):
    """The site below `/latest/`, and the list of versions beside it."""

    def do_GET(self) -> None:
        if self.path != "/versions.json":
            return super().do_GET()
        versions = [{"version": "latest", "title": "latest", "aliases": []}]
        content = json.dumps(versions).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        return None

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/latest"))

    def log_message(self, format: str, *arguments: Any) -> None:
        pass  # what is missing is found by the browser


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve the site on a free port of this machine; yield the address of its first page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/latest/"
    finally:
        server.shutdown()
        server.server_close()


def problems(site: Path) -> list[str]:
    """Return a line for each fault of each page at each width."""
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium())
        return [
            f"{name} at {width} px: {fault}"
            for width in WIDTHS
            for name, faults in faults_of(browser, address, pages, width)
            for fault in faults
        ]


def chromium() -> str | None:
    """Return the path of the system's Chromium; None stands for playwright's own."""
    return next(filter(None, map(shutil.which, COMMANDS)), None)


def faults_of(
    browser: Browser, address: str, pages: list[str], width: int
) -> Iterator[tuple[str, list[str]]]:
    """Open pages one after the other; yield the name of each with its faults."""
    context = browser.new_context(viewport={"width": width, "height": HEIGHT})
    for name in pages:
        page = context.new_page()
        yield name, [*opened(page, address, name), *too_wide(page)]
        page.close()
    context.close()


def opened(page: Page, address: str, name: str) -> list[str]:
    """Open a page; return what its scripts and its requests report."""
    found: list[str] = []
    ours = (address.removesuffix("latest/"), "data:", "blob:")

    def console(message: ConsoleMessage) -> None:
        if message.type == "error":
            found.append(f"console: {message.text} ({message.location['url']})")

    def request(request: Request) -> None:
        if not request.url.startswith(ours):
            found.append(f"loads from another host: {request.url}")

    page.on("console", console)
    page.on("request", request)
    page.on("pageerror", lambda error: found.append(f"script: {error}"))
    page.goto(address + name, wait_until="load")
    return found


def too_wide(page: Page) -> list[str]:
    """Return one fault if a page is wider than its window; it names what reaches beyond."""
    parts = page.evaluate(TOO_WIDE)
    return [f"wider than the window: {'; '.join(parts)}"] if parts else []


def main(folder: str) -> int:
    """Print the faults; return 1 if there are any."""
    found = problems(Path(folder))
    print("\n".join(found) or f"Every page fits into {WIDTHS} pixels and loads without an error.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
