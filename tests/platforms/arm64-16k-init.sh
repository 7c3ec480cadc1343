#!/bin/sh
# The first process of the emulated arm64 machine with pages of 16 KiB: huge pages of 32 MiB around blocks of 4 MiB.
export PATH=/bin:/usr/bin HOME=/root MONO_CFG_DIR=/etc MONO_PATH=/usr/lib/mono/4.5:/usr/lib/mono/4.5/Facades
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t cgroup2 none /sys/fs/cgroup
groups=/sys/fs/cgroup settings=/sys/kernel/mm/transparent_hugepage
echo +memory >$groups/cgroup.subtree_control
mkdir $groups/limited
echo 734003200 >$groups/limited/memory.max

# khugepaged in a hurry: in seconds what takes it minutes.
echo 100 >$settings/khugepaged/scan_sleep_millisecs
echo 65536 >$settings/khugepaged/pages_to_scan
echo 100 >$settings/khugepaged/alloc_sleep_millisecs
failed=0
for enabled in madvise always; do
    echo $enabled >$settings/enabled
    timeout 100 sh -c 'echo $$ >/sys/fs/cgroup/limited/cgroup.procs; exec mono-sgen /app/PlatformSmoke.exe huge' || failed=$((failed + 1))
done
echo "exit code $failed"
sync
poweroff -f
