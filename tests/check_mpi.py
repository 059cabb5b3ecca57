#!/usr/bin/env python3
"""One crowd over the processes of mpirun: hashes, counts and recordings of one process, with 2 and 3 ranks and 1 and 2 threads; the
library in a program of its own; MPICH beside OpenMPI; hosts as network namespaces; checkpoints, and restarts on another number of ranks; a rank that dies. Skipped without MPI. SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("TH_PROGRAM", ROOT / "build" / "throng"))
CROWD = PROGRAM.parent / "tests" / "mpi_crowd"
WAIT = int(os.environ.get("TH_WAIT_SECONDS", "450"))
SKIPPED = 77  # what ctest takes for "not run"
# More ranks than cores, as root and without ssh; waiting ranks give the core away.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm_rsh_agent": "false",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
               # OpenMPI keeps memory of modules that it has unloaded; other errors are still found.
               "ASAN_OPTIONS": ":".join([*filter(None, [os.environ.get("ASAN_OPTIONS")]), "detect_leaks=0"])}
DOOR, STATION = ROOT / "scenes" / "door.json", ROOT / "scenes" / "station.json"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def over(ranks, *words, check=True):
    done = subprocess.run(["mpirun", "-n", str(ranks), *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True, timeout=WAIT)
    if check and done.returncode:
        sys.exit(f"mpirun -n {ranks} {' '.join(map(str, words))}:\n{done.stdout}{done.stderr}")
    return done


def alone(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=WAIT, check=True).stdout


def same(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found}, wanted {wanted}")


def frames(path):
    with sqlite3.connect(path) as recording:
        return recording.execute("select frame, id, pos_x, pos_y from trajectory_data order by frame, id").fetchall()


def hashes(folder):
    words = ["run", STATION, "--max-time", 6, "--json"]
    wanted = json.loads(alone(*words, "--out", "none", "--quiet", "--threads", 1))["runs"][0]["hash"]
    for ranks, threads in ((2, 2), (3, 1)):
        one = json.loads(over(ranks, PROGRAM, *words, "--threads", threads).stdout)
        same(f"hash over {ranks} ranks with {threads} threads", one["hash"], wanted)
        same("ranks", one["ranks"]["ranks"], ranks)
        if not 0 < one["ranks"]["people"][0] <= one["ranks"]["people"][1] < 2 * one["inside"] / ranks:
            sys.exit(f"people of a rank: {one['ranks']['people']} of {one['inside']}")


def folders(folder):
    words = ["run", DOOR, "--max-time", 5, "--record", "sqlite", "--set", "groups.0.count=60"]
    alone(*words, "--out", folder / "one", "--no-report", "--quiet")
    over(3, PROGRAM, *words, "--out", folder / "three")
    same("files", sorted(path.name for path in (folder / "three").iterdir()), ["counts.csv", "ranks.json", "scene.json", "trajectory.sqlite"])
    same("recording", frames(folder / "three" / "trajectory.sqlite") == frames(folder / "one" / "trajectory.sqlite"), True)
    counts = (folder / "three" / "counts.csv").read_text().split("\n")
    same("first line of counts.csv", counts[0], "time,inside,left,removed,waiting_to_enter,door")
    same("lines of counts.csv", len(counts), 8)
    again = over(2, PROGRAM, *words, "--out", folder / "three", check=False)
    if not again.returncode or "not there yet" not in again.stderr:
        sys.exit(f"a folder that is there: {again.returncode}, {again.stderr}")


def refusals():
    done = over(2, PROGRAM, "run", DOOR, "--set", "groups.0.move=uic", check=False)
    if not done.returncode or 'move model "uic" looks at the whole crowd' not in done.stderr:
        sys.exit(f"uic over ranks: {done.returncode}, {done.stderr}")
    same("messages of a refusal", done.stderr.count("looks at the whole crowd"), 1)
    done = over(2, PROGRAM, "run", DOOR, "--runs", 3, check=False)
    if not done.returncode or "--launch mpi" not in done.stderr:
        sys.exit(f"many runs over ranks: {done.returncode}, {done.stderr}")


def library():
    found = {over(ranks, CROWD, DOOR, 30).stdout.split()[0] for ranks in (1, 2, 3)}
    same("hashes of a program with libthrong-mpi over 1, 2 and 3 ranks", len(found), 1)


def checkpoints(folder):
    return sorted(path.name for path in (folder / "checkpoints").iterdir())


def restarts(folder):
    """As if it had not been interrupted: hash, counts and frames, on other numbers of ranks, at last in one process."""
    words = ["run", DOOR, "--record", "sqlite", "--set", "groups.0.count=300"]
    killed, whole = folder / "killed", folder / "whole"
    # The run has no end, so that it cannot be over before it is killed; each time the newest checkpoint is lost, once without the file
    # that names its parts, once with a damaged part.
    begin_and_kill(killed, [*words, "--set", "run.duration=100000"])
    step = newest_steps(killed)[-1]
    (killed / "checkpoints" / f"ranks-{step:012d}.json").unlink()
    begin_and_kill(killed, words, resume=2)
    steps = newest_steps(killed)
    damaged = killed / "checkpoints" / f"ranks-{steps[-1]:012d}.part1"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"!")
    scene = json.loads((killed / "scene.json").read_text())
    end = steps[-1] * scene["run"].get("step", 0.05) + 1
    scene["run"]["duration"] = end
    (killed / "scene.json").write_text(json.dumps(scene))
    done = subprocess.run([PROGRAM, "resume", killed, "--json"], capture_output=True, text=True, timeout=WAIT, check=False)
    if done.returncode or "damaged" not in done.stderr:
        sys.exit(f"resume in one process: {done.returncode}, {done.stdout}{done.stderr} {checkpoints(killed)} {steps}")
    over(2, PROGRAM, *words, "--set", f"run.duration={end}", "--out", whole, "--checkpoint", f"every={end / 2}")
    wanted, again = json.loads((whole / "ranks.json").read_text()), json.loads((killed / "ranks.json").read_text())
    for key in ("hash", "time", "left", "exits"):
        same(f"{key} after restarts", again[key], wanted[key])
    same("counts.csv after restarts", (killed / "counts.csv").read_text(), (whole / "counts.csv").read_text())
    same("frames after restarts", frames(killed / "trajectory.sqlite") == frames(whole / "trajectory.sqlite"), True)
    for which in (killed, whole):
        same(f"files of {which.name}", sorted(path.name for path in which.iterdir()),
             ["checkpoints", "counts.csv", "ranks.json", "scene.json", "trajectory.sqlite"])
    same("checkpoints", checkpoints(whole), [f"ranks-{step:012d}.{end}" for step in newest_steps(whole) for end in ("json", "part0", "part1")])
    same("a run that is finished", "is finished" in over(2, PROGRAM, "resume", whole).stdout, True)


def newest_steps(folder):
    return sorted({int(name.split("-")[1].split(".")[0]) for name in checkpoints(folder) if name.endswith("json")})


def begin_and_kill(folder, words, resume=0):
    """Kills the run when it has written two checkpoints more."""
    before = max(newest_steps(folder), default=0) if resume else 0
    command = ["resume", folder] if resume else [*words, "--out", folder, "--checkpoint", "every=0.5"]
    job = subprocess.Popen(["mpirun", "-n", str(resume or 3), PROGRAM, *map(str, command)], env=ENVIRONMENT, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + WAIT
    while time.monotonic() < end and job.poll() is None:
        known = newest_steps(folder) if (folder / "checkpoints").exists() else []
        if len([step for step in known if step > before]) >= 2:
            break
        time.sleep(0.01)
    for child in children(job.pid) if job.poll() is None else []:
        os.kill(child, signal.SIGKILL)
    job.communicate(timeout=WAIT)


def mpich(folder):
    """The library built with MPICH, beside a copy of the program: it is loaded there. Debian names both MPIs' programs apart."""
    if not shutil.which("mpicc.mpich") or not shutil.which("mpirun.mpich") or not shutil.which("mpirun.openmpi"):
        return "MPICH is not installed beside OpenMPI"
    if re.search(b"__[at]san_init", PROGRAM.read_bytes()):
        return "the sanitizers look at OpenMPI only"
    library = next(path.name for path in PROGRAM.parent.glob("libthrong-mpi.so.*") if path.is_symlink())
    here = folder / "mpich"
    here.mkdir()
    shutil.copy(PROGRAM, here / "throng")
    subprocess.run(["mpicc.mpich", "-std=gnu17", "-O1", "-D_GNU_SOURCE", "-fPIC", "-shared", f"-I{ROOT}/include", f"-I{ROOT}/src", "-o",
                    here / library, ROOT / "src" / "mpi" / "mpi.c"], check=True)
    words = ["run", DOOR, "--max-time", 4, "--json"]
    wanted = json.loads(alone(*words, "--out", "none", "--quiet", "--threads", 1))["runs"][0]["hash"]
    done = subprocess.run(["mpirun.mpich", "-n", "3", here / "throng", *map(str, words)], capture_output=True, text=True, timeout=WAIT, check=False)
    if done.returncode:
        sys.exit(f"MPICH: {done.returncode}, {done.stdout}{done.stderr}")
    same("hash over 3 ranks of MPICH", json.loads(done.stdout)["hash"], wanted)
    return "MPICH"


