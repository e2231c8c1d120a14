"""Operators: one module each, an incremental monitor (SEMANTICS.md, sections 3 and 4)."""

from evaluator.items import ItemKind
from evaluator.language.assertion import (
    AllPaths,
    AnyPath,
    Assertion,
    Before,
    Count,
    Each,
    Eventually,
    ItemMatcher,
    Never,
    Order,
)
from evaluator.operators.all_paths import AllPathsMonitor
from evaluator.operators.any_path import AnyPathMonitor
from evaluator.operators.before import BeforeMonitor
from evaluator.operators.count import CountMonitor
from evaluator.operators.each import EachMonitor
from evaluator.operators.eventually import EventuallyMonitor
from evaluator.operators.monitor import Monitor
from evaluator.operators.never import NeverMonitor
from evaluator.operators.order import OrderMonitor
from evaluator.operators.sequence import UncertainBefore, UncertainOrder
from evaluator.operators.uncertain import Cause, ExtremesMonitor, UncertainMonitor


def monitor(assertion: Assertion) -> Monitor:
    """A monitor of an assertion, over a unit in which nothing has arrived."""
    match assertion:
        case Never():
            return NeverMonitor(assertion)
        case Eventually():
            return EventuallyMonitor(assertion)
        case Count():
            return CountMonitor(assertion)
        case Before():
            return BeforeMonitor(assertion)
        case Order():
            return OrderMonitor(assertion)
        case Each():
            return EachMonitor(assertion)
        case AllPaths():
            return AllPathsMonitor(assertion)
        case AnyPath():
            return AnyPathMonitor(assertion)


def uncertain(assertion: Assertion, certain: Monitor, cause: Cause) -> UncertainMonitor:
    """The monitor that takes over from `certain` when a match is in doubt."""
    roles = len(matchers(assertion))
    match assertion:
        case Before():
            return UncertainBefore(certain, roles, cause)
        case Order():
            return UncertainOrder(certain, roles, cause)
        case _:
            return ExtremesMonitor(certain, roles, cause, lambda: monitor(assertion))


def matchers(assertion: Assertion) -> tuple[ItemMatcher, ...]:
    """The matchers of an assertion. A monitor is fed what matches one of them, with its position here as the role."""
    match assertion:
        case Never() | Eventually() | Count():
            return (assertion.match,)
        case Before():
            return assertion.first, assertion.then
        case Order():
            return assertion.matches
        case Each():
            return assertion.prior, assertion.each
        case AllPaths() | AnyPath():
            return tuple(ItemMatcher(f"{{event: {name}}}", ItemKind.EVENT, name) for name in assertion.sources)
