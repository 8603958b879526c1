#!/bin/busybox sh
# SPDX-License-Identifier: ISC
# Process 1 of a machine until its disks appear: the first is the root, the
# second is the tree, mounted at the path given on the command line.
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t devtmpfs dev /dev
for m in /modules/*.ko; do $b insmod "$m" || echo "init: $m"; done
for a in $($b cat /proc/cmdline); do
	case $a in ic.top=*) top=${a#ic.top=} ;; esac
done
$b mount -t ext4 /dev/vda /root || echo "init: no root disk"
$b mkdir -p "/root$top" /root/home/tester
$b mount -t ext4 /dev/vdb "/root$top" || echo "init: no tree"
echo "exec /usr/bin/python3 -B '$top/tests/machines/guest.py' '$top'" >/root/lane.sh
$b umount /proc
exec $b switch_root /root /sbin/init
