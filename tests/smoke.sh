#!/bin/sh
# Installs the project with every other supported Python that is found here, adds the examples and asks one question.
set -eu
cd "$(dirname "$0")/.."
# The versions that pyenv keeps are not on the path under their names unless they are chosen.
for folder in "$HOME"/.pyenv/versions/3.1[0-3].*/bin; do
    [ -d "$folder" ] && PATH="$PATH:$folder"
done
main=$("${PYTHON:-python3}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
for version in 3.10 3.11 3.12 3.13; do
    [ "$version" = "$main" ] && continue
    python=""
    for candidate in $(which -a "python$version" 2>/dev/null); do
        if "$candidate" -c 'import venv' >/dev/null 2>&1; then python=$candidate; break; fi
    done
    if [ -z "$python" ]; then
        echo "smoke: Python $version isn't installed here, not run"
        continue
    fi
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    "$python" -m venv "$folder/venv"
    "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check .
    ANSWERABLE_LIBRARY="$folder/library" ANSWERABLE_CACHE_FOLDER="$folder/cache" "$folder/venv/bin/python" tools/demo.py >"$folder/out" 2>&1 || {
        cat "$folder/out"
        echo "smoke: Python $version failed"
        exit 1
    }
    echo "smoke: Python $version passed"
    rm -rf "$folder"
done
