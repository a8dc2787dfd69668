"""Self-contained HTML pages."""

from kernelpca.pages.page import data_address, render

__all__ = ["data_address", "render"]
