"""What a turn comes to, by trying everything: slow, and written from SEMANTICS.md section 5 alone.

It is given which call meets which entry, and knows nothing of matchings or orders.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations, product

from evaluator.expectations.values import Fit
from evaluator.items import Call, NotRecorded
from evaluator.language.spec import CallExpectation, Expect, Literal
from evaluator.verdict import Status


def status(expect: Expect, calls: Sequence[Call], *, reply_fits: bool) -> Status:
    """The status of a closed turn."""
    forbidden = any(call.name in expect.forbid for call in calls)
    outcomes = {
        reply_fits and not forbidden and _function_calls(expect, calls, edges) for edges in _worlds(expect, calls)
    }
    if outcomes == {True}:
        return Status.PASSED
    return Status.FAILED if outcomes == {False} else Status.ERROR


def _worlds(expect: Expect, calls: Sequence[Call]) -> Iterator[list[list[bool]]]:
    """Every way in which what was not recorded may be: for each entry and call, whether it fits."""
    fits = [[fit(entry, call) for call in calls] for entry in expect.calls or ()]
    choices = [[True, False] if value is Fit.UNKNOWN else [value is Fit.YES] for row in fits for value in row]
    for flat in product(*choices):
        yield [list(flat[row * len(calls) : (row + 1) * len(calls)]) for row in range(len(fits))]


def fit(entry: CallExpectation, call: Call) -> Fit:
    """Only what the random expectations have: names, one literal argument, `error` true or false."""
    if call.name not in entry.names or call.failed is not bool(entry.error):
        return Fit.NO
    if entry.params is None:
        return Fit.YES
    if isinstance(call.args, NotRecorded):
        return Fit.UNKNOWN
    return Fit.of(
        all(
            isinstance(wanted, Literal) and call.args.get(key) == wanted.value
            for key, wanted in entry.params.entries.items()
        )
    )


def _function_calls(expect: Expect, calls: Sequence[Call], edges: list[list[bool]]) -> bool:
    if expect.calls is None:
        return True
    if not expect.calls:
        return not calls
    if expect.exclusive and len(calls) > len(expect.calls):
        return False
    return any(
        all(edges[entry][call] for entry, call in enumerate(chosen))
        and (not expect.ordered or _one_after_the_other([calls[number] for number in chosen]))
        for chosen in permutations(range(len(calls)), len(expect.calls))
    )


def _one_after_the_other(calls: list[Call]) -> bool:
    return all(
        second.started >= first.ended
        for position, first in enumerate(calls)
        for second in calls[position + 1 : position + 2]
    )
