"""Points in time as transcripts write them, always UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 100_000_000_000
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def parse_time(value: object) -> datetime | None:
    """The time an ISO text, or a number of seconds or milliseconds, names; `None` for what is none.

    A time without a zone is UTC.
    """
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            time = _EPOCH + timedelta(seconds=seconds)
        else:
            return None
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if _EARLIEST <= time <= _LATEST else None
