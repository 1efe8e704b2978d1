"""A page walked by the keyboard alone: what Tab reaches, and whether a person sees where they are."""

CAN_BE_REACHED = """
() => {
  const kinds = "a[href], button, input, select, textarea, summary, [tabindex]";
  const shown = e => e.checkVisibility({visibilityProperty: true}) && e.tabIndex >= 0 && !e.disabled;
  window.waiting = new Set([...document.querySelectorAll(kinds)].filter(shown));
  return window.waiting.size;
}
"""

STEP = """
() => {
  const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
  if (e === document.body || e === document.documentElement) return "end";
  const told = e.outerHTML.slice(0, 120), ring = style.outlineStyle !== "none" && style.outlineWidth !== "0px";
  const inside = box.bottom > 0 && box.top < innerHeight && box.width > 0;
  if (!window.waiting.delete(e) && window.left === window.waiting.size) return "end";
  window.left = window.waiting.size;
  return ring && inside ? "" : `${ring ? "out of sight" : "no ring"}: ${told}`;
}
"""


STILL = "*, ::before, ::after { transition: none !important; scroll-behavior: auto !important }"


def walked(page):
    """Press Tab from the top of a page to its end; nothing glides, so that each place can be looked at at once.

    Returns:
        The faults: what has no visible ring or is out of sight when it has the focus, and what Tab never reaches.
    """
    faults = []
    page.add_style_tag(content=STILL)
    for _ in range(2 * page.evaluate(CAN_BE_REACHED) + 10):
        page.keyboard.press("Tab")
        found = page.evaluate(STEP)
        if found == "end":
            break
        if found:
            faults.append(found)
    return faults + page.evaluate("[...window.waiting].map(e => 'never reached: ' + e.outerHTML.slice(0, 120))")
