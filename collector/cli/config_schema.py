"""JSON Schema (draft 2020-12) of config files, for editors. Keys and types are those of the options of the verb."""

from typing import Any

import click

from collector.cli.config import options_of
from collector.cli.quantities import Duration, Size
from evaluator.language.schema import DIALECT, TEXT, Schema, a, mapping, one_or_more


def serve_schema() -> Schema:
    """The schema of a file for `spanbar serve --config`."""
    # Loading a server takes long beside printing another schema.
    from collector.cli.serve import serve

    options = options_of(serve)
    properties = {key: _option(param) for key, param in options.items()}
    return {"$schema": DIALECT, "title": "Config of spanbar serve", **mapping(options, properties)}


def _option(param: click.Parameter) -> Schema:
    schema = _type(param.type)
    if isinstance(param, click.Argument):
        return a(one_or_more(schema), "Files of behaviors, relative to this file.")
    described = one_or_more(schema) if isinstance(param, click.Option) and param.multiple else schema
    return a(described, getattr(param, "help", None) or "")


def _type(kind: click.ParamType[Any]) -> Schema:
    if isinstance(kind, click.types.BoolParamType):
        return {"type": "boolean"}
    if isinstance(kind, click.IntRange):
        bounds = {"minimum": kind.min, "maximum": kind.max}
        return {"type": "integer", **{key: bound for key, bound in bounds.items() if bound is not None}}
    if isinstance(kind, Duration | Size):
        return {"anyOf": [TEXT, {"type": "number", "exclusiveMinimum": 0}]}
    return TEXT
