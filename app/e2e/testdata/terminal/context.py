"""Runs a command in a terminal as a person would who asks Claude Code for its
context, and prints what was on the screen then."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))


def read(words, limit):
    """Reads until one of the words is on the screen."""
    seen, end = b"", time.monotonic() + limit
    while time.monotonic() < end and not any(word in seen for word in words):
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:  # the program has ended
                break
    return seen


screen = read([b"shortcuts", b"Try", b"for agents"], 30)
screen += read([], 1)  # it is still drawing
os.write(terminal, b"/context")
screen += read([], 1)  # pasted together with the text, Enter would be a new line
os.write(terminal, b"\r")
context = read([b"Free"], 20)
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
sys.stdout.buffer.write(context)
if b"Free" not in context:
    sys.stderr.buffer.write(screen)
    sys.exit("the context is not shown")
