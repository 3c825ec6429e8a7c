"""Real video files of the demo world: a seed decides everything, FFmpeg encodes and decodes."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import world
from world import Look, Timeline

FRAME_SIZES = ((160, 120), (200, 150), (320, 240), (320, 180), (284, 160), (240, 240), (426, 240))
_DRIFT_STEPS = 16
_DRAWINGS_PER_SCENE = 24


@dataclass(frozen=True)
class Video:
    timeline: Timeline
    looks: tuple[Look, ...]
    duration_s: float
    fps: int
    width: int
    height: int
    codec: str  # "h264" or "vp9"
    quality: int
    seed: int

    @property
    def interval_s(self) -> float:
        return self.duration_s / self.timeline.frames

    @property
    def suffix(self) -> str:
        return ".mp4" if self.codec == "h264" else ".webm"

    def timeline_at(self, frames: int) -> Timeline:
        return self.timeline.at(frames)


def random_video(seed: int, frames: int, duration_s: float | None = None, size: tuple[int, int] | None = None, codec: str | None = None) -> Video:
    rng = np.random.default_rng(seed)
    if duration_s is None:
        shortest_video, longest_video = max(4.0, frames * 0.16), 600.0
        duration_s = float(np.exp(rng.uniform(np.log(shortest_video), np.log(longest_video))))
    interval_s = duration_s / frames
    fps = int(np.clip(np.ceil(4 / interval_s), 8, 60))
    duration_s = round(duration_s * fps) / fps
    margin = min(0.25, 1.2 / (fps * interval_s))
    timeline = world.random_timeline(rng, frames, shortest=max(1.5 + 2 * margin, 0.5 / interval_s))
    width, height = size or FRAME_SIZES[rng.integers(len(FRAME_SIZES))]
    return Video(
        timeline=Timeline(timeline.things, tuple(_away_from_samples(end, margin) for end in timeline.ends[:-1]) + (float(frames),), frames),
        looks=tuple(world.random_look(rng, thing) for thing in timeline.things),
        duration_s=duration_s,
        fps=fps,
        width=width,
        height=height,
        codec=codec or ("h264" if rng.random() < 0.7 else "vp9"),
        quality=int(rng.integers(20, 33)),
        seed=seed,
    )


def _away_from_samples(end: float, margin: float) -> float:
    """A scene change at least `margin` intervals away from the middle of an interval, where the frame is sampled."""
    whole, part = divmod(end, 1.0)
    if abs(part - 0.5) < margin:
        part = 0.5 + margin if part >= 0.5 else 0.5 - margin
    return whole + part


def write(video: Video, path: Path) -> None:
    """Encodes the whole video; the file appears only when it is complete."""
    part = path.with_name("part-" + path.name)
    rng = np.random.default_rng((video.seed, 1))
    first = world.random_backdrop(rng, video.width, video.height)
    second = world.random_backdrop(rng, video.width, video.height) if rng.random() < 0.4 else first
    encoder = (
        ["-c:v", "libx264", "-preset", "veryfast", "-crf", str(video.quality)]
        if video.codec == "h264"
        else ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "0", "-crf", str(video.quality + 8)]
    )
    command = [
        "ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{video.width}x{video.height}",
        "-r", str(video.fps), "-i", "-", *encoder, "-threads", "1", "-pix_fmt", "yuv420p", str(part),
    ]  # fmt: skip
    ends_s = np.asarray(video.timeline.ends) * video.interval_s
    frames = round(video.duration_s * video.fps)
    scene_of_frame = np.minimum(np.searchsorted(ends_s, (np.arange(frames) + 0.5) / video.fps, side="right"), len(ends_s) - 1)
    lengths = np.bincount(scene_of_frame, minlength=len(ends_s))
    drawn: tuple[int, int, int] | None = None
    pixels = b""
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        at = 0
        for frame, scene in enumerate(scene_of_frame):
            at = 0 if frame == 0 or scene != scene_of_frame[frame - 1] else at + 1
            drawings = min(_DRAWINGS_PER_SCENE, lengths[scene])
            key = (int(scene), at * drawings // lengths[scene], frame * _DRIFT_STEPS // frames)
            if key != drawn:
                drawn = key
                backdrop = first + (second - first) * (key[2] / _DRIFT_STEPS)
                pixels = world.draw(backdrop, video.looks[scene], key[1] / drawings).tobytes()
            process.stdin.write(pixels)
        process.stdin.close()
    if process.returncode != 0:
        raise RuntimeError(f"ffmpeg could not write {path}")
    part.replace(path)


def read(path: Path, video: Video, frames: int) -> np.ndarray:
    """The frames sampled in the middle of `frames` equal intervals. uint8 [frames, height, width, 3]"""
    total = round(video.duration_s * video.fps)
    wanted = np.minimum(((np.arange(frames) + 0.5) * total / frames).astype(int), total - 1)
    command = [
        "ffmpeg", "-v", "error", "-threads", "1", "-i", str(path), "-vf", "select=" + "+".join(f"eq(n\\,{n})" for n in np.unique(wanted)),
        "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-",
    ]  # fmt: skip
    pixels = subprocess.run(command, capture_output=True, check=True).stdout
    found = np.frombuffer(pixels, dtype=np.uint8).reshape(-1, video.height, video.width, 3)
    return found[np.searchsorted(np.unique(wanted), wanted)]
