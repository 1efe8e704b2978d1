"""What students wrote does nothing in feedback pages and Formgrader, and reports are there as they should be."""

import base64
import datetime as dt
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import nbformat
import pytest
from drawn_pages import exporter
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers
from playwright.sync_api import expect
from traitlets.config import Config, Configurable

from autograder.course.loading import load_course
from autograder.gradebook import feedback
from autograder.gradebook.feedback import Contents, CurrentReports
from autograder.gradebook.harmless import FILTERS, harmless
from autograder.gradebook.nbgrader_hooks import fill
from autograder.gradebook.page_exporter import PageExporter, _is_whole
from autograder.grafting import tidying
from autograder.results import Example, Graded, GroupScore, Submission, Verdict, pictures
from autograder.results.ledger import Entry, write_entry
from autograder.telling.report import page

SVG = "<svg xmlns='http://www.w3.org/2000/svg' onload='owned()'><script>top.owned = 1</script><rect/></svg>"

HOSTILE = {
    "script": "<script>window.owned = 1</script>",
    "handler": '<img src="x" onerror="window.owned = 1"><body onload="window.owned = 1">',
    "open": '<details open ontoggle="window.owned = 1"><summary>x</summary></details>',
    "link": "[press](javascript:window.owned=1) <a href='javascript:window.owned=1'>press</a>",
    "entities": '<a href="&#106;ava&#x09;script:window.owned=1">press</a> <a href=" javascript:owned=1">press</a>',
    "data link": '<a href="data:text/html,<script>opener.owned=1</script>" target="_blank">press</a>',
    "reference": "[press][1]\n\n[1]: javascript:window.owned=1",
    "autolink": "<javascript:window.owned=1>",
    "title": '![x](y.png "a\\" onerror=window.owned=1 b=\\"")',
    "picture from elsewhere": "![x](https://example.invalid/spy.png) ![x](//example.invalid/spy.png)",
    "attachment": "![x](attachment:x.svg)",
    "inline svg": SVG,
    "svg link": '<svg><a xlink:href="javascript:window.owned=1"><text y="20">press</text></a></svg>',
    "frame": '<iframe srcdoc="<script>parent.owned = 1</script>"></iframe><object data="data:text/html,x"></object>',
    "style": "<style>* { display: none; background: url(https://example.invalid/spy) }</style>",
    "cover": '<div style="position:fixed;inset:0;background:url(https://example.invalid/spy)">cover</div>',
    "refresh": '<meta http-equiv="refresh" content="0;url=https://example.invalid/"><base href="https://example.invalid/">',
    "form": '<form action="https://example.invalid/"><button autofocus onfocus="window.owned=1">press</button></form>',
    "formula": r"$\href{javascript:window.owned=1}{press}$ $x</math><script>window.owned=1</script>$",
    "mathml": "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=owned=1&gt;'>",
    "mathml link": '<math><mi xlink:href="javascript:window.owned=1" href="javascript:owned=1">press</mi></math>',
    "mutation": "<svg></p><style><a id=\"</style><img src=1 onerror=window.owned=1>\">",
    "noscript": '<noscript><p title="</noscript><img src=x onerror=window.owned=1>">',
    "comment": "<!--><img src=x onerror=window.owned=1>-->",
    "mermaid": "```mermaid\n</pre><img src=x onerror=window.owned=1>\n```",
    "fence": "```x\"><img/src=x/onerror=window.owned=1>\ncode\n```",
    "clobber": '<img name="body"><a id="submission_id" name="$">x</a><input class="score">',
}  # fmt: skip


RESOURCES = {
    "feedback": {"nbgrader": {"notebook": "n", "score": 1, "max_score": 2, "late_penalty": 0}},
    "formgrade": {"assignment_id": "a", "notebook_id": "n", "submission_id": "s", "index": 0, "total": 1,
                  "base_url": "", "student": "x", "last_name": None, "first_name": None, "notebook_path": ""},
}  # fmt: skip


