"""Runs Python session hooks in a process of its own. Started with `python -c`, so that it imports nothing of ours.

One JSON request a line on standard input, one JSON answer a line on what was standard output; whatever the hooks
print goes to standard error. Standard library only.
"""

import asyncio
import importlib
import inspect
import json
import os
import sys
from types import SimpleNamespace
from typing import Any

FUNCTIONS: dict[str, Any] = {}


def load(request: dict[str, Any]) -> None:
    module = importlib.import_module(request["module"])
    function: Any = module
    for name in request["function"].split("."):
        if not hasattr(function, name):
            raise AttributeError(f"{request['module']} has no function {request['function']}")
        function = getattr(function, name)
    if not callable(function):
        raise TypeError(f"{request['module']}:{request['function']} is not a function")
    FUNCTIONS[request["hook"]] = function


def call(request: dict[str, Any]) -> Any:
    arguments = [SimpleNamespace(**request["context"])]
    if request["hook"] == "teardown":
        arguments.append(request["session"])
    result = FUNCTIONS[request["hook"]](*arguments)
    if inspect.isawaitable(result):
        result = asyncio.run(awaited(result))
    return check(result) if request["hook"] == "setup" else None


async def awaited(result: Any) -> Any:
    return await result


def check(result: Any) -> Any:
    if not isinstance(result, dict):
        raise TypeError(f"setup returned {type(result).__name__}; it must return a mapping of JSON values")
    for key, value in result.items():
        try:
            if not isinstance(key, str):
                raise TypeError("keys are texts")
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"setup returned {key!r} with a value that is no JSON value: {error}") from None
    return result


def answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        if request["do"] == "load":
            load(request)
            return {"value": None}
        return {"value": call(request)}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a hook may do anything, sys.exit() too
        return {"problem": f"{type(error).__name__}: {error}"}


def main() -> None:
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())
    for line in requests:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
