#!/usr/bin/env python3
"""The studio's server, from outside: which clients get in, what requests do to the crowd, and that nothing a client does stops the
simulation. Only the loopback address is used.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import csv
import gzip
import http.client
import json
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from studio_client import WAIT, Client, Refused, Server, read_people  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("TH_PROGRAM", str(ROOT / "build/throng"))
TEMPLATE = str(ROOT / "scenes/templates/concourse.json")
failures = []


def check(holds, text):
    if not holds:
        failures.append(text)
        print("FAILED:", text)


def refused(server, **how):
    try:
        Client(server, **how).close()
    except (Refused, OSError):
        return True
    return False


def check_door(server):
    """Host, Origin and token."""
    page = f"/?token={server.token}"
    check(server.get(page)[0] == 200, "the page is served")
    check(server.get("/")[0] == 403, "no token, no page")
    check(server.get("/?token=" + "0" * 32)[0] == 403, "a wrong token, no page")
    check(server.get(page, host="evil.example")[0] == 403, "a wrong Host, no page")
    check(server.get(page, Origin="http://evil.example")[0] == 403, "a wrong Origin, no page")
    check(server.get(f"/etc/passwd?token={server.token}")[0] == 404, "nothing but the page")
    # A browser asks for more on the same connection; it must not wait for the end of what was refused.
    kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    for path, status in (("/?token=zz", 403), ("/error.css", 404), (page, 200)):
        kept.request("GET", path)
        answer = kept.getresponse()
        check(answer.length is not None, f"{path.split('=')[0]} says how long it is")
        answer.read()
        check(answer.status == status, f"{path.split('=')[0]} on a kept connection")
    kept.close()
    check(refused(server, token=""), "a socket needs the token")
    check(refused(server, token=server.token[:-1] + "g"), "a socket needs the right token")
    check(refused(server, origin=None), "a socket needs an Origin")
    check(refused(server, origin="http://evil.example"), "a socket needs the own Origin")
    check(refused(server, origin=f"http://127.0.0.1.evil.example:{server.port}"), "no Origin that only begins right")
    check(refused(server, host=f"evil.example:{server.port}"), "a socket needs the own Host")


def check_messages(client):
    """A message that is no request gets an error as its answer."""
    for text in ("", "{", "[]", "7", "null", '{"do":7}', '{"id":1}', '{"do":"_gone"}', '{"do":"fly","id":1}', "\u0000",
                 "[" * 5000, '{"do":"edit","kind":"wall","line":[[0,1e999],[1,1]]}',
                 '{"do":"edit","kind":"add","what":"groups","value":{"count":1e18}}',
                 '{"do":"edit","kind":"patch","patch":[{"op":"remove","path":"/nowhere/0"}]}',
                 '{"do":"view","box":[0,0,0,0],"pixels":[1,1]}', '{"do":"step","n":-1}', '{"do":"seed","seed":0}',
                 '{"do":"set","group":99,"name":"x","value":1}', '{"do":"model","group":0,"stage":"move","model":"nobody"}',
                 '{"do":"open","text":"{\\"levels\\":[{\\"walkable\\":{\\"file\\":\\"/etc/passwd\\"}}]}"}',
                 '{"do":"upload","name":"x","at":0,"data":"?"}', '{"do":"upload","name":"x","at":5,"data":"AAAA"}',
                 '{"do":"upload","name":"x","at":0,"data":"AAAA","last":true}', '{"do":"upload"}',
                 '{"do":"person","person":-5}', '{"do":"hash","world":7}', '{"do":"scrub","time":"x"}'):
        client.answers.clear()
        client.send(text)
        answer = client.until(lambda: client.answers and client.answers.popitem()[1])
        check(answer is not None and answer.get("ok") is False and answer.get("error"), f"refused with a reason: {text[:60]}")


def people_at(client, now):
    """All people at this time, at which the crowd stands; frames of earlier moments may still be on their way."""
    for colour in 100 * ("speed", "group"):
        client.ask("colour", by=colour)  # shows the moment again
        frame = client.people(5)
        if frame and abs(frame[0]["time"] - now) < 1e-6:
            return frame[1]
    return {}


def check_one_person(client, person):
    """Personality and panic of one person are changed while it walks; models of two stages with one name stay apart."""
    def facts():
        now = client.ask("step", n=1)["time"]
        told = client.until(lambda: (e := client.event("person", 5)) and e["time"] > now - 0.01 and e["facts"])
        return {f["field"]: f["value"] for f in told or () if "field" in f}

    for stage in ("behave", "move"):
        check(client.ask("model", group="*", stage=stage, model="hidac")["ok"], f"all {stage} by hidac")
    client.ask("person", person=person)
    client.ask("step", n=30)
    before = facts()
    check(before.get("behave/hidac.panic") == 0 and before.get("move/hidac.panic") == 0, "the person is calm")
    check("behave/hidac.slot" not in before, "what is the model's own affair is not offered")
    for field, value in (("behave/hidac.panic", 1), ("behave/hidac.nature", int(before["behave/hidac.nature"]) | 64)):
        check(client.ask("edit", kind="person", person=person, field=field, value=value)["how"] == "live", f"{field} is changed")
    client.ask("step", n=30)
    after = facts()
    check(after["move/hidac.panic"] == 1 and after["move/hidac.manners"] == 2, "the person panics and pushes")
    for field, value, who in (("behave/hidac.slot", 1, person), ("speed", 1, person), ("move/hidac.panic", "x", person),
                              ("move/hidac.manners", -1, person), ("move/hidac.panic", 1, 10**9)):
        check(not client.ask("edit", kind="person", person=who, field=field, value=value)["ok"], f"{field} {value} is refused")
    client.ask("person", person=0)
    check(all(client.ask("undo")["ok"] for _ in range(4)), "all of it is undone")


def check_edits(server):
    client = Client(server)
    client.ask("pause")
    client.ask("restart")
    client.ask("view", box=[-5, 0, 60, 30], pixels=[1000, 500])
    now = client.ask("step", n=3)["time"]
    # No person moves when the model is changed.
    before = people_at(client, now)
    answer = client.ask("model", group="leaving", stage="move", model="social_force")
    check(answer["ok"] and answer["lost"] == 0, "a model is changed")
    after = people_at(client, now)
    check(before and before.keys() == after.keys() and all(
        abs(before[k][0] - after[k][0]) + abs(before[k][1] - after[k][1]) < 0.01 for k in before), "no person moved by it")
    # The influences on a person, in the words of its model.
    person = next(iter(after))
    for model, what in (("orca", "half_plane"), ("social_force", "arrow")):
        check(client.ask("model", group="*", stage="move", model=model)["ok"], f"all walk by {model}")
        client.ask("step", n=2)
        client.ask("person", person=person)
        told = client.until(lambda w=what: (e := client.event("person", 5)) and any(
            m["what"] == w and m["role"] not in ("preferred", "velocity") for m in e["drawing"]) and e)
        check(told and told["facts"], f"{model} tells what drives a person")
    check(client.ask("undo")["ok"] and client.ask("undo")["ok"], "both models are undone")
    check_one_person(client, person)
    # Undo and redo.
    first = client.ask("hash")["hash"]
    check(client.ask("edit", kind="door", door="side", open=False)["how"] == "live", "a door is shut")
    client.ask("step", n=20)
    second = client.ask("hash")["hash"]
    check(client.ask("undo", time=True)["ok"] and client.ask("hash")["hash"] == first, "undo brings the state before the edit")
    check(client.ask("redo", time=True)["ok"] and client.ask("hash")["hash"] == second, "redo brings the state before the undo")
    now = client.ask("hash")["time"]
    check(client.ask("undo")["ok"] and client.ask("hash")["time"] == now, "undo of the edit alone keeps the time")
    check(client.ask("redo")["ok"] and client.ask("hash")["hash"] == second, "and so does redo")
    # People, walls, obstacles, parameters.
    check(client.ask("edit", kind="people", group=0, at=[30, 25], count=20)["added"] == 20, "people are added")
    check(client.ask("edit", kind="wall", level=0, line=[[20, 2], [20, 8], [22, 8]])["ok"], "a wall is added")
    made = client.ask("edit", kind="add", what="obstacles", level=0, value={"rect": [5, 13, 7, 15]})
    check(made["ok"] and made["how"] == "reload", "an obstacle is added")
    check(client.ask("edit", kind="add", what="lines", level=0, value={"line": [[5, 1], [5, 4]]})["made"], "a line gets an id")
    check(client.ask("set", group="boarding", name="time_gap", value=1.2)["ok"], "a parameter is set")
    check(not client.ask("set", group="boarding", name="time_gap", value=-1)["ok"], "within its range only")
    client.ask("model", group="boarding", stage="plan", model="continuum")
    check(client.ask("set", group="boarding", name="cell", value=1)["how"] == "reload", "a fixed parameter makes a new world")
    check(not client.ask("set", group="boarding", name="cell", value=50)["ok"], "within its range, too")
    client.ask("step", n=10)
    check(client.event("state") is not None, "the state is told")
    # A wall across every way acts; a plan like that cannot start anew, and the crowd that runs stays as it is.
    check(client.ask("edit", kind="wall", level=0, line=[[-1, 0], [-1, 30]])["ok"], "a wall across every way to the street is added")
    here = client.ask("hash")["hash"]
    answer = client.ask("restart")
    check(not answer["ok"] and "walks on" in answer["error"] and "undo" in answer["cure"], "a plan without a way says what to do")
    check(client.ask("hash")["hash"] == here, "and the crowd is as it was")
    check(client.ask("undo")["ok"], "the wall is taken away")
    # A saved scene restarts the same crowd, here and in `throng run`.
    saved = client.ask("save")["text"]
    check(client.ask("restart")["ok"], "it restarts as edited")
    client.ask("step", n=20)
    mine = client.ask("hash")["hash"]
    check(client.ask("open", name="saved.json", text=saved)["ok"], "what was saved opens")
    client.ask("step", n=20)
    check(client.ask("hash")["hash"] == mine, "to the same hash")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "saved.json"
        path.write_text(saved, encoding="utf-8")
        run = subprocess.run([PROGRAM, "run", str(path), "--out", "none", "--json", "--max-time", "2", "--quiet"],
                             capture_output=True, text=True, check=False)
        check(mine in run.stdout, "`throng run` has the same hash")
    # Two worlds in step.
    check(client.ask("compare", on=True)["ok"], "two worlds are compared")
    client.ask("step", n=10)
    check(client.ask("hash", world=0)["hash"] == client.ask("hash", world=1)["hash"], "equal settings, equal hashes")
    client.ask("model", world=1, group="*", stage="move", model="social_force")
    client.ask("step", n=10)
    check(client.ask("hash", world=0)["hash"] != client.ask("hash", world=1)["hash"], "other settings, another hash")
    check(client.ask("compare", on=False)["ok"], "and one again")
    # An edit made before the comparison can still be undone after it.
    client.ask("edit", kind="door", door="side", open=False)
    depth = client.ask("state")["state"]["undo"]
    client.ask("compare", on=True)
    client.ask("edit", world=1, kind="door", door="side", open=True)
    check(client.ask("state")["state"]["undo"] == depth + 1, "edits of both worlds can be undone")
    client.ask("compare", on=False)
    check(client.ask("state")["state"]["undo"] == depth and client.ask("undo")["ok"], "those of the first after the comparison, too")
    check_branch(client)
    # The past.
    client.ask("restart")
    client.ask("speed", times=20)
    client.ask("play")
    client.until(lambda: (client.event("state") or {"worlds": [{"time": 9}]})["worlds"][0]["time"] > 2)
    client.ask("pause")
    past = client.ask("scrub", time=0.5)
    check(past["ok"] and past["time"] <= 0.5 + 1e-6, "it scrubs back")
    seen = client.until(lambda: client.frames and client.frames[-1][7] & 1)
    check(seen, "frames of the past are marked")
    client.close()


def check_branch(client):
    """A run that goes on from a moment of its past is the same run; undo brings the present back."""
    check(client.ask("restart")["ok"], "it restarts")
    refused_now = client.ask("branch")
    check(not refused_now["ok"] and "scrub" in refused_now["cure"], "the present is no branch")
    hashes = []
    for _ in range(4):  # 7.5 s at a step of 0.0625 s
        for _ in range(30):
            client.ask("step")
        client.ask("colour", by="speed")
        client.until(lambda: client.event("state"))
        hashes.append(client.ask("hash"))
    obstacle = client.ask("edit", kind="add", what="obstacles", level=0, value={"rect": [5, 13, 7, 15]})
    check(obstacle["ok"], "the scene is another one later")
    later = client.ask("hash")["hash"]
    check(client.ask("scrub", time=hashes[1]["time"])["ok"], "it scrubs back")
    back = client.ask("branch")
    check(back["ok"] and abs(back["time"] - hashes[1]["time"]) < 0.2, f"and goes on from there: {back}")
    steps = hashes[2]["step"] - client.ask("hash")["step"]
    check(client.ask("step", n=steps)["step"] == hashes[2]["step"], "up to a later step")
    check(client.ask("hash")["hash"] == hashes[2]["hash"], "to the same bits")
    check(client.ask("undo")["ok"] and client.ask("hash")["hash"] == later, "undo brings the present back")


def check_findings():
    """A second page, and a page that is loaded again, are told the same of the run as the first."""
    # Few get through the door, and beside it is a gap that is too narrow for all.
    room = {"levels": [{"walkable": {"rect": [0, 0, 16, 8]}, "walls": [[[8, 0], [8, 2]], [[8, 2.3], [8, 3.5]], [[8, 4.5], [8, 8]]]}],
            "exits": [{"id": "out", "line": [[16, 0], [16, 8]]}],
            "groups": [{"count": 120, "area": {"rect": [0.5, 0.5, 7.5, 7.5]}, "to": "out", "move": "social_force"}]}
    with tempfile.TemporaryDirectory() as folder:
        scene = pathlib.Path(folder) / "room.json"
        scene.write_text(json.dumps(room), encoding="utf-8")
        server = Server(PROGRAM, str(scene), "--threads", "1")
        try:
            first = Client(server)
            shown = first.event("scene")["findings"]
            check(any(f["kind"] == "closed_gap" for f in shown), "the scene's findings come with it")
            of_scene = {f["kind"] for f in shown}
            while shown is not None and {f["kind"] for f in shown} == of_scene:
                told = first.event("findings")
                shown = told and told["list"]
            check(shown is not None, "a running crowd has findings of its own")
            first.ask("pause")
            while (told := first.event("findings", 0.5)) is not None:
                shown = told["list"]
            second, again = Client(server), None
            check(second.event("scene")["findings"] == shown, "a second page is told the same")
            first.close()
            again = Client(server)
            check(again.event("scene")["findings"] == shown, "and a page that is loaded again")
            second.close()
            again.close()
        finally:
            code, text = server.stop()
        check(code == 0, f"it ends well: {code} {text[-3000:]}")


def check_templates(client):
    for template in client.ask("templates")["templates"]:
        check(client.ask("template", name=template["name"])["ok"], f"template {template['name']} opens")
        check(client.ask("step", n=5)["ok"], f"template {template['name']} steps")
    check(client.ask("new")["ok"], "an empty room")
    check(client.ask("open", name="plan.wkt", text="POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))")["ok"], "WKT opens")
    plan = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]]]}}
    check(client.ask("open", name="plan.geojson", text=json.dumps(plan))["ok"], "GeoJSON opens")


class Pace:
    """The share of its time in which the simulation's thread steps the crowd. Other programs, which take cores away, change neither its
    processor time nor, by much, this part. What it waited for locks, asleep, is told beside it."""

    def __init__(self, server):
        self.tasks = pathlib.Path(f"/proc/{server.process.pid}/task")
        self.client = Client(server)
        ran = self.client.ask("hash")["spent"][1]  # processor time of the thread that answers
        self.runner = min(os.listdir(self.tasks), key=lambda task: abs(self.clocks(task)[0] - ran))
        self.stepped = self.spent = self.asleep = 0

    def clocks(self, task):
        """Seconds that a thread ran, and that it wanted a core and had none."""
        try:
            return [float(text) * 1e-9 for text in (self.tasks / task / "schedstat").read_text().split()[:2]]
        except (OSError, ValueError):  # has ended, or this system does not tell
            return [0.0, 0.0]

    def begin(self):
        self.first, self.ran, self.begun = self.client.ask("hash"), self.clocks(self.runner), time.monotonic()

    def going_on(self):
        """True until the thread has used another 0.5 s of processor time."""
        now = self.clocks(self.runner)[0]
        return now - self.ran[0] < 0.5 if now > 0 else time.monotonic() - self.begun < 1.5

    def end(self):
        last, ran, now = self.client.ask("hash"), self.clocks(self.runner), time.monotonic()
        check(self.first and last, "the simulation answers under harm")
        if self.first and last:
            self.stepped += last["spent"][0] - self.first["spent"][0]
            self.spent += last["spent"][1] - self.first["spent"][1]
            if ran[0] > 0:
                self.asleep += max(0.0, now - self.begun - sum(ran) + sum(self.ran))

    def share(self):
        return self.stepped / max(self.spent, 1e-9)


def flood(clients, pace):
    """Requests as fast as they are taken; every fourth client reads the answers. Returns how many were sent."""
    sent = 0
    while pace.going_on():
        for k, client in enumerate(clients):
            try:
                for _ in range(20):
                    client.send('{"id":1,"do":"models"}')
                sent += 20
                if k % 4 == 0:
                    client.read(0.001)
            except OSError:  # thrown out, as it should be
                pass
    return sent


def annoy(server):
    """Everything a bad client may do at once; returns the sockets, which stay open."""
    kept = []
    for _ in range(30):  # half open: nothing, or half a request
        plain = server.socket()
        if random.random() < 0.5:
            plain.sendall(b"GET /ws HTTP/1.1\r\nHost: ")
        kept.append(plain)
    for _ in range(20):  # garbage
        plain = server.socket()
        try:
            plain.sendall(os.urandom(3000))
        except OSError:
            pass
        plain.close()
    for _ in range(3):  # reads nothing, asks for much
        silent = Client(server, receive_buffer=4096)
        for k in range(200):
            silent.send(json.dumps({"id": k, "do": "models"}))
        kept.append(silent)
    for _ in range(3):  # talks nonsense, and broken frames
        noisy = Client(server)
        try:
            for _ in range(200):
                noisy.send(os.urandom(40))
            noisy.plain.sendall(os.urandom(2000))
        except OSError:
            pass
        kept.append(noisy)
    large = Client(server)  # more than a message may have
    try:
        for k in range(140):
            large.send_raw(1 if k == 0 else 0, b" " * 65536, final=False)
    except OSError:
        pass
    kept.append(large)
    gone = Client(server)  # vanishes without a word
    gone.plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    gone.plain.close()
    return kept


def check_harm(server):
    """The crowd walks as fast as it can; with bad clients about it still must."""
    client = Client(server)
    client.ask("template", name="corridor")  # people keep coming
    client.ask("speed", times=0)
    client.ask("play")
    client.until(lambda: client.ask("hash")["time"] > 20)
    client.close()
    alone, disturbed = Pace(server), Pace(server)
    for attempt in range(4 if os.environ.get("TH_LONG") else 1):  # in turn, as the crowd changes
        alone.begin()
        alone.client.until(lambda: not alone.going_on())
        alone.end()
        crowd = [Client(server) for _ in range(20)]
        for other in crowd:
            other.send('{"do":"view","box":[0,0,50,6],"pixels":[800,400]}')
        disturbed.begin()
        kept = annoy(server)
        check(flood(crowd[:8], disturbed) > 0, "clients flood the server")
        disturbed.end()
        if attempt == 0:
            check(all(other.until(lambda o=other: o.frame_count > 3) for other in crowd[8:]), "clients get frames")
        for other in [*crowd, *kept]:
            other.close()
    share = disturbed.share() / max(alone.share(), 1e-9)
    print(f"under harm: {100 * disturbed.share():.1f} % of the simulation's time is for steps, alone {100 * alone.share():.1f} %; "
          f"{disturbed.spent:.2f} s of it, {disturbed.asleep:.3f} s asleep")
    check(server.alive(), "the server lives on under harm")
    # A flood that is not held back takes 95 % of the time. The 5 %, and what is asleep, are judged where the machine is quiet.
    if os.environ.get("TH_LONG"):
        lost = disturbed.asleep / max(disturbed.spent + disturbed.asleep, 1e-9)
        check(share * (1 - lost) > 0.95, f"the simulation keeps its rate: {100 * share * (1 - lost):.1f} %")
    check(share > 0.5, f"a flood is held back: {100 * share:.1f} %")
    many = []
    try:
        for _ in range(80):
            many.append(Client(server))
    except (Refused, OSError):
        pass
    for other in many:
        other.close()
    client = Client(server)
    check(client.ask("hash"), "and is still answered")
    client.close()


ROOM = {"levels": [{"walkable": {"rect": [0, 0, 20, 10]}, "walls": [[[10, 0], [10, 4]], [[10, 6], [10, 10]]]}],
        "doors": [{"id": "middle", "line": [[10, 4], [10, 6]]}],
        "exits": [{"id": "east", "line": [[20, 3], [20, 7]]}, {"id": "west", "line": [[0, 3], [0, 7]]}],
        "groups": [{"count": 40, "area": {"rect": [5, 1, 9, 9]}, "to": "east"},
                   {"count": 10, "area": {"rect": [1, 1, 4, 9]}, "to": "west"}],
        "measure": {"lines": [{"id": "line", "line": [[13, 10], [13, 0]]}], "areas": [{"id": "area", "area": {"rect": [10, 2, 15, 8]}}]}}


def check_recorded_charts(folder, rows):
    """Flows and areas of a recording are those that the run counted."""
    with open(folder / "counters.csv", encoding="utf-8") as file:
        net = {(r["id"], float(r["time_s"])): int(r["forward"]) - int(r["backward"]) for r in csv.DictReader(file)}
    with open(folder / "areas.csv", encoding="utf-8") as file:
        area = {float(r["time_s"]): float(r["density_per_m2"]) for r in csv.DictReader(file)}
    compared = 0
    for time_s, _, _, _, _, exits, doors, lines, areas, _ in rows:
        begin = max(0.0, time_s - 5)
        flows = dict(zip(("east", "west", "middle", "line"), exits + doors + lines))
        for name, flow in flows.items():
            counted = (net[name, time_s] - net[name, begin]) / (time_s - begin) if time_s > begin else 0.0
            check(abs(flow - counted) < 1e-6, f"flow of {name} at {time_s} s: {flow} recorded, {counted} counted")
            compared += flow != 0
        check(abs(areas[0][0] - area[time_s]) < 1e-6, f"density at {time_s} s: {areas[0][0]} recorded, {area[time_s]} in the run")
    check(compared > 30, f"people went through exits, doors and lines: {compared}")


FAKE_FFMPEG = """#!/bin/sh
for last; do :; done
echo "$@" > "${last#file:}.arguments"
exec cat > "${last#file:}"
"""


def check_video(folder, out):
    """A video through ffmpeg, which here is a script that keeps the pictures; without one, what to do."""
    video, bare = folder / "run.raw", folder / "nothing"
    bare.mkdir()
    command = [PROGRAM, "export", str(out), "--video", str(video), "--fps", "2", "--width", "320"]
    done = subprocess.run(command, env={**os.environ, "PATH": str(bare)}, capture_output=True, text=True, check=False)
    check(done.returncode == 3 and "install" in done.stderr and not video.exists(), "no ffmpeg: an error that says what to do")
    fake = folder / "ffmpeg"
    fake.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    with_fake = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=with_fake, capture_output=True, text=True, check=False)
    check(done.returncode == 3 and "ffmpeg did not make the video" in done.stderr, "an ffmpeg that fails is told of")
    fake.write_text(FAKE_FFMPEG, encoding="utf-8")
    done = subprocess.run(command, env=with_fake, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"a video is made: {done.stderr}")
    arguments = (folder / "run.raw.arguments").read_text(encoding="utf-8").split()
    width, height = map(int, arguments[arguments.index("-s") + 1].split("x"))
    pixels, size = video.read_bytes(), 4 * width * height
    check(width == 320 and height % 2 == 0 and len(pixels) == 41 * size, f"41 pictures of 20 s: {len(pixels) / size}")
    check(pixels[:size] != pixels[size:2 * size] != pixels[2 * size:3 * size], "in which people move")
    del pixels
    if subprocess.run(["which", "ffmpeg"], capture_output=True, check=False).returncode != 0:
        print("video: no ffmpeg here, so only its input was looked at")
        return
    film = folder / "run.mp4"
    done = subprocess.run([*command[:4], str(film), *command[5:]], capture_output=True, text=True, check=False)
    check(done.returncode == 0 and film.stat().st_size > 1000, f"ffmpeg makes a film of it: {done.stderr}")


def exported(page):
    """The largest cell of each map in an exported page, 0 to 254, and its findings."""
    packed = re.search(r'<script id="throng-recording"[^>]*>([^<]*)</script>', page).group(1)
    data, at, maps, findings = gzip.decompress(base64.b64decode(packed)), 0, [], []
    while at + 8 <= len(data):
        length, kind = struct.unpack_from("<IB", data, at)
        frame = data[at + 8:at + 8 + length]
        at += 8 + length
        if kind == 2 and frame[5] == 2:  # a frame, of a map
            maps.append(max(frame[64:]))
        if kind == 1:
            findings += json.loads(frame).get("findings", [])
    return maps, findings


def check_exported_findings(folder):
    """A page has the findings of the report, but for those about the end of a run and its models, which recordings do not know."""
    (folder / "gap.json").write_text(json.dumps({
        "levels": [{"walkable": {"rect": [0, 0, 16, 8]}, "walls": [[[8, 0], [8, 2]], [[8, 2.3], [8, 3.5]], [[8, 4.5], [8, 8]]]}],
        "exits": [{"line": [[16, 0], [16, 8]]}],
        "groups": [{"count": 150, "area": {"rect": [0.5, 0.5, 7.5, 7.5]}, "move": "social_force"}]}), encoding="utf-8")
    page = folder / "gap.html"
    for words in (("run", "gap.json", "--out", "gap", "--record", "sqlite", "--no-report"), ("export", "gap", "--html", "gap.html")):
        subprocess.run([PROGRAM, *words], capture_output=True, check=True, cwd=folder)
    unknown = ("unfinished", "stranded", "unreachable", "flow", "overlaps")
    summary = json.loads((folder / "gap" / "summary.json").read_text(encoding="utf-8"))
    told = [f["text"] for f in summary["findings"] if f["kind"] not in unknown]
    found = [f["text"] for f in exported(page.read_text(encoding="utf-8"))[1]]
    check(len(told) > 1 and found == told, f"the findings of a page are those of the report: {found}, {told}")


def check_export(folder, out):
    page = out / "replay.html"
    done = subprocess.run([PROGRAM, "export", str(out), "--html", str(page)], capture_output=True, text=True, check=False)
    if "no studio page" in done.stderr:
        print("export: this build has no page")
    else:
        check(done.returncode == 0 and 'id="throng-recording"' in page.read_text(encoding="utf-8"), "it is exported")
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        highest = min(summary["density"]["highest_per_m2"] / 8, 1) * 254  # the layer ends at 8 /m2
        maps, _ = exported(page.read_text(encoding="utf-8"))
        check(abs(max(maps) - highest) < 1, f"its maps are those of the report: {max(maps)}, {highest:.1f} of 254")
        check_exported_findings(folder)
        subprocess.run([PROGRAM, "export", str(out), "--html", str(page)], capture_output=True, check=False)
        report = (out / "report.html").read_text(encoding="utf-8")
        check(report.count('<a href="replay.html">') == 1 and "throng replay" in report, "the report links it, once")
        check(report.endswith("</html>\n"), "and is whole")
    check_video(folder, out)


def check_upload(recording):
    """A recording that a client sends takes the place of the crowd; a scene takes it back; nothing is left on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(PROGRAM, TEMPLATE, "--paused", environment={**os.environ, "TMPDIR": folder})
        client, other = Client(server), Client(server)
        data, at = recording.read_bytes(), 0
        part = len(data) // 3 + 1

        def upload(who, begin, **more):
            return who.ask("upload", name="run.sqlite", at=begin, data=base64.b64encode(data[begin:begin + part]).decode(), **more)

        check(upload(other, 0)["ok"] and os.listdir(folder), "a first part is kept")
        check(not upload(client, 0)["ok"], "one client sends at a time")
        other.close()
        check(client.until(lambda: not os.listdir(folder)), "a client that leaves takes its parts along")
        while at < len(data):
            answer = upload(client, at, last=at + part >= len(data))
            check(answer["ok"], f"a part is taken: {answer}")
            at += part
        check(client.until(lambda: client.event("hello")["replay"]), "all clients learn that it is a recording")
        people = client.until(lambda: (f := client.people(1)) and f[0]["total"] == 50 and f)
        check(people, "the recording is on show")
        check(client.ask("person", person=3)["ok"], "a person of it can be looked at")
        check(not os.listdir(folder), "no file is left of it")
        check(client.ask("template", name="door")["ok"] and client.ask("step", n=3)["ok"], "a scene takes its place")
        check(client.ask("edit", kind="people", at=[3, 3], count=3)["ok"], "and can be edited")
        client.close()
        code, text = server.stop()
        check(code == 0, f"it ends well after a recording: {code} {text[-2000:]}")


