"""Starters: what `spanbar init` can write. A starter is made of layers, folders beside this module.

Templates are files for users: they run with the packages of their own requirements.txt or package.json, and nothing
here imports them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

_PYTHON = ("python",)
_PYTHON_APPROVAL = ("python", "approval")
_PIP = "pip install -r requirements.txt"
_OPENAI = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class Starter:
    """`name` is what `--framework` takes and the folder of its own files; `shared` are the folders below it."""

    name: str
    title: str
    shared: tuple[str, ...] = ()
    install: str = _PIP
    key: str | None = _OPENAI
    """The environment variable with the model's key; None: it needs no model."""

    def files(self) -> Mapping[Path, Traversable]:
        """The files to write, by path within the new folder."""
        found: dict[Path, Traversable] = {}
        for layer in (*self.shared, self.name):
            found |= _walk(files(__name__) / layer, Path())
        return dict(sorted(found.items()))


PLAIN: Final = Starter("plain", "no framework, no LLM", install='pip install "spanbar[quickstart]"', key=None)

FRAMEWORKS: Final[Mapping[str, Starter]] = {
    starter.name: starter
    for starter in (
        Starter("pydantic-ai", "Pydantic AI", _PYTHON_APPROVAL),
        Starter("openai-agents", "OpenAI Agents SDK", _PYTHON_APPROVAL),
        Starter("langchain", "LangChain and LangGraph", _PYTHON_APPROVAL),
        Starter("crewai", "CrewAI", _PYTHON),
        Starter("google-adk", "Google Agent Development Kit", _PYTHON_APPROVAL, key="GOOGLE_API_KEY"),
        Starter("strands", "Strands Agents", _PYTHON_APPROVAL),
        Starter("smolagents", "smolagents", _PYTHON),
        Starter("llama-index", "LlamaIndex", _PYTHON),
        Starter("agent-framework", "Microsoft Agent Framework", _PYTHON_APPROVAL),
        Starter("vercel-ai", "Vercel AI SDK (Node)", install="npm install"),
        Starter("openai", "OpenAI SDK, a loop written by hand", _PYTHON),
        Starter("mcp", "Pydantic AI with tools of an MCP server", _PYTHON),
    )
}


def _walk(folder: Traversable, path: Path) -> dict[Path, Traversable]:
    found: dict[Path, Traversable] = {}
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name not in {"__pycache__", "node_modules"}:
            found |= _walk(entry, path / entry.name)
        elif entry.is_file():
            found[path / entry.name] = entry
    return found
