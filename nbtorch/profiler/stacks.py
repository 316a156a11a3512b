"""Where user code made a call: the first frames outside nbtorch. A notebook names its cells by filling
``namers``.
"""

import os
import sys

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
namers = []  # functions filename -> label ("In[7]") or None


def label(filename):
    """How a file is called in a report: a cell's name, else its base name."""
    for namer in namers:
        name = namer(filename)
        if name:
            return name
    return os.path.basename(filename)


def user_frames(limit, depth=2):
    """Up to `limit` (filename, line, function) of the frames outside nbtorch, innermost first."""
    frame, found = sys._getframe(depth), []
    while frame is not None and len(found) < limit:
        code = frame.f_code
        name = code.co_filename
        if not name.startswith(PACKAGE) and not name.startswith("<nbtorch"):
            found.append((name, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(found)


def describe(frames):
    """Frames as texts, `In[7](3): step`."""
    return [f"{label(name)}({line}): {function}" for name, line, function in frames]
