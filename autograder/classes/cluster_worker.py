"""The program that grades on a cluster's worker, in a process beside Dask's (`python -m ...cluster_worker`).

It is no thread of Dask's process for two reasons. The bound on what an answer costs the grader (`common.effort`) needs
a main thread. And a submission that brings the grader down does not bring the worker down.

Questions and answers are bytes (`parcel`). As in the pool of one machine, the process keeps its sandboxes warm from one
submission to the next, and keeps nothing of a submission.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from autograder.classes.parcel import COURSE, HIDDEN, NOBODY, Answer, Question
from autograder.classes.work import Task, Work, reason_of
from autograder.classes.worker import Fault, attempt, die_with, end
from autograder.course.loading import load_course
from autograder.grafting.collecting import RECORD
from autograder.grafting.tidying import ORIGINALS
from autograder.judging.judge import Judge
from autograder.reading.student_files import one_line
from autograder.sandbox import SandboxError, choose


def main(descriptor: str, parent: str, folder: str, isolation: str) -> None:
    """Answer questions until the process is told to end.

    Args:
        descriptor: The number of the file descriptor for questions and answers.
        parent: The number of the process that this one must not outlive.
        folder: The place of the unpacked course.
        isolation: The sandbox's kind.
    """
    die_with(int(parent))
    os.dup2(2, 1)  # nothing that a library prints goes astray
    connection = Connection(int(descriptor))
    try:
        choose(isolation)
        judge = Judge(load_course(Path(folder, COURSE), tree=False), hidden=Path(folder, HIDDEN), isolation=isolation)
    except Exception as error:  # whatever it is, the person who gave the command is told
        said = one_line(str(error)) if isinstance(error, SandboxError) else reason_of(error)
        connection.send_bytes(Answer(refusal=f"{platform.node()}: {said}").pack())
        return
    with contextlib.suppress(KeyboardInterrupt, EOFError), judge:
        signal.signal(signal.SIGTERM, end)
        while True:
            connection.send_bytes(_answer(judge, Question.unpack(connection.recv_bytes())).pack())


def _answer(judge: Judge, question: Question) -> Answer:
    """Grade one notebook as the pool does, from a submitted tree that holds nothing else."""
    root, work = judge.course.directory, Work(NOBODY, question.assignment)
    submitted, originals = work.folder(root), root / ORIGINALS / NOBODY / question.assignment
    try:
        for folder in (submitted, originals):
            shutil.rmtree(folder, ignore_errors=True)  # of a process that did not come to its end
            folder.mkdir(parents=True)
        (submitted / f"{question.lesson}.ipynb").write_bytes(question.notebook)
        record = {question.lesson: question.record} if question.record is not None else {}
        (originals / RECORD).write_text(json.dumps(record))
        done = attempt(judge, Task(work, question.lesson), keep=False, write=False)
    finally:
        for folder in (submitted, originals):
            shutil.rmtree(folder, ignore_errors=True)
    if isinstance(done, Fault):
        return Answer(fault=str(done))
    return Answer(done.entry, done.problem)


if __name__ == "__main__":
    main(*sys.argv[1:])
