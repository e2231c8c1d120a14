"""The languages of the two file formats: YAML -> typed specs, where every problem names its place in the file."""

from evaluator.language.problem import Problem, SpecProblems
from evaluator.language.reader import parse_spec, read_spec

__all__ = ["Problem", "SpecProblems", "parse_spec", "read_spec"]
