"""Paraphrases of triggers: written by a language model once, kept in a file that is committed."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

CACHE: Final = Path(".highbar") / "variations.json"

_PROMPT: Final = (
    "You help to test a conversational agent. Write {count} other ways in which real users would type the message "
    "below. Keep what they want, and every name, number, id and value, exactly as it is; vary the words, the tone, "
    "the formality and the length, and type as people do: lower case, missing punctuation, abbreviations, typos. Do "
    "not answer the message and add nothing to it.\n\nMessage: {trigger}\n\n"
    "Answer with a JSON array of {count} strings and nothing else."
)
_TIMEOUT: Final = 60.0
_BRACKETS: Final = 50
"""How many opening brackets of an answer are tried as the start of the array."""


class VariationsError(Exception):
    """There are no paraphrases. The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Model:
    """An OpenAI-compatible endpoint (`POST {base_url}/chat/completions`)."""

    api_key: str
    base_url: str
    name: str

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Model | None":
        key = environ.get("HIGHBAR_LLM_API_KEY", "").strip()
        if not key:
            return None
        base = environ.get("HIGHBAR_LLM_BASE_URL", "").strip() or "https://api.openai.com/v1"
        return cls(key, base.rstrip("/"), environ.get("HIGHBAR_LLM_MODEL", "").strip() or "gpt-4o-mini")

    async def paraphrase(self, trigger: str, count: int) -> list[str]:
        """Raises VariationsError."""
        # Loading it takes a quarter of a second, and almost no run needs it.
        import httpx

        prompt = _PROMPT.format(count=count, trigger=trigger)
        body = {"model": self.name, "temperature": 0.9, "messages": [{"role": "user", "content": prompt}]}
        try:
            async with httpx.AsyncClient(timeout=_TIMEOUT) as client:
                headers = {"Authorization": f"Bearer {self.api_key}"}
                response = await client.post(f"{self.base_url}/chat/completions", json=body, headers=headers)
            response.raise_for_status()
            content = response.json()["choices"][0]["message"]["content"]
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise VariationsError(f"The model at {self.base_url} gave no variations: {error}") from None
        except (ValueError, LookupError, TypeError) as error:
            message = f"The model at {self.base_url} answered with something else than a chat completion: {error!r}"
            raise VariationsError(message) from None
        return _distinct(_array(str(content)), trigger, count)


class Variations:
    """The paraphrases of one run. `frozen`: only those that are in the file already."""

    def __init__(self, folder: Path, model: Model | None, *, frozen: bool) -> None:
        self._path = cache_path(folder)
        self._model = model
        self._frozen = frozen

    @property
    def path(self) -> Path:
        return self._path

    def known(self, trigger: str, count: int) -> tuple[str, ...] | None:
        """The paraphrases in the file, fewer than `count` perhaps. Raises VariationsError if it cannot be read."""
        entry = self._load().get(cache_key(trigger, count))
        return None if entry is None else tuple(entry["variations"])

    async def of(self, trigger: str, count: int) -> Sequence[str]:
        """The paraphrases of a trigger, written now and kept if they are not in the file. Raises VariationsError."""
        found = self.known(trigger, count)
        if found is not None:
            return found
        if self._frozen or self._model is None:
            need = "" if self._model is not None else " Set HIGHBAR_LLM_API_KEY for it."
            raise VariationsError(
                f"{self._path} has no {count} variations of {trigger!r}. `spanbar variations SPEC` writes them.{need}"
            )
        return await self.write(trigger, count)

    async def write(self, trigger: str, count: int) -> Sequence[str]:
        """Have the model write them, whatever is in the file, and keep them. Raises VariationsError."""
        if self._model is None:
            raise VariationsError("Set HIGHBAR_LLM_API_KEY (and HIGHBAR_LLM_BASE_URL, HIGHBAR_LLM_MODEL) first.")
        written = await self._model.paraphrase(trigger, count)
        if not written:
            raise VariationsError(f"The model wrote no variation of {trigger!r} that differs from it.")
        entry = {"count": count, "model": self._model.name, "trigger": trigger, "variations": written}
        # Read again: another test may have written meanwhile.
        self._save({**self._load(), cache_key(trigger, count): entry})
        return written

    def _load(self) -> dict[str, dict[str, Any]]:
        try:
            entries = json.loads(self._path.read_text("utf-8"))
            return {key: entry for key, entry in entries.items() if _checked(entry)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            message = f"{self._path} cannot be read ({error}). Repair it, or delete it and run `spanbar variations`."
            raise VariationsError(message) from None

    def _save(self, entries: Mapping[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps(entries, indent=2, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
        os.replace(beside, self._path)


def cache_path(folder: Path) -> Path:
    """The nearest `.highbar/variations.json` at or above the folder; where it will be, if there is none."""
    start = folder.absolute()
    candidates = (place / CACHE for place in (start, *start.parents))
    return next((path for path in candidates if path.exists()), start / CACHE)


def cache_key(trigger: str, count: int) -> str:
    """The key of an entry of the file; highbar's, so that both tools share it."""
    identity = json.dumps({"count": count, "trigger": trigger}, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def _checked(entry: Any) -> bool:
    """Raises ValueError if the entry is none."""
    listed = entry.get("variations") if isinstance(entry, dict) else None
    if not isinstance(listed, list) or not all(isinstance(text, str) and text.strip() for text in listed):
        raise ValueError("an entry has no list of texts under variations")
    return True


def _array(content: str) -> list[str]:
    """The first JSON array of texts in what a model wrote, prose around it or not. Raises VariationsError."""
    for start in islice(re.finditer(r"\[", content), _BRACKETS):
        try:
            value, _ = json.JSONDecoder().raw_decode(content, start.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
            return value
    raise VariationsError(f"The model answered without a JSON array of texts: {content[:200]!r}")


def _distinct(texts: Sequence[str], trigger: str, count: int) -> list[str]:
    """Without blanks, repeats and the trigger itself, whatever their case and outer spaces."""
    seen = {trigger.strip().casefold()}
    kept: list[str] = []
    for text in texts:
        folded = text.strip().casefold()
        if folded and folded not in seen:
            seen.add(folded)
            kept.append(text.strip())
    return kept[:count]
