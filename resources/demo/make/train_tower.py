"""Trains the vision tower alone, as a classifier of single frames, and keeps its outputs for the whole pool of frames.

Every pooled token by itself, and their mean, must tell colour, shape, letter and its own place in the grid.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import world
from model import Tower, TowerConfig, pool_index

CARD, NOTHING = len(world.SHAPES), len(world.SHAPES) + 1
HEADS = {"color": len(world.COLORS) + 1, "shape": len(world.SHAPES) + 2, "letter": len(world.LETTERS) + 1}


def thing_labels() -> dict[str, Tensor]:
    """For every thing its class in each head. int64 [THINGS]"""
    things = range(world.THINGS)
    color = [t // len(world.SHAPES) if world.is_shape(t) else len(world.COLORS) for t in things]
    shape = [t % len(world.SHAPES) if world.is_shape(t) else CARD if world.is_card(t) else NOTHING for t in things]
    letter = [t - world.SHAPE_THINGS if world.is_card(t) else len(world.LETTERS) for t in things]
    return {"color": torch.tensor(color), "shape": torch.tensor(shape), "letter": torch.tensor(letter)}


class Classifier(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.tower = Tower(config)
        self.norm = nn.LayerNorm(config.hidden_size)
        self.heads = nn.ModuleDict({name: nn.Linear(config.hidden_size, size) for name, size in HEADS.items()})
        self.place = nn.Linear(config.hidden_size, config.pooled_tokens)
        self.register_buffer("pool", pool_index(config), persistent=False)

    def forward(self, frames: Tensor) -> dict[str, Tensor]:
        """Scores of every pooled token and, last, of their mean. [B, pooled + 1, classes]; "place" without the mean."""
        pooled = self.tower(frames)[:, self.pool].mean(2)
        tokens = self.norm(torch.cat([pooled, pooled.mean(1, keepdim=True)], dim=1))
        scores = {name: head(tokens) for name, head in self.heads.items()}
        return scores | {"place": self.place(tokens[:, :-1])}


def loss_and_accuracy(scores: dict[str, Tensor], labels: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Loss, and for every token whether all heads are right. bool [B, pooled + 1]"""
    loss = torch.zeros(())
    right = torch.ones(scores["color"].shape[:2], dtype=torch.bool)
    for name, label in labels.items():
        target = label[:, None].expand(scores[name].shape[:2])
        loss = loss + F.cross_entropy(scores[name].float().flatten(0, 1), target.flatten())
        right &= scores[name].argmax(-1) == target
    place = torch.arange(scores["place"].shape[1]).expand(scores["place"].shape[:2])
    return loss + 0.1 * F.cross_entropy(scores["place"].float().flatten(0, 1), place.flatten()), right


class Muon(torch.optim.Optimizer):
    """torch.optim.Muon, but orthogonalizing in float32: bfloat16 costs many times that where the processor only emulates it."""

    MOMENTUM, STEPS, A, B, C = 0.95, 5, 3.4445, -4.7750, 2.0315

    def __init__(self, parameters: list[nn.Parameter], lr: float, weight_decay: float) -> None:
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    def _orthogonal(self, matrix: Tensor) -> Tensor:
        wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
        wide = wide / wide.norm().clamp(min=1e-7)
        for _ in range(self.STEPS):
            gram = wide @ wide.T
            wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=self.B, alpha=self.C), wide, beta=self.A)
        return wide if matrix.shape[0] <= matrix.shape[1] else wide.T

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for parameter in (p for p in group["params"] if p.grad is not None):
                buffer = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
                buffer.lerp_(parameter.grad, 1 - self.MOMENTUM)
                update = self._orthogonal(parameter.grad.lerp(buffer, self.MOMENTUM))
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                parameter.add_(update, alpha=-group["lr"] * 0.2 * max(parameter.shape) ** 0.5)  # steps as large as AdamW's


def optimizers(parameters: dict[str, nn.Parameter], peak: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, AdamW for everything else."""
    matrices = [p for n, p in parameters.items() if p.dim() == 2 and "layers" in n]
    others = [p for n, p in parameters.items() if not (p.dim() == 2 and "layers" in n)]
    return [
        Muon(matrices, lr=peak, weight_decay=0.01),
        torch.optim.AdamW(others, lr=peak, weight_decay=0.01, betas=(0.9, 0.95)),
    ]


def shifted(frames: Tensor, random: np.random.Generator, reach: int = 5) -> Tensor:
    """Every frame moved by up to `reach` pixels, its edges repeated. uint8 [B, side, side, 3]"""
    side = frames.shape[1]
    rows, columns = (
        torch.from_numpy(np.clip(np.arange(side) + random.integers(-reach, reach + 1, (len(frames), 1)), 0, side - 1)) for _ in range(2)
    )
    return frames[torch.arange(len(frames))[:, None, None], rows[:, :, None], columns[:, None, :]]


@torch.no_grad()
def features_of(tower: Tower, frames: Tensor) -> Tensor:
    """bfloat16 [n, tokens, hidden]"""
    return torch.cat([tower(part).bfloat16() for part in frames.split(256)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--peak", type=float, default=2e-3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="go on from tower.pt; with --minutes 0 only the bank is made")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)

    pool = np.load(options.out / "frames.npz")
    frames, things = torch.from_numpy(pool["frames"]), torch.from_numpy(pool["things"])
    held_out = len(things) // 20
    labels = {name: table[things] for name, table in thing_labels().items()}

    classifier = Classifier(TowerConfig())
    if options.resume:
        classifier.load_state_dict(torch.load(options.out / "tower.pt"))
    both = optimizers(dict(classifier.named_parameters()), options.peak)
    random = np.random.default_rng(0)
    began = time.monotonic()
    step = 0
    while options.minutes > 0 and (share := (time.monotonic() - began) / (60 * options.minutes)) < 1:
        rate = options.peak * min(1.0, (step + 1) / 50) * (1 - share)
        for optimizer in both:
            for group in optimizer.param_groups:
                group["lr"] = rate
        chosen = torch.from_numpy(random.integers(held_out, len(things), options.batch))
        with torch.autocast("cpu", torch.bfloat16):
            scores = classifier(shifted(frames[chosen], random))
        loss, right = loss_and_accuracy(scores, {name: label[chosen] for name, label in labels.items()})
        loss.backward()
        for optimizer in both:
            optimizer.step()
            optimizer.zero_grad()
        if step % 100 == 0:
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
                test = classifier(frames[:512])
            _, held = loss_and_accuracy(test, {name: label[:512] for name, label in labels.items()})
            print(
                f"step {step} {time.monotonic() - began:.0f}s loss {loss.item():.4f} token {right[:, :-1].float().mean():.4f} "
                f"held-out token {held[:, :-1].float().mean():.4f} mean {held[:, -1].float().mean():.4f}",
                flush=True,
            )
        step += 1

    torch.save(classifier.state_dict(), options.out / "tower.pt")
    torch.save({"features": features_of(classifier.tower, frames), "things": things}, options.out / "bank.pt")


if __name__ == "__main__":
    main()
