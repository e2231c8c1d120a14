"""Assembly: decoded telemetry in, in any order; changes of items out.

Conventions say what each span shows by itself; here it is put together: sessions from ancestors, the layers of one
call, what the model asked for, approvals. The items are the same for every order and batching of the same telemetry,
and what is delivered twice counts once.
"""

from collector.assembly.assembled import Assembled
from collector.assembly.assembly import Assembly
from collector.assembly.explained import ExplainedCall, Ignored, Layer

__all__ = ["Assembled", "Assembly", "ExplainedCall", "Ignored", "Layer"]
