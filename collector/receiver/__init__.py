"""How telemetry comes in: OTLP over gRPC and HTTP, and trace files."""

from collector.receiver.intake import Counters, Overloaded, Received, Signal
from collector.receiver.receiver import Receiver

__all__ = ["Counters", "Overloaded", "Received", "Receiver", "Signal"]
