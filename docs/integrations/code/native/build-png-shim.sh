#!/usr/bin/env bash
# Builds libpngshim.so from png_shim.c into a folder (default: here). Needs a C compiler and libpng's headers (libpng-dev).
set -euo pipefail
folder=$(realpath "${1:-.}")
cd "$(dirname "$0")"
"${CC:-cc}" -O2 -shared -fPIC -fexceptions -Wall -Werror -o "$folder/libpngshim.so" png_shim.c -lpng16
