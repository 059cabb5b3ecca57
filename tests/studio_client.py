"""A small client of `throng studio` for tests: HTTP and WebSocket over plain sockets, nothing installed.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import json
import os
import re
import select
import socket
import struct
import subprocess
import time

# The longest time to wait for anything. Only a hang takes so long; ctest says how long that is.
WAIT = float(os.environ.get("TH_WAIT_SECONDS", 450))


class Server:
    """`throng studio` (or another verb) as a process."""

    def __init__(self, program, *arguments, verb="studio", environment=None):
        self.process = subprocess.Popen(
            [program, verb, *arguments, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=environment)
        self.lines = []
        self.port = self.token = None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"http://[^:]+:(\d+)/\?token=([0-9a-f]+)", line)
            if found:
                self.port, self.token = int(found[1]), found[2]
            if line.startswith("Ctrl-C"):
                break
        if self.port is None:
            raise RuntimeError("no address: " + "".join(self.lines))

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        """Ends it as Ctrl-C does; returns the exit code and what it printed last."""
        if self.alive():
            self.process.terminate()
        try:
            text = self.process.communicate(timeout=WAIT)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            text = self.process.communicate()[0] + "\nit did not end"
        return self.process.returncode, text

    def socket(self, receive_buffer=None):
        plain = socket.socket()
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(WAIT)
        plain.connect(("127.0.0.1", self.port))
        return plain

    def get(self, path, host=None, **headers):
        """Status and body of a page."""
        with self.socket() as plain:
            lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", "Connection: close"]
            lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
            plain.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            answer = b""
            while True:
                try:
                    part = plain.recv(65536)
                except (ConnectionError, socket.timeout):
                    break
                if not part:
                    break
                answer += part
                length = re.search(rb"content-length: *(\d+)", answer, re.IGNORECASE)
                if length and len(answer.partition(b"\r\n\r\n")[2]) >= int(length[1]):
                    break
        status = int(answer.split()[1]) if answer.startswith(b"HTTP/") else 0
        return status, answer.partition(b"\r\n\r\n")[2]


class Refused(Exception):
    pass


class Client:
    """A WebSocket. Texts are kept in `events` and `answers`, frames as bytes in `frames` (the newest few)."""

    def __init__(self, server, token=None, host=None, origin="own", receive_buffer=None):
        self.plain = server.socket(receive_buffer)
        own = f"127.0.0.1:{server.port}"
        lines = [f"GET /ws?token={server.token if token is None else token} HTTP/1.1", f"Host: {host or own}",
                 "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Protocol: throng-1"]
        if origin:
            lines.append("Origin: " + (f"http://{own}" if origin == "own" else origin))
        self.plain.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            try:
                part = self.plain.recv(1)
            except ConnectionError as error:
                raise Refused("reset") from error
            if not part:
                raise Refused(head.decode(errors="replace") or "closed")
            head += part
        if b" 101 " not in head.splitlines()[0] + b" ":
            raise Refused(head.splitlines()[0].decode())
        self.buffer = b""
        self.parts = []
        self.number = 0
        self.events, self.answers, self.frames = [], {}, []
        self.frame_count = 0
        self.closed = False

    def send_raw(self, code, payload, final=True):
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([(0x80 if final else 0) | code])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        if size:
            repeated = (mask * (size // 4 + 1))[:size]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        self.plain.sendall(head + mask + payload)

    def send(self, text):
        self.send_raw(1, text.encode() if isinstance(text, str) else text)

    def _take_frame(self):
        """One whole WebSocket frame from the buffer, or None."""
        if len(self.buffer) < 2:
            return None
        size, at = self.buffer[1] & 127, 2
        if size == 126:
            if len(self.buffer) < 4:
                return None
            size, at = struct.unpack(">H", self.buffer[2:4])[0], 4
        elif size == 127:
            if len(self.buffer) < 10:
                return None
            size, at = struct.unpack(">Q", self.buffer[2:10])[0], 10
        if len(self.buffer) < at + size:
            return None
        first, payload = self.buffer[0], self.buffer[at:at + size]
        self.buffer = self.buffer[at + size:]
        return first, payload

    def _sort_in(self, first, payload):
        code = first & 15
        if code == 8:
            self.closed = True
        elif code == 9:
            self.send_raw(10, payload)
        elif code in (0, 1, 2):
            if code:
                self.kind = code
            self.parts.append(payload)
            if first & 0x80:
                whole, self.parts = b"".join(self.parts), []
                if self.kind == 1:
                    message = json.loads(whole)
                    if "event" in message:
                        self.events.append(message)
                    else:
                        self.answers[message.get("id")] = message
                else:
                    self.frames = (self.frames + [whole])[-8:]
                    self.frame_count += 1

    def read(self, seconds=0.05):
        """Takes what has come, waiting at most so long for something."""
        ready, _, _ = select.select([self.plain], [], [], seconds)
        if ready:
            try:
                part = self.plain.recv(1 << 20)
            except (ConnectionError, socket.timeout):
                part = b""
            if not part:
                self.closed = True
            self.buffer += part
        while (frame := self._take_frame()) is not None:
            self._sort_in(*frame)

    def until(self, condition, seconds=WAIT):
        """Reads until the condition holds; returns its value, or None when the time is up or the server has closed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            if self.closed:
                return None
            self.read()
        return None

    def ask(self, verb, seconds=WAIT, **members):
        self.number += 1
        number = self.number
        self.send(json.dumps({"id": number, "do": verb, **members}))
        return self.until(lambda: self.answers.pop(number, None), seconds)

    def event(self, name, seconds=WAIT):
        """The next event of a kind; older ones are forgotten."""
        def find():
            for k, event in enumerate(self.events):
                if event["event"] == name:
                    del self.events[:k + 1]
                    return event
            return None
        return self.until(find, seconds)

    def people(self, seconds=WAIT, world=0):
        """Head and records of the next people frame: a dict and a list of (id, x, y)."""
        self.frames.clear()
        def find():
            for frame in reversed(self.frames):
                if frame[5] == 1 and frame[6] == world:
                    return frame
            return None
        frame = self.until(find, seconds)
        if frame is None:
            return None
        return read_people(frame)

    def close(self):
        self.plain.close()


def read_people(frame):
    magic, version, kind, world, flags, number, count, when, total, item, level = struct.unpack_from("<IBBBBIIdIHH", frame)
    assert magic == 0x31524854 and version == 1 and kind == 1 and level == 65535
    min_x, min_y, step_x, step_y, value_min, value_max, speed_max, kept = struct.unpack_from("<8f", frame, 32)
    assert len(frame) == 64 + 16 * count
    people = {}
    for k in range(count):
        ident, x, y, heading, speed, value, phase, floor, group, radius, mark = struct.unpack_from("<IHH8B", frame, 64 + 16 * k)
        people[ident] = (min_x + step_x * x, min_y + step_y * y, phase, value, floor, group)
    return {"world": world, "past": flags & 1, "number": number, "time": when, "total": total, "colour": item, "kept": kept,
            "value_max": value_max}, people
