#!/bin/bash
# SPDX-License-Identifier: ISC
# Epilog= of slurm.conf, which runs as root on each node when a job has ended. It
# closes the logs of sessions that Slurm has killed, as their own user: the closing
# record says "killed from outside". Its output is the last hash of each log, for
# the log of slurmd, so that nobody can shorten one unnoticed.
[ -n "$SLURM_JOB_USER" ] && [ -n "$SLURM_JOB_ID" ] || exit 0
base=${IRONCURTAIN_NODE_DIR:-/var/tmp}/ironcurtain-$SLURM_JOB_USER
shopt -s nullglob
dirs=("$base/$SLURM_JOB_ID")
[ -d "${dirs[0]}" ] || exit 0
exec runuser -u "$SLURM_JOB_USER" -- env IRONCURTAIN_HOME="$base/home" \
  icctl close "${dirs[@]}"
