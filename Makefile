VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
DEMO ?= demo

.PHONY: demo test lint format docs evidence install clean

# The stamp is newer than pyproject.toml exactly when what it names is installed.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

install: $(VENV)/.installed

## A repository to play with, trained by the simulated model: no key, no network.
demo: install
	@rm -rf $(DEMO)
	@$(BIN)/skillgit demo $(DEMO)
	@echo
	@echo 'skillgit is in $(BIN). To type the commands as they stand: export PATH="$$PWD/$(BIN):$$PATH"'

## Everything a change has to pass.
test: lint
	$(BIN)/pytest -n auto --dist worksteal

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

## The reference pages and the man page, from the program itself.
docs: install
	$(BIN)/python -m skillgit.cli.app.reference

## Trainings with small real models, by hand: hours on two cores, never in CI.
evidence: install
	$(BIN)/python benchmarks/evidence/run.py $(EVIDENCE)

clean:
	rm -rf $(VENV) $(DEMO) dist build
