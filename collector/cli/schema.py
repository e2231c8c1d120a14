"""`spanbar schema`: the file formats as JSON Schema."""

import json

import click

from collector.cli.config_schema import serve_schema
from collector.mapping.schema import mapping_schema
from evaluator.language.behavior_schema import behavior_schema
from evaluator.language.schema import spec_schema

FORMATS = {"spec": spec_schema, "behaviors": behavior_schema, "mapping": mapping_schema, "serve": serve_schema}


@click.command()
@click.argument("format_name", metavar=f"[{'|'.join(FORMATS)}]", type=click.Choice(list(FORMATS)), default="spec")
def schema(format_name: str) -> None:
    """Print the JSON Schema (draft 2020-12) of test specs, behavior files, mappings or configs of serve, for editors.

    Save it and name it in the first line of a file: # yaml-language-server: $schema=spec.schema.json
    """
    click.echo(json.dumps(FORMATS[format_name](), indent=2, ensure_ascii=False))