def graded_cell(source, number):
    """A manually graded answer in Markdown, as nbgrader marks it."""
    cell = nbformat.v4.new_markdown_cell(f"{source}\n\nstill here {number}")
    cell.attachments = {"x.svg": {"image/svg+xml": base64.b64encode(SVG.encode()).decode()}}
    settings = {"grade": True, "solution": True, "grade_id": f"g{number}", "points": 1, "score": 1, "comment": None}
    cell.metadata.nbgrader = nbformat.from_dict({**settings, "locked": False, "schema_version": 3, "task": False})
    return cell


@pytest.fixture(scope="module")
def hostile():
    """A notebook of hostile answers; among them one code cell and one raw cell."""
    cells = [graded_cell(source, number) for number, source in enumerate(HOSTILE.values())]
    code = nbformat.v4.new_code_cell("</code></pre><script>window.owned = 1</script>")
    return nbformat.v4.new_notebook(cells=[*cells, code, nbformat.v4.new_raw_cell("<script>window.owned = 1</script>")])


def test_the_quick_exporter_makes_the_same_page(hostile, root):
    """A feedback page is that of nbconvert's own exporter, byte for byte, whatever students and reports say."""
    notebook = nbformat.from_dict(hostile)
    html = "<div class='r'>\n  <p>a &amp; b<br>c</p> <img src=x>\n</div>"
    unclosed = "<div><p title='</div>'>a"
    for text in (html, f"  {html}\n", unclosed, "a < b", "", "<!-- <p>", "<b>a</i></b>"):
        cell = nbformat.v4.new_code_cell("x = 'a' + \"b\"  # &", id=f"c{len(notebook.cells)}")
        cell.outputs = [nbformat.v4.new_output("display_data", data={"text/html": text})]
        notebook.cells.append(cell)
    notebook.cells[0].metadata.nbgrader.comment = "Well *done* & <b>more</b>"
    pages = []
    for made in (HTMLExporter, PageExporter, PageExporter):
        once = exporter(root, "feedback", made)
        pages.append(once.from_notebook_node(notebook, resources=json.loads(json.dumps(RESOURCES["feedback"])))[0])
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.parametrize(
    ("fragment", "is_whole"),
    [
        ("<p>a<br>b</p>", True),
        ("<p>a</p> <img src='>'/>", True),
        ("<style>p > a { }</style><p>x</p>", True),
        ("<p>a", False),
        ("a</p>", False),
        ("</div><div>", False),
        ("<p>a</p></div><div>", False),
        ("<b><i>a</b></i>", False),
        ("<p>a</p><!-- >", False),
        ('<p>a</p><a title="<p>', False),
        ("<style>p</p>", False),
        ("text", False),
    ],
)
def test_what_depends_on_its_place_is_not_put_aside(fragment, is_whole):
    """Only what closes every element that it opens, and nothing else, is the same wherever it stands."""
    assert _is_whole(fragment) == is_whole


@pytest.mark.parametrize("kind", ["feedback", "formgrade"])
def test_hostile_answers_do_nothing(browser, hostile, root, tmp_path, kind):
    """No script runs, nothing is fetched, nothing is hidden, whatever an answer holds and a reader presses."""
    html, _ = exporter(root, kind).from_notebook_node(hostile, resources=dict(RESOURCES[kind]))
    (tmp_path / "page.html").write_text(html)
    window, asked, dialogs = browser.new_page(), [], []
    window.on("request", lambda request: asked.append(request.url))
    window.on("dialog", lambda dialog: dialogs.append(dialog.dismiss()))
    window.goto((tmp_path / "page.html").as_uri())
    for each in window.get_by_text("press", exact=True).all():
        each.click(force=True, timeout=1000)
    assert window.url.startswith("file:") and not dialogs
    assert window.evaluate("typeof window.owned") == "undefined"
    assert [url for url in asked if not url.startswith(("file:", "data:image/"))] == []
    for number in range(len(HOSTILE)):
        assert window.get_by_text(f"still here {number}", exact=True).is_visible(), list(HOSTILE)[number]
    assert window.get_by_text("cover").evaluate("element => getComputedStyle(element).position") == "static"
    acting = "iframe, object, form, input, style, svg, script, base, meta"
    ours = {"feedback": 0, "formgrade": 2}[kind]  # style and script of what stands beside an answer
    assert window.locator(".rendered_html").locator(acting).count() == ours
    assert window.locator(".rendered_html:has(.mg-beside)").locator(acting).count() == 0
    window.close()


