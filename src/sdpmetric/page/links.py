"""Signed links: a participant's address cannot be guessed from another one's."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

# Names stand in addresses and in file names.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ARRIVAL = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")  # what Prolific adds to a study's address
_PROLIFIC, _ANONYMOUS = "prolific.", "guest."  # so that no one can ask for another one's name


def new_name() -> str:
    """A name for a participant who came without one."""
    return _ANONYMOUS + secrets.token_hex(8)


def prolific_name(pid: str) -> str:
    """The name of a participant of Prolific."""
    return _PROLIFIC + pid


def check_names(names: list[str]) -> None:
    """Raise ValueError unless all names can be used for signed links."""
    for name in names:
        if not NAME.fullmatch(name) or name.startswith((_PROLIFIC, _ANONYMOUS)):
            raise ValueError(
                f"The participant {name!r} cannot have a link: expected up to 64 letters, digits, "
                f"dots, hyphens or underscores, not starting with {_PROLIFIC!r} or {_ANONYMOUS!r}."
            )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"The participant {twice!r} is listed twice, expected once.")


def signature(secret: str, name: str) -> str:
    """The part of a participant's link that only this study can make."""
    return hmac.new(bytes.fromhex(secret), f"link:{name}".encode(), hashlib.sha256).hexdigest()[:32]


def is_signed(secret: str, name: str, given: str) -> bool:
    """Whether a link was made by this study."""
    fits = NAME.fullmatch(name) is not None
    return fits and hmac.compare_digest(
        signature(secret, name), given.encode("ascii", "replace").decode()
    )


def session_of(secret: str, name: str) -> str:
    """The key of a participant's session, which tells nothing about the name."""
    digest = hmac.new(bytes.fromhex(secret), f"session:{name}".encode(), hashlib.sha256)
    return digest.hexdigest()[:32]


def path_of(secret: str, name: str) -> str:
    """The path of a participant's link."""
    return f"/p/{name}/{signature(secret, name)}"
