"""YAML to typed specs and behaviors; every problem names its place in the file."""
