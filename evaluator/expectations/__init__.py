"""What a test expects of a turn: its calls, what it must not call, its reply."""

from evaluator.expectations.comparison import Difference
from evaluator.expectations.matchers import RegexSearch, RegexTimeout
from evaluator.expectations.reason import NearestMiss, Reason
from evaluator.expectations.turn import TurnMonitor, TurnVerdict

__all__ = [
    "Difference",
    "NearestMiss",
    "Reason",
    "RegexSearch",
    "RegexTimeout",
    "TurnMonitor",
    "TurnVerdict",
]