def check_drawing():
    """A drawing is kept, imported as its request says, and removed with the server; names lead nowhere else."""
    text = "0 SECTION 2 HEADER 9 $INSUNITS 70 4 0 ENDSEC 0 SECTION 2 ENTITIES"
    for line in ("WALL 0 0 8000 0", "WALL 8000 0 8000 2000", "EXIT 8000 2000 8000 3500", "WALL 8000 3500 8000 5000",
                 "WALL 8000 5000 0 5000", "WALL 0 5000 0 0"):
        layer, *places = line.split()
        text += f" 0 LINE 8 {layer} " + " ".join(f"{code} {place}" for code, place in zip((10, 20, 11, 21), places))
    with tempfile.TemporaryDirectory() as folder:
        server = Server(PROGRAM, TEMPLATE, "--paused", environment={**os.environ, "TMPDIR": folder})
        client = Client(server)

        def keep(name, content):
            return client.ask("upload", name=name, at=0, data=base64.b64encode(content.encode()).decode(), last=True, keep=True)

        check(not client.ask("import", name="hall.dxf")["ok"], "nothing was sent yet")
        for name in ("../hall.dxf", "/tmp/hall.dxf", ".hall.dxf", "-hall.dxf", "", "x" * 121, "a\nb.dxf"):
            check(not keep(name, "x")["ok"] or not name, f"no file is called {name[:20]!r}")
        check(keep("hall.dxf", (text + " 0 ENDSEC 0 EOF").replace(" ", "\n"))["ok"], "a drawing is kept")
        check(keep("people.csv", "x,y\n2,2\n3,2\n4,3\n")["ok"], "and a table beside it")
        for more in ({"people": -1}, {"people": "x"}, {"import": 7}, {"import": {"close": 9}},
                     {"import": {"layers": {"WALL": "cheese"}}}, {"occupants": "../x"}):
            check(not client.ask("import", name="hall.dxf", **more)["ok"], f"refused: {more}")
        check(not client.ask("import", name="other.dxf")["ok"], "a file that was not sent")
        answer = client.ask("import", name="hall.dxf", **{"import": {"layers": {"EXIT": "ignore"}}})
        check(answer["ok"] and not answer["opened"] and answer["fault"], "a room without a way out makes no scene")
        check(answer["recipe"]["layers"] == {"WALL": "walls@ground", "EXIT": "ignore"}, "but tells how it was taken")
        answer = client.ask("import", name="hall.dxf", occupants="people.csv")
        check(answer["ok"] and answer["opened"] and "WALL" in answer["told"], f"the drawing is imported: {answer}")
        check("walls" in answer["parts"].split(", "), "with the parts that there are")
        check(client.ask("state")["state"]["worlds"][0]["inside"] == 3, "and the people of the table are in it")
        check(client.ask("save")["name"] == "hall.json", "as a scene that can be saved")
        check(keep("next.dxf", "x")["ok"] and [f for _, _, f in os.walk(folder)][-1] == ["next.dxf"],
              "another drawing takes the place of its files")
        client.close()
        code, said = server.stop()
        check(code == 0 and not os.listdir(folder), f"no file is left of it: {code} {said[-300:]}")


