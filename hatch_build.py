"""Builds the compiled modules (see `collector.compiled`) beside their sources, where there is a C compiler."""

import os
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

EXTENSIONS = {
    "collector.receiver._spans": (
        "collector/receiver/_spans.c",
        "collector/receiver/_wire.h",
        "collector/receiver/_attributes.h",
    ),
    "collector.assembly._plain": ("collector/assembly/_plain.c",),
}
"""The modules, with their source and what it includes."""


class CompiledModules(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if os.environ.get("SPANBAR_PURE"):
            return
        extensions = [Extension(name, [source], depends=included) for name, (source, *included) in EXTENSIONS.items()]
        command = build_ext(Distribution({"name": "spanbar", "ext_modules": extensions}))
        command.inplace = True
        with TemporaryDirectory() as scratch:
            command.build_temp = command.build_lib = scratch
            try:
                command.ensure_finalized()
                command.run()
            except (BaseError, CCompilerError) as error:
                self.app.display_warning(f"no compiled modules, all is done in Python: {error}")
                return
        build_data["artifacts"] += ["collector/**/*.so", "collector/**/*.pyd"]
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
