#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""./dev test slurm: the files for Slurm, with munged, slurmctld and slurmd of
Debian on one machine.

usage: slurm.py --build BUILD --user USER [--counts FILE]

Runs as root, starts the daemons with all of their files in one directory, and the
test beside this file as USER.  Nothing of it is left at the end."""
import argparse
import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
PDEATHSIG = 1
CONF = """ClusterName=ic
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={ctld}
SlurmdPort={slurmd}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge.sock
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,sched_min_interval=100000
MpiDefault=none
ReturnToService=2
MinJobAge=36000
KillWait=10
Epilog={dir}/epilog
NodeName={host} NodeAddr=127.0.0.1 CPUs=60 RealMemory=400000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
EPILOG = """#!/bin/sh
PATH={bin}:$PATH IRONCURTAIN_NODE_DIR={nodes} \\
  exec {share}/engines/slurm/epilog.sh >>{dir}/epilog.log 2>&1
"""


def daemon(where, name, *argv, env=None):
    def tied():
        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
    with open(os.path.join(where, name + ".out"), "wb") as f:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=f,
                                stderr=f, env=env, preexec_fn=tied)


def start(where, nodes, prefix):
    """Starts the daemons. Returns them."""
    host = os.uname().nodename.split(".")[0]
    ports = 20000 + os.getpid() % 20000
    for name in ("state", "spool"):
        os.mkdir(os.path.join(where, name))
    conf = os.path.join(where, "slurm.conf")
    with open(conf, "w", encoding="ascii") as f:
        f.write(CONF.format(host=host, ctld=ports, slurmd=ports + 1,
                            dir=where))
    with open(os.path.join(where, "epilog"), "w", encoding="ascii") as f:
        f.write(EPILOG.format(bin=prefix + "/bin", nodes=nodes, dir=where,
                              share=prefix + "/share/ironcurtain"))
    os.chmod(os.path.join(where, "epilog"), 0o755)
    key = os.path.join(where, "munge.key")
    with open(key, "wb") as f:
        f.write(os.urandom(1024))
    os.chmod(key, 0o400)
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": conf}
    yield daemon(where, "munged", "/usr/sbin/munged", "--foreground",
                 "--force", f"--socket={where}/munge.sock",
                 f"--key-file={key}", f"--log-file={where}/munged.log",
                 f"--pid-file={where}/munged.pid",
                 f"--seed-file={where}/munged.seed")
    while not os.path.exists(where + "/munge.sock"):
        time.sleep(0.1)
    yield daemon(where, "slurmctld", "/usr/sbin/slurmctld", "-D", "-f", conf,
                 env=env)
    yield daemon(where, "slurmd", "/usr/sbin/slurmd", "-D", "-f", conf, "-N",
                 host, env=env)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", required=True)
    p.add_argument("--user", required=True)
    p.add_argument("--counts")
    o = p.parse_args()
    user = pwd.getpwnam(o.user)
    prefix = os.path.join(os.path.abspath(o.build), "stage", "usr", "local")
    where, running = tempfile.mkdtemp(prefix="ic-slurm-"), []
    os.chmod(where, 0o755)
    nodes = os.path.join(where, "nodes")
    os.mkdir(nodes)
    os.chown(nodes, user.pw_uid, user.pw_gid)
    lines = []
    try:
        for one in start(where, nodes, prefix):
            running.append(one)
        with subprocess.Popen(
                ["/usr/bin/python3", "-B", os.path.join(HERE,
                                                        "test_slurm.py")],
                user=user.pw_uid, group=user.pw_gid, extra_groups=[],
                cwd=nodes, stdout=subprocess.PIPE, text=True, env={
                    "HOME": user.pw_dir, "USER": o.user, "LOGNAME": o.user,
                    "PATH": prefix + "/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                    "SLURM_CONF": where + "/slurm.conf",
                    "IRONCURTAIN_NODE_DIR": nodes, "IC_PREFIX": prefix,
                    "IC_BUILD": os.path.abspath(o.build)}) as test:
            for line in test.stdout:
                print(line, end="", flush=True)
                lines.append(line)
        status = test.returncode
        if status != 0:
            for name in ("slurmctld.log", "slurmd.log", "epilog.log"):
                subprocess.run(["tail", "-n", "20",
                                os.path.join(where, name)], check=False,
                               stdout=sys.stderr)
    finally:
        for one in reversed(running):
            one.kill()
            one.wait()
        shutil.rmtree(where, ignore_errors=True)
    if o.counts:
        good = sum(line.startswith("ok ") for line in lines)
        bad = sum(line.startswith("not ok ") for line in lines)
        with open(o.counts, "w", encoding="ascii") as f:
            print(good, bad or int(status != 0), 0, file=f)
    sys.exit(status)


if __name__ == "__main__":
    main()
