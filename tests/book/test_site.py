"""A few pages of the site as Sphinx makes them, in a browser: for a screen reader, a keyboard, a phone, and offline."""

import ast
import re
import shutil
import subprocess
import sys
import tarfile
from html import unescape

import nbformat
import pytest
from axe import serious
from keyboard import walked
from serving import served

from book.cards import card
from book.course_facts import Facts
from book.guides import doors, guides
from book.indexes import indexes
from book.languages import pages_in_other_languages
from book.lessons import lesson_page
from book.making import SITE
from book.misconceptions import misconceptions
from book.places import EXTRA, ROOT
from book.teaching import teaching
from book.versions import put_beside

LESSON = "03_backprop"
PAGES = [
    "index.html",
    "lessons.html",
    "terms.html",
    f"lessons/{LESSON}.html",
    f"misconceptions/{LESSON}.html",
    "docs/student/work.html",
    f"docs/teaching/{LESSON}.html",
    "zh_CN/index.html",
    f"zh_CN/lessons/{LESSON}.html",
]

in_a_browser = pytest.mark.full("Sphinx makes some pages", share=32, group="site")


def conf_extensions():
    """The extensions that the book's configuration names."""
    tree = ast.parse((SITE / "conf.py").read_text(encoding="utf-8"))
    return next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "extensions"
    )


def made_by_sphinx(source, made, *options):
    """Let Sphinx make pages of a folder."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(SITE), *options, str(source), str(made)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return made


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The text of the pages that need no lesson to be executed, and of one lesson without its results."""
    facts, source = Facts(), tmp_path_factory.mktemp("source")
    lesson = facts.lessons[LESSON]
    texts = dict(guides()) | dict(doors()) | dict(teaching(facts)) | dict(indexes(facts)) | dict(misconceptions(facts))
    texts |= {path.name: path.read_bytes() for path in (ROOT / "book" / "pages").glob("*.md")}
    texts |= dict(pages_in_other_languages(facts, {LESSON: lesson.source}))
    texts[f"{EXTRA}/cards/{LESSON}.png"] = card(lesson.title, "03", None)
    texts[f"lessons/{LESSON}.ipynb"] = nbformat.writes(lesson_page(facts, lesson, lesson.source)).encode()
    for name, content in texts.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return source


@pytest.fixture(scope="module")
def site(source, tmp_path_factory):
    """The pages."""
    return made_by_sphinx(source, tmp_path_factory.mktemp("html"))


@in_a_browser
def test_the_list_of_pages_is_sphinxs_own(source, site, tmp_path):
    """It is put together quickly, and is the same beside every page, the page itself marked as before."""
    extensions = ",".join(each for each in conf_extensions() if each != "sidebar")
    own = made_by_sphinx(source, tmp_path, "-D", f"extensions={extensions}")
    listed = re.compile(r'<div class="sidebar-tree">.*?</div>', re.DOTALL)
    pages = [page.relative_to(own) for page in own.rglob("*.html")]
    lists = [
        (listed.findall((site / page).read_text("utf-8")), listed.findall((own / page).read_text("utf-8")))
        for page in pages
    ]
    assert sum(bool(here) for here, _ in lists) > 50
    assert [page for page, (here, there) in zip(pages, lists, strict=True) if here != there] == []


@in_a_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_everybody_can_read_a_page(browser, site, page, scheme):
    """axe-core finds nothing serious, no request leaves the machine, the console is empty, and a phone is wide."""
    window = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 800})
    asked, said = [], []
    window.on("request", lambda request: asked.append(request.url))
    window.on("console", lambda message: said.append(message.text))
    window.goto((site / page).as_uri())
    window.wait_for_load_state("networkidle")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    assert window.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(window) == []
    window.close()


@in_a_browser
@pytest.mark.parametrize("page", PAGES)
def test_tab_reaches_everything(browser, site, page):
    """A person without a mouse comes everywhere on a page, and sees where they are."""
    window = browser.new_page(viewport={"width": 1280, "height": 900})
    window.goto((site / page).as_uri())
    assert walked(window) == []
    window.close()


