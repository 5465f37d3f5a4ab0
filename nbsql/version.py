"""The version, in a file of its own because the build reads it too."""

__version__ = "0.1.0"