def check_plugin(plugin):
    """Scene data of a plugin: described for a tool of the page, drawn by it, and told while no group reads it."""
    server = Server(PROGRAM, TEMPLATE, "--plugin", str(plugin), "--threads", "1")
    try:
        client = Client(server)
        hello = client.event("hello")
        client.ask("pause")
        section = next((s for s in hello["sections"] if s["list"] == "walkways"), None)
        check(section and (section["item"], section["place"], section["key"], section["required"]) == (
            "walkway", "path", "line", ["line"]), "the section of a plugin is described")
        check(section and [(o["name"], o["unit"], o["usual"], o["max"]) for o in section["options"]] == [
            ("width", "m", "1", 10), ("speed", "m/s", "0.65", 3)], "with its keys")

        def told():
            scene = client.event("scene")
            return scene, any('"walkways" has no effect' in f["text"] for f in scene["findings"])
        client.event("scene")
        made = client.ask("edit", kind="add", what="walkways", level=0, value={"line": [[5, 3], [30, 3]], "width": 2})
        scene, idle = told()
        check(made["ok"] and scene["sections"]["walkways"][0]["width"] == 2, "what the tool draws is in the scene")
        check(idle, "a section that no group reads is told")
        check(not client.ask("edit", kind="add", what="walkways", level=0,
                             value={"line": [[5, 3], [9, 3]], "speed": 9})["ok"], "its ranges hold")
        check(client.ask("model", group="*", stage="filter", model="walkway")["ok"], "groups use the plugin")
        check(not told()[1], "and then it is not")
        client.close()
    finally:
        code, text = server.stop()
    check(code == 0, f"it ends well with a plugin: {code} {text[-2000:]}")


