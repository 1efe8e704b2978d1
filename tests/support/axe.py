"""What axe-core finds on a page in a browser, as a screen reader or a keyboard would meet it."""


def serious(page, part="html"):
    """The faults in a part of a page that axe calls serious or critical: the rule, and the element that breaks it."""
    from axe_playwright_python.sync_playwright import Axe  # a test that comes here has a browser, and so this

    # Without preloading, for which axe asks for every style again: a page that is a file may not.
    options = {"resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, context=part, options=options).response["violations"]
    return [
        f"{each['id']}: {node['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
