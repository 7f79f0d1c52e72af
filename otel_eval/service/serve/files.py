"""How many files the process may have open: the system's limit, raised as far as it may be, and the connections it leaves for HTTP."""

try:
    import resource
except ImportError:  # not on Windows, which has no such limit
    resource = None  # type: ignore[assignment]  # the name stands for the module or its absence

MOST_FILES = 65_536
MOST_CONNECTIONS = 1_000
RESERVE = 256
"""Files that are needed beside connections of the HTTP port: store, sinks, judge, gRPC."""


def raise_limit() -> None:
    """As many open files as the system lets this process have; shells and service managers start with 1,024 for old programs' sake."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def most_connections() -> int:
    """Connections of the HTTP port that leave enough files for everything else; a quarter of the files where they are few."""
    if resource is None:
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(1, min(MOST_CONNECTIONS, files - RESERVE if files > 2 * RESERVE else files // 4))
