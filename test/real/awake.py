"""The whole server, with sandboxes that start on a machine that is busy and has no Docker. They are processes. The backend gives one 30
seconds to answer, calls it STARTING while it sleeps, and leaves its output in pipes that nobody reads, so that it stands still once they
are full. 0.62.0 gives it the working folder '', which its own agent server refuses; later ones look for it outside the container that they
themselves run in."""

import importlib
import importlib.util
import subprocess
import types

import psutil

RUNNING = (psutil.STATUS_SLEEPING, psutil.STATUS_DISK_SLEEP)
status_of = psutil.Process.status
psutil.Process.status = lambda process: (
    psutil.STATUS_RUNNING if status_of(process) in RUNNING else status_of(process)
)

if importlib.util.find_spec('openhands.app_server.utils.docker_utils'):
    docker_utils = importlib.import_module('openhands.app_server.utils.docker_utils')
    docker_utils.is_running_in_docker = lambda: False

from openhands.app_server.sandbox import process_sandbox_service as backend  # noqa: E402

backend.subprocess = types.SimpleNamespace(
    Popen=subprocess.Popen,
    TimeoutExpired=subprocess.TimeoutExpired,
    PIPE=open('sandboxes.log', 'ab'),
)
wait = backend.ProcessSandboxService._wait_for_server_ready
backend.ProcessSandboxService._wait_for_server_ready = (
    lambda service, port, timeout=30: wait(service, port, 600)
)

from openhands.server.listen import app  # noqa: E402, F401
from openhands.app_server.config import get_global_config  # noqa: E402

for spec in get_global_config().sandbox_spec.specs:
    spec.__dict__['working_dir'] = spec.working_dir or '.'
