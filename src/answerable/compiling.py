"""Compile a network with OpenVINO for this machine's processors: in bfloat16 if they support it, else in float32."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from answerable.disk.private import close_to_others, make_folder


def compiled(build: Callable[[Any], Any], threads: int, cache_folder: Path | None, **options: Any) -> tuple[Any, str]:
    """Return a compiled network and its precision, "bf16" or "f32". Raises ImportError and RuntimeError.

    `build` makes the network from the package `openvino`. `threads` limits the processors (0: all); `cache_folder`
    keeps the compiled network for other processes. `options` are OpenVINO's and override those chosen here.
    """
    # With this package OpenVINO reports each import to Google Analytics. None in `sys.modules` marks it as missing.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    core = openvino.Core()
    precision = "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
    chosen: dict[str, Any] = {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY"}
    if threads:
        chosen["INFERENCE_NUM_THREADS"] = threads
        # Processes that use fewer threads than there are would all be pinned to the first processors.
        chosen["ENABLE_CPU_PINNING"] = False
    if cache_folder is not None:
        make_folder(cache_folder)
        core.set_property({"CACHE_DIR": str(cache_folder)})
    network = core.compile_model(build(openvino), "CPU", {**chosen, **options})
    if cache_folder is not None:
        close_to_others(*cache_folder.iterdir())
    return network, precision
