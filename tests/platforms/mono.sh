#!/usr/bin/env bash
# mono.sh FOLDER arm64|armhf PROGRAM ARGUMENTS...: runs a net472 program on Mono of that architecture, under qemu's user mode. See fetch.sh.
set -euo pipefail
folder=$1 architecture=$2
shift 2
case $architecture in
    arm64) emulator=qemu-aarch64 ;;
    armhf) emulator=qemu-arm ;;
    *)
        echo "$architecture: arm64 or armhf" >&2
        exit 2
        ;;
esac
system=$folder/mono-$architecture
export MONO_CFG_DIR=$system/etc MONO_GAC_PREFIX=$system/usr MONO_PATH=$system/usr/lib/mono/4.5:$system/usr/lib/mono/4.5/Facades
export LD_LIBRARY_PATH=$folder/host/usr/lib/x86_64-linux-gnu:$folder/host/lib/x86_64-linux-gnu
exec "$folder/host/usr/bin/$emulator" -U LD_LIBRARY_PATH -L "$system" "$system/usr/bin/mono-sgen" "$@"
