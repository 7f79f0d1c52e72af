"""Every error of otel-eval.

    OtelEvalError
    ├── ConfigError     the operator must change something; raised before the first byte is read
    │   └── InUse       another process has the file
    ├── PluginError     a plug-in (dialect, metric, sink, judge) broke its contract
    ├── InputError      these bytes are no good: never send them again
    ├── Overloaded      no room now: send again later
    ├── StoreError      the store cannot be read or written; what it acknowledged stands
    │   └── NotStorable disk and file are well: what it was given is at fault
    ├── JudgeError      a judge gave no usable verdict; `reason` says why
    └── SinkError       results could not be written

Messages name the thing with `!r`, say what was expected and what to do. They never hold conversation content or keys.
"""


class OtelEvalError(Exception):
    """Base of all errors raised by otel-eval."""


class ConfigError(OtelEvalError):
    """The configuration, an option or an environment variable is wrong."""


class InUse(ConfigError):
    """Another process works with the file."""


class PluginError(OtelEvalError):
    """A plug-in could not be loaded or broke its contract."""


class InputError(OtelEvalError):
    """Bytes that cannot be read; sending them again cannot help."""


class Overloaded(OtelEvalError):
    """There is no room at the moment. `retry_after_s` is a hint in seconds."""

    def __init__(self, message: str, *, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class StoreError(OtelEvalError):
    """The store cannot be read or written: nothing of what was asked was done. Whoever sent it may send it again."""


class NotStorable(StoreError):
    """The store refused what it was given, and not for want of a disk or a file: given once more, it will refuse it again."""


class JudgeError(OtelEvalError):
    """A judge gave no usable verdict. `reason` is a value of `model.FailReason`.

    `use` is what it took all the same (`model.JudgeUse`), None if nothing was sent. `limit_tokens` is the size of the window where the
    question was too long and the endpoint said so.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        retry_after_s: float | None = None,
        use: object | None = None,
        limit_tokens: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry_after_s = retry_after_s
        self.use = use
        self.limit_tokens = limit_tokens


class SinkError(OtelEvalError):
    """Results could not be written. `retryable` says whether trying again can help; `retry_after_s` when."""

    def __init__(self, message: str, *, retryable: bool, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after_s = retry_after_s
