"""Whether tool calls of an agent can be seen at all: what cannot be seen is never a pass."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from collector.cli.check import check
from tests.collector.corpus import CORPUS

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside this checkout")

BEHAVIORS = """
behaviors:
  - {name: no deletion, assert: {never: {tool: {}, where: {name: delete_account}}}}
  - {name: no steer, assert: {never: {event: steer}}}
"""


def results(tmp_path: Path, *recordings: str) -> dict[str, set[str]]:
    (tmp_path / "b.yaml").write_text(BEHAVIORS)
    files = [str(CORPUS / recording) for recording in recordings]
    found = tmp_path / "found.json"
    CliRunner().invoke(check, [str(tmp_path / "b.yaml"), *files, "--json", str(found)])
    behaviors = json.loads(found.read_text())["behaviors"]
    names = {behavior["name"] for behavior in behaviors}
    return {name: {each["result"] for each in behaviors if each["name"] == name} for name in names}


@pytest.mark.parametrize(
    "recording",
    [
        "openai-otel-genai/one_tool.default.otlp",
        "openai-otel-v2/one_tool.default.otlp",
        "crewai-openinference/one_tool.otlp",
    ],
)
def test_where_no_span_shows_which_tools_were_called_never_is_unknown(tmp_path: Path, recording: str) -> None:
    assert results(tmp_path, recording) == {"no deletion": {"unknown"}, "no steer": {"pass"}}


@pytest.mark.parametrize(
    "recordings",
    [
        ("openai-otel-genai/one_tool.otlp",),
        ("openai-otel-v2/one_tool.otlp", "openai-otel-v2/one_tool.logs.otlp"),
        ("pydantic-ai/one_tool.nocontent.otlp",),
        ("vercel-ai-7/one_tool.nocontent.otlp",),
        ("crewai-openinference/one_tool.native.otlp",),
    ],
)
def test_where_calls_show_even_without_their_content_never_is_a_pass(
    tmp_path: Path, recordings: tuple[str, ...]
) -> None:
    assert results(tmp_path, *recordings)["no deletion"] == {"pass"}
