# The steps of .ci/run and .ci/nightly, and how they are run and counted. Sourced by both, with their arguments.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

readonly script=$PWD/.ci/$(basename "$0")
readonly work=$PWD/artifacts/ci/$(basename "$0")

# What a step exits with that this machine cannot run.
readonly skip=77

# --step NAME...: those steps alone. They build what else an earlier step has built. --list: the names of all.
only=()
if [[ ${1:-} == --step ]]; then only=("${@:2}"); fi
if [[ ${#only[@]} -gt 0 ]]; then export ALONE=true; fi

export CI=true
export DEBIAN_FRONTEND=noninteractive
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
# Nothing that outlives its step: a build server would keep this script's output open.
export DOTNET_CLI_USE_MSBUILD_SERVER=0 MSBUILDDISABLENODEREUSE=1
export HOME="${HOME:-$work/home}"
# Where Mono finds what the tools step takes out of a package.
export MONO_PATH="${MONO_PATH:-$work/mono/usr/lib/mono/4.5/Facades}"

# ---- The steps: each runs in a shell of its own, which ends at the first failing command.

# install_packages PACKAGE...: what is missing of these Debian packages.
install_packages() {
    local missing=() absent=() package
    for package in "$@"; do
        [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    echo "missing: ${missing[*]:-nothing}"
    if [[ ${#missing[@]} -gt 0 ]]; then
        as_root apt-get update --quiet
        as_root apt-get install --yes --quiet --no-install-recommends "${missing[@]}" && return
        # One that this system calls otherwise keeps none of the others away.
        for package in "${missing[@]}"; do
            as_root apt-get install --yes --quiet --no-install-recommends "$package" || absent+=("$package")
        done
        echo "not to be had: ${absent[*]:-nothing}"
        ((${#absent[@]} == 0))
    fi
}

tools() {
    install_packages libturbojpeg0 libjxl0.7 libdav1d6 libpng-dev libgtk-3-0 clang zlib1g-dev valgrind binutils
}

nightly_tools() {
    install_packages libturbojpeg0 libjxl0.7 libdav1d6 libjxl-tools libjpeg-turbo-progs libpng-dev libgtk-3-0 chromium clang zlib1g-dev curl valgrind binutils libmimalloc2.0 libjemalloc2 libtbbmalloc2 libvips42 wine64 musl musl-tools qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++6-arm64-cross libgcc-s1-arm64-cross \
        mono-runtime libmono-system-core4.0-cil libmono-system-numerics4.0-cil

    # The facade for assemblies of netstandard2.0 is in none of Debian's packages for running programs: its file alone, without the compilers around it.
    as_root apt-get update --quiet
    mkdir -p "$work/mono"
    cd "$work/mono"
    apt-get download mono-devel
    dpkg-deb --fsys-tarfile mono-devel_*.deb | tar --extract ./usr/lib/mono/4.5/Facades
}

as_root() {
    if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo -n "$@"; fi
}

build() {
    dotnet build --configuration Release
}

# What the steps behind it need in Release: the library, its tests, and the programs that they run.
release() {
    dotnet build .ci/release.slnf --configuration Release
}

# What the build does not say, where style and rules are errors: the layout, and the order of usings.
format() {
    dotnet format whitespace --folder --verify-no-changes --include ./src/ ./tests/ ./benchmarks/ ./docs/
    dotnet format style --verify-no-changes --no-restore --diagnostics IMPORTS
}

pack() {
    rm -rf "$work/package"
    dotnet pack --configuration Release --no-build --output "$work/package"
    ls -l "$work/package"
    # The library and its companions, and no test or program beside them.
    [[ $(ls "$work/package" | sed --regexp-extended 's/\.[0-9].*\././' | LC_ALL=C sort | xargs) == \
        "Allocator.AspNetCore.nupkg Allocator.AspNetCore.snupkg Allocator.ImageSharp.nupkg Allocator.SkiaSharp.nupkg Allocator.SkiaSharp.snupkg Allocator.nupkg Allocator.snupkg" ]]
}

aot() {
    # The compiler's packages of the newest framework are not on every feed; those of the one before know the same rules.
    local framework=net10.0
    if ! dotnet restore tests/AotSample -p:_IsPublishing=true >"$work/aot-restore.log" 2>&1; then
        grep --quiet 'NU110[123]' "$work/aot-restore.log" || { cat "$work/aot-restore.log"; exit 1; }
        framework=net9.0
        echo "AOT for net10.0 does not restore here, so for $framework:"
        grep --max-count=1 error "$work/aot-restore.log" || true
    fi
    rm -rf "$work/aot"
    dotnet publish tests/AotSample --configuration Release --output "$work/aot" -p:AotTargetFramework="$framework"
    "$work/aot/AotSample"
}

# What the step aot compiled.
sample() {
    if [[ ! -x $work/aot/AotSample ]]; then aot; fi
}

# The first example of the guide for ASP.NET Core, as a program of its own that has the packages of these sources, and whose options come from a configuration: web_example FOLDER AHEAD-OF-TIME RUNTIME
web_example() {
    local folder=$1 project version
    rm -rf "$folder"
    mkdir -p "$folder"
    # A version that no cache has.
    version=0.0.0-web.$(date +%s)
    for project in Allocator Allocator.AspNetCore; do
        dotnet pack "src/$project" --configuration Release --output "$folder/feed" -p:PackageVersion="$version"
    done
    sed --quiet '/^```csharp aspnetcore$/,/^```$/p' docs/integrations/aspnetcore.md | sed '1d; /^```$/Q' >"$folder/Program.cs"
    sed --in-place 's/Services.AddMemoryAllocator();/Services.AddMemoryAllocator(builder.Configuration.GetSection("MemoryAllocator"));/' \
        "$folder/Program.cs"
    grep --quiet GetSection "$folder/Program.cs"
    cat >"$folder/WebExample.csproj" <<END
<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
    <EnforceCodeStyleInBuild>false</EnforceCodeStyleInBuild>
    <GenerateDocumentationFile>false</GenerateDocumentationFile>
    <TrimmerSingleWarn>false</TrimmerSingleWarn>
    <InvariantGlobalization>true</InvariantGlobalization>
    <PublishAot>$2</PublishAot>
    <RuntimeIdentifier>$3</RuntimeIdentifier>
    <SelfContained>true</SelfContained>
    <RestoreAdditionalProjectSources>$folder/feed</RestoreAdditionalProjectSources>
    <ManagePackageVersionsCentrally>false</ManagePackageVersionsCentrally>
  </PropertyGroup>
  <ItemGroup>
    <Compile Include="Program.cs" />
    <PackageReference Include="Allocator.AspNetCore" Version="$version" />
  </ItemGroup>
</Project>
END
    NUGET_PACKAGES="$folder/packages" NUGET_FALLBACK_PACKAGES="${NUGET_PACKAGES:-$HOME/.nuget/packages}" \
        dotnet publish "$folder" --configuration Release --output "$folder/out"
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
    kill "$service_PID"
    wait "$service_PID" || true
    trap - EXIT
}

# Ahead of time without a warning. Generated code binds the options.
aot_web() {
    local program=$work/aot-web/out/WebExample
    web_example "$work/aot-web" true linux-x64
    # What is bound counts: with this there is no limit, and the start fails.
    { MemoryAllocator__MinimumFreeMegabytes=0 timeout 30 "$program" 2>&1 || true; } | grep "has no limit"
    serve "$program" "$program"
}

# The first example of the guide for SkiaSharp, with the real SkiaSharp: compiled ahead of time, and trimmed, without a warning, and run.
aot_skia() {
    local folder=$work/aot-skia kind
    rm -rf "$folder"
    mkdir -p "$folder"
    sed --quiet '/^```csharp skiasharp$/,/^```$/p' docs/integrations/skiasharp.md | sed '1d; /^```$/Q' >"$folder/Program.cs"
    cat >"$folder/AotSkia.csproj" <<END
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
    <EnforceCodeStyleInBuild>false</EnforceCodeStyleInBuild>
    <GenerateDocumentationFile>false</GenerateDocumentationFile>
    <TrimmerSingleWarn>false</TrimmerSingleWarn>
    <InvariantGlobalization>true</InvariantGlobalization>
    <SelfContained>true</SelfContained>
    <UseCurrentRuntimeIdentifier>true</UseCurrentRuntimeIdentifier>
    <PublishAot Condition="'\$(Kind)' == 'aot'">true</PublishAot>
    <PublishTrimmed Condition="'\$(Kind)' == 'trimmed'">true</PublishTrimmed>
  </PropertyGroup>
  <ItemGroup>
    <Compile Include="Program.cs" />
    <PackageReference Include="SkiaSharp.NativeAssets.Linux.NoDependencies" VersionOverride="3.119.4" />
    <ProjectReference Include="$PWD/src/Allocator.SkiaSharp/Allocator.SkiaSharp.csproj" />
  </ItemGroup>
</Project>
END
    cp tests/Allocator.SkiaSharp.Tests/Pictures/progressive-420.jpg "$folder/photo.jpg"
    for kind in aot trimmed; do
        echo "-- $kind"
        dotnet publish "$folder" --configuration Release --output "$folder/$kind" "-p:Kind=$kind"
        [[ $(cd "$folder" && "./$kind/AotSkia") == "1600 x 1200, 400 x 300" ]]
    done
}

trimmed() {
    rm -rf "$work/trimmed"
    dotnet publish tests/AotSample --configuration Release --output "$work/trimmed" -p:Trimmed=true
    "$work/trimmed/AotSample"
    "$work/trimmed/AotSample" stress
    sample
    "$work/aot/AotSample" stress
}

windows() {
    local wine
    wine=$(command -v /usr/lib/wine/wine64 wine64 wine | head -n 1)
    rm -rf "$work/windows"
    dotnet publish tests/PlatformSmoke --framework net10.0 --configuration Release --output "$work/windows"

    # Wine reports an old Windows unless told. It does not bear .NET's double mapping of code: with it, the runtime dies
    # when a dynamic method is collected.
    export WINEPREFIX="$work/wine" WINEDEBUG=-all DOTNET_EnableWriteXorExecute=0
    "$wine" reg add 'HKCU\Software\Wine' /v Version /d win10 /f
    "$wine" "$work/windows/PlatformSmoke.exe"

    # The package for ASP.NET Core, over Kestrel.
    web_example "$work/windows-web" false win-x64
    serve "$work/windows-web/out/WebExample.exe" "$wine" "$work/windows-web/out/WebExample.exe"
}

mono() {
    [[ -z ${ALONE:-} ]] || dotnet build tests/PlatformSmoke --framework net472 --configuration Release
    "$(type -P mono)" artifacts/bin/PlatformSmoke/release_net472/PlatformSmoke.exe
}

# Kinds of collectors, processors and compilation that the tests leave at their defaults: the contract, and the load in each safety mode.
runtimes() {
    local program=$PWD/artifacts/bin/PlatformSmoke/release_net10.0/PlatformSmoke setting
    [[ -z ${ALONE:-} ]] || dotnet build tests/PlatformSmoke --framework net10.0 --configuration Release
    for setting in DOTNET_gcServer=1 "DOTNET_gcServer=1 DOTNET_GCHeapAffinitizeMask=1" DOTNET_PROCESSOR_COUNT=1 DOTNET_PROCESSOR_COUNT=64 \
        DOTNET_TieredPGO=0 DOTNET_ReadyToRun=0 DOTNET_GCgen0size=0x4000000 "taskset --cpu-list 0"; do
        echo "-- $setting"
        # shellcheck disable=SC2086
        env $setting "$program" contract
        # shellcheck disable=SC2086
        env $setting "$program" stress 2
    done

    echo "-- ReadyToRun"
    rm -rf "$work/ready"
    dotnet publish tests/PlatformSmoke --framework net10.0 --configuration Release --output "$work/ready" -p:Ready=true
    "$work/ready/PlatformSmoke" contract
    "$work/ready/PlatformSmoke" stress 3
}

# What emulation needs; the steps behind it are skipped where the machine's package sources lack it.
emulators() {
    mkdir -p artifacts/platforms
    tests/platforms/fetch.sh "$PWD/artifacts/platforms"
    [[ -n ${ALONE:-} ]] || return 0
    dotnet build tests/PlatformSmoke --configuration Release
    dotnet build tests/platforms/TestRunner --configuration Release
    dotnet build tests/Allocator.Tests --configuration Release
}

# .NET's own runtime for musl, as Alpine images have it, at this machine's speed: the contract, the load, a soak, and all tests of the library and for ASP.NET Core, those in control groups among them.
musl() {
    coreclr musl
    "$PWD/artifacts/platforms/musl/dotnet" "$smoke" stress 5
    # Pages, sizes and the bound for 500 threads do not depend on the C library.
    tests/platforms/coreclr-tests.sh "$PWD/artifacts/platforms/musl" Allocator.Tests -.Documentation. -.Architecture. -.CrowdedPool
    [[ -z ${ALONE:-} ]] || dotnet build tests/Allocator.AspNetCore.Tests --configuration Release
    tests/platforms/coreclr-tests.sh "$PWD/artifacts/platforms/musl" Allocator.AspNetCore.Tests
}

musl_soak() {
    coreclr musl
    [[ -z ${ALONE:-} ]] || dotnet build tests/Soak --configuration Release
    DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 "$PWD/artifacts/platforms/musl/dotnet" artifacts/bin/Soak/release/Soak.dll --duration 30
}

# Chiselled and read-only containers with seccomp and a limit, made of namespaces; with musl too where it is.
confined() {
    mkdir -p "$PWD/artifacts/platforms"
    [[ -z ${ALONE:-} ]] || dotnet build tests/PlatformSmoke --framework net10.0 --configuration Release
    tests/platforms/confined.sh "$PWD/artifacts/platforms" glibc artifacts/bin/PlatformSmoke/release_net10.0
    if [[ -x artifacts/platforms/musl/dotnet ]]; then
        tests/platforms/confined.sh "$PWD/artifacts/platforms" musl artifacts/bin/PlatformSmoke/release_net10.0
    fi
}

# .NET's own runtime for ARM64, emulated. Under qemu's user mode background collections crash, and code that is written through another mapping is not seen.
arm64_coreclr() {
    local class
    export DOTNET_gcConcurrent=0 DOTNET_EnableWriteXorExecute=0
    coreclr arm64
    "$PWD/artifacts/platforms/arm64/dotnet" "$smoke" stress 10
    "$PWD/artifacts/platforms/arm64/dotnet" "$smoke" records

    # Each in a process of its own: in one of several minutes the emulator breaks the tests' runner.
    for class in AllocationRecords PooledMemoryOwner MemoryLeaseTests RowMap BlockArena BlockBits BlockCache Canary MemoryReservationTests ReservationAccount AbandonmentTests BackgroundThread; do
        echo "-- $class"
        tests/platforms/coreclr-tests.sh "$PWD/artifacts/platforms/arm64" Allocator.Tests "$class"
    done
}

# Compiled ahead of time for ARM64 on this machine, and emulated: the sample's own checks, the contract, and the load in each safety mode.
arm64_aot() {
    type -P aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null || { echo "Needs Debian's packages gcc-aarch64-linux-gnu and qemu-user."; exit "$skip"; }
    if ! dotnet restore tests/AotSample -p:_IsPublishing=true -p:AotRuntime=linux-arm64; then
        echo "The compiler for linux-arm64 cannot be restored here."
        exit "$skip"
    fi
    rm -rf "$work/aot-arm64"
    dotnet publish tests/AotSample --configuration Release --output "$work/aot-arm64" -p:AotRuntime=linux-arm64 \
        -p:ObjCopyName=aarch64-linux-gnu-objcopy
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/aot-arm64/AotSample"
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/aot-arm64/AotSample" stress
}

# coreclr KIND: makes its dotnet and what it runs, and runs the contract.
coreclr() {
    local code=0
    smoke=$PWD/artifacts/bin/PlatformSmoke/release_net10.0/PlatformSmoke.dll
    mkdir -p "$PWD/artifacts/platforms"
    tests/platforms/coreclr.sh "$PWD/artifacts/platforms" "$1" || code=$?
    [[ $code -eq 0 ]] || exit "$code"
    if [[ -n ${ALONE:-} ]]; then
        dotnet build tests/PlatformSmoke --framework net10.0 --configuration Release
        dotnet build tests/platforms/TestRunner --configuration Release
        dotnet build tests/Allocator.Tests --configuration Release
    fi
    "$PWD/artifacts/platforms/$1/dotnet" "$smoke" contract
}

# On Mono of another processor: the contract, the load, records; and what must end by a fault does.
emulated() {
    local architecture=$1 what code
    [[ -z ${ALONE:-} ]] || emulators
    [[ -d artifacts/platforms/mono-$architecture ]] || exit "$skip"
    shift
    for what in "$@"; do
        echo "-- $what"
        emulate "$architecture" $what
    done
    mkdir -p "$work"
    for what in raw returned behind; do
        echo "-- touch $what"
        code=0
        emulate "$architecture" touch "$what" >"$work/touch.log" 2>&1 || code=$?
        tail --lines=1 "$work/touch.log"
        # By a signal: SIGABRT of Mono, because of SIGSEGV.
        ((code > 128)) || exit 1
    done
}

emulate() {
    tests/platforms/mono.sh "$PWD/artifacts/platforms" "$1" artifacts/bin/PlatformSmoke/release_net472/PlatformSmoke.exe "${@:2}"
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
    [[ -d artifacts/platforms/kernel-arm64-16k ]] || exit "$skip"
    tests/platforms/boot.sh "$PWD/artifacts/platforms" arm64-16k tests/platforms/arm64-16k-init.sh 300 artifacts/bin/PlatformSmoke/release_net472/*
}

# Control groups of version 2 with real limits, stall information and huge pages.
cgroup2() {
    [[ -z ${ALONE:-} ]] || emulators
    [[ -d artifacts/platforms/kernel-x64 ]] || exit "$skip"
    rm -rf "$work/machine"
    mkdir -p "$work/machine"
    cp --recursive artifacts/bin/PlatformSmoke/release_net10.0 "$work/machine/program"
    cp --recursive artifacts/bin/TestRunner/release "$work/machine/runner"
    cp --recursive artifacts/bin/Allocator.Tests/release "$work/machine/tests"
    tests/platforms/boot.sh "$PWD/artifacts/platforms" x64 tests/platforms/x64-init.sh 500 "$work/machine"/*
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
    # shellcheck disable=SC2046
    dotnet run $(built) --configuration Release --project "benchmarks/$1" -- "${@:2}"
}

# The option that says so.
built() {
    [[ -n ${ALONE:-} ]] || echo --no-build
}

# Instructions of the program that the step `aot` compiled.
instructions() {
    sample
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
    # shellcheck disable=SC2046
    dotnet run $(built) --configuration Release --project tests/Soak -- --duration 60
}

# The same while the managed heap, of 128 MiB, is full three times a second. The runtime itself dies of that where it compiles, collects in the background, or starts a thread meanwhile.
soak_exhausted() {
    [[ -z ${ALONE:-} ]] || dotnet build tests/Soak --configuration Release
    DOTNET_GCHeapHardLimit=0x8000000 DOTNET_TieredCompilation=0 DOTNET_gcConcurrent=0 dotnet artifacts/bin/Soak/release/Soak.dll --duration 18 --exhaust
}

# The pages, charts and tables that are committed are those that the committed results give.
report() {
    measure Measurements report
    git diff --exit-code -- benchmarks/results README.md
    ! git status --porcelain -- benchmarks/results | grep '^??'
}

# ---- How they are run and counted.

passed=0
failed=0
skipped=0
summary=()
failures=()

# chosen NAME: whether this step is to run here.
chosen() {
    if [[ ${#only[@]} -gt 0 ]]; then among "$1" "${only[@]}"; else ! among "$1" "${elsewhere[@]}"; fi
}

among() {
    local name
    for name in "${@:2}"; do [[ $name != "$1" ]] || return 0; done
    return 1
}

# meanwhile NAME...: starts these steps, one after the other, beside those that come here until `joined`. They have sources and outputs
# of their own: no build replaces what a program here runs.
elsewhere=()
meanwhile() {
    [[ ${#only[@]} -eq 0 ]] || return 0
    local sources=$work/meanwhile changed
    if [[ ! -d $sources ]]; then
        git worktree prune
        # The commit that has what is not committed too, if anything is not.
        changed=$(git -c user.name=ci -c user.email=ci@localhost stash create)
        git worktree add --quiet --detach "$sources" "${changed:-HEAD}" || return 0
        git ls-files --others --exclude-standard -z | xargs --null --no-run-if-empty cp --parents --target-directory="$sources"
    fi
    elsewhere+=("$@")
    printf '\n==== beside the next steps: %s ====\n' "$*"
    ALLOCATOR_CI_SECONDS=$((overall_limit - SECONDS)) "$sources/.ci/$(basename "$0")" --step "$@" </dev/null >"$work/meanwhile.log" 2>&1 &
    other=$!
    trap 'kill "$other" 2>/dev/null' EXIT
}

# joined: waits for them, shows what they wrote, and counts them.
joined() {
    [[ ${#elsewhere[@]} -gt 0 ]] || return 0
    local name code seconds counts
    wait "$other"
    trap - EXIT
    cat "$work/meanwhile.log"
    cp "$work/meanwhile/artifacts/ci/$(basename "$0")/"*.log "$work/"
    while read -r name _ _ code seconds _; do
        summary+=("$(printf '%-22s exit code %3d  %4d s, beside others' "$name" "$code" "$seconds")")
        ((code == 0 || code == skip)) || failures+=("$name")
    done < <(grep --extended-regexp '^[^ ]+ +exit code +[0-9]+ +[0-9]+ s$' "$work/meanwhile.log")
    # Without this line the script itself has failed.
    read -r -a counts < <(tail --lines=1 "$work/meanwhile.log" |
        grep --extended-regexp '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' || echo 0 passed, 1 failed, 0 skipped)
    ((passed += counts[0], failed += counts[2], skipped += counts[4]))
}

# run NAME LIMIT COMMAND...: with a header, a time limit and a duration; leaves the exit code in `status`.
run() {
    local name=$1 limit=$2
    shift 2
    local left=$((overall_limit - SECONDS)) started=$SECONDS log="$work/$name.log"
    ((limit = left < limit ? left : limit))
    printf '\n==== %s (at most %d s) ====\n' "$name" "$limit"
    if ((limit < 5)); then
        echo "No time is left."
        summary+=("$(printf '%-22s not run: no time was left' "$name")")
        status=124
        return
    fi

    # Into a file, followed from here: what a step leaves running in the background cannot hold this script's output.
    : >"$log"
    timeout --kill-after=15 "$limit" "$@" </dev/null >"$log" 2>&1 &
    local command=$!
    tail --follow --lines=+1 --pid="$command" --sleep-interval=0.2 "$log"
    wait "$command"
    status=$?
    ((status == 124 || status == 137)) && echo "Stopped after $limit s."
    # Not every output ends with a line's end.
    [[ -z $(tail --bytes=1 "$log") ]] || echo
    printf -- '---- %s: exit code %d, %d s\n' "$name" "$status" $((SECONDS - started))
    summary+=("$(printf '%-22s exit code %3d  %4d s' "$name" "$status" $((SECONDS - started)))")
    ((status == 0 || status == skip)) || failures+=("$name")
}

# step NAME LIMIT FUNCTION: counts as one.
step() {
    chosen "$1" || return 0
    run "$1" "$2" "$script" --call "$3"
    if ((status == 0)); then ((passed += 1)); elif ((status == skip)); then ((skipped += 1)); else ((failed += 1)); fi
}

# tests NAME LIMIT ARGUMENTS...: `dotnet test` with these arguments; counts as many as there are tests in its results.
tests() {
    local name=$1 limit=$2 total=0 executed=0 good=0 counters argument arguments=()
    chosen "$name" || return 0
    shift 2
    for argument in "$@"; do
        [[ -n ${ALONE:-} && $argument == --no-build ]] || arguments+=("$argument")
    done
    local results="$work/results/$name"
    rm -rf "$results"
    # tests/Directory.Build.props has each project write a trx file where CI is true.
    # A test of many rounds in containers reports nothing for minutes.
    local patience=$((limit * 2 / 3 > 240 ? limit * 2 / 3 : 240))s
    run "$name" "$limit" dotnet test "${arguments[@]}" --results-directory "$results" \
        --blame-hang --blame-hang-timeout "$patience" --blame-hang-dump-type none -- RunConfiguration.TreatNoTestsAsError=true
    while read -r counters; do
        ((total += $(attribute total "$counters")))
        ((executed += $(attribute executed "$counters")))
        ((good += $(attribute passed "$counters")))
    done < <(find "$results" -name '*.trx' -exec grep --no-filename --only-matching '<Counters [^>]*>' {} + 2>/dev/null)

    echo "     $good passed, $((executed - good)) failed, $((total - executed)) skipped"
    ((passed += good, failed += executed - good, skipped += total - executed))
    # Not built, crashed, or nothing found: a failure too, although no test says so. What this machine skips is found.
    if ((status != 0 && executed == good)) || ((total == 0)); then
        echo "     and dotnet test itself, with exit code $status"
        ((failed += 1))
    fi
}

attribute() {
    sed --quiet "s/.* $1=\"\([0-9]*\)\".*/\1/p" <<<"$2"
}

# begin: an empty folder for what the steps write.
begin() {
    [[ -n ${ALONE:-} ]] || rm -rf "$work"
    mkdir -p "$work" "$HOME"
    dotnet --version
    uname -srm
}

# finish: what failed once more, because of a long output the end is what people see; then the line that counts.
finish() {
    local name
    for name in "${failures[@]}"; do
        printf '\n==== what failed in %s ====\n' "$name"
        grep --extended-regexp --ignore-case 'error|fail|regression|exception|expected|actual|refused' "$work/$name.log" | head --lines=60
        printf '...\n'
        tail --lines=40 "$work/$name.log"
    done

    printf '\n==== %d s ====\n' "$SECONDS"
    printf '%s\n' "${summary[@]}"
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0))
}

# step NAME LIMIT FUNCTION comes here, in a shell of its own.
if [[ ${1:-} == --call ]]; then
    set -e
    "$2"
    exit
fi
if [[ ${1:-} == --list ]]; then
    sed --quiet --regexp-extended 's/^(step|tests) ([^ ]+) .*/\2/p' "$script"
    exit
fi
for name in "${only[@]}"; do
    if ! "$script" --list | grep --quiet --line-regexp --fixed-strings "$name"; then
        echo "There is no step $name: $script --list" >&2
        exit 2
    fi
done
