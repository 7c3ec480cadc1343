#!/usr/bin/env bash
# boot.sh FOLDER x64|arm64-16k INIT SECONDS [FILES...]: boots an emulated machine whose first process is the script INIT, with the runtime and the files below /app. No KVM.
# x64: CoreCLR of this machine. arm64-16k: Mono, pages of 16 KiB. Ends with the machine; its exit code is the one that INIT writes as "exit code N".
set -euo pipefail
folder=$1 machine=$2 init=$3 limit=$4
shift 4
root=$(mktemp --directory "$folder/root.XXXXXX")
trap 'rm -rf "$root" "$root.cpio" "$root.log"' EXIT
mkdir -p "$root"/{bin,dev,proc,sys,tmp,etc,root,app}
case $machine in
    x64)
        # This machine's own C and C++ libraries and runtime.
        cp "$folder/host/bin/busybox" "$root/bin/"
        while read -r library; do
            mkdir -p "$root$(dirname "$library")"
            cp --dereference "$library" "$root$library"
        done < <(ldd "$(dotnet_root=$(dirname "$(readlink --canonicalize "$(command -v dotnet)")") && echo "$dotnet_root/dotnet")" \
            "$(find "$(dirname "$(readlink --canonicalize "$(command -v dotnet)")")/shared" -name libcoreclr.so | sort --version-sort | tail --lines=1)" \
            | grep --only-matching '/[^ ]*\.so[^ ]*' | grep --invert-match libcoreclr | sort --unique)
        runtime=$(dirname "$(readlink --canonicalize "$(command -v dotnet)")")
        mkdir -p "$root/usr/share/dotnet/shared"
        cp --recursive "$runtime/host" "$runtime/dotnet" "$root/usr/share/dotnet/"
        cp --recursive "$runtime/shared/Microsoft.NETCore.App" "$root/usr/share/dotnet/shared/"
        # .NET restores contexts by iretq; with SMAP emulated, kernels fail where a fault becomes an exception.
        emulator=(qemu-system-x86_64 -cpu "max,smap=off" -append "console=ttyS0 quiet panic=-1") kernel=kernel-x64
        ;;
    arm64-16k)
        cp --recursive "$folder/mono-arm64/." "$root/"
        cp --recursive "$folder/busybox-arm64/." "$root/"
        rm -rf "$root"/usr/share "$root"/usr/lib/aarch64-linux-gnu/gconv "$root"/var
        emulator=(qemu-system-aarch64 -M virt -cpu "max,pauth-impdef=on" -append "console=ttyAMA0 quiet panic=-1") kernel=kernel-arm64-16k
        ;;
    *)
        echo "$machine: x64 or arm64-16k" >&2
        exit 2
        ;;
esac
for command in sh mount cat echo ls mkdir sleep sync poweroff date grep head tail cut tr timeout; do
    [[ -e $root/bin/$command ]] || ln --symbolic busybox "$root/bin/$command"
done
[[ $# -eq 0 ]] || cp --recursive "$@" "$root/app/"
cp "$init" "$root/init"
chmod +x "$root/init"
(cd "$root" && find . | "$folder/host/bin/busybox" cpio -o -H newc >"$root.cpio" 2>/dev/null)
rm -rf "$root"

export LD_LIBRARY_PATH=$folder/host/usr/lib/x86_64-linux-gnu:$folder/host/lib/x86_64-linux-gnu:$folder/host/usr/lib
timeout --kill-after=5 "$limit" "$folder/host/usr/bin/${emulator[0]}" "${emulator[@]:1}" \
    -L "$folder/host/usr/share/qemu" -L "$folder/host/usr/share/seabios" -accel tcg,thread=multi -smp 2 -m 2048 -nodefaults -no-reboot \
    -display none -serial stdio -kernel "$(ls "$folder/$kernel"/boot/vmlinuz-*)" -initrd "$root.cpio" </dev/null | tr --delete '\r' | tee "$root.log"
code=$(sed --quiet 's/^exit code \([0-9]*\)$/\1/p' "$root.log" | tail --lines=1)
exit "${code:-1}"
