"""The meaning: what a verdict is."""
