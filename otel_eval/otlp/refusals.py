"""Why a receiver refuses a request, beside `InputError` (no OTLP), `TooLarge` and `Overloaded`. What each is answered with stands in
`status`."""

from otel_eval.errors import InputError, Overloaded


class Unauthorized(InputError):
    """No token, or not one of ours."""


class NoSuchPath(InputError):
    """Nothing is received there."""


class WrongMethod(InputError):
    """The path takes another method."""


class WrongType(InputError):
    """A content type that is not OTLP's."""


class Busy(Overloaded):
    """Too many requests at once: this one was not looked at."""


class TooSlow(Overloaded):
    """The rest of the request did not come in time."""


class Closing(Overloaded):
    """The receiver is about to end; another one or the next start takes the request."""
