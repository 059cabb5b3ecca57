#!/usr/bin/env python3
"""Array jobs of a real Slurm on this machine: munged, slurmctld and slurmd on the loopback, started and ended here. The
folder equals that of one process to the byte when all goes well, when a task is killed, requeued, pre-empted by a drained
node, and when the rest is left to `throng resume`. And mpirun of OpenMPI and MPICH, and srun.

Only with THRONG_LONG in the environment, as root, where slurm-wlm and munge (and openmpi-bin, mpich) are installed.
TH_PROGRAM names the program. SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("TH_PROGRAM")
WAIT = float(os.environ.get("TH_WAIT_SECONDS", 450))  # only a hang takes so long
SWEEP = ["sweep", "scene.json", "--set", "groups.0.count=40", "--vary", "doors.main.width=0.9,1.2", "--runs", "10", "--out", "o"]

CONF = """ClusterName=th
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={here}/run/munge.sock
CryptoType=crypto/munge
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool
SlurmctldPidFile={here}/run/slurmctld.pid
SlurmdPidFile={here}/run/slurmd.pid
SlurmctldLogFile={here}/log/slurmctld.log
SlurmdLogFile={here}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
KillWait=5
MinJobAge=600
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def call(*words, check=True, **options):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=WAIT, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} exits {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def until(what, test):
    """Waits for an event; only a hang reaches the end."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        found = test()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"waited in vain for {what}")


class Slurm:
    """The three daemons in a folder of their own."""

    def __init__(self, here):
        self.here, self.processes = here, []
        for name in ("run", "state", "spool", "log"):
            (here / name).mkdir()
        os.chmod(here, 0o755)
        key = here / "munge.key"
        key.write_bytes(os.urandom(1024))
        os.chmod(key, 0o400)
        self.host = socket.gethostname().split(".")[0]
        conf = here / "slurm.conf"
        conf.write_text(CONF.format(here=here, host=self.host), encoding="utf-8")
        os.environ["SLURM_CONF"] = str(conf)
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={here}/run/munge.sock",
                   f"--pid-file={here}/run/munged.pid", f"--log-file={here}/log/munged.log", f"--seed-file={here}/run/seed")
        until("munged", (here / "run/munge.sock").exists)
        self.start("slurmctld", "-D", "-f", conf)
        self.start("slurmd", "-D", "-f", conf, "-N", self.host)
        until("an idle node", lambda: "idle" in call("sinfo", "-h", "-o", "%T", check=False))

    def start(self, name, *words):
        program = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        log = open(self.here / "log" / f"{name}.out", "w", encoding="utf-8")
        self.processes.append(subprocess.Popen([program, *map(str, words)], stdout=log, stderr=log, stdin=subprocess.DEVNULL))

    def stop(self):
        call("scancel", "--user=root", "--signal=KILL", check=False)
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def throng(folder, *words, check=True, **environment):
    return call(PROGRAM, *words, check=check, cwd=folder, env=dict(os.environ, OMP_WAIT_POLICY="passive", **environment))


def new_folder(here, name):
    folder = here / name
    folder.mkdir()
    shutil.copy(ROOT / "scenes" / "bottleneck.json", folder / "scene.json")
    return folder


def queue():
    return [line.split() for line in call("squeue", "-h", "-r", "-o", "%i %T").split("\n") if line]


def rows(folder):
    lines = (folder / "o/runs.csv").read_text(encoding="utf-8").split("\n")
    title = lines[0].split(",").index("wall_seconds")
    return [",".join(f for k, f in enumerate(line.split(",")) if k != title) for line in lines]


def text_of(file):
    """Without the minute in which a page was written."""
    return [line for line in file.read_text(encoding="utf-8").split("\n") if "<dt>Written" not in line]


def assert_same(one, folder, what):
    for name in ("sweep.csv", "report.html", "sweep.json", "scene.json"):
        assert text_of(one / "o" / name) == text_of(folder / "o" / name), f"{what}: {name} differs"
    assert rows(one) == rows(folder), f"{what}: runs.csv differs"
    names = [sorted(p.name for p in (f / "o").iterdir() if p.name != "cluster") for f in (one, folder)]
    assert names[0] == names[1], f"{what}: {names}"
    print(f"{what}: the same folder", flush=True)


def finished(folder):
    return json.loads((folder / "o/sweep.json").read_text(encoding="utf-8"))["state"] == "finished"


def submit(folder, **environment):
    out = throng(folder, *SWEEP, "--launch", "slurm", "--time", "10", **environment)
    return out.split()[1].rstrip(":")


def held(folder, count):
    """Processes of array tasks that stand at the point that THRONG_HOLD names: [(pid, array task)]."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state = stat.read_text(errors="replace").rsplit(")", 1)[1].split()[0]
            words = (stat.parent / "cmdline").read_text(errors="replace").split("\0")
            environment = dict(w.split("=", 1) for w in (stat.parent / "environ").read_text(errors="replace").split("\0") if "=" in w)
        except (OSError, IndexError):
            continue
        if state == "T" and f"{folder}/o" in words and "SLURM_ARRAY_TASK_ID" in environment:
            found.append((int(stat.parent.name), environment["SLURM_ARRAY_TASK_ID"]))
    return found if len(found) >= count else None


