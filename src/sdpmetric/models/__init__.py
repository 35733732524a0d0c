"""Model files: `save` and `load`."""

from .files import FORMAT_VERSION, load, read_header, save

__all__ = ["FORMAT_VERSION", "load", "read_header", "save"]
