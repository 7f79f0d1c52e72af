"""The documents cannot lie: what is made from code is fresh, what is written by hand points at things that are there."""

import re
from pathlib import Path

import pytest

from docs.generate import stale_pages

ROOT = Path(__file__).parent.parent
KINDS = {"added", "changed", "fixed", "removed", "security"}
WRITTEN = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "deploy").rglob("*.md"),
        *(ROOT / "collector").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    ]
)


def test_generated_documents_are_fresh() -> None:
    """`make docs` would change nothing."""
    assert stale_pages() == []


def test_fragments_of_the_changelog_are_named_by_kind() -> None:
    """Each file of docs/changes is README.md or SLUG.KIND.md with a kind of the changelog and something in it."""
    fragments = [file for file in (ROOT / "docs" / "changes").iterdir() if file.name != "README.md"]
    wrong = [file.name for file in fragments if not is_fragment(file)]
    assert wrong == []


def is_fragment(file: Path) -> bool:
    match = re.fullmatch(r"[a-z0-9-]+\.([a-z]+)\.md", file.name)
    return match is not None and match[1] in KINDS and bool(file.read_text().strip())


def test_decision_records_are_numbered() -> None:
    """Each file of docs/decisions is README.md or NNN-slug.md, numbered from 001 without a hole."""
    records = sorted(file.name for file in (ROOT / "docs" / "decisions").iterdir() if file.name != "README.md")
    assert [name[:4] for name in records] == [f"{number:03}-" for number in range(1, len(records) + 1)]
    assert all(re.fullmatch(r"\d{3}-[a-z0-9-]+\.md", name) for name in records)


@pytest.mark.parametrize("document", WRITTEN, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link of a document leads to a file or folder of the repository."""
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []
