"""A real Collector accepts each of our configurations."""

from pathlib import Path

import pytest

from tests.fakes.collector import CONFIGURATIONS, FILES, files_of, validated


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_collector_accepts_it(file: Path) -> None:
    """`otelcol validate` has nothing against the file, with nothing set."""
    assert validated(*files_of(file)) == ""


def test_the_collector_refuses_what_is_wrong(tmp_path: Path) -> None:
    """`validate` looks: a component that no build knows is refused by its name."""
    wrong = (CONFIGURATIONS / "fanout.yaml").read_text().replace("batch/eval", "batcher/eval")
    (tmp_path / "wrong.yaml").write_text(wrong)
    assert "batcher" in validated(tmp_path / "wrong.yaml")
