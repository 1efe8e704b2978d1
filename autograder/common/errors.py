"""The root of the mistakes that a command says in one sentence, without a traceback."""


class GraderError(Exception):
    """A mistake of an instructor's, or of a file; the message says where it is and what to do."""
