"""Plug-ins by entry point: found, loaded, and refused with a reason."""

from pathlib import Path

import pytest

from otel_eval.errors import PluginError
from otel_eval.registry import METRICS, load_all, load_plugin, plugin_names


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packages with entry points, installed as far as the import system can tell."""
    points = {"brand_voice": "acme_plugin:brand_voice", "gone": "acme_plugin:gone", "broken": "acme_broken:it", "both": "acme_plugin:one"}
    offer(tmp_path, "acme-metrics", **points)
    offer(tmp_path, "other-metrics", both="acme_plugin:two")
    (tmp_path / "acme_plugin.py").write_text("def brand_voice(given):\n    return True\n\none, two = 1, 2\n")
    (tmp_path / "acme_broken.py").write_text("raise RuntimeError('no')\n")
    monkeypatch.syspath_prepend(tmp_path)


def offer(folder: Path, package: str, **points: str) -> None:
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {place}" for name, place in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[otel_eval.metrics]", *lines]))


@pytest.mark.usefixtures("installed")
def test_a_plugin_is_found_and_loaded() -> None:
    """An installed entry point is listed by name and gives the object behind it."""
    assert {"brand_voice", "broken", "gone"} <= set(plugin_names(METRICS))
    assert load_plugin(METRICS, "brand_voice")(None) is True


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("brand_voise", "did you mean 'brand_voice'"),
        ("tool_call_f2", "did you mean 'tool_call_f1'"),
        ("broken", "RuntimeError"),
        ("gone", "AttributeError"),
        ("both", "offered by 2 packages"),
    ],
)
def test_what_cannot_be_loaded_is_named(name: str, said: str) -> None:
    """A wrong name, a module that raises, a missing attribute and two offers of one name are each a PluginError that says so."""
    with pytest.raises(PluginError, match=said):
        load_plugin(METRICS, name, builtin=["tool_call_f1"])


@pytest.mark.usefixtures("installed")
def test_one_broken_plugin_takes_no_other_down() -> None:
    """Loading a whole group gives the good ones and counts the bad ones with their errors."""
    plugins = load_all(METRICS)
    assert "brand_voice" in plugins.loaded
    assert {"broken", "gone", "both"} <= set(plugins.failed)
