"""Make the README's pictures: JupyterLab with a failing check and a drawn graph, and the playground, in two themes.

Everything in them is real: a JupyterLab of its own, in headless Chromium, runs the cells below with this library.

    .venv/bin/python scripts/readme_pictures.py
"""

import io
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from lab import LabPage, chromium, jupyter_lab, person  # noqa: E402  (from the browser tests)

OUT = ROOT / "docs" / "pictures"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
COLORS = 112  # a picture of text needs few, and is a third as large

# A common mistake of lesson 02: the rule gets 1 instead of the derivative from above, which is lost on the way.
ANSWER = """\
# exercise: autodiff.chain_rule
def chain_rule(variable, d_output):
    history = variable.history
    slopes = history.last_fn._backward(history.ctx, 1.0)
    pairs = zip(history.inputs, slopes)
    return [(x, slope) for x, slope in pairs if not x.is_constant()]
"""
LESSON = {  # in the order in which they stand; `RUN` is the order in which they are run
    "use": "%%capture\nminigrad.use()",
    "setup": "import minigrad\nfrom minigrad import Scalar, check, draw",
    "answer": ANSWER,
    "check": 'check("autodiff.chain_rule")',
    "graph": 'x = Scalar(5.0, name="x")\na = 2.0 * x\nb = 3.0 * a\ndraw.expression_graph(a * b, a=a, b=b)',
}
RUN = ("setup", "answer", "use", "check", "graph")
PLAY = """\
# the playground
from minigrad import widgets
widgets.playground(data="spiral", hidden=[8, 8], optimizer="Adam")
"""
EPOCHS = 100  # of training before the playground is photographed


def open_notebook(lab: LabPage, work: Path, name: str, cells: Iterable[str]) -> None:
    """Open a notebook of these cells."""
    code = [nbformat.v4.new_code_cell(text.strip()) for text in cells]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=code, metadata=kernel), work / name)
    lab.open_notebook(name)


def choose_theme(lab: LabPage, theme: str) -> None:
    """Choose a theme from JupyterLab's menu."""
    page = lab.page
    page.locator(".lm-MenuBar-itemLabel").get_by_text("Settings", exact=True).click()
    page.locator(".lm-Menu-item").get_by_text("Theme", exact=True).hover()
    page.locator(".lm-Menu-item").get_by_text(THEMES[theme], exact=True).click()
    page.locator(f'body[data-jp-theme-light="{str(theme == "light").lower()}"]').wait_for(state="attached")
    page.locator("#jupyterlab-splash").wait_for(state="detached")


def keep(png: bytes, name: str) -> None:
    """Write a picture with a palette."""
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLORS, kmeans=2, dither=Image.Dither.NONE)
    OUT.mkdir(parents=True, exist_ok=True)
    picture.save(OUT / f"{name}.png", optimize=True)
    print(
        f"docs/pictures/{name}.png: {picture.width} x {picture.height}, {(OUT / f'{name}.png').stat().st_size:,} bytes"
    )


def clear_the_view(lab: LabPage) -> None:
    """Leave the menu, the toolbar and the notebook: the rest is the same for every student."""
    page = lab.page
    page.keyboard.press("Control+b")
    for bar in ("Show Left Activity Bar", "Show Right Activity Bar", "Show Status Bar"):
        page.locator(".lm-MenuBar-itemLabel").get_by_text("View", exact=True).click()
        page.locator(".lm-Menu-item").get_by_text("Appearance", exact=True).hover()
        page.locator(".lm-Menu-item").get_by_text(bar, exact=True).click()


def photograph_lesson(lab: LabPage, work: Path) -> None:
    """Run a wrong answer, its check and its graph, and photograph JupyterLab."""
    page = lab.page
    page.set_viewport_size({"width": 780, "height": 905})
    open_notebook(lab, work, "02_chain_rule.ipynb", LESSON.values())
    clear_the_view(lab)
    for key in RUN:
        lab.run(lab.cell(LESSON[key].splitlines()[0]))
    lab.save()
    for theme in THEMES:
        choose_theme(lab, theme)
        answer = lab.cell(ANSWER.splitlines()[0])
        answer.evaluate("cell => cell.scrollIntoView({block: 'start'})")
        page.mouse.move(775, 900)
        keep(page.screenshot(), f"lab-{theme}")


def photograph_playground(lab: LabPage, work: Path) -> None:
    """Let a network learn for a while, pause it, and photograph the widget."""
    page = lab.page
    page.set_viewport_size({"width": 1000, "height": 900})
    open_notebook(lab, work, "playground.ipynb", [PLAY])
    page.keyboard.press("Control+b")  # close the side bar
    lab.run(lab.cell(PLAY.splitlines()[0]))
    widget = page.locator(".mgw").first
    for epoch in range(1, EPOCHS + 1):
        widget.get_by_role("button", name="Step", exact=True).click()
        expect(widget.locator(".mgw-score")).to_contain_text(f"epoch {epoch},")
    for theme in THEMES:
        choose_theme(lab, theme)
        widget.scroll_into_view_if_needed()
        keep(widget.screenshot(), f"playground-{theme}")


def main() -> None:
    """Make the four pictures."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        sys.exit("chromium is not installed (on Debian: sudo apt install chromium)")
    with tempfile.TemporaryDirectory() as home:
        work = Path(home) / "my-notebooks"
        work.mkdir()
        with jupyter_lab(work, person(Path(home))) as address, chromium(executable) as browser:
            page = browser.new_context(device_scale_factor=1.5).new_page()
            lab = LabPage(page, address, OUT)
            photograph_playground(lab, work)
            photograph_lesson(lab, work)  # last, since JupyterLab remembers the bars that it hides


if __name__ == "__main__":
    main()
