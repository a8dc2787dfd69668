"""What README and docs say is true."""

import re
from pathlib import Path

import numpy as np
import pytest

from kernelpca.io import write_data
from kernelpca.kernels import KERNELS
from kernelpca.preimage import PREIMAGES

ROOT = Path(__file__).parents[1]


def test_readme_code_runs(capsys):
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    assert len(code.strip().splitlines()) <= 12
    namespace = {}
    exec(code, namespace)
    assert namespace["cleaned"].shape == (597, 64)
    assert "components keep 0.95" in capsys.readouterr().out


def test_readme_code_for_files_and_streams_runs(tmp_path, monkeypatch):
    pytest.importorskip("dask.array")
    pytest.importorskip("pyarrow")
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    rows = np.random.default_rng(0).standard_normal((1500, 4))
    monkeypatch.chdir(tmp_path)
    write_data("rows.parquet", rows)
    namespace = {"first_batch": rows[:1000], "second_batch": rows[1000:]}
    exec(code, namespace)
    assert namespace["scores"].compute().shape == (1500, 20)
    assert namespace["model"].n_samples_seen_ == 1500


def test_every_kernel_name_is_documented():
    table = (ROOT / "docs" / "kernels.md").read_text()
    assert {name for name in KERNELS if f"`{name}`" not in table} == set()
    different = set(KERNELS.values()) - {KERNELS["precomputed"]}
    assert f"{len(different)} by name" in (ROOT / "README.md").read_text()


def test_every_pre_image_is_in_the_table():
    table = (ROOT / "docs" / "preimages.md").read_text()
    for name, kind in PREIMAGES.items():
        assert f'| `{kind.__name__}` | `"{name}"` |' in table, name


PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "papers/README.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("**/*.md"))),
]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert "://" in target or ((ROOT / page).parent / target).exists(), target


def test_architecture_names_every_module():
    page = (ROOT / "docs" / "architecture.md").read_text()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "papers" / "src").rglob("*.py")]:
        if path.stem != "__init__":
            assert path.stem in page, path.stem
