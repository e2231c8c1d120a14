"""Python's `re.search` in bounded time: a pattern that backtracks for ever must not stop a run."""

import re
import signal
import subprocess
import sys
import threading
from functools import lru_cache
from types import FrameType
from typing import Final, NoReturn

from evaluator.expectations.matchers import RegexTimeout

LONGEST: Final = 1.0
"""Seconds that one search may take."""

_PROGRAM: Final = (
    "import re,sys; t=sys.stdin.read(); n=int(sys.argv[1]); sys.exit(0 if re.search(t[:n],t[n:]) else 1)"
)


class _Expired(BaseException):
    """Raised by the alarm; not an Exception, so that nothing on the way takes it for one."""


def search(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text. Raises RegexTimeout after `LONGEST` seconds."""
    compiled = _compiled(pattern)
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        return _search_until_alarm(compiled, text)
    return _search_elsewhere(pattern, text)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _search_until_alarm(pattern: re.Pattern[str], text: str) -> bool:
    """The engine looks for signals while it searches, so an alarm ends it. Only the main thread gets signals."""
    before = signal.signal(signal.SIGALRM, _expire)
    timer = signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        return pattern.search(text) is not None
    except _Expired:
        raise RegexTimeout(pattern.pattern) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)


def _expire(number: int, frame: FrameType | None) -> NoReturn:
    raise _Expired


def _search_elsewhere(pattern: str, text: str) -> bool:
    """In a process that can be killed: the way for threads, at the price of starting one."""
    command = [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, str(len(pattern))]
    try:
        done = subprocess.run(
            command, input=pattern + text, encoding="utf-8", errors="surrogatepass", timeout=LONGEST + 1, check=False
        )
    except subprocess.TimeoutExpired:
        raise RegexTimeout(pattern) from None
    return done.returncode == 0
