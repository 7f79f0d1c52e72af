"""A model that plays stories, for agents to talk to: python examples/model/server.py [PORT].

Speaks OpenAI's chat completions and responses, plain and streamed, and Gemini's generateContent. It keeps nothing: the words of the user's
last message say which story is told (`stories.json`), and how often the model has spoken since says where it stands.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from dialects import Reply, chat, gemini, responses

STORIES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("stories.json").read_text())
NO_STORY = {"text": "I have no story for this."}


def reply_to(words: str, spoken: int) -> Reply:
    """What the model says the next time."""
    replies = next((story["replies"] for story in STORIES if story["words"] in words), [NO_STORY])
    return Reply(**replies[min(spoken, len(replies) - 1)])


class Model(BaseHTTPRequestHandler):
    """Answers POST requests of any of the three."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        spoken = gemini if "enerateContent" in self.path else responses if self.path.endswith("/responses") else chat
        reply = reply_to(*spoken.turn(asked))
        if asked.get("stream") or ":stream" in self.path:
            self._answer("text/event-stream", "".join(spoken.events(asked, reply)))
        else:
            self._answer("application/json", json.dumps(spoken.answer(asked, reply)))

    def _answer(self, content_type: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what is talked about is nobody else's."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Model)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
