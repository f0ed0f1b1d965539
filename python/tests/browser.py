# SPDX-License-Identifier: BSD-3-Clause
"""Chromium without a window, through its DevTools protocol: opens a page, clicks, looks, and hears what the page
says."""

import base64
import contextlib
import json
import shutil
import subprocess
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
]


class Unavailable(Exception):
    """There is no Chromium here, or no way to talk to it. Says what to do."""


class Browser:
    """One page. `said`: errors and warnings of its console; `asked`: what it wanted from elsewhere than its own
    file."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0
        self.session = None
        self.path, self.page = None, ""
        self.said, self.asked, self.events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **words):
        self.number += 1
        message = {"id": self.number, "method": method, "params": words}
        self.socket.send(json.dumps(message | ({"sessionId": self.session} if self.session else {})))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._hear(answer)

    def _hear(self, event):
        method, words = event.get("method"), event.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.said.append(words["exceptionDetails"].get("exception", {}).get("description", str(words)))
        elif method == "Runtime.consoleAPICalled" and words["type"] in ("error", "warning", "assert"):
            self.said.append(str([argument.get("value") for argument in words["args"]]))
        elif method == "Log.entryAdded" and words["entry"]["level"] in ("error", "warning"):
            self.said.append(words["entry"]["text"])
        elif method == "Network.requestWillBeSent" and words["request"]["url"] not in (self.page, "about:blank"):
            self.asked.append(words["request"]["url"])

    def open(self, path, width=1280, height=900, dark=False, scale=1):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.path, self.page = path, path.resolve().as_uri()
        self.events.clear()
        self.call("Page.navigate", url=self.page)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, script):
        """The value of an expression; of a promise, what it brings."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails'].get('exception', {}).get('description')}")
        return found["result"].get("value")

    def wait(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not self.evaluate(condition):
            assert time.monotonic() < end, f"still not true after {seconds} s: {condition}"
            time.sleep(0.02)

    def middle(self, selector):
        """Scrolls there. Its place in the window."""
        return self.evaluate(
            f"(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2, b.width, b.height]; "
            "})()"
        )

    def click(self, selector, count=1):
        x, y, _, _ = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def mouse(self, kind, x, y, **words):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **words)

    def wheel(self, selector, amount, **words):
        x, y, _, _ = self.middle(selector)
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=amount, **words)

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))


@contextlib.contextmanager
def browser(folder):
    """A `Browser`; `folder` is for its profile."""
    try:
        import websocket
    except ImportError as missing:
        raise Unavailable("the Python package websocket-client is missing; `make setup` installs it") from missing
    if CHROMIUM is None:
        raise Unavailable("no chromium in PATH; `make setup` installs it")
    folder.mkdir(exist_ok=True)
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank"], stdout=log, stderr=log
        )
    try:
        port = folder / "DevToolsActivePort"
        end = time.monotonic() + 60
        while not (port.exists() and len(port.read_text().splitlines()) == 2):
            assert process.poll() is None, f"Chromium ended: {(folder / 'log').read_text()[-1000:]}"
            assert time.monotonic() < end, "Chromium does not answer"
            time.sleep(0.05)
        number, path = port.read_text().splitlines()
        address = f"ws://127.0.0.1:{number}{path}"
        socket = websocket.create_connection(address, timeout=180, suppress_origin=True, http_no_proxy=["127.0.0.1"])
        yield Browser(socket)
        with contextlib.suppress(Exception):
            socket.send(json.dumps({"id": 0, "method": "Browser.close"}))
            socket.close()
        process.wait(timeout=20)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=20)
