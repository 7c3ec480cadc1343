#!/usr/bin/env bash
# fetch.sh FOLDER: takes what the other scripts need out of Debian's packages into a folder: emulators, Mono for arm64 and armhf, kernels.
# Ends with 77 where the package sources lack one. Installs nothing, and adds no architecture to the machine. Takes half a minute and half a GB; what is there already stays.
set -euo pipefail
mkdir -p "$1"
cd "$1"

# take FOLDER PATTERN APT-OPTION...: unpacks the newest package whose name matches.
take() {
    local folder=$1 pattern=$2 name
    shift 2
    [[ -d $folder ]] && return
    name=$(apt-cache "$@" search --names-only "$pattern" | cut --delimiter=' ' --fields=1 | sort --version-sort | tail --lines=1)
    if [[ -z $name ]]; then
        echo "No package is called $pattern here." >&2
        exit 77
    fi
    mkdir -p "$folder.part" packages
    (cd packages && apt-get --quiet=2 "$@" download "$name")
    dpkg-deb --extract "$(ls --sort=time packages/"$name"_*.deb | head --lines=1)" "$folder.part"
    mv "$folder.part" "$folder"
}

# closure FOLDER PACKAGE... -- APT-OPTION...: unpacks packages with all that they depend on.
closure() {
    local folder=$1 names=() package
    shift
    [[ -d $folder ]] && return
    while [[ $1 != -- ]]; do
        names+=("$1")
        shift
    done
    shift
    mkdir -p "$folder.part" "$folder.packages/partial"
    apt-get --quiet=2 "$@" install --yes --no-install-recommends --download-only --option Dir::Cache::archives="$PWD/$folder.packages" \
        "${names[@]}"
    for package in "$folder.packages"/*.deb; do
        dpkg-deb --extract "$package" "$folder.part"
    done
    mv "$folder.part" "$folder"
}

# A package list of a foreign architecture is kept apart from the machine's own. A mirror that is being renewed misses some of the lists: what the others have is enough.
foreign() {
    local state=$PWD/apt-$1
    mkdir -p "$state"/{lists/partial,cache/archives/partial,etc/preferences.d}
    : >"$state/status"
    apt=(--option APT::Architecture="$1" --option APT::Architectures="$1" --option Dir::State="$state" --option Dir::State::Lists="$state/lists"
        --option Dir::State::status="$state/status" --option Dir::Cache="$state/cache" --option Dir::Etc::main=/dev/null
        --option Dir::Etc::parts=/dev/null --option Dir::Etc::preferencesparts="$state/etc/preferences.d")
    apt-get --quiet=2 "${apt[@]}" update || true
}

if [[ ! -d host ]]; then
    # As if nothing were installed, so that all that the emulators need comes along.
    foreign "$(dpkg --print-architecture)"
    closure host qemu-user qemu-system-x86 qemu-system-arm seabios ipxe-qemu busybox-static cpio -- "${apt[@]}"
fi
take kernel-x64 '^linux-image-6\.[0-9]+\..*-cloud-amd64$'
for architecture in arm64 armhf; do
    foreign "$architecture"
    closure "mono-$architecture" libc6 libstdc++6 libgcc-s1 zlib1g mono-runtime libmono-system-core4.0-cil libmono-system-numerics4.0-cil \
        -- "${apt[@]}"
    take "mono-devel-$architecture" '^mono-devel$' "${apt[@]}"
    cp --recursive --no-clobber "mono-devel-$architecture/usr/lib/mono/4.5/Facades" "mono-$architecture/usr/lib/mono/4.5/"
    if [[ $architecture == arm64 ]]; then
        take kernel-arm64-16k '^linux-image-6\..*-arm64-16k-unsigned$' "${apt[@]}"
        take busybox-arm64 '^busybox-static$' "${apt[@]}"
    fi
done

# What was unpacked, and of the kernels all but themselves.
rm -rf packages ./*.packages kernel-*/lib kernel-*/usr
