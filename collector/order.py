"""The order of items for readers."""

from collections.abc import Iterable

from evaluator.items import Item


def in_order(items: Iterable[Item]) -> list[Item]:
    """Items as a person reads them: each session's by seq, those without a seq where their time puts them."""
    numbered: dict[str | None, list[Item]] = {}
    loose: list[Item] = []
    for item in items:
        if item.seq is None:
            loose.append(item)
        else:
            numbered.setdefault(item.session, []).append(item)
    if not numbered:
        return sorted(loose, key=lambda item: item.time)
    keyed: list[tuple[int, int, int, Item]] = [(item.time, 0, number, item) for number, item in enumerate(loose)]
    for run in numbered.values():
        run.sort(key=lambda item: (item.seq or 0, item.time))
        reached = 0
        for number, item in enumerate(run):
            reached = max(reached, item.time)
            keyed.append((reached, 1, number, item))
    keyed.sort(key=lambda entry: entry[:3])
    return [entry[3] for entry in keyed]
