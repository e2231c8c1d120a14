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
from evaluator.verdict import Contract


def monitor(assertion: Assertion, contract: Contract) -> Monitor:
    """A monitor of an assertion, over a unit in which nothing has arrived."""
    match assertion:
        case Never():
            return NeverMonitor(assertion, contract)
        case Eventually():
            return EventuallyMonitor(assertion, contract)
        case Count():
            return CountMonitor(assertion, contract)
        case Before():
            return BeforeMonitor(assertion, contract)
        case Order():
            return OrderMonitor(assertion, contract)
        case Each():
            return EachMonitor(assertion, contract)
        case AllPaths():
            return AllPathsMonitor(assertion, contract)
        case AnyPath():
            return AnyPathMonitor(assertion, contract)


def uncertain(assertion: Assertion, contract: Contract, certain: Monitor, cause: Cause) -> UncertainMonitor:
    """The monitor that takes over from `certain` when a match is in doubt."""
    roles = len(matchers(assertion))
    match assertion:
        case Before():
            return UncertainBefore(certain, roles, cause, contract)
        case Order():
            return UncertainOrder(certain, roles, cause, contract)
        case _:
            return ExtremesMonitor(certain, roles, cause, contract, lambda: monitor(assertion, contract))


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
