"""What a run leaves behind: a page, a JSON file, and every figure as PNG and SVG."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from kernelpca.atomic import write_atomically
from kernelpca.pages import data_address, render
from kernelpca_papers.catalogue import PAPERS
from kernelpca_papers.claims import Claim, count_line
from kernelpca_papers.drawing import as_bytes
from kernelpca_papers.machine import describe_machine, versions
from kernelpca_papers.runner import Result
from kernelpca_papers.store import Store

PAGE = files("kernelpca_papers") / "reproduction.html"


class Output:
    """A folder that results are written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "cache")
        self.results: list[Result] = []
        self._records: list[dict[str, Any]] = []
        self._images: dict[str, bytes] = {}

    def open(self) -> None:
        """Make the folder and see that it can be written to, before anything is computed."""
        try:
            (self.folder / "figures").mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / "figures" / ".writable", b"")
            (self.folder / "figures" / ".writable").unlink()
        except OSError as error:
            raise OSError(
                f"Results cannot be written to {self.folder}: {error.strerror}. Choose another folder with --out."
            ) from error

    def add(self, result: Result) -> None:
        """Write the figures of a result and remember the rest."""
        self.results.append(result)
        self._records.append(self._record(result))

    def close(self, order: Sequence[str] = ()) -> None:
        """Write the JSON file and the page, with all that was added: experiments in this order, others behind."""
        rank = {name: place for place, name in enumerate(order)}
        self._records.sort(key=lambda record: rank.get(record["name"], len(rank)))
        run = self._run()
        content = {"run": run, "experiments": self._records}
        write_atomically(self.folder / "results.json", json.dumps(content, indent=1, ensure_ascii=False).encode())
        page = render(PAGE, "pages", run=run, papers=self._papers())
        write_atomically(self.folder / "report.html", page.encode())

    @property
    def claims(self) -> list[Claim]:
        """All claims so far."""
        return _claims(self.results)

    def _run(self) -> dict[str, Any]:
        return {
            "count": count_line(self.claims),
            "size": self.results[0].size if self.results else "",
            "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "machine": describe_machine(),
            "versions": versions(),
        }

    def _record(self, result: Result) -> dict[str, Any]:
        experiment, findings = result.experiment, result.findings
        record: dict[str, Any] = {
            "name": experiment.name,
            "title": experiment.title,
            "source": experiment.source,
            "settings": [asdict(setting) for setting in experiment.settings],
            "null": experiment.null,
            "seconds": result.seconds,
            "peak": result.peak,
            "pieces": result.pieces,
            "skipped": result.skipped,
            "error": result.error,
            "claims": [claim.record() for claim in findings.claims] if findings else [],
            "tables": [asdict(table) for table in findings.tables] if findings else [],
            "notes": list(findings.notes) if findings else [],
            "pictures": [],
        }
        for picture in findings.pictures if findings else ():
            path = self.folder / "figures" / f"{experiment.name.replace('/', '-')}-{picture.name}"
            images = {kind: as_bytes(picture.figure, kind) for kind in ("png", "svg")}
            for kind, image in images.items():
                write_atomically(path.with_name(f"{path.name}.{kind}"), image)
            file = f"figures/{path.name}.png"
            self._images[file] = images["png"]
            record["pictures"].append(
                {"name": picture.name, "paper": picture.paper, "ours": picture.ours, "file": file}
            )
        return record

    def _papers(self) -> list[dict[str, Any]]:
        """Return what the page shows, paper by paper."""
        papers = []
        for key, title in PAPERS.items():
            own = [record for record in self._records if record["name"].startswith(f"{key}/")]
            if own:
                claims = _claims([result for result in self.results if result.experiment.paper == key])
                papers.append(
                    {
                        "key": key,
                        "title": title,
                        "count": count_line(claims),
                        "has_claims": bool(claims),
                        "experiments": [self._shown(record) for record in own],
                    }
                )
        return papers

    def _shown(self, record: dict[str, Any]) -> dict[str, Any]:
        pictures = [
            {**picture, "address": data_address(self._images[picture["file"]])} for picture in record["pictures"]
        ]
        return {**record, "pictures": pictures}


def _claims(results: Sequence[Result]) -> list[Claim]:
    return [claim for result in results if result.findings for claim in result.findings.claims]
