"""The stepper's own JavaScript in a browser, with a stand-in for the kernel: what is pressed is what is asked for."""

import json

import pytest

import minigrad
from minigrad import widgets

STAND_IN = """
const values = STATE, listeners = {};
const model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; (listeners[`change:${name}`] ?? []).forEach((heard) => heard()); },
  save_changes: () => {},
  send: () => {},
  on: (event, heard) => (listeners[event] ??= []).push(heard),
  off: () => {},
};
window.model = model;
"""


@pytest.fixture
def page(browser, tmp_path):
    """A page with the stepper of z = x * y + x, and no kernel."""
    x, y = minigrad.Scalar(2.0), minigrad.Scalar(3.0)
    stepper = widgets.backprop(x * y + x, x=x, y=y)
    state = {name: value for name, value in stepper.get_state().items() if not name.startswith("_")}
    script = stepper._esm.replace("export default", "const widget =")
    start = "widget.render({ model, el: document.getElementById('here') });"
    text = f"{STAND_IN.replace('STATE', json.dumps(state, default=str))}\n{script}\n{start}"
    (tmp_path / "stepper.html").write_text(f'<div id="here"></div><script type="module">{text}</script>', "utf-8")
    shown = browser.new_page()
    said = []
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.goto((tmp_path / "stepper.html").as_uri())
    yield shown
    assert said == []
    shown.close()


def step(page):
    """The step that the kernel would be asked for."""
    return page.evaluate("window.model.get('step')")


def test_buttons_go_one_step(page):
    """Step goes one step on, Back one step back, and there is no way back from the beginning."""
    for expected in (1, 2):
        page.get_by_role("button", name="Step").click()
        assert step(page) == expected
    back = page.get_by_role("button", name="Back")
    for expected in (1, 0):
        assert back.is_enabled()
        back.click()
        assert step(page) == expected
    assert back.is_disabled()


def test_keys_go_where_they_say(page):
    """Arrows go one step, End to the last and Home to the first."""
    last = page.evaluate("window.model.get('last')")
    page.get_by_role("button", name="Step").focus()
    for key, expected in (("ArrowRight", 1), ("End", last), ("ArrowLeft", last - 1), ("Home", 0)):
        page.locator("[aria-label^='The graph']").first.press(key)
        assert step(page) == expected