def test_formgraders_keys_work_without_mathjax(browser, root):
    """Tab leads to the first field and to the next one, Ctrl+Shift+F flags the submission, `?` lists the keys."""
    notebook = nbformat.v4.new_notebook(cells=[graded_cell("One.", 1), graded_cell("Another.", 2)])
    html, _ = exporter(root, "formgrade").from_notebook_node(notebook, resources=dict(RESOURCES["formgrade"]))
    window, errors, asked = browser.new_page(), [], []

    def answer(route):
        path = urlsplit(route.request.url).path
        asked.append((route.request.method, path))
        if path.startswith("/formgrader/static/"):
            route.fulfill(path=Path(handlers.static_path, path.removeprefix("/formgrader/static/")))
        else:
            body = {"/page": html, "/formgrader/api/submitted_notebook/s/flag": '{"flagged": true}'}.get(path, "[]")
            route.fulfill(body=body, content_type="text/html" if body != "[]" else "application/json")

    window.route("**", answer)
    window.on("pageerror", lambda error: errors.append(error))
    window.goto("http://127.0.0.1/page")
    window.wait_for_function("formgrader.loaded && MathJax.loaded")
    window.keyboard.press("Tab")
    expect(window.locator("#g1")).to_be_focused()
    window.keyboard.press("Tab")
    expect(window.locator("#g1_extra_credit")).to_be_focused()
    window.keyboard.press("Control+Shift+F")
    expect(window.get_by_text("Submission flagged")).to_be_attached()
    assert ("POST", "/formgrader/api/submitted_notebook/s/flag") in asked and errors == []
    window.locator(".help").click()
    expect(window.get_by_text("Flag the submission")).to_be_visible()
    window.close()


@pytest.mark.parametrize(
    "kept",
    [
        '<p>a <em>b</em> <a href="https://docs.python.org/3/">c</a> <code>x &lt; y</code></p>',
        '<h2 id="Two-paths">Two paths<a class="anchor-link" href="#Two-paths">¶</a></h2>',
        '<table><thead><tr><th style="text-align: right;">a</th></tr></thead></table>',
        '<math display="inline" xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>1</mn><mi>x</mi></mfrac></math>',
        '<div class="highlight"><pre><span class="k">def</span> <span class="nf">f</span></pre></div>',
        '<img alt="a graph" src="data:image/png;base64,iVBORw0KGgo=">',
        "<details open><summary>More</summary>text</details>",
    ],
)
def test_what_a_text_needs_is_kept(kept):
    """Text, code, tables, formulas, headings, links and the notebook's own pictures stay as they are."""
    assert sorted(harmless(kept).replace('open=""', "open")) == sorted(kept)


@pytest.mark.parametrize("kind", ["feedback", "formgrade"])
def test_sizes_and_signs(browser, root, tmp_path, kind):
    """A sidebar's text is as large as any, a heading's link shows only where one points, a bare number never."""
    number = nbformat.v4.new_output("execute_result", data={"text/plain": "0.0"}, execution_count=1)
    cells = [nbformat.v4.new_markdown_cell("## Heading\n\nText.\n\n> Sidebar."), nbformat.v4.new_code_cell("check()")]
    cells[1].outputs = [number]
    html, _ = exporter(root, kind).from_notebook_node(nbformat.v4.new_notebook(cells=cells), dict(RESOURCES[kind]))
    (tmp_path / "page.html").write_text(html)
    window = browser.new_page()
    window.goto((tmp_path / "page.html").as_uri())
    sizes = [window.get_by_text(words).evaluate("e => getComputedStyle(e).fontSize") for words in ("Text.", "Sidebar.")]
    assert sizes[0] == sizes[1]
    sign = window.locator(".anchor-link")
    assert sign.count() == 1 and not sign.is_visible()
    window.get_by_role("heading", name="Heading").hover()
    assert sign.is_visible()
    assert window.get_by_text("0.0", exact=True).count() == 1 and not window.get_by_text("0.0", exact=True).is_visible()
    window.close()