def all_goes_well(here, one):
    folder = new_folder(here, "well")
    job = submit(folder)
    until("the end of the array", lambda: finished(folder) and not queue())
    assert_same(one, folder, f"array job {job}")
    assert (folder / "o/cluster/job-1.sbatch").exists()


def killed_and_requeued(here, one):
    """Both tasks stand at their second run. One is killed, one requeued; what is left does the rest."""
    folder = new_folder(here, "killed")
    job = submit(folder, THRONG_HOLD="taken:2")
    (first, task), (second, other) = until("two tasks that stand", lambda: held(folder, 2))[:2]
    print(throng(folder, "status", "o").strip())
    assert "of the runs that are there" in throng(folder, "collect", "o")
    call("scancel", "--signal=KILL", "--full", f"{job}_{task}")
    until("the killed task's end", lambda: not os.path.exists(f"/proc/{first}"))
    call("scontrol", "requeue", f"{job}_{other}")
    until("the requeued task's end", lambda: not os.path.exists(f"/proc/{second}"))
    # New tasks come and stand in turn; the rest is left to them one run each.
    def go_on():
        for pid, _ in held(folder, 0) or []:
            os.kill(pid, signal.SIGCONT)
        return finished(folder)
    until("the end of the array", go_on)
    until("an empty queue", lambda: [go_on(), not queue()][1])
    assert_same(one, folder, "a task killed, one requeued")


def drained(here, one):
    """The node is drained while tasks run, and all jobs are cancelled; `throng resume --launch slurm` finishes."""
    folder = new_folder(here, "drained")
    job = submit(folder, THRONG_HOLD="taken:3")
    host = call("sinfo", "-h", "-N", "-o", "%N").split()[0]
    stopped = until("two tasks that stand", lambda: held(folder, 2))
    call("scontrol", "update", f"nodename={host}", "state=drain", "reason=test")
    call("scancel", job)  # TERM, and KILL later, for those that stand
    until("an empty queue", lambda: not queue())
    until("the end of the processes", lambda: not any(os.path.exists(f"/proc/{pid}") for pid, _ in stopped))
    assert not finished(folder)
    before = {p.name: p.read_bytes() for p in (folder / "o/cluster/work/00000").glob("*.done")}
    assert len(before) >= 2
    again = throng(folder, "resume", "o", "--launch", "slurm", "--array-limit", "2")
    assert f"{20 - len(before)} runs" in again, again
    assert [state for _, state in queue()] == ["PENDING"] * len(queue())
    call("scontrol", "update", f"nodename={host}", "state=resume")
    until("the end of the array", lambda: finished(folder) and not queue())
    assert_same(one, folder, "a drained node, the rest resumed")
    kept = (folder / "o/runs.csv").read_text(encoding="utf-8")
    assert all(row.decode() in kept for row in before.values()), "a run that was complete was made again"


def mpi(here, one):
    launchers = {"mpirun.openmpi": ["--allow-run-as-root", "--oversubscribe", "-n", "3"], "mpiexec.hydra": ["-n", "3"],
                 "srun": ["-n", "2"]}
    for name, words in launchers.items():
        if not shutil.which(name):
            print(f"{name} is not installed: left out")
            continue
        folder = new_folder(here, name)
        call(name, *words, PROGRAM, *SWEEP, "--launch", "mpi", cwd=folder)
        assert_same(one, folder, name)


def main():
    if not PROGRAM:
        skip("TH_PROGRAM does not name the program")
    if not os.environ.get("THRONG_LONG"):
        skip("starts the daemons of Slurm; set THRONG_LONG")
    paths = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = [p for p in ("sbatch", "slurmctld", "slurmd", "munged") if not shutil.which(p, path=paths)]
    if missing:
        skip(f"not installed: {', '.join(missing)} (Debian: slurm-wlm munge)")
    if os.geteuid() != 0:
        skip("slurmctld and slurmd want to be root")
    with tempfile.TemporaryDirectory(prefix="throng_slurm_") as name:
        here = Path(name)
        one = new_folder(here, "one")
        throng(one, *SWEEP)
        slurm = Slurm(here)
        try:
            for test in (all_goes_well, killed_and_requeued, drained, mpi):
                test(here, one)
        except (AssertionError, subprocess.SubprocessError):
            for log in (here / "log").glob("slurm*.log"):
                print(f"---- {log.name}\n" + "\n".join(log.read_text().split("\n")[-25:]))
            for log in here.glob("*/o/cluster/logs/*"):
                print(f"---- {log}\n{log.read_text()[-500:]}")
            raise
        finally:
            slurm.stop()


if __name__ == "__main__":
    main()
