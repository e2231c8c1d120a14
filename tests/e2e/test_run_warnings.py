"""What `spanbar run` warns of in behaviors and mappings, once all is over."""

import json
import sys
from pathlib import Path

from tests.environments import free_port, spanbar

BEHAVIORS = """
behaviors:
  - {name: no cancelling, assert: {never: {tool: {}, where: {name: cancel_oder}}}}
  - {name: no flying, assert: {never: {tool: {}, where: {name: fly}}}}
"""
MAPPING = 'mapping: {name: shop, calls: [{where: {in: spans, name: "step *"}, tool: shop.tool}]}'


def test_names_of_no_tool_and_rules_that_claim_nothing_are_warned_of(tmp_path: Path) -> None:
    assert spanbar("init", cwd=tmp_path).returncode == 0
    spec, agent, port = tmp_path / "specs" / "support.highbar.yaml", tmp_path / "agent.py", str(free_port())
    agent.write_text(agent.read_text().replace("8731", port))
    spec.write_text(spec.read_text().replace("8731", port).replace("python agent.py", f"{sys.executable} agent.py"))
    (tmp_path / "rules.yaml").write_text(BEHAVIORS)
    (tmp_path / "m.yaml").write_text(MAPPING)
    ran = spanbar("run", "--behaviors", "rules.yaml", "--mapping", "m.yaml", "--json", "found.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    warnings = [warning["text"] for warning in json.loads((tmp_path / "found.json").read_text())["warnings"]]
    assert "did you mean 'cancel_order'?" in warnings[0]
    assert warnings[1].endswith("; the agent declares 'cancel_order', 'delete_account' and 'get_order'")
    assert warnings[2].startswith("mapping shop: the rule calls[0] claimed nothing of ")
    assert all(f"warning  {text}" in ran.stdout for text in warnings)
