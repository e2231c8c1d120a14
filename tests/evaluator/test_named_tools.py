"""Tools that behaviors name: a name that nothing bears out is told, and a name that something does is not."""

import pytest

from evaluator.language.behaviors import parse_behaviors
from evaluator.named_tools import NamedTools


def unfounded(assertion: str, declared: set[str] | None, seen: set[str]) -> list[str]:
    return NamedTools(parse_behaviors(f"behaviors: [{{name: b, assert: {assertion}}}]", "b")).unfounded(
        declared, seen
    )


NEVER = "{never: {tool: {}, where: {name: delete_acount}}}"
EITHER = "{never: {tool: {}, where: {name: {in: [delete_acount, remove]}}}}"
SAID = "behavior 'b' names the tool 'delete_acount', which nothing declares or calls"
MEANT = [f"{SAID}; did you mean 'delete_account'?"]


@pytest.mark.parametrize(
    ("assertion", "declared", "seen", "expected"),
    [
        (NEVER, None, {"delete_account"}, MEANT),
        (NEVER, {"delete_account"}, set(), MEANT),
        (NEVER, None, {"DeleteAccount"}, [f"{SAID}; did you mean 'DeleteAccount'?"]),
        (NEVER, None, {"delete_user", "lookup"}, []),
        (NEVER, None, set(), []),
        (NEVER, {"lookup", "pay"}, set(), [f"{SAID}; the agent declares 'lookup' and 'pay'"]),
        (NEVER, set(), set(), [f"{SAID}; the agent declares none"]),
        (NEVER, {"delete_acount", "delete_account"}, set(), []),
        (NEVER, None, {"delete_acount", "delete_account"}, []),
        (EITHER, {"remove"}, set(), []),
        (EITHER, {"remove", "delete_account"}, set(), MEANT),
        ("{before: {first: {tool: {}, where: {name: delete_acount}}, then: {event: x}}}", {"delete_account"}, set(),
         MEANT),
        ("{never: {tool: {}, where: {name: {not: delete_acount}}}}", {"delete_account"}, set(), []),
        ("{never: {tool: {}, where: {name: {glob: delete_acount}}}}", {"delete_account"}, set(), []),
        ("{never: {where: {name: delete_acount}}}", None, {"delete_account"}, MEANT),
        ("{never: {where: {name: delete_acount}}}", {"pay"}, set(), []),
        ("{never: {event: delete_acount}}", {"delete_account"}, set(), []),
        ("{never: {tool: {}, where: {path: delete_acount}}}", {"delete_account"}, set(), []),
    ],
)  # fmt: skip
def test_a_name_that_nothing_bears_out_is_told_with_the_one_that_seems_to_be_meant(
    assertion: str, declared: set[str] | None, seen: set[str], expected: list[str]
) -> None:
    assert unfounded(assertion, declared, seen) == expected
