"""`kernelpca demo`: denoise digits, which need no download, and show what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture denoise.png and the table table.md.")] = Path(
        "demo"
    ),
) -> None:
    """Denoise handwritten digits by kernel PCA, beside PCA. Files of an earlier demo are replaced."""
    from rich.console import Console
    from rich.markdown import Markdown

    from kernelpca.demo import denoise_digits

    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file: give the name of a folder.")

    console = Console()
    console.print(Markdown(denoise_digits(out)))
    console.print(f"Written: {out / 'denoise.png'} and {out / 'table.md'}", highlight=False)
