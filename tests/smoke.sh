#!/bin/sh
# What a fresh machine does, with every supported Python that is found here: install the project, add the examples and
# ask. The oldest Python installs as the README says, the others with uv, which takes a tenth of the time.
# Then whether the constraints have a solution for every Python and extra, found here or not, and the toolkit's tests as
# its specification runs them, in a copy of the project.
set -eu
cd "$(dirname "$0")/.."
uv=$(PATH="$PWD/.venv/bin:$PATH" command -v uv)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The lines of the README that install, made to use the Python and the folder of an environment that are given.
readme_installs() {
    sed -n '/^\$ python3 -m venv/,/^```/s/^\$ //p' README.md | sed "s#^python3 #$1 #; s#\.venv#$2#g"
}

# The same by uv, for a Python and the folder of an environment.
uv_installs() {
    echo "$uv venv --quiet --python $1 $2"
    echo "$uv pip install --quiet --python $2/bin/python --constraint constraints.txt ."
}

# The versions that pyenv keeps are not on the path under their names unless they are chosen.
for versions in "$HOME"/.pyenv/versions/3.1[0-3].*/bin; do
    [ -d "$versions" ] && PATH="$PATH:$versions"
done
installs=readme_installs
for version in 3.10 3.11 3.12 3.13; do
    python=""
    for candidate in $(which -a "python$version" 2>/dev/null); do
        if "$candidate" -c 'import venv' >/dev/null 2>&1; then python=$candidate; break; fi
    done
    if [ -z "$python" ]; then
        echo "smoke: Python $version isn't installed here, not run"
        continue
    fi
    here="$folder/$version"
    mkdir "$here"
    "$installs" "$python" "$here/venv" >"$here/install"
    installs=uv_installs
    grep -q "constraints.txt" "$here/install"
    {
        sh -eu "$here/install" &&
        ANSWERABLE_LIBRARY="$here/library" ANSWERABLE_CACHE_FOLDER="$here/cache" "$here/venv/bin/python" tools/demo.py
    } >"$here/out" 2>&1 || {
        cat "$here/out"
        echo "smoke: Python $version failed"
        exit 1
    }
    echo "smoke: Python $version passed"
    rm -rf "$here"
done

extras=$(sed -n '/^\[project.optional-dependencies\]/,/^\[project.scripts\]/s/^\([a-z-]*\) = \[$/--extra \1/p' pyproject.toml)
users=$(echo "$extras" | grep -v -e dev -e bench)
for version in 3.10 3.11 3.12 3.13; do
    [ "$version" = 3.10 ] || users=$extras
    # shellcheck disable=SC2086
    "$uv" pip compile --quiet --constraint constraints.txt --python-version "$version" --only-binary :all: \
        --output-file "$folder/resolved" $users pyproject.toml
    echo "smoke: the constraints have a solution for Python $version"
done

mkdir "$folder/copy"
cp -R pyproject.toml README.md LICENSE src apps "$folder/copy"
(cd "$folder/copy/apps/toolkit" && "$uv" run --quiet pytest -q src/codomyrmex/tests/unit/llm/rag/)
echo "smoke: the toolkit's own command passed"
