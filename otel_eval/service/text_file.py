"""Text files that a user names in an option or in the configuration."""

from pathlib import Path

from otel_eval.errors import ConfigError


def text_of_file(path: Path, what: str) -> str:
    """The text, without a byte order mark. ConfigError says what the file was to be and why it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{what} {str(path)!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{what} {str(path)!r} is no text in UTF-8") from None
