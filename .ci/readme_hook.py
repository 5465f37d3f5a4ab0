"""The README as a package index shows it, where links to files of this repository lead nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)([^)]*)\)")


class Readme(MetadataHookInterface):
    """Makes links absolute once `urls` has a Repository, until then plain text, and leaves pictures of this repository out."""

    def update(self, metadata: dict[str, Any]) -> None:
        home = metadata.get("urls", {}).get("Repository", "").rstrip("/")
        text = _PICTURE.sub("", (Path(self.root) / "README.md").read_text(encoding="utf-8"))
        text = _LINK.sub(rf"[\1]({home}/blob/main/\2)" if home else r"\1", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
