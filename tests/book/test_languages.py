"""The book in other languages: complete, and with the same code, results and boxes."""

import re
import shutil
import subprocess
import sys
from string import Formatter

import nbformat
import pytest

from autograder.building import translating
from autograder.building.sentences import faults_of_sentences, sentences
from autograder.course.loading import load_course
from book.course_facts import Facts
from book.executing import BookError
from book.guides import guides
from book.languages import pages_in_other_languages, prose_of_pages, translate
from book.lessons import lesson_page
from book.making import SITE
from book.wording import BOXES, Said

FACTS = Facts()
PROSE = prose_of_pages(FACTS)
EVERY = [(language, page) for language in FACTS.course.languages for page in PROSE]
SAID = sentences(FACTS.course)


@pytest.fixture(scope="module")
def notebooks():
    """A lesson, not executed."""
    return {"04_strides": FACTS.lessons["04_strides"].source}


@pytest.mark.parametrize(("language", "page"), EVERY)
def test_a_page_is_translated_whole(language, page):
    """No paragraph is missing or stale, and none lost code, a formula or a link."""
    assert translating.faults(PROSE[page], translating.translation(FACTS.course, language, page)) == []


@pytest.mark.parametrize(("language", "page"), EVERY)
def test_a_catalogue_is_as_the_command_writes_it(language, page):
    """`python -m book translate` changes nothing."""
    path = translating.catalogue_path(FACTS.course, language, page)
    before = path.read_bytes()
    assert not translating.update(FACTS.course, language, page, PROSE[page])
    assert path.read_bytes() == before


@pytest.mark.parametrize(("language", "catalogue"), [(each, name) for each in FACTS.course.languages for name in SAID])
def test_what_library_and_grader_say_is_translated(language, catalogue):
    """No sentence is missing or stale, and none has lost a place or code."""
    assert faults_of_sentences(SAID[catalogue], translating.translation(FACTS.course, language, catalogue)) == []


@pytest.mark.parametrize(("language", "catalogue"), [(each, name) for each in FACTS.course.languages for name in SAID])
def test_a_catalogue_of_sentences_is_as_the_command_writes_it(language, catalogue):
    """`python -m book translate` changes nothing."""
    assert not translating.update(FACTS.course, language, catalogue, SAID[catalogue])


def test_there_is_a_chinese_edition():
    """The lessons' sources were written by and for readers of Chinese."""
    assert "zh_CN" in FACTS.course.languages


@pytest.mark.full("a page is made in each language", share=4)
def test_a_lesson_in_another_language_has_the_same_code(notebooks):
    """Only prose differs: cells, their number and code are those of the English page; labels are left to that page."""
    made = dict(pages_in_other_languages(FACTS, notebooks))
    other = nbformat.reads(made["zh_CN/lessons/04_strides.ipynb"].decode(), as_version=4)
    english = lesson_page(FACTS, FACTS.lessons["04_strides"], notebooks["04_strides"])
    assert [cell.cell_type for cell in other.cells] == [cell.cell_type for cell in english.cells]
    code = [(a.source, b.source) for a, b in zip(other.cells, english.cells, strict=True) if a.cell_type == "code"]
    assert all(a == b for a, b in code)
    text = "\n".join(cell.source for cell in other.cells if cell.cell_type == "markdown")
    assert "</notebooks/zh_CN/04_strides.ipynb>" in text
    assert not re.search(r"^\([\w-]+\)=$", text, re.MULTILINE)
    assert text.split("\n")[0] not in english.cells[0].source
    assert made["notebooks/zh_CN/04_strides.ipynb"]


def test_boxes_say_their_titles_in_the_language_of_the_page(notebooks):
    """Of the titles, only those that tell of answers in other ways are the same in both languages."""
    made = dict(pages_in_other_languages(FACTS, notebooks))
    other = nbformat.reads(made["zh_CN/lessons/04_strides.ipynb"].decode(), as_version=4)
    english = lesson_page(FACTS, FACTS.lessons["04_strides"], notebooks["04_strides"])
    titled = re.compile(
        r"^:{3,}\{(?:admonition|dropdown)\} (?!.*\n[^\n]*\n:class-container: variant)(.+)", re.MULTILINE
    )
    found = [{title for cell in page.cells for title in titled.findall(cell.source)} for page in (english, other)]
    assert len(found[0]) == len(found[1]) > 5
    assert not found[0] & found[1]


def test_a_translated_sentence_is_filled_in_with_the_same():
    """No name in braces is lost or new."""
    for language in FACTS.course.languages:
        known = translating.translation(FACTS.course, language, "boxes")
        for said in Said:
            here, there = ({name for _, name, _, _ in Formatter().parse(each) if name} for each in (said, known[said]))
            assert here == there, said


