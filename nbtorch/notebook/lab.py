"""`python -m nbtorch.notebook.lab NOTEBOOK`: JupyterLab on a notebook, with the checks a first run needs."""
import argparse
import importlib.util
import socket
import sys
from pathlib import Path
from urllib.parse import quote


def port_is_free(port):
    """Whether this machine's loopback port can be bound."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        if sys.platform != "win32":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def choose_port(wanted, tries=50):
    """`wanted` or the next free port after it. Raises SystemExit when none of the next 50 is free."""
    if not 1 <= wanted <= 65535:
        raise SystemExit(f"{wanted} is no port: ports are 1 to 65535. Choose one with: make lab PORT=9000")
    for port in range(wanted, min(wanted + tries, 65536)):
        if port_is_free(port):
            if port != wanted:
                print(f"Port {wanted} is in use (another JupyterLab?); using {port} instead. "
                      "Choose one with: make lab PORT=9000")
            return port
    raise SystemExit(f"Ports {wanted} to {wanted + tries - 1} are all in use. Choose another: make lab PORT=9000")


def panel_folder():
    """Where JupyterLab finds the panel, or None."""
    from jupyter_core.paths import jupyter_path
    for base in jupyter_path("labextensions"):
        folder = Path(base) / "nbtorch"
        if (folder / "package.json").is_file():
            return folder
    return None


def main(argv=None):
    """Check, say what is missing, and hand over to JupyterLab."""
    parser = argparse.ArgumentParser(prog="python -m nbtorch.notebook.lab", description=__doc__)
    parser.add_argument("notebook", nargs="?", default=None, help="notebook to open")
    parser.add_argument("--port", type=int, default=8888)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    options, rest = parser.parse_known_args(argv)
    if importlib.util.find_spec("jupyterlab") is None:
        raise SystemExit("JupyterLab is not installed in this environment. make lab installs it, or: pip install "
                         "'jupyterlab>=4.6,<4.7'")
    if options.notebook and not Path(options.notebook).is_file():
        raise SystemExit(f"There is no notebook at {options.notebook}. Choose one with: make lab NOTEBOOK=path.ipynb")
    if panel_folder() is None:
        print("The nbtorch panel is not installed for this JupyterLab: graphs and memory still show in cell outputs. "
              "To install it, in nbtorch's source folder: pip install --force-reinstall --no-deps .")
    import os
    if sys.platform != "win32" and hasattr(os, "geteuid") and os.geteuid() == 0:
        rest.append("--allow-root")
    command = ["--ip=127.0.0.1", f"--port={choose_port(options.port)}", *rest]
    if options.no_browser:
        command.append("--no-browser")
    if options.notebook:
        # Not as a file to run: the printed address, too, should lead to the notebook.
        notebook = Path(options.notebook).resolve()
        command += [f"--ServerApp.root_dir={notebook.parent}", f"--LabApp.default_url=/lab/tree/{quote(notebook.name)}"]
    from jupyterlab.labapp import LabApp
    LabApp.launch_instance(command)


if __name__ == "__main__":
    main()
