"""The version, read by the build and by `show_config`."""

__version__ = "0.1.0"