def test_lessons_look_as_before(root):
    """The lessons' own Markdown passes through as it is: the same headings, links and formulas."""
    plain, cleaned = (Config(), Config())
    cleaned.HTMLExporter.filters = dict(FILTERS)
    for config in (plain, cleaned):
        config.HTMLExporter.preprocessors = ["autograder.gradebook.formulas.Formulas"]
        config.HTMLExporter.template_name = "classic"
    notebook = nbformat.read(root / "notebooks" / "03_backprop.ipynb", as_version=4)
    before, after = (HTMLExporter(config=config).from_notebook_node(notebook)[0] for config in (plain, cleaned))
    for piece in ("<h2 id=", "<math ", "<mfrac>", "<strong>", "<table>", "<details>", '<a class="anchor-link"', "<li>"):
        assert after.count(piece) == before.count(piece), piece


# --- reports ------------------------------------------------------------------------------------------------

GRAPH = pictures.graph({"y": [("x", 2.0)], "z": [("y", 3.0), ("x", 1.0)]}, {"x": 6.0}, {"x": 7.0})
VERDICT = Verdict(
    "test_paths", "Gradients along two paths are summed.", "paths", "lesson 03, 'Two paths': they are summed", False,
    "got 6.0", "add", "gradient-overwritten", confirmed=True,
    example=Example((("", "z = y + x with y = 2 x"),), picture=GRAPH),
)  # fmt: skip
MARKUP = Example((("x", "<b onclick=window.owned=1>press</b>"),), "</table><script>owned=1</script>")
NASTY = replace(VERDICT, reason="</div><script>owned = 1</script><img src=x onerror=owned=1>", example=MARKUP)


def report(*verdicts):
    groups = (GroupScore("paths", 2, 0), GroupScore("chains", 1, 1))
    return Submission("03_backprop", (Graded("autodiff.backpropagate", 3, groups, verdicts),))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_in_a_browser(browser, tmp_path, scheme):
    """The picture is drawn inside the page with a red frame, readable on its paper, and asks for nothing."""
    (tmp_path / "report.html").write_text(page(report(VERDICT, NASTY)))
    window, asked = browser.new_page(color_scheme=scheme, viewport={"width": 600, "height": 900}), []
    window.on("request", lambda request: asked.append(request.url))
    window.goto((tmp_path / "report.html").as_uri())
    drawing = window.locator("svg")
    assert drawing.count() == 1 and drawing.bounding_box()["width"] <= 600
    red = window.locator(".mg-wrong .mg-box").evaluate("element => getComputedStyle(element).stroke")
    assert red == {"light": "rgb(207, 34, 46)", "dark": "rgb(255, 123, 114)"}[scheme]
    paper = window.locator(".mg-paper").evaluate("element => getComputedStyle(element).fill")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 27, 34)"}[scheme]
    assert window.evaluate("document.documentElement.scrollWidth") <= 600
    assert window.evaluate("typeof window.owned") == "undefined" and len(asked) == 1
    assert window.get_by_text("grad 6", exact=True).is_visible() and window.get_by_text("<script>").count() == 2
    window.close()


