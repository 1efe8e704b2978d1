"""The registry of manglings, continued: formats, encodings, programs, and values of other kinds."""

import json

import nbformat
from manglings import BACKPROP, CHAIN, DERIVATIVES, GRADIENT, RULE, mangling, place, replaced, rewritten, solution


@mangling("nbformat 3", "old format 3")
def _format_3(notebooks):
    old = nbformat.convert(notebooks.pop(BACKPROP), 3)
    return {f"{BACKPROP}.ipynb": json.dumps(old).encode()}


@mangling("nbformat 3 as its program saved it, in lists of lines", "old format 3")
def _format_3_lines(notebooks):
    old = nbformat.convert(notebooks.pop(BACKPROP), 3)
    return {f"{BACKPROP}.ipynb": nbformat.v3.writes_json(old).encode()}


@mangling("nbformat as a text", "does not say which nbformat", "could be read")
def _format_text(notebooks):
    return rewritten(notebooks, CHAIN, lambda document: {**document, "nbformat": "4"})


@mangling("an nbformat of the future", "newer than 4", "could be read")
def _format_5(notebooks):
    return rewritten(notebooks, CHAIN, lambda document: {**document, "nbformat": 5})


@mangling("only the list of cells", "could be read")
def _cells_alone(notebooks):
    return rewritten(notebooks, CHAIN, lambda document: document["cells"])


@mangling("sources as lists of lines")
def _lines(notebooks):
    def change(document):
        for cell in document["cells"]:
            cell["source"] = "".join(cell["source"]).splitlines(keepends=True)

    return rewritten(notebooks, CHAIN, change)


@mangling("sources as lists of lines without their ends")
def _lines_without_ends(notebooks):
    def change(document):
        for cell in document["cells"]:
            cell["source"] = "".join(cell["source"]).splitlines()

    return rewritten(notebooks, CHAIN, change)


@mangling("Windows line ends in file and sources")
def _windows(notebooks):
    for cell in notebooks[CHAIN].cells:
        cell.source = cell.source.replace("\n", "\r\n")
    return replaced(notebooks, CHAIN, lambda data: data.replace(b"\n", b"\r\n"))


@mangling("lone carriage returns in sources")
def _carriage_returns(notebooks):
    for cell in notebooks[CHAIN].cells:
        cell.source = cell.source.replace("\n", "\r")
        cell.metadata = nbformat.from_dict({})


@mangling("a byte order mark")
def _bom(notebooks):
    return replaced(notebooks, CHAIN, lambda data: b"\xef\xbb\xbf" + data)


@mangling("UTF-16", "UTF-16, not UTF-8")
def _utf_16(notebooks):
    return replaced(notebooks, CHAIN, lambda data: data.decode().encode("utf-16"))


@mangling("UTF-16 without a byte order mark", "UTF-16, not UTF-8")
def _utf_16_bare(notebooks):
    return replaced(notebooks, CHAIN, lambda data: data.decode().encode("utf-16-le"))


@mangling("Windows-1252", "Windows-1252, not UTF-8")
def _windows_1252(notebooks):
    solution(notebooks[CHAIN], RULE).source += "\n# schön"

    def change(data):
        ascii_but_one = "".join(c for c in data.decode() if c.isascii() or c == "ö")
        return ascii_but_one.encode("cp1252")

    return replaced(notebooks, CHAIN, change)


@mangling("one byte that is not UTF-8", "bytes that are not UTF-8")
def _one_byte(notebooks):
    notebooks[CHAIN].cells[0].source += " here: ü, there: ü"
    return replaced(notebooks, CHAIN, lambda data: data.replace("here: ü".encode(), b"here: \xff", 1))


@mangling("Colab's metadata and cells")
def _colab(notebooks):
    def change(document):
        document.update(nbformat_minor=0)
        document["metadata"] = {
            "colab": {"provenance": [], "gpuType": "T4"},
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "accelerator": "GPU",
        }
        for number, cell in enumerate(document["cells"]):
            cell["metadata"] = {"id": cell.pop("id"), "colab": {"base_uri": "https://localhost:8080/"}}
            cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
            if cell["cell_type"] == "code":
                cell["metadata"] |= {"cellView": "form", "outputId": f"o{number}"}

    return rewritten(notebooks, CHAIN, change)


@mangling("VS Code's metadata and cells")
def _vs_code(notebooks):
    def change(document):
        document["metadata"]["vscode"] = {"interpreter": {"hash": "31f2aee4e71d21fbe5cf8b01ff0e069b"}}
        for cell in document["cells"]:
            cell["metadata"]["vscode"] = {"languageId": "python"}
            cell["metadata"].pop("nbgrader", None)

    return rewritten(notebooks, CHAIN, change)


@mangling("outputs of 30 MB", "without its outputs")
def _outputs(notebooks):
    big = nbformat.v4.new_output("stream", text="loss 0.1\n" * 3_300_000)
    notebooks[DERIVATIVES].cells[place(notebooks[DERIVATIVES], GRADIENT) + 1].outputs = [big]


@mangling("outputs that are no outputs")
def _outputs_types(notebooks):
    def change(document):
        for cell in document["cells"]:
            cell["outputs"] = {"a": [1, None]}
            cell["execution_count"] = "never"

    return rewritten(notebooks, CHAIN, change)


@mangling("a source that is a number", "malformed", lost={RULE: "other than text"})
def _source_number(notebooks):
    def change(document):
        for cell in document["cells"]:
            if RULE in "".join(cell["source"]) and cell["metadata"].get("nbgrader", {}).get("solution"):
                cell["source"] = 4711

    return rewritten(notebooks, CHAIN, change)


@mangling("cells that are no cells", "3 malformed cells")
def _no_cells(notebooks):
    def change(document):
        document["cells"][2:2] = [None, 7, ["x"]]

    return rewritten(notebooks, CHAIN, change)


@mangling("code cells without a type")
def _no_type(notebooks):
    def change(document):
        for cell in document["cells"]:
            cell.pop("cell_type")

    return rewritten(notebooks, CHAIN, change)
