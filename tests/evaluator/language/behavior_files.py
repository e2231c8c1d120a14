"""What is wrong with the text of a behavior file."""

import pytest

from evaluator.language.behaviors import parse_behaviors
from evaluator.language.problem import Problem, SpecProblems


def problems(text: str) -> list[Problem]:
    with pytest.raises(SpecProblems) as caught:
        parse_behaviors(text, "b.yaml")
    return list(caught.value.problems)
