"""Who may send."""

import hmac

from otel_eval.otlp.refusals import Unauthorized


class Bearer:
    """Bearer tokens, any of which opens. Without any, everyone may send."""

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self._tokens = tuple(token.encode() for token in tokens)

    def check(self, authorization: bytes | None) -> None:
        """Unauthorized unless the header carries one of the tokens; compared in a time that tells nothing."""
        if not self._tokens:
            return
        scheme, _, given = (authorization or b"").strip().partition(b" ")
        is_known = sum(hmac.compare_digest(given.strip(), token) for token in self._tokens) > 0
        if scheme.lower() != b"bearer" or not is_known:
            raise Unauthorized("expected the header 'Authorization: Bearer TOKEN' with a token of this receiver")