@pytest.fixture
def term(small_term):
    """An autograded notebook with a report that has an example, and what nbgrader knows of it."""
    course = load_course(small_term, tree=False)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("check()")])
    settings = {"grade": True, "grade_id": "autodiff-backpropagate-check", "points": 3, "solution": False}
    notebook.cells[0].metadata.nbgrader = nbformat.from_dict(settings)
    fill(notebook, report(VERDICT), course)
    names = {"student": "ada", "assignment": "week0", "notebook": "03_backprop"}
    reports, contents, converter = CurrentReports(), Contents(), Configurable()
    converter.coursedir = SimpleNamespace(
        root=str(small_term), db_url=f"sqlite:///{small_term}/gradebook.db", course_id="minigrad"
    )
    reports.parent = contents.parent = Configurable(parent=converter)

    def run():
        reports.preprocess(notebook, {"nbgrader": names})
        return notebook.cells[0].outputs[0].data

    def finish(score):
        resources = {"nbgrader": names}
        reports.preprocess(notebook, resources)
        notebook.cells[0].metadata.nbgrader.score = score  # as nbgrader's GetGrades does
        contents.preprocess(notebook, resources)
        return notebook, resources

    return SimpleNamespace(root=small_term, notebook=notebook, run=run, finish=finish)


TOML = """
[course]
name = "small"
version = "1"
seed = 1

[[assignment]]
name = "week0"
title = "Backprop"
lessons = ["03_backprop"]
answers_open = 2027-02-15
examples = "with answers"

[[exercise]]
id = "autodiff.backpropagate"
lesson = "03_backprop"
points = 3
groups = { paths = 2, chains = 1 }
"""


@pytest.fixture
def small_term(tmp_path):
    (tmp_path / "course.toml").write_text(TOML)
    return tmp_path


@pytest.fixture
def day(monkeypatch):
    """Set the day on which a page is made."""

    def to(text):
        today = SimpleNamespace(today=lambda: dt.date.fromisoformat(text))
        monkeypatch.setattr(feedback, "dt", SimpleNamespace(date=today))

    return to


def test_feedback_shows_the_ledger(term, day):
    """A feedback page has the ledger's report: examples from their day on, and what a regrading has changed."""
    write_entry(term.root, Entry("ada", "week0", "03_backprop", "0", "2027-01-01", report(VERDICT)))
    day("2027-02-14")
    before = term.run()
    assert "shown from 2027-02-15" in before["text/html"] and "<svg" not in before["text/html"]
    assert "z = y + x" not in before["text/html"] and "text/plain" not in before
    day("2027-02-15")
    after = term.run()
    assert "<svg" in after["text/html"] and "z = y + x" in after["text/html"]
    write_entry(term.root, Entry("ada", "week0", "03_backprop", "0", "2027-03-01", report()))
    assert "summed" not in term.run()["text/html"]


def test_a_course_is_read_once_for_a_page(term, monkeypatch):
    """The steps that make a page share what they read of course.toml, while it stays the same."""
    write_entry(term.root, Entry("ada", "week0", "03_backprop", "0", "2027-01-01", report(VERDICT)))
    monkeypatch.setattr(tidying, "_courses", {})
    read = []

    def reading(*arguments, **options):
        read.append(arguments)
        return load_course(*arguments, **options)

    for module in (tidying, feedback):
        monkeypatch.setattr(module, "load_course", reading, raising=False)
    term.finish(1.0)
    assert len(read) == 1


def test_a_page_begins_with_its_exercises(browser, term, root, tmp_path):
    """The page lists the exercises by name, with points and the first fact that fails, and is no wider than a phone."""
    write_entry(term.root, Entry("ada", "week0", "03_backprop", "0", "2027-01-01", report(NASTY)))
    notebook, resources = term.finish(2.5)
    notebook.cells.append(nbformat.v4.new_code_cell(f"total = {'1 + ' * 80}1"))
    assert notebook.cells[0].id == "exercises"  # a random one would make each making of a page another page
    resources = {"nbgrader": RESOURCES["feedback"]["nbgrader"] | resources["nbgrader"]}
    html, _ = exporter(root, "feedback").from_notebook_node(notebook, resources=resources)
    (tmp_path / "page.html").write_text(html)
    window = browser.new_page()
    window.goto((tmp_path / "page.html").as_uri())
    row = window.locator(".mg-contents tr")
    assert row.count() == 1
    assert row.locator("td").all_inner_texts() == [
        "autodiff.backpropagate", "2.5 of 3", "Gradients along two paths are summed."
    ]  # fmt: skip
    row.get_by_role("link").click()
    assert window.url.endswith("#autodiff-backpropagate-check")
    assert not window.get_by_text("Test cell").is_visible()
    assert "Out[1]" not in html and window.locator(".prompt").first.inner_text().strip() == ""
    window.set_viewport_size({"width": 360, "height": 800})
    assert window.evaluate("document.documentElement.scrollWidth") <= 360
    window.close()