def test_the_front_page_leads_to_the_lessons_of_its_language(notebooks):
    """The folded lists of the English front page are not there; its own lessons are."""
    front = dict(pages_in_other_languages(FACTS, notebooks))["zh_CN/index.md"].decode()
    assert front.count("{toctree}") == 1
    assert "\n00 基础 <lessons/00_fundamentals>\n" in front
    assert "docs/student/*" not in front


def test_links_of_other_languages_lead_somewhere(notebooks):
    """A page in a folder of its own does not borrow a relative link from the English page."""
    made = dict(pages_in_other_languages(FACTS, notebooks))
    known = {
        *made,
        "lessons.md",
        *(name for name, _ in guides()),
        *(f"zh_CN/lessons/{name}.ipynb" for name in FACTS.lessons),
    }
    for name in (name for name in made if name.endswith(".md")):
        found = re.findall(r"\]\((?!https?:|#)([^)#]+)|^:link: (?!https?:)(\S+)", made[name].decode(), re.MULTILINE)
        assert found
        for target in map("".join, found):
            place = target[1:] if target.startswith("/") else f"{name.partition('/')[0]}/{target}"
            assert {place, f"{place}.md", f"{place}.ipynb"} & known, (name, target)


@pytest.fixture
def stale(tmp_path):
    """A copy of the course whose Chinese lacks one paragraph of a lesson."""
    root = FACTS.course.directory.parent
    ignored = shutil.ignore_patterns(".cache", ".grades", "exchange", "masters", "source")
    shutil.copytree(root / "course", tmp_path / "course", ignore=ignored)
    for name in ("src", "autograder", "notebooks"):
        (tmp_path / name).symlink_to(root / name)
    course = load_course(tmp_path / "course")
    path = translating.catalogue_path(course, "zh_CN", "04_strides")
    text = path.read_text()
    first = text.index('msgid "# ')
    end = text.index("\n\n", first)
    path.write_text(text[:first] + text[end:].lstrip())
    return Facts(course)


@pytest.mark.full("a page is made in each language", share=12)
def test_the_book_refuses_a_translation_that_is_not_whole(stale, notebooks):
    """One sentence names the catalogue, the paragraph and the command."""
    with pytest.raises(BookError, match=r"04_strides\.po: 1 fault: is not translated: '# .*python -m book translate"):
        dict(pages_in_other_languages(stale, notebooks))


@pytest.mark.full("a page is made in each language", share=12)
def test_the_command_lists_what_is_missing_and_lays_it_out(stale):
    """The paragraph comes back without a translation; the other pages are not touched."""
    said = []
    assert not translate(stale, "zh_CN", ["04_strides"], said.append)
    assert said[0] == "04_strides.po: 1 fault" and "is not translated: '# " in said[1]
    text = translating.catalogue_path(stale.course, "zh_CN", "04_strides").read_text()
    assert re.search(r'^msgid "# ', text, re.MULTILINE)


@pytest.mark.full("Sphinx makes pages", share=4)
def test_a_page_speaks_its_language_around_the_text_too(tmp_path):
    """The theme's words are translated, and the side bar begins with the pages of the same language."""
    pages = {
        "index": "# Site\n\n```{toctree}\n:caption: The course\n\nlessons\n```\n\n"
        "```{toctree}\n:caption: 中文\n\nzh_CN/index\n```\n",
        "lessons": "# Lessons\n\n## First\n\n```{eval-rst}\n.. autofunction:: minigrad.operators.add\n```\n",
        "zh_CN/index": "# 课\n\n## 一\n\n```{toctree}\n\nnext\n```\n",
        "zh_CN/next": "# 下\n",
    }
    for name, text in pages.items():
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / f"{name}.md").write_text(text)
    html = tmp_path / "html"
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-b",
        "html",
        "-c",
        str(SITE),
        str(tmp_path / "source"),
        str(html),
    ]
    subprocess.run(command, check=True, capture_output=True)
    chinese, english = (html / "zh_CN" / "index.html").read_text(), (html / "lessons.html").read_text()
    words = [Said.ON_THIS_PAGE, Said.NEXT, Said.TO_TOP, Said.SEARCH]
    known = translating.translation(FACTS.course, "zh_CN", BOXES)
    for word in words:
        assert re.search(rf'[>"]\s*{known[word]}\s*[<"]', chinese) and not re.search(
            rf"[>\"]\s*{word}\s*[<\"]", chinese
        )
        assert re.search(rf'[>"]\s*{word}\s*[<"]', english)
    assert chinese.index('class="caption-text">中文') < chinese.index('class="caption-text">The course')
    assert english.index('class="caption-text">The course') < english.index('class="caption-text">中文')
