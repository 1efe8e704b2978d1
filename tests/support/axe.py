"""What axe-core finds on a page in a browser, as a screen reader or a keyboard would meet it."""

from axe_playwright_python.sync_playwright import Axe


def serious(page):
    """The faults that axe calls serious or critical: the rule, and the element that breaks it."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