def check_replay():
    """A recording shows with its charts; edits are refused."""
    with tempfile.TemporaryDirectory() as folder:
        out, scene = pathlib.Path(folder) / "run", pathlib.Path(folder) / "room.json"
        scene.write_text(json.dumps(ROOM), encoding="utf-8")
        subprocess.run([PROGRAM, "run", str(scene), "--out", str(out), "--record", "sqlite", "--max-time", "20", "--quiet"], capture_output=True, check=True)
        server = Server(PROGRAM, str(out), verb="replay")
        client = Client(server)
        hello, scene = client.event("hello"), client.event("scene")
        check(hello["replay"] is True and scene["levels"][0]["rings"], "a recording has its plan")
        people = client.people()
        check(people and people[0]["total"] == 50, "and all people in it")
        # The moment is sent once, maybe before the answer.
        check(client.ask("scrub", time=3.0)["ok"] and client.until(
            lambda: any(f[5] == 1 and abs(read_people(f)[0]["time"] - 3.0) < 0.2 for f in client.frames)), "it scrubs")
        check(not client.ask("edit", kind="wall", line=[[1, 1], [2, 2]])["ok"], "it cannot be edited")
        check_recorded_charts(out, client.ask("charts")["worlds"][0]["rows"])
        client.close()
        code, text = server.stop()
        check(code == 0, f"replay ends well: {code} {text[-2000:]}")
        check_upload(out / "trajectory.sqlite")
        check_drawing()
        check_export(pathlib.Path(folder), out)


def main():
    if subprocess.run([PROGRAM, "help", "studio"], capture_output=True, check=False).returncode != 0:
        print("this build has no studio")
        return 77
    server = Server(PROGRAM, TEMPLATE, "--threads", "1")  # all of a step in one thread
    try:
        client = Client(server)
        check(client.event("hello") and client.event("scene"), "a client is greeted")
        first = client.people()
        check(client.until(lambda: client.people()[0]["time"] > first[0]["time"]), "the crowd moves")
        check_door(server)
        check_messages(client)
        check_edits(server)
        client.close()  # silent meanwhile, it may have been dropped
        client = Client(server)
        check_templates(client)
        client.close()
        check_harm(server)
    finally:
        code, text = server.stop()
    check(code == 0, f"it ends well: {code} {text[-3000:]}")
    check_findings()
    plugin = pathlib.Path(PROGRAM).parent / "tests/plugins/own_section.so"
    if plugin.exists():
        check_plugin(plugin)
    check_replay()
    print(f"studio: {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
