"""Mappings: files in which users say what the spans and log events of an instrumentation of their own mean.

`read_mapping` reads one (`--mapping FILE`); what it claims is read by it and by no convention.
"""

from collector.mapping.claims import Claims
from collector.mapping.reader import parse_mapping, read_mapping

__all__ = ["Claims", "parse_mapping", "read_mapping"]