def test_what_nbgrader_lists_without_a_word_in_it_is_hidden(browser, term, root, tmp_path):
    """An answer that is still as released needs no entry at the top of a page; what a person wrote has one."""
    write_entry(term.root, Entry("ada", "week0", "03_backprop", "0", "2027-01-01", report(NASTY)))
    for name, comment in (("untouched", "No response."), ("read", "Well said.")):
        cell = nbformat.v4.new_markdown_cell("words<details><summary>Folded</summary>more</details>")
        cell.metadata.nbgrader = {"grade": False, "solution": True, "grade_id": name, "comment": comment}
        term.notebook.cells.append(cell)
    notebook, resources = term.finish(2.5)
    resources = {"nbgrader": RESOURCES["feedback"]["nbgrader"] | resources["nbgrader"]}
    (tmp_path / "page.html").write_text(exporter(root, "feedback").from_notebook_node(notebook, resources=resources)[0])
    window = browser.new_page()
    window.goto((tmp_path / "page.html").as_uri())
    assert window.locator("#toc li:visible").all_inner_texts() == ["Comment"]
    assert window.locator("#toc li:visible a").get_attribute("href") == "#comment-read"
    folded = window.locator("summary").first
    assert folded.evaluate("it => [getComputedStyle(it).display, getComputedStyle(it).cursor]") == [
        "list-item",
        "pointer",
    ]
    window.close()


def test_a_page_without_a_list_keeps_nbgraders(browser, term, root, tmp_path):
    """Where the ledger knows nothing there is no list to put in place of nbgrader's own, which stays."""
    notebook, resources = term.finish(1.0)
    resources = {"nbgrader": RESOURCES["feedback"]["nbgrader"] | resources["nbgrader"]}
    (tmp_path / "page.html").write_text(exporter(root, "feedback").from_notebook_node(notebook, resources=resources)[0])
    window = browser.new_page()
    window.goto((tmp_path / "page.html").as_uri())
    assert window.get_by_text("Test cell").is_visible() and window.locator(".mg-contents").count() == 0
    window.close()


def test_feedback_without_a_ledger(term, day):
    """Where the ledger knows nothing, the notebook's own report stays, without examples that have to wait."""
    day("2027-02-14")
    before = term.run()
    assert "they are summed" in before["text/html"] and "<svg" not in before["text/html"]
    assert "z = y + x" not in repr(before)


def test_quotes_wait_without_a_ledger_too(term, day):
    """Where the ledger knows nothing and quotes have to wait, the page has the points and no report."""
    toml = term.root / "course.toml"
    toml.write_text(toml.read_text().replace("examples =", "quotes ="))
    day("2027-02-15")
    assert "they are summed" in term.run()["text/html"]
    day("2027-02-14")
    before = term.run()
    assert "The whole report is shown from 2027-02-15" in before["text/html"] and "summed" not in repr(before)


@pytest.mark.parametrize("step", [CurrentReports, Contents])
def test_nbconvert_may_set_what_it_sets(step):
    """nbconvert gives every step an order of formats, and warns where a step does not take it."""
    assert "display_data_priority" in step.class_trait_names(config=True)


@pytest.mark.full("Formgrader is started", share=12)
def test_formgrader_shows_everything(term):
    """The autograded notebook, which only instructors see, holds the example at once."""
    data = term.notebook.cells[0].outputs[0].data
    assert "<svg" in data["text/html"] and "z = y + x" in data["text/plain"]
