"""Acts in a forked process."""

import os
from collections.abc import Callable
from typing import Any


def answer_of_a_fork(act: Callable[[], Any]) -> str:
    """What an act answers in a forked process, or the message of its error."""
    ours, theirs = os.pipe()
    process = os.fork()
    if not process:
        try:
            answer = repr(act())
        except BaseException as error:
            answer = str(error)
        os.write(theirs, answer.encode())
        os._exit(0)
    os.waitpid(process, 0)
    os.close(theirs)
    with os.fdopen(ours) as opened:
        return opened.read()
