#!/bin/sh
# The first process of the emulated x64 machine: control groups of version 2, stall information, huge pages, guard advice where the kernel has it. Runs the program in groups with limits, then tests.
export PATH=/bin:/usr/share/dotnet HOME=/root TMPDIR=/tmp
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_ROOT=/usr/share/dotnet DOTNET_NOLOGO=1 DOTNET_TieredPGO=0
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs tmp /tmp
mount -t tmpfs shm /dev/shm
mount -t cgroup2 none /sys/fs/cgroup
cat /proc/version
root=/sys/fs/cgroup
echo +memory >$root/cgroup.subtree_control
mkdir $root/a
echo +memory >$root/a/cgroup.subtree_control
mkdir $root/a/b
echo +memory >$root/a/b/cgroup.subtree_control
mkdir $root/a/b/c
failed=0

# limits A B B-HIGH C: in MiB, or max.
limits() {
    for file in "a/memory.max $1" "a/b/memory.max $2" "a/b/memory.high $3" "a/b/c/memory.max $4"; do
        bytes=${file#* }
        [ "$bytes" = max ] || bytes=$((bytes * 1048576))
        echo "$bytes" >"$root/${file% *}"
    done
}

# inside ARGUMENTS...: the program, in the innermost group.
inside() {
    echo "-- $*, at $(cut -d' ' -f1 /proc/uptime) s"
    timeout 150 sh -c 'echo $$ >/sys/fs/cgroup/a/b/c/cgroup.procs; exec dotnet exec /app/program/PlatformSmoke.dll "$@"' inside "$@" || failed=$((failed + 1))
}

limits max max max max
inside container load Machine /proc/meminfo 0
limits 600 350 max max
inside container load ControlGroup $root/a/b 350
limits 300 350 max max
inside container load ControlGroup $root/a 300
limits 600 350 max 250
inside container load ControlGroup $root/a/b/c 250
limits 600 350 max max
inside container trim 308 high
inside container trim 160
inside container trim 308 high keep
inside container lower $root/a/b
limits 600 350 max max
inside container huge
inside container burst 160
limits 600 350 200 max
inside container throttle 220
limits max max max max

# Each has to end of a fault.
for what in raw returned behind; do
    echo "-- touch $what"
    DOTNET_DbgEnableMiniDump=0 timeout 60 dotnet exec /app/program/PlatformSmoke.dll touch $what >/tmp/touch.txt 2>&1
    code=$?
    [ $code -ge 128 ] || failed=$((failed + 1))
    echo "   exit code $code: $(grep -c FAIL /tmp/touch.txt) FAIL"
done
for tests in ContainerLimit RealLimit; do
    echo "-- $tests, at $(cut -d' ' -f1 /proc/uptime) s"
    timeout 220 dotnet exec --depsfile /app/tests/Allocator.Tests.deps.json --runtimeconfig /app/tests/Allocator.Tests.runtimeconfig.json \
        /app/runner/TestRunner.dll /app/tests/Allocator.Tests.dll $tests >/tmp/tests.txt 2>&1 || failed=$((failed + 1))
    grep -v '^ok ' /tmp/tests.txt | tail -n 40
done
echo "-- end, at $(cut -d' ' -f1 /proc/uptime) s"
echo "exit code $failed"
sync
poweroff -f
