"""Known answers of exercises, read from a course's folder."""

from autograder.course.answers import files_of_answers, variants, wrong_answers


def test_known_answers_come_by_name_and_in_order(tmp_path):
    """Each text is read under the name of its file; an exercise without any, or without a folder, has none."""
    folder = tmp_path / "wrong" / "sums.add"
    folder.mkdir(parents=True)
    for name in ("subtracts", "adds-twice"):
        (folder / f"{name}.py").write_text(f'"""{name} → wrong."""\n', encoding="utf-8")
    (folder / "notes.txt").write_text("no answer")
    found = wrong_answers(tmp_path, "sums.add")
    assert list(found.items()) == [
        ("adds-twice", '"""adds-twice → wrong."""\n'),
        ("subtracts", '"""subtracts → wrong."""\n'),
    ]
    assert [file.stem for file in files_of_answers(tmp_path, "wrong", "sums.add")] == list(found)
    assert wrong_answers(tmp_path, "sums.mul") == variants(tmp_path, "sums.add") == {}
