"""Makes the demo model from nothing: frames, tower, tokenizer, decoder, export, check. Finished steps are not repeated."""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tower-minutes", type=float, default=12.0)
    parser.add_argument("--minutes", type=float, default=508.0, help="of decoder training, all runs together")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    out = HERE / "out"

    def step(script: str, *arguments: str, makes: Path | None = None) -> None:
        if makes is None or not makes.exists():
            print(f"== {script}", flush=True)
            subprocess.run([sys.executable, str(HERE / script), *arguments], check=True)

    step("frames.py", "--workers", str(options.workers), makes=out / "frames.npz")
    step("train_tower.py", "--minutes", str(options.tower_minutes), "--threads", str(options.workers), makes=out / "bank.pt")
    step("text.py", makes=out / "tokenizer.json")
    step("train.py", "--minutes", str(options.minutes), "--workers", str(options.workers))
    step("export.py")
    step("check.py")


if __name__ == "__main__":
    main()
