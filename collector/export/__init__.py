"""Verdicts and telemetry out: spans, records, reports."""
