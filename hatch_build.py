"""The README as a package index shows it, where links to files of the repository lead nowhere.

In the repository its pictures and links are relative. In the metadata of the package they become
addresses, if pyproject.toml has a URL named Repository; without one, links become their text and
pictures what they say instead.
"""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[([^]]*)\]\((?!https?:)([^)]+)\)")
LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!https?:|#)([^)]+)\)")


def for_an_index(text: str, repository: str | None) -> str:
    """Return the README with addresses in place of names of files, or without the links."""
    if repository is None:
        return LINK.sub(r"\1", PICTURE.sub(r"*\1.*", text))
    root = repository.rstrip("/")
    text = PICTURE.sub(rf"![\1]({root}/raw/HEAD/\2)", text)
    return LINK.sub(rf"[\1]({root}/blob/HEAD/\2)", text)


class ReadmeHook(MetadataHookInterface):
    """Tell hatchling about it."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict) -> None:
        """Set the long description of the package."""
        text = (Path(self.root) / "README.md").read_text()
        repository = metadata.get("urls", {}).get("Repository")
        text = for_an_index(text, repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
