"""Cold start matters: a simple scene compiles few kernels, and nothing compiles after warm-up."""

import json
import subprocess
import sys

LIMIT = 12

SCRIPT = """
import json
import unibody as ub
from unibody import kernel

def run():
    sim = ub.Simulation(ub.scenes.build("double-pendulum"), "articulated", dt=1e-3)
    rec = sim.run(0.05)
    rec.energy, rec.reports
    return len(kernel.compiled)

first = run()
print(json.dumps([first, run(), [name for name, _, _ in kernel.compiled]]))
"""


def test_a_double_pendulum_takes_a_dozen_kernels_and_none_after_warm_up():
    out = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    first, second, names = json.loads(out.stdout)
    assert 0 < first <= LIMIT, names
    assert second == first
