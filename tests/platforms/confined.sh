#!/usr/bin/env bash
# confined.sh FOLDER glibc|musl PROGRAM-FOLDER: runs PlatformSmoke as a chiselled, read-only container does (confine.c): the contract, the load, and real limits of 300 MiB.
# glibc: this machine's runtime and C library. musl: what coreclr.sh made. Exits with 77 if namespaces or control groups cannot be made here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(realpath "$1") kind=$2 program=$(realpath "$3")
readonly limit=300 room=1024 # MiB: of the container, and for the contract, some of whose requests are larger
[[ $(id -u) -eq 0 ]] || { echo "Needs root, for namespaces and a control group."; exit 77; }
unshare --mount true || { echo "No mount namespace can be made here."; exit 77; }

# Version 1, or version 2 if the process's own group hands memory control on.
path=$(sed --quiet 's/^[0-9]*:memory://p' /proc/self/cgroup)
if [[ -n $path ]]; then parent=/sys/fs/cgroup/memory$path file=memory.limit_in_bytes; else parent=/sys/fs/cgroup$(sed --quiet 's/^0:://p' /proc/self/cgroup) file=memory.max; fi
group=$parent/confined-$$
root=$(mktemp --directory "$folder/confined.XXXXXX")
trap 'rm -rf "$root" "$root.confine"; rmdir "$group" 2>/dev/null || true' EXIT
mkdir "$group" && [[ -e $group/$file ]] || { echo "No memory control group can be made below $parent."; exit 77; }

# No shell, no package manager: the C library, the runtime and the program.
mkdir -p "$root"/{app,dev,proc,sys,tmp,etc}
cp --recursive "$program/." "$root/app/"
echo 'app:x:10001:10001::/app:/sbin/nologin' >"$root/etc/passwd"
case $kind in
    glibc)
        runtime=$(dirname "$(readlink --canonicalize "$(command -v dotnet)")") dotnet=/usr/share/dotnet/dotnet
        mkdir -p "$root/usr/share/dotnet/shared"
        cp --recursive "$runtime/host" "$runtime/dotnet" "$root/usr/share/dotnet/"
        cp --recursive "$runtime/shared/Microsoft.NETCore.App" "$root/usr/share/dotnet/shared/"
        while read -r library; do
            mkdir -p "$root$(dirname "$library")"
            cp --dereference "$library" "$root$library"
        done < <(ldd "$runtime/dotnet" "$(find "$runtime/shared" -name libcoreclr.so | sort --version-sort | tail --lines=1)" \
            | grep --only-matching '/[^ ]*\.so[^ ]*' | grep --invert-match libcoreclr | sort --unique)
        ;;
    musl)
        # The host names its folder.
        dotnet=$folder/musl/dotnet
        mkdir -p "$root$folder" "$root/lib"
        cp --recursive "$folder/musl" "$root$folder/"
        cp --dereference /lib/ld-musl-x86_64.so.1 "$root/lib/"
        ;;
    *)
        echo "$kind: glibc or musl" >&2
        exit 2
        ;;
esac
cc -O2 -Wall -o "$root.confine" "$here/confine.c"
chmod 755 "$root"
for command in "confined $limit" "contract unrecorded" "stress 5"; do
    echo "-- $command"
    echo $((limit * 1048576)) >"$group/$file"
    [[ $command == confined* ]] || echo $((room * 1048576)) >"$group/$file"
    # shellcheck disable=SC2086
    "$root.confine" "$root" "$group" 10001 "$dotnet" exec /app/PlatformSmoke.dll $command
done
