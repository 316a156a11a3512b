"""Real kernels for tests: start one, run cells, open comms in a subshell as JupyterLab does."""

import contextlib
import sys
import time
import uuid

from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec


class Kernel:
    """A started kernel with a blocking client; messages that are not asked for are kept in `iopub`."""

    def __init__(self, manager, client):
        self.manager, self.client, self.iopub, self.subshell = manager, client, [], None

    def start_cell(self, code):
        """Send a cell; its message id."""
        return self.client.execute(code, store_history=True)

    def pump(self, seconds=0.05):
        """Collect iopub messages that are there or come within some seconds."""
        end = time.monotonic() + seconds
        while True:
            try:
                self.iopub.append(self.client.get_iopub_msg(timeout=max(0.01, end - time.monotonic())))
            except Exception as error:
                if type(error).__name__ != "Empty":
                    raise
                return

    def run(self, code, timeout=120):
        """Run a cell to its end: (reply content, iopub messages of the cell)."""
        sent = self.start_cell(code)
        return self.end_of(sent, timeout)

    def end_of(self, sent, timeout=120):
        """Wait for a cell's reply and its idle status."""
        end, reply = time.monotonic() + timeout, None
        while True:
            if time.monotonic() > end:
                raise TimeoutError("the cell did not end")
            self.pump(0.05)
            if reply is None:
                try:
                    message = self.client.get_shell_msg(timeout=0.01)
                    reply = message["content"] if message["parent_header"].get("msg_id") == sent else None
                except Exception as error:
                    if type(error).__name__ != "Empty":
                        raise
            mine = [m for m in self.iopub if m["parent_header"].get("msg_id") == sent]
            if reply is not None and any(
                m["msg_type"] == "status" and m["content"]["execution_state"] == "idle" for m in mine
            ):
                return reply, mine

    def open_subshell(self):
        """A second shell thread, as JupyterLab opens for comms."""
        message = self.client.session.msg("create_subshell_request")
        self.client.control_channel.send(message)
        while True:
            reply = self.client.get_control_msg(timeout=20)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                self.subshell = reply["content"]["subshell_id"]
                return

    def comm(self, kind, content):
        """Send a comm message to the subshell."""
        message = self.client.session.msg(kind, content)
        message["header"]["subshell_id"] = self.subshell
        self.client.shell_channel.send(message)

    def open_comm(self, target):
        """Open a comm from the front end; its id."""
        comm_id = uuid.uuid4().hex
        self.comm("comm_open", {"comm_id": comm_id, "target_name": target, "data": {}})
        return comm_id

    def ask(self, comm_id, request, timeout=10):
        """Send a request and wait for the batch that answers it: (batch, seconds)."""
        begun = time.monotonic()
        self.comm("comm_msg", {"comm_id": comm_id, "data": request})
        while time.monotonic() - begun < timeout:
            self.pump(0.01)
            for message in self.iopub:
                if (
                    message["msg_type"] == "comm_msg"
                    and message["content"]["comm_id"] == comm_id
                    and message["content"]["data"].get("request") == request.get("request")
                ):
                    return message["content"]["data"], time.monotonic() - begun
        raise TimeoutError("no answer")

    def batches(self, comm_id):
        """Batches received on a comm so far."""
        return [
            m["content"]["data"]
            for m in self.iopub
            if m["msg_type"] in ("comm_msg", "comm_open") and m["content"]["comm_id"] == comm_id
        ]


@contextlib.contextmanager
def kernel(tmp_path, env):
    """A kernel of this interpreter with private folders; gone afterwards."""
    env = {**env, "IPYTHONDIR": str(tmp_path / "ipython"), "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    manager = KernelManager()
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        display_name="test",
        language="python",
    )
    manager.start_kernel(env=env)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        if manager.has_kernel:
            manager.shutdown_kernel(now=False)
