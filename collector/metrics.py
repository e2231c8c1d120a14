"""The server's own metrics, with the names that Prometheus gives to OpenTelemetry's, and their text for a scraper."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""s: the upper bounds of the delay histogram's buckets."""

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its values by labels (`()` for none)."""

    name: str
    help: str
    kind: Literal["counter", "gauge"]
    values: Mapping[tuple[tuple[str, str], ...], float]


class Histogram:
    """Counts durations in s by `BOUNDS`."""

    def __init__(self, name: str, help: str) -> None:
        self.name = name
        self.help = help
        self.sum = 0.0
        self.count = 0
        self.buckets = [0] * (len(BOUNDS) + 1)
        """How many durations are in each bucket, the last of which has no bound."""

    def observe(self, seconds: float) -> None:
        """Count a duration; a negative one (clocks differ) as 0."""
        seconds = max(seconds, 0.0)
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds
        self.count += 1

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} histogram"
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.buckets, strict=True):
            total += count
            yield f'{self.name}_bucket{{le="{bound}"}} {total}'
        yield f"{self.name}_sum {self.sum}"
        yield f"{self.name}_count {self.count}"


def single(name: str, help: str, kind: Literal["counter", "gauge"], value: float) -> Metric:
    return Metric(name, help, kind, {(): value})


def render(metrics: Iterable[Metric | Histogram]) -> str:
    """The text that a scraper reads."""
    lines: list[str] = []
    for metric in metrics:
        if isinstance(metric, Histogram):
            lines.extend(metric.lines())
            continue
        lines.append(f"# HELP {metric.name} {metric.help}")
        lines.append(f"# TYPE {metric.name} {metric.kind}")
        for labels, value in metric.values.items():
            inside = ",".join(f'{name}="{_escape(text)}"' for name, text in labels)
            lines.append(f"{metric.name}{{{inside}}} {value}" if inside else f"{metric.name} {value}")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
