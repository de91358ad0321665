#!/bin/sh
# Collect the wheels that `gpu_check.py --wheels DIR` installs on a machine without network:
# tenferro's own distributions and the pure-Python packages that they need. CuPy, JAX, NumPy and
# SciPy must be there already.
set -eu
wheels=${1:?"usage: tools/gpu_wheels.sh DIR"}
root=$(cd "$(dirname "$0")/.." && pwd)
python -m pip wheel -q --no-deps -w "$wheels" \
  "$root/core" "$root/plugins/numpy_backend" "$root/plugins/cupy_backend" "$root/plugins/xla_backend" "$root/conformance"
python -m pip download -q --only-binary=:all: --no-deps -d "$wheels" pluggy packaging opt_einsum mpmath pytest iniconfig pygments
others=$(find "$wheels" -name '*.whl' ! -name '*-none-any.whl')
test -z "$others" || { echo "not pure Python: $others"; exit 1; }
kilobytes=$(du -sk "$wheels" | cut -f1)
test "$kilobytes" -lt 40960 || { echo "the wheels take $kilobytes KiB; at most 40 MiB travel"; exit 1; }