@in_a_browser
def test_a_page_names_its_language(browser, site):
    """A screen reader reads Chinese as Chinese."""
    window = browser.new_page()
    for page, language in (("index.html", "en"), (f"zh_CN/lessons/{LESSON}.html", "zh-CN")):
        window.goto((site / page).as_uri())
        assert window.evaluate("document.documentElement.lang") == language
    window.close()


@in_a_browser
@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_a_link_to_it_shows(site, page):
    """Its title and its first sentence; a lesson has its card."""
    text = (site / page).read_text(encoding="utf-8")
    said = dict(re.findall(r'<meta property="((?:og|twitter):[\w:]+)" content="([^"]*)"/>', text))
    assert said["og:title"] and said["og:description"]
    assert unescape(said["og:title"]) in re.sub(r"<[^>]+>", "", unescape(text.partition("<h1>")[2]))
    assert ("og:image" in said) == (page.rpartition("lessons/")[2] == f"{LESSON}.html" and "lessons/" in page)
    if "og:image" in said:
        assert ((site / page).parent / said["og:image"]).resolve() == site / "cards" / f"{LESSON}.png"
        assert (site / "cards" / f"{LESSON}.png").is_file()


@in_a_browser
def test_a_solution_opens_by_keyboard(browser, site):
    """Tab reaches what is folded away, and Enter opens it."""
    window = browser.new_page()
    window.goto((site / f"lessons/{LESSON}.html").as_uri())
    summary = window.locator("details.solution > summary").first
    summary.focus()
    assert not window.evaluate("document.activeElement.parentElement.open")
    window.keyboard.press("Enter")
    assert window.evaluate("document.activeElement.parentElement.open")
    window.close()


@in_a_browser
def test_no_line_is_cut_on_paper(browser, site):
    """Code and output that scroll on a screen are wrapped in print."""
    window = browser.new_page(viewport={"width": 480, "height": 800})
    window.goto((site / f"lessons/{LESSON}.html").as_uri())
    cut = (
        "[...document.querySelectorAll('pre')].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).length"
    )
    assert window.evaluate(cut) > 0
    window.emulate_media(media="print")
    assert window.evaluate(cut) == 0
    window.close()


@in_a_browser
def test_another_version_is_one_choice_away(browser, site, tmp_path):
    """The side bar leads to the same page of a release, or to its front page; without JavaScript to a list of all."""
    pages = shutil.copytree(site, tmp_path / "pages")
    for version in ("0.2.0", "0.10.0"):
        with tarfile.open(tmp_path / f"book-{version}.tar.gz", "w:gz", compresslevel=1) as packed:
            packed.add(pages, ".")
        (pages / "terms.html").unlink(missing_ok=True)
    newest = shutil.copytree(site, tmp_path / "newest")
    put_beside(newest, tmp_path)
    with served(newest) as address:
        window = browser.new_page(viewport={"width": 1280, "height": 900})
        window.goto(f"{address}/terms.html")
        choice = window.get_by_label("Version", exact=True)
        assert choice.locator("option").all_inner_texts() == ["newest", "0.10.0", "0.2.0"]
        assert serious(window) == []
        for version, place in (("0.2.0", "0.2.0/terms.html"), ("newest", "terms.html"), ("0.10.0", "0.10.0/")):
            choice.select_option(version)
            window.wait_for_url(f"{address}/{place}")
            assert choice.locator("option:checked").inner_text() == version
        window.close()
        plain = browser.new_page(java_script_enabled=False, viewport={"width": 1280, "height": 900})
        plain.goto(f"{address}/0.2.0/terms.html")
        plain.get_by_text("Other versions").click()
        plain.get_by_text("0.10.0").click()
        assert plain.url == f"{address}/0.10.0/index.html"
        plain.close()


@in_a_browser
def test_one_version_has_no_choice(browser, site):
    """As long as there is nothing to choose from, the side bar says nothing of it."""
    window = browser.new_page(viewport={"width": 1280, "height": 900})
    window.goto((site / "terms.html").as_uri())
    assert not window.get_by_text("Other versions").is_visible()
    window.close()
