"""The server's own metrics over OTLP, read back with the official classes."""

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from collector.export.destination import DestinationError
from collector.export.metrics import MetricsExporter, metrics_request
from collector.metrics import Histogram, Metric, single
from tests.collector.export.otlp_target import Answer, HttpTarget
from tests.waiting import until


def test_each_kind_of_metric_has_its_form() -> None:
    delay = Histogram("spanbar_verdict_delay_seconds", "Delay.")
    delay.observe(0.002)
    delay.observe(99)
    labels = (("behavior", "b"), ("result", "pass"))
    request = metrics_request(
        [
            Metric("spanbar_results_total", "Results.", "counter", {labels: 2}),
            single("spanbar_items", "", "gauge", 7),
            delay,
        ],
        (1, 5),
        {"service.instance.id": "i"},
    )
    (of_resource,) = ExportMetricsServiceRequest.FromString(request.SerializeToString()).resource_metrics
    resource = {each.key: each.value.string_value for each in of_resource.resource.attributes}
    assert (resource["service.name"], resource["service.instance.id"]) == ("spanbar", "i")
    results, items, delays = of_resource.scope_metrics[0].metrics
    assert (results.name, results.sum.is_monotonic, results.sum.aggregation_temporality) == (
        "spanbar.results",
        True,
        2,
    )
    (point,) = results.sum.data_points
    assert (point.as_int, point.start_time_unix_nano, point.time_unix_nano) == (2, 1, 5)
    assert {each.key: each.value.string_value for each in point.attributes} == dict(labels)
    assert (items.name, items.gauge.data_points[0].as_int) == ("spanbar.items", 7)
    (counted,) = delays.histogram.data_points
    assert (delays.name, delays.unit, counted.count, counted.sum) == ("spanbar.verdict_delay", "s", 2, 99.002)
    assert list(counted.bucket_counts) == [0, 1, *[0] * 12, 1]
    assert len(counted.bucket_counts) == len(counted.explicit_bounds) + 1


async def test_they_are_exported_again_and_again_and_at_the_end() -> None:
    numbers = iter(range(1, 1_000))
    target = HttpTarget([Answer(200)])
    await target.start()
    exporter = MetricsExporter(target.url, every=0.01, headers={"x-team": "a"}, environ={})
    await exporter.start(lambda: [single("spanbar_items", "", "gauge", next(numbers))])
    await until(lambda: len(target.seen) >= 3)
    await exporter.close(30)
    await target.stop()
    values = [_only_value(seen.body) for seen in target.seen]
    assert values == list(range(1, next(numbers)))
    assert {seen.path for seen in target.seen} == {"/v1/metrics"}
    assert target.seen[0].headers["x-team"] == "a"
    assert exporter.counts.delivered == exporter.counts.offered


def test_a_url_that_cannot_be_used_is_told() -> None:
    with pytest.raises(DestinationError, match="--metrics-export"):
        MetricsExporter("ftp://x", environ={})


def _only_value(body: bytes) -> int:
    (of_resource,) = ExportMetricsServiceRequest.FromString(body).resource_metrics
    return int(of_resource.scope_metrics[0].metrics[0].gauge.data_points[0].as_int)
