# The steps of .ci/run and .ci/nightly, which source it with their arguments; runner.sh runs and counts them.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

readonly script=$PWD/.ci/$(basename "$0")
readonly work=$PWD/artifacts/ci/$(basename "$0")
readonly platforms=$PWD/artifacts/platforms
readonly smoke=$PWD/artifacts/bin/PlatformSmoke/release_net10.0/PlatformSmoke
readonly smoke472=$PWD/artifacts/bin/PlatformSmoke/release_net472/PlatformSmoke.exe

# What a step exits with that this machine cannot run.
readonly skip=77

# Of the build servers the compiler's alone, also where the environment switches it off: most of a small build is the start of a compiler.
# `finish` ends it.
export DOTNET_CLI_USE_MSBUILD_SERVER=0 MSBUILDDISABLENODEREUSE=1 UseSharedCompilation=true
export CI=true DEBIAN_FRONTEND=noninteractive DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_CLI_UI_LANGUAGE=en
export HOME="${HOME:-$work/home}"
# Where Mono finds what the tools step takes out of a package.
export MONO_PATH="${MONO_PATH:-$work/mono/usr/lib/mono/4.5/Facades}"

# ---- The steps: each runs in a shell of its own, which ends at the first failing command.

as_root() {
    if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo -n "$@"; fi
}

