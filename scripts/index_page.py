"""README and addresses as a package index needs them: `python -m scripts.index_page ADDRESS REVISION`.

An index shows README without the repository around it, so relative links lead nowhere there. Where a
release is built, this writes them as addresses of the repository at that revision, in place, and adds
`project.urls`. The repository itself keeps relative links, which work in every clone and fork.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#)([^)]+)\)")


def absolute(text: str, address: str, revision: str) -> str:
    """A page whose relative links are addresses: of pictures the files, of all else their pages."""

    def whole(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}{link[2]}({address}/{kind}/{revision}/{link[3]})"

    return LINK.sub(whole, text)


def urls(address: str, revision: str) -> str:
    """The table `project.urls` of pyproject.toml, without its first line, which is there."""
    pages = {
        "Homepage": "",
        "Documentation": f"/blob/{revision}/docs/index.md",
        "Changelog": f"/blob/{revision}/CHANGELOG.md",
        "Issues": "/issues",
    }
    return "".join(f'{name} = "{address}{page}"\n' for name, page in pages.items())


def rewrite(folder: Path, address: str, revision: str) -> None:
    """Write both files of a checkout anew."""
    readme, project = folder / "README.md", folder / "pyproject.toml"
    readme.write_text(absolute(readme.read_text(), address, revision))
    head, mark, rest = project.read_text().partition("[project.urls]\n")
    if not mark:
        raise SystemExit("pyproject.toml must have a table [project.urls], got none")
    project.write_text(head + mark + urls(address, revision) + rest)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    rewrite(ROOT, *sys.argv[1:])
