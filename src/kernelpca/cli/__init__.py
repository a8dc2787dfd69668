"""The command line: it parses and calls, and does no mathematics."""

from kernelpca.cli.app import main

__all__ = ["main"]
