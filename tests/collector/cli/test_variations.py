"""`spanbar variations` writes paraphrases once, and keeps what people edited."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

from collector.cli import main

SPEC = {
    "agent": {"endpoint": "http://127.0.0.1:1/"},
    "suites": [
        {
            "name": "S",
            "tests": [{"trigger": "go", "variations": 2, "expect": {"response": {"contains": "ok"}}}],
        }
    ],
}


class Model(ThreadingHTTPServer):
    """Answers every request with `content`, and counts them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.content = 'Sure: ["Gogo", "GO ", "please go", "gogo"] and that is all'
        self.requests: list[dict[str, Any]] = []


class Answer(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        body = json.dumps({"choices": [{"message": {"content": self.server.content}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None: ...


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """A model, and a working directory with a spec."""
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/a.highbar.yaml").write_text(json.dumps(SPEC))
    with Model() as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        monkeypatch.setenv("HIGHBAR_LLM_API_KEY", "k")
        monkeypatch.setenv("HIGHBAR_LLM_BASE_URL", f"http://127.0.0.1:{serving.server_port}/v1")
        yield serving
        serving.shutdown()


def variations(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["variations", *arguments])


def cached() -> list[str]:
    (entry,) = json.loads(Path(".highbar/variations.json").read_text()).values()
    found: list[str] = entry["variations"]
    return found


def test_repeats_and_the_trigger_itself_are_left_out(model: Model) -> None:
    assert variations().exit_code == 0
    assert cached() == ["Gogo", "please go"]


def test_what_is_written_is_kept(model: Model) -> None:
    variations()
    path = Path(".highbar/variations.json")
    path.write_text(path.read_text().replace("please go", "edited"))
    result = variations()
    assert result.exit_code == 0
    assert "edited" in result.output
    assert len(model.requests) == 1


def test_force_writes_anew(model: Model) -> None:
    variations()
    model.content = '["off we go"]'
    assert variations("--force").exit_code == 0
    assert cached() == ["off we go"]


@pytest.mark.parametrize("content", ["no", '{"a": 1}', "[1, 2]", '["go"]', "[" * 100_000])
def test_an_answer_without_variations_is_said_and_nothing_is_kept(model: Model, content: str) -> None:
    model.content = content
    result = variations()
    assert result.exit_code == 1
    assert "✗ go" in result.output
    assert not Path(".highbar/variations.json").exists()


def test_without_a_key_it_says_which_variable_is_missing(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HIGHBAR_LLM_API_KEY")
    result = variations()
    assert result.exit_code == 1
    assert "HIGHBAR_LLM_API_KEY" in result.output


def test_a_file_that_cannot_be_read_is_not_overwritten(model: Model) -> None:
    Path(".highbar").mkdir()
    Path(".highbar/variations.json").write_text("<<<<<<< HEAD")
    result = variations()
    assert result.exit_code == 1
    assert "variations.json" in result.output
    assert Path(".highbar/variations.json").read_text() == "<<<<<<< HEAD"


def test_the_file_is_shared_with_highbar(model: Model) -> None:
    """highbar 0.1.0rc3 keeps two variations of `go` under this key."""
    variations()
    assert list(json.loads(Path(".highbar/variations.json").read_text())) == ["a4c548629be0e5f4"]
