#!/usr/bin/env bash
# coreclr-tests.sh FOLDER/KIND PROJECT [[-]PART-OF-A-CLASS-NAME]...: runs the tests of a project, or with a minus all but these, built in Release, with a runtime that coreclr.sh made. Children of the tests run with it too.
set -euo pipefail
bin=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/artifacts/bin
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_DbgEnableMiniDump=0
tests=$bin/$2/release/$2
exec "$1/dotnet" exec --depsfile "$tests.deps.json" --runtimeconfig "$tests.runtimeconfig.json" "$bin/TestRunner/release/TestRunner.dll" "$tests.dll" "${@:3}"
