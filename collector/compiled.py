"""Compiled modules: what is done for every span, in C, where a compiler was there when spanbar was installed.

Each does what is usual and answers None for the rest, which goes the way in Python. That way is the reference, and
all there is without a compiler, or with `SPANBAR_PURE=1` in the environment.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

MODULES: Final = ("collector.receiver._spans", "collector.assembly._plain")


def compiled(name: str) -> Any:
    """One of `MODULES`, which its caller configures; None where there is none for this Python."""
    if os.environ.get("SPANBAR_PURE") or find_spec(name) is None:
        return None
    return import_module(name)


def are_all_compiled() -> bool:
    return all(compiled(name) is not None for name in MODULES)
