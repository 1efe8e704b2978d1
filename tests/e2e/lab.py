"""JupyterLab as a person uses it: a server of its own, driven through headless Chromium."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect, sync_playwright

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Nothing but the server under test exists: a page that needs the internet fails here, not later in a class.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
SETTINGS = {
    # On its first start JupyterLab asks whether it may fetch news; the popup would cover the notebook.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # Cells far from the screen stay in the page, so that they are found without scrolling.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
PATIENCE = 60_000  # milliseconds that a step may take on a busy two-core machine


def person(home: Path, nbgrader_config: str = "") -> dict[str, str]:
    """Return the environment of a person whose home directory is new.

    Args:
        home: a directory to make
        nbgrader_config: text of the person's nbgrader_config.py

    Returns:
        Environment variables for the person's programs.
    """
    config = home / ".jupyter"
    (config / "labconfig").mkdir(parents=True)
    (config / "labconfig" / "default_setting_overrides.json").write_text(json.dumps(SETTINGS))
    (config / "nbgrader_config.py").write_text(f"c = get_config()\n{nbgrader_config}")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "JUPYTER", "PYTEST"))}
    return kept | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / ".ipython"),
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(home / ".local" / "share" / "jupyter"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "JUPYTER_RUNTIME_DIR": str(home / ".runtime"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


def program(name: str, *arguments: str, cwd: Path, env: dict[str, str]) -> str:
    """Run one of the environment's programs to its end and return what it printed."""
    command = [str(Path(sys.executable).parent / name), *arguments]
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{name} {' '.join(arguments)}:\n{done.stdout}"
    return done.stdout


@contextmanager
def jupyter_lab(folder: Path, env: dict[str, str]) -> Iterator[str]:
    """Serve a folder with JupyterLab, and yield the server's address once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.password="),
        *(["--allow-root"] if os.getuid() == 0 else []),
    ]
    log = Path(env["HOME"]) / "lab.log"
    with log.open("w") as out:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_it_answers(f"{address}/api/status", server, log)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until_it_answers(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            try:
                server.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
            break
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


@contextmanager
def chromium(executable: str) -> Iterator[Browser]:
    """Start headless Chromium with a fresh profile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class LabPage:
    """A JupyterLab window, in the words of the person in front of it."""

    def __init__(self, page: Page, address: str, pictures: Path) -> None:
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size({"width": 1400, "height": 1000})
        self.page = page
        self.address = address
        self.pictures = pictures
        self.asked: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))

    def asked_of_others(self) -> list[str]:
        """Return the addresses outside this machine that the window's pages asked for."""
        return [url for url in self.asked if not url.startswith((self.address, "data:", "blob:", "file:"))]

    def picture(self, name: str) -> Path:
        """Save what is on the screen as `name`.png."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    def open_lab(self, path: str = "") -> None:
        """Open JupyterLab, with a file of its folder if a path is given."""
        self.page.goto(f"{self.address}/lab/tree/{path}?reset" if path else f"{self.address}/lab?reset")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")
        self.page.locator("#jp-main-dock-panel").wait_for()

    def open_notebook(self, path: str) -> None:
        """Open a notebook and wait until its kernel is idle."""
        self.open_lab(path)
        self.page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()

    def menu(self, bar: str, command: str) -> None:
        """Choose a command from a menu of the menu bar."""
        self.page.locator(".lm-MenuBar-itemLabel").get_by_text(bar, exact=True).click()
        self.page.locator(f'.lm-Menu-item[data-command="{command}"]').click()

    def cell(self, starts: str) -> Locator:
        """Return the first code cell whose text starts so, scrolled into view."""
        first_line = self.page.locator(".cm-line:first-child", has_text=re.compile(rf"^{re.escape(starts)}"))
        cell = self.page.locator(".jp-CodeCell").filter(has=first_line).first
        cell.scroll_into_view_if_needed()
        return cell

    def type_into(self, cell: Locator, text: str) -> None:
        """Replace a cell's text as by typing."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def run(self, cell: Locator, patience: int = PATIENCE) -> Locator:
        """Run a cell with Control+Enter, wait until it is done, and return its outputs.

        Args:
            cell: The cell.
            patience: Milliseconds that it may take.
        """
        prompt = cell.locator(".jp-InputPrompt")
        expect(prompt).not_to_have_text("[*]:", timeout=patience)  # a run that was asked for before
        before = prompt.inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        expect(prompt).not_to_have_text(before, timeout=patience)
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=patience)
        return cell.locator(".jp-OutputArea")

    def toolbar(self, label: str) -> None:
        """Press a button of the notebook's toolbar."""
        self.page.locator(".jp-NotebookPanel-toolbar").get_by_text(label, exact=True).click()

    def save(self) -> None:
        """Save the open notebook and wait until it is on disk."""
        self.page.keyboard.press("Control+s")
        self.page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty").wait_for(state="detached")

    def assignments(self) -> Locator:
        """Open nbgrader's assignment list."""
        self.menu("Nbgrader", "nbgrader:open-assignment-list")
        return self.page.locator("#nbgrader-assignment-list")

    def formgrader(self) -> FrameLocator:
        """Open nbgrader's Formgrader."""
        self.menu("Nbgrader", "nbgrader:open-formgrader")
        return self.page.frame_locator("#formgrader iframe")

    def dialog(self) -> str:
        """Read the dialog on the screen."""
        return self.page.locator(".jp-Dialog-content").inner_text()

    def close_dialog(self) -> None:
        """Accept the dialog on the screen."""
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")


@contextmanager
def window(browser: Browser, address: str, pictures: Path) -> Iterator[LabPage]:
    """Open a browser window; when the person is stuck, keep a picture of what they saw."""
    page = browser.new_page()
    lab = LabPage(page, address, pictures)
    try:
        yield lab
    except BaseException:
        lab.picture("stuck")
        raise
    finally:
        page.close()
