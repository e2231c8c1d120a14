"""The server's own metrics over OTLP: what `--metrics-export URL` does.

Source: the OpenTelemetry specification, "Metrics Data Model"; sums and histograms are cumulative.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from time import time_ns
from typing import Final
from uuid import uuid4

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.metrics.v1 import metrics_pb2 as otlp
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from collector.export.destination import destination
from collector.export.marker import MARKER
from collector.export.otlp import Attributes, attributes, spanbar_version
from collector.export.sender import MEBIBYTE, Counts, Retrying, Sender
from collector.metrics import BOUNDS, Histogram, Metric

SCOPE_NAME: Final = "spanbar.metrics"
EVERY: Final = 10.0
"""s between two exports, unless told otherwise."""

_CUMULATIVE: Final = otlp.AGGREGATION_TEMPORALITY_CUMULATIVE

Read = Callable[[], Iterable[Metric | Histogram]]


class MetricsExporter:
    """Exports what it reads every `every` seconds, and once more when it is closed. Belongs to one event loop.

    Raises DestinationError when `url` or a variable cannot be understood; `url` None goes by the variables alone.
    """

    def __init__(
        self,
        url: str | None,
        *,
        every: float = EVERY,
        headers: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        retrying: Retrying | None = None,
    ) -> None:
        environ = os.environ if environ is None else environ
        target = destination(url, environ, headers=headers, option="--metrics-export")
        # A point that waits long is replaced by the next one: little need wait.
        self._sender = Sender(target, queue_bytes=MEBIBYTE, workers=1, retrying=retrying)
        self._every = every
        self._read: Read = tuple
        self._started = time_ns()
        self._resource = {"service.instance.id": str(uuid4())}
        self._exporting: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """Where it exports to, as shown to people."""
        return self._sender.destination.name

    @property
    def counts(self) -> Counts:
        """Requests by what became of them."""
        return self._sender.counts

    async def start(self, read: Read) -> None:
        """Raises OSError or ssl.SSLError when TLS files cannot be used."""
        self._read = read
        await self._sender.start()
        self._exporting = asyncio.create_task(self._export_again_and_again())

    async def close(self, within: float) -> None:
        """Export the last state and give it `within` seconds to be delivered."""
        if self._exporting is not None:
            self._exporting.cancel()
            await asyncio.gather(self._exporting, return_exceptions=True)
            self._export()
        await self._sender.close(within)

    async def _export_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            self._export()

    def _export(self) -> None:
        request = metrics_request(self._read(), (self._started, time_ns()), self._resource)
        self._sender.offer("metrics", request.SerializeToString())


def metrics_request(
    metrics: Iterable[Metric | Histogram], times: tuple[int, int], resource: Mapping[str, str]
) -> ExportMetricsServiceRequest:
    """The request for the metrics as they are now. `times`: ns, since when they count and now."""
    known: Attributes = {"service.name": "spanbar", "service.version": spanbar_version(), **resource, MARKER: True}
    scope = InstrumentationScope(name=SCOPE_NAME, version=spanbar_version())
    scoped = otlp.ScopeMetrics(scope=scope, metrics=[_metric(each, *times) for each in metrics])
    of_resource = otlp.ResourceMetrics(resource=Resource(attributes=attributes(known)), scope_metrics=[scoped])
    return ExportMetricsServiceRequest(resource_metrics=[of_resource])


def _metric(metric: Metric | Histogram, since: int, now: int) -> otlp.Metric:
    name, unit = _named(metric.name)
    made = otlp.Metric(name=name, description=metric.help, unit=unit)
    if isinstance(metric, Histogram):
        point = otlp.HistogramDataPoint(
            start_time_unix_nano=since,
            time_unix_nano=now,
            count=metric.count,
            sum=metric.sum,
            bucket_counts=metric.buckets,
            explicit_bounds=BOUNDS,
        )
        made.histogram.CopyFrom(otlp.Histogram(data_points=[point], aggregation_temporality=_CUMULATIVE))
        return made
    points = [
        otlp.NumberDataPoint(
            attributes=attributes(dict(labels)), start_time_unix_nano=since, time_unix_nano=now, as_int=int(value)
        )
        for labels, value in metric.values.items()
    ]
    if metric.kind == "gauge":
        made.gauge.CopyFrom(otlp.Gauge(data_points=points))
    else:
        made.sum.CopyFrom(otlp.Sum(data_points=points, aggregation_temporality=_CUMULATIVE, is_monotonic=True))
    return made


def _named(name: str) -> tuple[str, str]:
    """Name and unit in OpenTelemetry, from which Prometheus makes `name` again."""
    name = name.removesuffix("_total").replace("_", ".", 1)
    if name.endswith("_seconds"):
        return name.removesuffix("_seconds"), "s"
    return name, "By" if name.endswith("_bytes") else "1"