# install_packages PACKAGE...: what is missing of these Debian packages.
install_packages() {
    local package absent=() install=(as_root apt-get install --yes --quiet --no-install-recommends --no-upgrade)
    if "${install[@]}" --no-download "$@"; then return; fi
    as_root apt-get update --quiet
    if "${install[@]}" "$@"; then return; fi
    # One that this system calls otherwise keeps none of the others away.
    for package in "$@"; do "${install[@]}" "$package" || absent+=("$package"); done
    echo "not to be had: ${absent[*]:-nothing}"
    ((${#absent[@]} == 0))
}

# made PROJECT ARGUMENTS...: builds it in Release; an earlier step has, unless this one runs alone.
made() {
    [[ -z ${ALONE:-} ]] || dotnet build "$@" --configuration Release
}

tools() {
    install_packages libjxl0.7 libdav1d6 libpng-dev libgtk-3-0 clang zlib1g-dev valgrind binutils
}

nightly_tools() {
    install_packages libjxl0.7 libdav1d6 libpng-dev libgtk-3-0 chromium clang zlib1g-dev curl valgrind binutils libmimalloc2.0 libjemalloc2 libtbbmalloc2 libvips42 wine64 musl musl-tools qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++6-arm64-cross libgcc-s1-arm64-cross \
        mono-runtime libmono-system-core4.0-cil libmono-system-numerics4.0-cil

    # The facade for assemblies of netstandard2.0 is in none of Debian's packages for running programs: its file alone, without the compilers around it.
    as_root apt-get update --quiet
    mkdir -p "$work/mono"
    cd "$work/mono"
    apt-get download mono-devel
    dpkg-deb --fsys-tarfile mono-devel_*.deb | tar --extract ./usr/lib/mono/4.5/Facades
}

build() {
    dotnet build --configuration Release
}

# What the steps behind it need in Release: the library, its tests, and the programs that they run. The frameworks and programs that no test
# has built are analyzed here.
release() {
    local project
    for project in tests/PlatformSmoke src/Allocator.AspNetCore src/Allocator.SkiaSharp; do
        dotnet build "$project" --configuration Release -p:RunAnalyzers=true
    done
    dotnet build .ci/release.slnf --configuration Release
}

# What the build does not say, where style and rules are errors: the layout, and the order of usings, those of System first.
format() {
    dotnet format whitespace --folder --verify-no-changes --include ./src/ ./tests/ ./benchmarks/ ./docs/
    git ls-files --cached --others --exclude-standard '*.cs' | LC_ALL=C xargs awk '
        FNR == 1 { last = "" }
        /^using [A-Za-z0-9_.]+;/ {
            name = tolower($2); sub(";", "", name); name = (name ~ /^system(\.|$)/ ? "0 " : "1 ") name
            if (last > name) { print FILENAME ": " $0 " stands behind a using that comes later."; failed = 1 }
            last = name
        }
        END { exit failed }'
}

# The library and its companions, and no test or program beside them.
pack() {
    rm -rf "$work/package"
    dotnet pack --configuration Release --no-build --output "$work/package"
    ls -l "$work/package"
    [[ $(ls "$work/package" | sed --regexp-extended 's/\.[0-9].*\././' | LC_ALL=C sort | xargs) == \
        "Allocator.AspNetCore.nupkg Allocator.AspNetCore.snupkg Allocator.ImageSharp.nupkg Allocator.SkiaSharp.nupkg Allocator.SkiaSharp.snupkg Allocator.nupkg Allocator.snupkg" ]]
}

# sample FOLDER ARGUMENTS...: publishes the sample there.
sample() {
    rm -rf "${work:?}/$1"
    dotnet publish tests/AotSample --configuration Release --output "$work/$1" "${@:2}"
}

# The compiler's packages of the newest framework are not on every feed; those of the one before know the same rules.
aot() {
    local framework=net10.0
    dotnet restore tests/AotSample -p:_IsPublishing=true || framework=net9.0
    sample aot -p:AotTargetFramework="$framework"
    "$work/aot/AotSample"
}

trimmed() {
    sample trimmed -p:Trimmed=true
    "$work/trimmed/AotSample"
    "$work/trimmed/AotSample" stress
    [[ -x $work/aot/AotSample ]] || aot
    "$work/aot/AotSample" stress
}

# example GUIDE FOLDER ARGUMENTS...: publishes the first example of a guide there. That of ASP.NET Core has its options from a configuration.
example() {
    mkdir -p "$work/$2"
    sed --quiet "/^\`\`\`csharp $1\$/,/^\`\`\`\$/p" "docs/integrations/$1.md" | sed '1d; /^```$/Q' |
        sed 's/Services.AddMemoryAllocator();/Services.AddMemoryAllocator(builder.Configuration.GetSection("MemoryAllocator"));/' >"$work/$2/Program.cs"
    dotnet publish tests/GuideExample --configuration Release --output "$work/$2" -p:Guide="$1" -p:Example="$work/$2/Program.cs" "${@:3}"
}

# serve FILE COMMAND...: starts that program with a budget of 200 MiB, and sends it the file from six clients at once: three of their pictures fit at a time.
serve() {
    local file=$1 line address='' client clients=()
    shift
    coproc service { ASPNETCORE_URLS=http://127.0.0.1:0 MemoryAllocator__MemoryBudgetMegabytes=200 exec "$@"; }
    trap 'kill "$service_PID" 2>/dev/null' EXIT
    while [[ -z $address ]] && read -r -t 60 line <&"${service[0]}"; do
        if [[ $line == *"Now listening on: "* ]]; then address=$(tr --delete '\r' <<<"${line##*: }"); fi
    done
    curl --fail --silent --show-error --max-time 30 "$address/health"
    for client in 1 2 3 4 5 6; do
        curl --fail --silent --show-error --max-time 60 --data-binary "@$file" "$address/thumbnails" &
        clients+=("$!")
    done
    for client in "${clients[@]}"; do wait "$client"; done
}

# Ahead of time without a warning. Generated code binds the options, and what is bound counts: with this there is no limit, and the start fails.
aot_web() {
    local program=$work/aot-web/GuideExample
    example aspnetcore aot-web -p:Publish=aot
    { MemoryAllocator__MinimumFreeMegabytes=0 timeout 30 "$program" 2>&1 || true; } | grep "has no limit"
    serve "$program" "$program"
}

# With the real SkiaSharp: compiled ahead of time, and trimmed, without a warning, and run.
aot_skia() {
    local kind
    for kind in aot trimmed; do
        echo "-- $kind"
        example skiasharp "$kind-skia" -p:Publish="$kind"
        cp tests/Allocator.SkiaSharp.Tests/Pictures/progressive-420.jpg "$work/$kind-skia/photo.jpg"
        [[ $(cd "$work/$kind-skia" && ./GuideExample) == "1600 x 1200, 400 x 300" ]]
    done
}

# Wine reports an old Windows unless told. It does not bear .NET's double mapping of code: with it, the runtime dies when a dynamic method is collected.
windows() {
    local wine
    wine=$(command -v /usr/lib/wine/wine64 wine64 wine | head -n 1)
    rm -rf "$work/windows"
    dotnet publish tests/PlatformSmoke --framework net10.0 --configuration Release --output "$work/windows"
    export WINEPREFIX="$work/wine" WINEDEBUG=-all DOTNET_EnableWriteXorExecute=0
    "$wine" reg add 'HKCU\Software\Wine' /v Version /d win10 /f
    "$wine" "$work/windows/PlatformSmoke.exe"

    # The package for ASP.NET Core, over Kestrel.
    example aspnetcore windows-web -p:Runtime=win-x64
    serve "$work/windows-web/GuideExample.exe" "$wine" "$work/windows-web/GuideExample.exe"
}

mono() {
    made tests/PlatformSmoke --framework net472
    "$(type -P mono)" "$smoke472"
}

# Kinds of collectors, processors and compilation that the tests leave at their defaults: the contract, and the load in each safety mode.
runtimes() {
    local setting
    made tests/PlatformSmoke --framework net10.0
    for setting in DOTNET_gcServer=1 "DOTNET_gcServer=1 DOTNET_GCHeapAffinitizeMask=1" DOTNET_PROCESSOR_COUNT=1 DOTNET_PROCESSOR_COUNT=64 \
        DOTNET_TieredPGO=0 DOTNET_ReadyToRun=0 DOTNET_GCgen0size=0x4000000 "taskset --cpu-list 0"; do
        echo "-- $setting"
        # shellcheck disable=SC2086
        env $setting "$smoke" contract
        # shellcheck disable=SC2086
        env $setting "$smoke" stress 2
    done

    echo "-- ReadyToRun"
    rm -rf "$work/ready"
    dotnet publish tests/PlatformSmoke --framework net10.0 --configuration Release --output "$work/ready" -p:Ready=true
    "$work/ready/PlatformSmoke" contract
    "$work/ready/PlatformSmoke" stress 3
}

# What emulation needs; the steps behind it are skipped where the machine's package sources lack it.
emulators() {
    mkdir -p "$platforms"
    tests/platforms/fetch.sh "$platforms"
    made tests/PlatformSmoke
    made tests/platforms/TestRunner
    made tests/Allocator.Tests
}

# coreclr KIND: makes its dotnet and what it runs, and runs the contract.
coreclr() {
    mkdir -p "$platforms"
    tests/platforms/coreclr.sh "$platforms" "$1"
    made tests/PlatformSmoke --framework net10.0
    made tests/platforms/TestRunner
    made tests/Allocator.Tests
    "$platforms/$1/dotnet" "$smoke.dll" contract
}

# .NET's own runtime for musl, as Alpine images have it, at this machine's speed: the contract, the load, a soak, and all tests of the library and for ASP.NET Core, those in control groups among them. Pages, sizes and the bound for 500 threads do not depend on the C library.
musl() {
    coreclr musl
    "$platforms/musl/dotnet" "$smoke.dll" stress 5
    tests/platforms/coreclr-tests.sh "$platforms/musl" Allocator.Tests -.Documentation. -.Architecture. -.CrowdedPool
    made tests/Allocator.AspNetCore.Tests
    tests/platforms/coreclr-tests.sh "$platforms/musl" Allocator.AspNetCore.Tests
}

musl_soak() {
    coreclr musl
    DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 "$platforms/musl/dotnet" "$smoke.dll" soak 30
}

# Chiselled and read-only containers with seccomp and a limit, made of namespaces; with musl too where it is.
confined() {
    mkdir -p "$platforms"
    made tests/PlatformSmoke --framework net10.0
    tests/platforms/confined.sh "$platforms" glibc "$(dirname "$smoke")"
    [[ ! -x $platforms/musl/dotnet ]] || tests/platforms/confined.sh "$platforms" musl "$(dirname "$smoke")"
}

# .NET's own runtime for ARM64, emulated. Under qemu's user mode background collections crash, and code that is written through another mapping is not seen. Each class of tests in a process of its own: in one of several minutes the emulator breaks the tests' runner.
arm64_coreclr() {
    local class
    export DOTNET_gcConcurrent=0 DOTNET_EnableWriteXorExecute=0
    coreclr arm64
    "$platforms/arm64/dotnet" "$smoke.dll" stress 10
    "$platforms/arm64/dotnet" "$smoke.dll" records
    for class in AllocationRecords PooledMemoryOwner MemoryLeaseTests RowMap BlockArena BlockBits BlockCache Canary MemoryReservationTests ReservationAccount AbandonmentTests BackgroundThread; do
        echo "-- $class"
        tests/platforms/coreclr-tests.sh "$platforms/arm64" Allocator.Tests "$class"
    done
}

# Compiled ahead of time for ARM64 on this machine, and emulated: the sample's own checks, the contract, and the load in each safety mode.
arm64_aot() {
    type -P aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null || { echo "Needs Debian's packages gcc-aarch64-linux-gnu and qemu-user."; exit "$skip"; }
    dotnet restore tests/AotSample -p:_IsPublishing=true -p:AotRuntime=linux-arm64 || { echo "The compiler for linux-arm64 cannot be restored here."; exit "$skip"; }
    sample aot-arm64 -p:AotRuntime=linux-arm64 -p:ObjCopyName=aarch64-linux-gnu-objcopy
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/aot-arm64/AotSample"
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/aot-arm64/AotSample" stress
}

# emulated ARCHITECTURE COMMAND...: on Mono of another processor; and what must end by a fault does: SIGABRT of Mono, because of SIGSEGV.
emulated() {
    local run=(tests/platforms/mono.sh "$platforms" "$1" "$smoke472") what code
    [[ -z ${ALONE:-} ]] || emulators
    [[ -d $platforms/mono-$1 ]] || exit "$skip"
    for what in "${@:2}"; do
        echo "-- $what"
        # shellcheck disable=SC2086
        "${run[@]}" $what
    done
    for what in raw returned behind; do
        echo "-- touch $what"
        code=0
        "${run[@]}" touch "$what" 2>&1 | tail --lines=1 || code=$?
        ((code > 128)) || exit 1
    done
}

arm64() {
    emulated arm64 contract "stress 5" records
}

armhf() {
    emulated armhf contract "stress 5" records space
}

# Pages of 16 KiB, huge pages of 32 MiB.
arm64_16k() {
    [[ -z ${ALONE:-} ]] || emulators
    [[ -d $platforms/kernel-arm64-16k ]] || exit "$skip"
    tests/platforms/boot.sh "$platforms" arm64-16k tests/platforms/arm64-16k-init.sh 300 "$(dirname "$smoke472")"/*
}

# Control groups of version 2 with real limits, stall information and huge pages.
cgroup2() {
    [[ -z ${ALONE:-} ]] || emulators
    [[ -d $platforms/kernel-x64 ]] || exit "$skip"
    rm -rf "$work/machine"
    mkdir -p "$work/machine"
    cp --recursive "$(dirname "$smoke")" "$work/machine/program"
    cp --recursive artifacts/bin/TestRunner/release "$work/machine/runner"
    cp --recursive artifacts/bin/Allocator.Tests/release "$work/machine/tests"
    tests/platforms/boot.sh "$platforms" x64 tests/platforms/x64-init.sh 500 "$work/machine"/*
}

main_job() {
    dotnet run --configuration Release --project benchmarks/LoadResizeSave -- --quick
}

# Photographs for the tests of containers.
skia_wallpapers() {
    install_packages plasma-workspace-wallpapers || { echo "Without the wallpapers: drawn pictures alone."; exit "$skip"; }
}

# measure PROGRAM ARGUMENTS...: as the build step left it.
measure() {
    made "benchmarks/$1"
    dotnet run --no-build --configuration Release --project "benchmarks/$1" -- "${@:2}"
}

# Instructions of the program that the step `aot` compiled.
instructions() {
    [[ -x $work/aot/AotSample ]] || aot
    measure Measurements instructions --program "$work/aot/AotSample" --check --output "$work/measured/this-machine"
}

# Every other measurement, briefly, so that none rots; and the report of what they found.
measurements() {
    local command
    for command in latency heaps copies alignment fragmentation transfers factors; do
        echo "-- $command"
        measure Measurements "$command" --quick --output "$work/measured/this-machine"
    done
    echo "-- all"
    measure Measurements all --only benchmarks service --quick --output "$work/measured/this-machine"
    echo "-- ThumbnailService mixed"
    measure ThumbnailService mixed --quick --output "$work/measured/this-machine"
    for command in survive chaos; do
        echo "-- LoadResizeSave $command"
        measure LoadResizeSave "$command" --quick --ways reserve --output "$work/measured/this-machine"
    done
    echo "-- LoadResizeSave --pipelines"
    measure LoadResizeSave --pipelines --container 350 --quick --output "$work/measured/this-machine"
    measure Measurements report "$work/measured"
}

# A minute of everything at once, on real memory: nothing may be left at the end, and the resident set must stay flat.
soak() {
    made tests/PlatformSmoke --framework net10.0
    "$smoke" soak 60
}

# The same while the managed heap, of 128 MiB, is full three times a second. The runtime itself dies of that where it compiles, collects in the background, or starts a thread meanwhile.
soak_exhausted() {
    made tests/PlatformSmoke --framework net10.0
    DOTNET_GCHeapHardLimit=0x8000000 DOTNET_TieredCompilation=0 DOTNET_gcConcurrent=0 "$smoke" soak 18 exhaust
}

# The pages, charts and tables that are committed are those that the committed results give.
report() {
    measure Measurements report
    git diff --exit-code -- benchmarks/results README.md
    ! git status --porcelain -- benchmarks/results | grep '^??'
}

source .ci/runner.sh
