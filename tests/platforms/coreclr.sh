#!/usr/bin/env bash
# coreclr.sh FOLDER musl|arm64: fills FOLDER/KIND with .NET's own runtime for musl (that of Alpine images) or for ARM64, so that FOLDER/KIND/dotnet starts programs and tests with it.
# musl runs at the machine's speed, ARM64 under qemu's user mode. Exits with 77 if a package is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(realpath "$1")/$2
version=$(dotnet --list-runtimes | sed -n 's/^Microsoft.NETCore.App \(10\.[0-9.]*\) .*/\1/p' | sort --version-sort | tail -1)
case $2 in
    musl) rid=linux-musl-x64 compiler=musl-gcc packages="musl musl-tools libssl3" ;;
    arm64) rid=linux-arm64 compiler=aarch64-linux-gnu-gcc packages="qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++6-arm64-cross libgcc-s1-arm64-cross" ;;
esac
type -P "$compiler" >/dev/null || { echo "Needs Debian's packages: $packages"; exit 77; }

# What is there stays, if it is of this version and of these sources.
if [[ -d $folder/shared/Microsoft.AspNetCore.App/$version && $folder/dotnet -nt $here/coreclr/host.c && $folder/dotnet -nt $here/coreclr/musl-glibc.c ]]; then
    exec "$folder/dotnet" --list-runtimes
fi

rm -rf "$folder"
mkdir -p "$folder/restore"
cat > "$folder/restore/restore.csproj" <<END
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net10.0</TargetFramework>
    <RestorePackagesPath>$folder/restore/packages</RestorePackagesPath>
    <ManagePackageVersionsCentrally>false</ManagePackageVersionsCentrally>
  </PropertyGroup>
  <ItemGroup>
    <PackageDownload Include="Microsoft.NETCore.App.Runtime.$rid" Version="[$version]" />
    <PackageDownload Include="Microsoft.AspNetCore.App.Runtime.$rid" Version="[$version]" />
  </ItemGroup>
</Project>
END
if ! dotnet restore "$folder/restore/restore.csproj" >"$folder/restore/log" 2>&1; then
    cat "$folder/restore/log"
    grep --quiet 'NU110[123]' "$folder/restore/log" && { echo "No runtime $version for $rid is on the feed."; exit 77; }
    exit 1
fi

for name in Microsoft.NETCore.App Microsoft.AspNetCore.App; do
    pack=$(echo "$folder/restore/packages/${name,,}.runtime.$rid/$version/runtimes/$rid")
    to=$folder/shared/$name/$version
    mkdir -p "$to"
    cp "$pack"/lib/net*/* "$to/"
    if [[ -d $pack/native ]]; then cp "$pack"/native/* "$to/"; fi
done
mkdir -p "$folder/host/fxr/$version"
mv "$folder/shared/Microsoft.NETCore.App/$version/libhostfxr.so" "$folder/host/fxr/$version/"
rm -rf "$folder/restore"

if [[ $2 == musl ]]; then
    # Debian's libraries for C++ and cryptography, and what they want of glibc. Children of other C libraries do not look there: the path is in the files.
    mkdir "$folder/lib"
    cp --dereference /usr/lib/x86_64-linux-gnu/lib{stdc++.so.6,ssl.so.3,crypto.so.3} /lib/x86_64-linux-gnu/libgcc_s.so.1 "$folder/lib/"
    shim=$folder/lib/ld-linux-x86-64.so.2
    musl-gcc -shared -fPIC -O2 -Wl,-soname,"${shim##*/}" -o "$shim" "$here/coreclr/musl-glibc.c"
    musl-gcc -O2 -o "$folder/dotnet" "$here/coreclr/host.c" -Wl,-rpath,"$folder/lib" -Wl,--no-as-needed "$shim"
else
    aarch64-linux-gnu-gcc -O2 -o "$folder/dotnet.bin" "$here/coreclr/host.c" -ldl
    printf '#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu "%s/dotnet.bin" "$@"\n' "$folder" > "$folder/dotnet"
    chmod +x "$folder/dotnet"
fi

"$folder/dotnet" --list-runtimes
