"""The wire: telemetry in, verdicts out."""
