# Two commands do everything on a machine with Python, git and make: `make demo` and `make test`.
# `make reproduce` reruns the experiments of the papers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INPUTS := pyproject.toml src/kernelpca/__init__.py papers/pyproject.toml

.PHONY: demo test lint types check claims docs reproduce bench clean

CLAIMS := ikpca/ecg ikpca/s-curve digest/diagonalizations digest/centering mika-analysis/half-circle dualization/kappa tutorial/eigenfaces tutorial/approximate-kernel-pca tutorial/histogram-kernels

demo: $(VENV)/.demo
	$(BIN)/kernelpca demo --out demo

test: lint types check

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

check: $(VENV)/.test
	KERNELPCA_OFFLINE=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --durations 10

claims: $(VENV)/.test  # the claims that matter most, in two minutes
	$(BIN)/kernelpca reproduce --quick $(CLAIMS) --out build/claims

docs: $(VENV)/.docs  # the site, with every example run: build/docs/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

reproduce: $(VENV)/.test
	$(BIN)/kernelpca reproduce --all --out reproduction

bench: $(VENV)/.test
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/gram.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/hard_rows.py
	$(BIN)/python benchmarks/eigensolvers.py
	$(BIN)/python benchmarks/whole_path.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/features.py
	$(BIN)/python benchmarks/preimages.py
	$(BIN)/python benchmarks/descents.py
	$(BIN)/python benchmarks/dual.py
	$(BIN)/python benchmarks/sparsity.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/compression.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/draw.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: $(INPUTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[cli]"
	touch $@

$(VENV)/.test: $(INPUTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test]" --editable ./papers
	touch $@

$(VENV)/.docs: $(INPUTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[docs]" --editable ./papers
	touch $@

clean:
	rm -rf $(VENV) build dist demo reproduction
