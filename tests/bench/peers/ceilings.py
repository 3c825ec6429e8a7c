#!/usr/bin/env python3
"""What this machine can do at most: reading memory and multiplying matrices, as torch does it (needs torch and numpy).

    python tests/bench/peers/ceilings.py --threads 2
    python tests/bench/peers/ceilings.py --device cuda

The medians of several runs each: bytes a second of a sum over 1 GiB, and multiply-adds of a [512, 896] x [896, 4864] product, twice their number a second, in fp32,
bf16 and int8; on a GPU bytes read and written by a copy of 2 GiB and a bf16 product of 8192 x 8192 x 8192. The peers' scripts run it in a process of its own before and after they measure.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

SHAPE = (512, 896, 4864)  # rows of a prompt, columns, rows of a gate


def measured_apart(threads: int, device: str = "cpu") -> str:
    command = [sys.executable, str(pathlib.Path(__file__).resolve()), "--threads", str(threads), "--device", device]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else f"the machine's limits are not known: {done.stderr.strip().splitlines()[-1]}"


def seconds(work, repeats: int) -> float:
    times: list[float] = []
    for run in range(repeats + 1):
        start = time.perf_counter()
        work()
        took = time.perf_counter() - start
        if run > 0 or took > 1.0:  # a warm-up, unless torch has only plain loops for this type
            times.append(took)
        if took > 1.0:
            break
    return statistics.median(times)


def of_a_gpu() -> str:
    import torch

    def at_once(work, calls: int) -> float:
        def finished() -> None:
            for _ in range(calls):
                work()
            torch.cuda.synchronize()

        return seconds(finished, 5) / calls

    numbers = torch.randn(1 << 29, device="cuda")
    copy = torch.empty_like(numbers)
    copied = 2 * numbers.nbytes / at_once(lambda: copy.copy_(numbers), 10)
    left, right = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    rate = 2 * 8192**3 / at_once(lambda: torch.mm(left, right), 10)
    return f"{torch.cuda.get_device_name()}: copies {copied / 1e9:.0f} GB/s, bf16 products {rate / 1e12:.0f} T/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    options = parser.parse_args()
    if options.device == "cuda":
        print(of_a_gpu())
        return
    import torch

    torch.set_num_threads(options.threads)
    numbers = torch.ones(1 << 28)
    parts = [f"reads {numbers.nbytes / seconds(numbers.sum, 9) / 1e9:.1f} GB/s"]
    del numbers
    rows, columns, outputs = SHAPE
    for name, kind, product in (("fp32", torch.float, torch.mm), ("bf16", torch.bfloat16, torch.mm), ("int8", torch.int8, torch._int_mm)):
        left, right = ((torch.randn(shape) * 20).to(kind) for shape in ((rows, columns), (columns, outputs)))
        rate = 2 * rows * columns * outputs / seconds(lambda: product(left, right), 9) / 1e9
        parts.append(f"{name} products {rate:.0f} G/s")
    print(", ".join(parts))


if __name__ == "__main__":
    main()
