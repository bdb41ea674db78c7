"""Runs a program on a terminal and answers its prompts: terminal.py PROMPT ANSWER [PROMPT ANSWER …] -- PROGRAM …"""

import os
import pty
import signal
import sys

split = sys.argv.index("--")
steps, program = sys.argv[1:split], sys.argv[split + 1 :]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(program[0], program)
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))

seen = b""


def read():
    global seen
    try:
        more = os.read(terminal, 4096)
    except OSError:
        return False
    seen += more
    os.write(1, more)
    return more != b""


for prompt, answer in zip(steps[::2], steps[1::2]):
    while prompt.encode() not in seen:
        if not read():
            break
    seen = seen.split(prompt.encode(), 1)[-1]
    os.write(terminal, answer.encode() + b"\r")
while read():
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
