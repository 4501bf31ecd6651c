# Each target works in a fresh clone with nothing but Python 3.11 and pip: it makes .venv, installs, runs.
PYTHON ?= python3
BIN := .venv/bin
PLAIN := .venv/.plain
READY := .venv/.ready
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test slow test-all smoke check lint bench docs surface installs release prepare clean

demo: $(PLAIN)  ## rankings made, measured and shown
	$(BIN)/python examples/demo.py

test: $(READY)  ## every test but those marked slow
	$(BIN)/pytest -n auto --dist worksteal $(WITH)

slow: $(READY)  ## those marked slow: minutes
	$(BIN)/pytest -n auto --dist worksteal -m slow $(WITH)

check:  ## every test once, the slow ones too, with coverage
	$(MAKE) test WITH="--cov --cov-report="
	$(MAKE) lint
	$(MAKE) slow WITH="--cov --cov-append --cov-report=term"

test-all: $(READY)  ## the same on Python 3.11, 3.12 and 3.13, as far as they are there, with newest and lowest versions
	$(BIN)/nox --session "$(or $(SESSION),tests)"

smoke: $(READY)  ## a few tests on Python 3.12 and 3.13, as far as they are there
	$(BIN)/nox --session smoke

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## every figure of docs/benchmarks.md, each a ratio in one run; ratios go to benchmarks/history.csv
	failed=0; for script in benchmarks/bench_*.py; do echo "== $$script"; ORDINO_HISTORY=benchmarks/history.csv $(BIN)/python $$script || failed=1; done; \
	$(BIN)/python benchmarks/history.py || failed=1; exit $$failed

docs: $(READY)  ## the site in site/, built offline; a broken link fails it
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

surface: $(READY)  ## record anew what others depend on; the change needs a line in CHANGELOG.md
	$(BIN)/python tools/surface.py

installs: $(READY)  ## wheel and sdist in empty environments, with and without extras: README's example, sizes, seconds
	$(BIN)/python tools/installs.py

prepare: $(READY)  ## VERSION=0.2.0: the version, and what is unreleased under its heading in the changelog; commit it
	$(BIN)/python tools/release.py prepare $(VERSION)

release: $(READY)  ## everything a release is held to, at any time; TAG=yes tags what is prepared. Nothing is uploaded
	$(BIN)/python tools/release.py check $(if $(filter yes,$(TAG)),--tag)

$(PLAIN): pyproject.toml constraints.txt  # what every user has, and what report and studio need
	$(PYTHON) -m venv .venv
	$(INSTALL) -e '.[studio]'
	touch $@

$(READY): $(PLAIN)  # and what developing needs; allRank alone, since what it asks for is not used
	$(INSTALL) -e '.[dev]'
	$(INSTALL) --no-deps allRank
	touch $@

clean:
	rm -rf .venv .nox site .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
