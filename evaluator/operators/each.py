"""`each: B, requires_prior: A, within: W`: for every B an A that precedes it and lies in the window."""

from collections.abc import Iterator
from itertools import islice

from evaluator.items import Item
from evaluator.language.assertion import Each
from evaluator.operators.monitor import EVIDENCE, Explanation, Monitor
from evaluator.operators.timeline import Timeline
from evaluator.operators.window import Standing, window
from evaluator.operators.wording import called, placed, where
from evaluator.verdict import Result

PRIOR = 0
EACH = 1


class EachMonitor(Monitor):
    """Role 0 is A (`requires_prior`), role 1 is B (`each`).

    Only the Bs that are not satisfied are looked at again, when an A arrives that precedes them: none when items
    arrive in order, else as many as lie between the place of that A and the end.
    """

    __slots__ = ("_all", "_failed", "_open", "_spec", "_standing", "_window")

    def __init__(self, spec: Each) -> None:
        self._spec = spec
        self._window = window(spec.within)
        self._all = Timeline()
        self._open: Timeline | None = None
        """The Bs that are not satisfied; None as long as there was none."""
        self._standing: dict[object, Standing] = {}
        """How each of them stands, by id."""
        self._failed = 0

    def feed(self, item: Item, role: int = PRIOR) -> bool:
        if role == EACH:
            self._all.add(item)
            standing = self._window.judge(item)
            if standing is Standing.SATISFIED:
                return len(self._all) == 1
            self._stands(item, standing)
            return True
        self._window.add(item)
        if not self._open:
            return False
        for later in list(self._open.after(item)):
            standing = self._window.pair(item, later)
            if standing > self._standing[later.id]:
                self._stands(later, standing)
        return True

    def retract(self, item: Item, role: int = PRIOR) -> None:
        if role == EACH:
            self._all.remove(item)
            self._stands(item, Standing.SATISFIED)
            return
        self._window.remove(item)
        for later in self._all.after(item):
            if self._window.pair(item, later) is not Standing.FAILED:
                self._stands(later, self._window.judge(later))

    def replace(self, old: Item, new: Item, role: int = PRIOR) -> None:
        if role == PRIOR:
            self._window.remove(old)
            self._window.add(new)
            return
        standing = self._standing.get(old.id, Standing.SATISFIED)
        self._all.remove(old)
        self._stands(old, Standing.SATISFIED)
        self._all.add(new)
        self._stands(new, standing)

    def fed(self) -> Iterator[tuple[Item, int]]:
        yield from ((item, PRIOR) for item in self._window.priors)
        yield from ((item, EACH) for item in self._all)

    def _stands(self, item: Item, standing: Standing) -> None:
        before = self._standing.pop(item.id, None)
        if before is None and standing is Standing.SATISFIED:
            return
        self._failed += (standing is Standing.FAILED) - (before is Standing.FAILED)
        if standing is not Standing.SATISFIED:
            self._standing[item.id] = standing
            if self._open is None:
                self._open = Timeline()
            if before is None:
                self._open.add(item)
        elif self._open is not None:
            self._open.remove(item)

    @property
    def result(self) -> Result:
        if not self._all:
            return Result.NOT_APPLICABLE
        if self._failed:
            return Result.FAIL
        return Result.UNKNOWN if self._standing else Result.PASS

    @property
    def passed_by(self) -> bool:
        if self._failed:
            return True
        if self._standing:
            return self._window.lasting_doubt
        # What satisfies one B precedes every B that comes after everything; a window closes again.
        return self._spec.within is None and bool(self._all)

    def explain(self) -> Explanation:
        if not self._all:
            return (), f"no item matches {self._spec.each.text}"
        if not self._standing or self._open is None:
            return tuple(islice(self._all, EVIDENCE)), f"{self._many} preceded by {self._required}"
        wanted = Standing.FAILED if self._failed else Standing.UNKNOWN
        item = next(item for item in self._open if self._standing[item.id] is wanted)
        prior = self._window.witness(item)
        if prior is None:
            return (item,), f"{placed(item)}, and nothing that matches {self._spec.prior.text} precedes it"
        last = f"{placed(item)}, last {called(prior)} at {where(prior)}"
        distance = self._window.distance(prior, item)
        if not distance:
            return (item, prior), f"{last}; how far before cannot be computed: {self._missing(prior, item)}"
        return (item, prior), f"{last}, {distance}"

    @property
    def _many(self) -> str:
        count = len(self._all)
        return f"the only {self._spec.each.text} is" if count == 1 else f"all {count} of {self._spec.each.text} are"

    @property
    def _required(self) -> str:
        within = self._spec.within
        near = f" within {within.most} {'turns' if within.unit == 'turns' else 'positions'}" if within else ""
        return f"{self._spec.prior.text}{near}"

    def _missing(self, prior: Item, item: Item) -> str:
        if item.session is None or prior.session is None or item.session != prior.session:
            return "they are not of one session"
        unit = "seq" if self._spec.within is None or self._spec.within.unit == "seq" else "turn"
        lacking = next(one for one in (prior, item) if getattr(one, unit) is None)
        return f"{called(lacking)} has no {unit}"
