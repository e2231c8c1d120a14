"""Asking the customer before a tool runs."""

from collections.abc import Iterable


def question(tools: Iterable[str]) -> str:
    return f"I need your confirmation for: {', '.join(tools)}. Shall I go on, yes or no?"


def is_yes(message: str) -> bool:
    return message.strip().strip(".!").lower() in {"y", "yes"}
