from collector.metrics import Histogram, Metric, render, single


def test_metrics_are_written_as_prometheus_reads_them() -> None:
    shown = render(
        [
            single("spanbar_items", "Items that are kept.", "gauge", 12_345_678),
            Metric(
                "spanbar_results_total", "Results.", "counter", {(("behavior", 'a "b"\\\n'), ("result", "pass")): 2}
            ),
        ]
    )
    assert shown == (
        "# HELP spanbar_items Items that are kept.\n# TYPE spanbar_items gauge\nspanbar_items 12345678\n"
        "# HELP spanbar_results_total Results.\n# TYPE spanbar_results_total counter\n"
        'spanbar_results_total{behavior="a \\"b\\"\\\\\\n",result="pass"} 2\n'
    )


def test_a_histogram_counts_cumulatively_and_a_negative_delay_as_none() -> None:
    delays = Histogram("delay", "Delay.")
    for seconds in (-1, 0.001, 0.002, 100):
        delays.observe(seconds)
    lines = render([delays]).splitlines()
    assert 'delay_bucket{le="0.001"} 2' in lines
    assert 'delay_bucket{le="0.0025"} 3' in lines
    assert 'delay_bucket{le="30.0"} 3' in lines
    assert 'delay_bucket{le="+Inf"} 4' in lines
    assert lines[-1] == "delay_count 4"
