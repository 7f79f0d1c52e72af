"""The public names of the package: that they are there, and that they are documented."""

from pathlib import Path

import otel_eval

ROOT = Path(__file__).parent.parent
PUBLIC: tuple[str, ...] = tuple(getattr(otel_eval, "__all__", ()))


def test_the_version_is_public() -> None:
    """The version is one literal, in `otel_eval/__init__.py`."""
    assert otel_eval.__version__.count(".") == 2


def test_public_names_can_be_imported() -> None:
    """Each name of `otel_eval.__all__` is there."""
    assert [name for name in PUBLIC if not hasattr(otel_eval, name)] == []


def test_public_names_are_documented() -> None:
    """Each name of `otel_eval.__all__` stands in docs/api.md or in the README."""
    documents = "".join(file.read_text() for file in (ROOT / "docs" / "api.md", ROOT / "README.md") if file.exists())
    assert [name for name in PUBLIC if name not in documents] == []
