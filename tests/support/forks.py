"""Acts in a forked process."""

import os
import signal
from collections.abc import Callable
from typing import Any

_PATIENCE = 120  # seconds, after which an act has met a lock of a thread that is not there in a fork


def answer_of_a_fork(act: Callable[[], Any]) -> str:
    """What an act answers in a forked process, or the message of its error; and how the process ended, if not by itself."""
    ours, theirs = os.pipe()
    process = os.fork()
    if not process:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends it wherever it waits
        signal.alarm(_PATIENCE)
        try:
            answer = repr(act())
        except BaseException as error:
            answer = f"{error}" or repr(error)
        os.write(theirs, answer.encode())
        os._exit(0)
    _, status = os.waitpid(process, 0)
    os.close(theirs)
    with os.fdopen(ours) as opened:
        answer = opened.read()
    code = os.waitstatus_to_exitcode(status)
    return answer if code == 0 else f"{answer} (ended by {signal.Signals(-code).name if code < 0 else code})"
