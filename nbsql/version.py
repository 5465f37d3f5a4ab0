"""The version, alone in a file that the build reads too."""

VERSION = "0.1.0"
