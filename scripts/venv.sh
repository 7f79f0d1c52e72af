#!/bin/sh
# Make a virtual environment from nothing: scripts/venv.sh DIR REQUIREMENT...
#
# With uv where it works, else with python's own venv and pip. Takes the first Python >= 3.11 it finds; PYTHON=... names another.
# A DIR that is there already is made anew.
set -eu
unset VIRTUAL_ENV CONDA_PREFIX PYTHONHOME PYTHONPATH # another environment may be active
dir=$1
shift

complain() {
    printf 'venv: %s\n' "$*" >&2
}

# A command may be there and not work (a pyenv shim of a version that is not selected), so it is run, not looked up.
is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
        if is_new_enough "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    if [ -n "${PYTHON:-}" ]; then
        complain "PYTHON=$PYTHON is not a Python of version 3.11 or newer."
    else
        complain "no Python of version 3.11 or newer was found."
        complain "Install one (Debian, Ubuntu: apt-get install python3 python3-venv; macOS: brew install python),"
        complain "or name one that is not on the PATH: make PYTHON=/path/to/python3 ..."
    fi
    return 1
}

make_with_uv() {
    uv --version >/dev/null 2>&1 || return 1
    UV_PYTHON_DOWNLOADS=never uv venv --quiet --python "$("$python" -c 'import sys; print(sys.executable)')" "$dir" &&
        uv pip install --quiet --python "$dir/bin/python" "$@" && return
    complain "uv did not succeed; trying pip."
    rm -rf "$dir"
    return 1
}

make_with_pip() {
    "$python" -m venv "$dir" || {
        rm -rf "$dir"
        complain "$python cannot make virtual environments. Debian, Ubuntu: apt-get install python3-venv; or install uv."
        return 1
    }
    "$dir/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

python=$(find_python)
if [ -f "$dir/pyvenv.cfg" ]; then
    rm -rf "$dir"
elif [ -d "$dir" ] && ! rmdir "$dir" 2>/dev/null; then
    complain "$dir is there and is not a virtual environment: move it away."
    exit 1
fi
make_with_uv "$@" || make_with_pip "$@"