def hosts(folder):
    """Two hosts as network namespaces joined by a cable, a rank on each, messages by TCP: `ip netns exec` stands in for ssh."""
    names, mark = ["a", "b"], f"th{os.getpid() % 100000}"
    spaces = [mark + name for name in names]
    made = os.geteuid() == 0 and shutil.which("ip") and subprocess.run(["ip", "netns", "add", spaces[0]], capture_output=True, check=False).returncode == 0
    if not made:
        return "no network namespaces without root"
    try:
        return run_in_spaces(folder, spaces, mark)
    finally:
        for space in spaces:
            subprocess.run(["ip", "netns", "delete", space], capture_output=True, check=False)


def run_in_spaces(folder, spaces, mark):
    def ip(*words, check=True):
        return subprocess.run(["ip", *words], capture_output=True, check=check).returncode == 0

    ip("netns", "add", spaces[1])
    if not ip("link", "add", mark + "x", "netns", spaces[0], "type", "veth", "peer", "name", mark + "y", "netns", spaces[1], check=False):
        return "no virtual Ethernet"
    addresses = ["10.77.0.1", "10.77.0.2"]
    for space, end, address in zip(spaces, "xy", addresses, strict=True):
        ip("-n", space, "address", "add", f"{address}/24", "dev", mark + end)
        ip("-n", space, "link", "set", mark + end, "up")
        ip("-n", space, "link", "set", "lo", "up")
    agent = folder / "agent"
    agent.write_text("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nhost=$1\nshift\n"
                     f"[ $host = {addresses[1]} ] || exit 1\nexec ip netns exec {spaces[1]} unshare --uts sh -c \"hostname b; $*\"\n")
    agent.chmod(0o755)
    words = ["run", DOOR, "--max-time", 4, "--json"]
    wanted = json.loads(alone(*words, "--out", "none", "--quiet", "--threads", 1))["runs"][0]["hash"]
    job = ["ip", "netns", "exec", spaces[0], "mpirun", "-n", "2", "--host", ",".join(f"{address}:1" for address in addresses), "--mca", "btl", "tcp,self",
           "--mca", "btl_tcp_if_include", "10.77.0.0/24", "--mca", "oob_tcp_if_include", "10.77.0.0/24", "--mca", "plm_rsh_agent", str(agent)]
    done = subprocess.run([*job, PROGRAM, *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True, timeout=WAIT, check=False)
    if done.returncode:
        sys.exit(f"two namespaces: {done.returncode}, {done.stdout}{done.stderr}")
    same("hash over two namespaces", json.loads(done.stdout)["hash"], wanted)
    return "two hosts"


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def dies():
    """The job ends, and mpirun names the rank."""
    job = subprocess.Popen(["mpirun", "-n", "3", PROGRAM, "run", STATION, "--max-time", "100000", "--set", "run.duration=100000"],
                           env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        end = time.monotonic() + WAIT
        victim = []
        while len(victim) < 3 and time.monotonic() < end:
            time.sleep(0.2)
            victim = children(job.pid)
        ranks = {pid: dict(word.split("=", 1) for word in pathlib.Path(f"/proc/{pid}/environ").read_text().split("\0") if "=" in word)
                 for pid in victim}
        os.kill(next(pid for pid, said in ranks.items() if said.get("OMPI_COMM_WORLD_RANK") == "1"), signal.SIGKILL)
        text, _ = job.communicate(timeout=WAIT)
    finally:
        job.kill()
    if job.returncode == 0 or not re.search(r"rank 1 .*exited on signal 9", text):
        sys.exit(f"a rank was killed: {job.returncode}, {text}")


def main():
    if not shutil.which("mpirun"):
        skip("there is no mpirun")
    if not list(PROGRAM.parent.glob("libthrong-mpi*")) or not CROWD.exists():
        skip("throng was built without MPI")
    opens = "open" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout.lower()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        hashes(folder)
        folders(folder)
        refusals()
        library()
        restarts(folder)
        also = [mpich(folder)]
        if opens:
            also.append(hosts(folder))
            dies()
    print("one crowd over 2 and 3 ranks: hashes, counts, recordings, refusals, restarts, a rank that dies;", "; ".join(also))


main()
