"""The version of the library, in one place; the build reads it too."""

__version__ = "0.1.0.dev0"
