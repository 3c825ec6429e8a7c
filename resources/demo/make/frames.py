"""A pool of single frames with JPEG artefacts, as a decoded and resized video shows them; the tower is trained on it."""

import argparse
import io
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from PIL import Image

import world

SIDE = 96
FRAME_SIZES = ((160, 120), (320, 240), (240, 135), (320, 180), (200, 200), (284, 160), (426, 240))


def compressed(frame: np.ndarray, quality: int) -> Image.Image:
    buffer = io.BytesIO()
    Image.fromarray(frame).save(buffer, "JPEG", quality=quality)
    return Image.open(buffer).convert("RGB")


def pool_frame(rng: np.random.Generator, thing: int) -> np.ndarray:
    """One frame at the model's size. uint8 [SIDE, SIDE, 3]"""
    width, height = FRAME_SIZES[rng.integers(len(FRAME_SIZES))]
    frame = world.draw(world.random_backdrop(rng, width, height), world.random_look(rng, thing), float(rng.random()))
    image = compressed(frame, int(rng.integers(25, 95))) if rng.random() < 0.8 else Image.fromarray(frame)
    return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BICUBIC))


def frames_of_seed(task: tuple[int, np.ndarray]) -> np.ndarray:
    seed, things = task
    rng = np.random.default_rng(seed)
    return np.stack([pool_frame(rng, int(thing)) for thing in things])


def build(shape_frames: int, card_frames: int, empty_frames: int, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Frames and the thing in each, shuffled. uint8 [n, SIDE, SIDE, 3], int64 [n]"""
    counts = np.full(world.THINGS, shape_frames)
    counts[world.SHAPE_THINGS :] = card_frames
    counts[world.EMPTY] = empty_frames
    things = np.random.default_rng(0).permutation(np.repeat(np.arange(world.THINGS), counts))
    parts = np.array_split(things, max(1, len(things) // 500))
    with Pool(workers) as processes:
        frames = processes.map(frames_of_seed, list(enumerate(parts)))
    return np.concatenate(frames), things


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    parser.add_argument("--shape-frames", type=int, default=800)
    parser.add_argument("--card-frames", type=int, default=2400)
    parser.add_argument("--empty-frames", type=int, default=3000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    frames, things = build(options.shape_frames, options.card_frames, options.empty_frames, options.workers)
    np.savez(options.out / "frames.npz", frames=frames, things=things)
    print(f"{len(things)} frames")


if __name__ == "__main__":
    main()
