"""Two versions of one lesson, and an answer to be typed into the older one."""

from notebooks_by_hand import code, exercise, find, markdown, notebook, question

OLD = notebook(
    markdown("# Lesson"),
    code("import math", tags=["setup"]),
    markdown("Old prose."),
    exercise("operators.one"),
    markdown("Between."),
    exercise("operators.two"),
    question("why"),
    markdown("The end."),
)


NEW = notebook(
    markdown("# Lesson"),
    code("import math\nimport random", tags=["setup"]),
    markdown("New prose."),
    markdown("More prose."),
    exercise("operators.one"),
    markdown("Between."),
    exercise("operators.two", doc="The task, reworded."),
    exercise("operators.three"),
    question("why"),
    version="2",
)


def answer(book, id, body="    return 2 * x"):
    cell = find(book, f"# exercise: {id}")
    cell["source"] = cell["source"].partition("    # YOUR CODE")[0] + body
    return cell
