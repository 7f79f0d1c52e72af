"""The room as a whole."""

import subprocess
import sys


def test_the_room_alone_loads_no_protobuf() -> None:
    """Importing the package, or the reader of one JSON value, leaves protobuf, gRPC and HTTP servers alone."""
    code = "import sys, otel_eval.otlp; print([m for m in ('google.protobuf', 'grpc', 'uvicorn', 'urllib.request') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
