"""The signs of the terminal report, for terminals that show Unicode and for those that do not."""

from dataclasses import dataclass
from typing import Final

from rich.console import Console


@dataclass(frozen=True, slots=True)
class Glyphs:
    passed: str
    failed: str
    error: str
    bar: str
    instant: str
    spinner: str
    """Its frames, shown one after another."""
    ellipsis: str


UNICODE: Final = Glyphs("✓", "✗", "!", "━", "╺", "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "…")
ASCII: Final = Glyphs("ok", "FAIL", "ERR", "=", "|", "-\\|/", "...")


def glyphs_of(console: Console) -> Glyphs:
    return UNICODE if console.encoding.lower().startswith("utf") else ASCII


def writable(text: str, console: Console) -> str:
    """`text` with escapes for what the console's encoding does not have."""
    encoding = console.encoding
    return text if encoding.lower().startswith("utf") else text.encode(encoding, "backslashreplace").decode(encoding)
