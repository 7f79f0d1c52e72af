"""Pack captures into this folder, a `.tar.xz` each, so that they can be tested without the shared data.

    python tests/data/pack.py                          # the corpus of the shared data ($OTEL_EVAL_SHARED, else ../shared) into corpus/
    python tests/data/pack.py FOLDER captures NAME...  # the captures of these names in FOLDER into captures/

A capture is a folder with `requests/` (bodies as exporters sent them), `expected.json` and `meta.json`; of the last only the name, the
libraries and the notes are kept. The same input gives the same bytes: order, owners, modes and times are fixed.
"""

import io
import json
import lzma
import os
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
KEPT = ("name", "library", "notes")


def main(arguments: list[str]) -> None:
    shared = Path(os.environ.get("OTEL_EVAL_SHARED") or ROOT.parent / "shared")
    source, target, *names = arguments or [str(shared / "corpus"), "corpus"]
    captures = [Path(source) / name for name in names] if names else sorted(p.parent for p in Path(source).glob("*/expected.json"))
    if not captures:
        raise SystemExit(f"no captures in {source!r}: expected folders with an expected.json")
    folder = HERE / target
    folder.mkdir(exist_ok=True)
    sizes = [(folder / f"{c.name}.tar.xz").write_bytes(packed(c)) for c in captures]
    print(f"{len(sizes)} captures, {sum(sizes) / 1e3:.0f} kB in {folder.relative_to(ROOT)}")


def packed(capture: Path) -> bytes:
    """The compressed archive of one capture."""
    meta = json.loads((capture / "meta.json").read_text(encoding="utf-8"))
    files = {
        "expected.json": (capture / "expected.json").read_bytes(),
        "meta.json": json.dumps({key: meta.get(key) for key in KEPT}, ensure_ascii=False, indent=1).encode(),
    } | {f"requests/{p.name}": p.read_bytes() for p in (capture / "requests").iterdir()}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    return lzma.compress(out.getvalue(), preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    main(sys.argv[1:])
