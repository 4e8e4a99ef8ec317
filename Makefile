# `make demo` and `make test` do everything, their own set-up included.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test check format lint types imports bench soak generate clean

demo: $(READY)
	$(BIN)/python -m examples.demo

# One process a core; a test that must be alone says so by its own locks and folders.
test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal

check: format lint types imports test

format: $(READY)
	$(BIN)/ruff format --check .

lint: $(READY)
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m benchmarks.bench_bus
	$(BIN)/python -m benchmarks.bench_write
	$(BIN)/python -m benchmarks.bench_search
	$(BIN)/python -m benchmarks.bench_read

# The long proofs: minutes, not seconds (docs/reliability.md), and every property on cases that nobody chose. Nice, so that
# a person can go on working.
soak: $(READY)
	nice -n 10 $(BIN)/python -m pytest -m soak -rP --timeout 3600 tests
	nice -n 10 $(BIN)/python -m pytest --hypothesis-profile search -n auto --dist worksteal

generate: $(READY)
	$(BIN)/python -m contracts generate

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)
