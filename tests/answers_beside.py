"""What the process beside the program is asked in tests: it does what the request says."""

import os
import sys
import time
from contextlib import suppress


def nested(depth):
    """Lists within lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def answer(request):
    """An answer, or what a stranger's program might do instead."""
    match request:
        case "sleep":
            time.sleep(60)
        case "compute":
            while True:
                pass
        case "end":
            os._exit(3)
        case "grow":
            return len(bytearray(10**9))
        case "nest":
            return nested(100_000)
        case "write on":  # past the answers, as a program might that has broken out
            content = b"[" * 100_000 + b"]" * 100_000
            for number in range(3, 10):
                with suppress(OSError):
                    os.write(number, len(content).to_bytes(8, "big") + content)
        case "name":
            return answer
        case "print":
            print("words")
        case "write":
            with os.fdopen(os.memfd_create("written"), "w") as file:  # which leaves nothing in a folder
                file.write("words" * 100_000)
        case "leave":
            sys.exit(1)
        case "modules":
            return sorted({"torch", "numpy", "PySide6"} & sys.modules.keys())
    return request
