#!/bin/sh
# What a fresh machine does, with every supported Python that is found here: install the project, add the examples and
# ask. The oldest Python installs as the README says, the others a wheel with uv, which takes a tenth of the time. The
# wheel's own demo is asked as by people who have nothing but the wheel: with uvx, uv tool, pipx and pip.
# Then whether the constraints have a solution for every Python and extra, found here or not, and the toolkit's tests as
# its specification runs them, in a copy of the project.
# `smoke.sh extras` also installs the wheel with each extra on each Python.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
uv=$(PATH="$root/.venv/bin:$PATH" command -v uv)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ANSWERABLE_CACHE_FOLDER="$folder/cache"

.venv/bin/python -m build --no-isolation --outdir "$folder/dist" . >"$folder/built" 2>&1 || { cat "$folder/built"; exit 1; }
wheel=$(echo "$folder"/dist/*.whl)

# The lines of the README that install, made to use the Python and the folder of an environment that are given.
readme_installs() {
    sed -n '/^\$ python3 -m venv/,/^```/s/^\$ //p' README.md | sed "s#^python3 #$1 #; s#\.venv#$2#g"
}

# The same by uv, for a Python and the folder of an environment.
uv_installs() {
    echo "$uv venv --quiet --python $1 $2"
    echo "$uv pip install --quiet --python $2/bin/python --constraint constraints.txt $wheel"
}

# The Python of a version that is found here, or nothing.
found() {
    for candidate in $(which -a "python$1" 2>/dev/null); do
        if "$candidate" -c 'import venv' >/dev/null 2>&1; then echo "$candidate"; break; fi
    done
}

# The versions that pyenv keeps are not on the path under their names unless they are chosen.
for versions in "$HOME"/.pyenv/versions/3.1[0-4].*/bin; do
    [ -d "$versions" ] && PATH="$PATH:$versions"
done
installs=readme_installs
for version in 3.10 3.11 3.12 3.13 3.14; do
    python=$(found "$version")
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
        ANSWERABLE_LIBRARY="$here/library" "$here/venv/bin/python" tools/demo.py
    } >"$here/out" 2>&1 || {
        cat "$here/out"
        echo "smoke: Python $version failed"
        exit 1
    }
    echo "smoke: Python $version passed"
    rm -rf "$here"
done

# Whether a way to install the wheel ends in a cited answer. The commands run in the wheel's folder, as their users do.
asks() {
    name=$1
    shift
    started=$(date +%s)
    (cd "$folder/dist" && "$@") >"$folder/asked" 2>"$folder/errors" && grep -q '“Vinegar attacks.*\[1\]' "$folder/asked" || {
        cat "$folder/asked" "$folder/errors"
        echo "smoke: $name failed"
        exit 1
    }
    echo "smoke: $name gives a cited answer after $(($(date +%s) - started)) s"
}

file=./$(basename "$wheel")
export UV_CONSTRAINT="$root/constraints.txt" PIP_CONSTRAINT="$root/constraints.txt"
export UV_TOOL_DIR="$folder/tools" UV_TOOL_BIN_DIR="$folder/bin" PIPX_HOME="$folder/pipx" PIPX_BIN_DIR="$folder/pipx/bin"
question="Can I use vinegar?"
asks "uvx" "$uv" tool run --quiet --from "$file" answerable demo "$question"
asks "uv tool" sh -eu -c '"$0" tool install --quiet "$1"; "$UV_TOOL_BIN_DIR/answerable" demo "$2"' "$uv" "$file" "$question"
asks "pipx" sh -eu -c '"$0" install --quiet "$1"; "$PIPX_BIN_DIR/answerable" demo "$2"' \
    "$root/.venv/bin/pipx" "$file" "$question"
asks "pip" sh -eu -c '"$0" -m venv pip; pip/bin/pip install --quiet "$1"; pip/bin/answerable demo "$2"' \
    "$root/.venv/bin/python" "$file" "$question"
# What is told of an extra is a command that works there.
for way in "$UV_TOOL_BIN_DIR uv tool install" "$PIPX_BIN_DIR pipx install --force" "$folder/dist/pip/bin pip install"; do
    told=$("${way%% *}/answerable" serve 2>&1 || true)
    case $told in
        *"${way#* } '$file[server]'"*) ;;
        *) echo "smoke: ${way#* } tells: $told"; exit 1 ;;
    esac
done
unset UV_CONSTRAINT PIP_CONSTRAINT

extras=$(sed -n '/^\[project.optional-dependencies\]/,/^\[project.scripts\]/s/^\([a-z-]*\) = \[$/--extra \1/p' pyproject.toml)
users=$(echo "$extras" | grep -v dev)
# A solution for all extras together is one for each of them.
for version in 3.10 3.11 3.12 3.13 3.14; do
    [ "$version" = 3.10 ] || users=$extras
    # shellcheck disable=SC2086
    "$uv" pip compile --quiet --constraint constraints.txt --python-version "$version" --only-binary :all: \
        --output-file "$folder/resolved" $users pyproject.toml
    echo "smoke: the constraints have a solution for Python $version"
done

if [ "${1:-}" = extras ]; then
    for version in 3.10 3.11 3.12 3.13 3.14; do
        python=$(found "$version")
        [ -n "$python" ] || continue
        for extra in $(echo "$extras" | sed 's/--extra //' | grep -v -e dev -e bench -e sentence-transformers); do
            here="$folder/extra"
            {
                "$uv" venv --quiet --python "$python" "$here" &&
                "$uv" pip install --quiet --python "$here/bin/python" --constraint constraints.txt "$wheel[$extra]" &&
                "$uv" pip check --quiet --python "$here/bin/python" &&
                "$here/bin/python" tests/imports_of_extra.py "$extra"
            } >"$folder/out" 2>&1 || {
                cat "$folder/out"
                echo "smoke: Python $version with the extra $extra failed"
                exit 1
            }
            echo "smoke: Python $version with the extra $extra: $(du -sm "$here" | cut -f1) MB"
            rm -rf "$here"
        done
    done
fi

mkdir "$folder/copy"
cp -R pyproject.toml README.md LICENSE src apps "$folder/copy"
(cd "$folder/copy/apps/toolkit" && "$uv" run --quiet pytest -q src/codomyrmex/tests/unit/llm/rag/)
echo "smoke: the toolkit's own command passed"
