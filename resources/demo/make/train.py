"""Trains projector and decoder on a bank of tower outputs. Checkpoints every few minutes; started again, it goes on.

Training-only helps: auxiliary heads on the visual tokens after early layers, and two attention heads that are told which
scene holds the answer. Frames grow by competence. Parameters that are evaluated and exported are a running average.
"""

import argparse
import ctypes
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, multiprocessing, nn

import questions
import text
from batches import IGNORED, SHORT_KINDS, Bank, Composer, Mix, Targets, Times
from model import Batch, DecoderConfig, DemoModel, TowerConfig, Trace
from train_tower import HEADS, optimizers, thing_labels

LEVELS = (6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
PRACTISED = (range(7), range(7, 8), range(8, 10), range(10, 12), range(12, 14))  # levels, each group as often, once frames grow no more
STATE_LAYERS = (1, 3)
REFINED_LAYER = 4  # running numbers are told once more where the next layer's looks can use them
LOOKING_LAYERS = (4, 5)
NEIGHBOUR_LOOKS = ((0, 0, "previous_frame"), (1, 0, "previous"), (2, 0, "previous_shape"), (2, 1, "previous"))  # layer, kv head
ITEM_LAYER = 3
FRAME_PERIODS = (9.3, 22.1, 52.3, 124.1, 294.2, 697.7)  # those of the rotary positions, nine a frame: they can be read off at any length
DECADE_PERIODS = (0.125, 0.25, 0.5, 1.0, 2.0, 8.0)  # of the decimal logarithm of seconds
# Layer, kv head, what is counted, and for each query head of the group: how much the first token of all weighs, and the frames whose
# tokens count. The first token's share tells the number, most sharply for small ones: running numbers are sums over eight stretches.
COUNTING_LOOKS = (
    (1, 2, "frames", ((8.0, 0, None), (48.0, 0, None))),
    (2, 2, "ordinal", ((4.0, 0, 16), (4.0, 16, 32))),
    (3, 2, "ordinal", ((4.0, 32, 48), (4.0, 48, 96))),
    (3, 0, "ordinal", ((4.0, 96, 160), (4.0, 160, 256))),
    (3, 3, "ordinal", ((4.0, 256, 384), (4.0, 384, None))),
    (2, 3, "same_shape", ((1.0, 0, None), (4.0, 0, None))),
)
TOKENS_PER_FRAME = (1, 2, 4, 9)
LONGEST_PREFIX = 1200  # visual tokens of a worker's step
TIME_LOOK = (3, 1)
INTERVAL_LAYER = 2
FRAME_LAYER, SECONDS_LAYER = 4, 6
WATCHED = tuple({*STATE_LAYERS, *LOOKING_LAYERS, ITEM_LAYER, INTERVAL_LAYER, SECONDS_LAYER, 0})


def keep_freed_memory() -> None:
    """Tells glibc to reuse large blocks: a step allocates the same sizes again and page faults are a third of its time."""
    libc = ctypes.CDLL("libc.so.6")
    mmap_threshold, trim_threshold = -3, -1
    libc.mallopt(mmap_threshold, 1 << 30)
    libc.mallopt(trim_threshold, -1)


def huber(errors: Tensor) -> Tensor:
    """The mean; 0 of none."""
    return F.huber_loss(errors, torch.zeros_like(errors), reduction="sum") / max(1, errors.numel())


def on_circles(values: Tensor, periods: tuple[float, ...]) -> Tensor:
    """A number as sines and cosines of several periods, which a linear layer can tell apart. [...] -> [..., 2 * periods]"""
    angles = values[..., None] * (2 * torch.pi / torch.tensor(periods))
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Helpers(nn.Module):
    """Auxiliary heads; thrown away after training."""

    SIZES = {"ordinal": 37, "same_shape": 11, "starts": 2}

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.labels = thing_labels()
        width = 2 * sum(HEADS.values()) + sum(self.SIZES.values()) + 4 * len(FRAME_PERIODS)
        self.heads = nn.ModuleDict({str(layer): nn.Linear(hidden, width) for layer in STATE_LAYERS})
        self.refined = nn.Linear(hidden, self.SIZES["ordinal"] + self.SIZES["same_shape"])
        self.item = nn.Linear(hidden, self.SIZES["ordinal"])
        self.interval = nn.Linear(hidden, 2 * len(DECADE_PERIODS))
        self.log_frame = nn.ModuleDict({str(layer): nn.Linear(hidden, 2 * len(DECADE_PERIODS)) for layer in STATE_LAYERS})
        self.told_log_frame = nn.Linear(hidden, 2 * len(DECADE_PERIODS))
        self.told_frame = nn.Linear(hidden, 2 * len(FRAME_PERIODS))
        self.seconds = nn.Linear(hidden, 2 * len(DECADE_PERIODS))

    def slot_loss(self, layer: int, states: Tensor, targets: dict[str, Tensor]) -> tuple[Tensor, dict[str, float]]:
        """states [visual slots, hidden]"""
        states = F.rms_norm(states.float(), states.shape[-1:])
        scores = self.heads[str(layer)](states)
        parts = iter(scores.split([*HEADS.values(), *HEADS.values(), *self.SIZES.values(), 4 * len(FRAME_PERIODS)], dim=-1))
        loss, right = torch.zeros(()), {}
        for which in ("previous", "previous_shape"):
            hits = torch.ones(len(states), dtype=torch.bool)
            for name in HEADS:
                part, target = next(parts), self.labels[name][targets[which]]
                loss = loss + F.cross_entropy(part, target)
                hits &= part.argmax(-1) == target
            right[which] = hits.float().mean().item()
        for name in self.SIZES:
            part = next(parts)
            if layer == STATE_LAYERS[-1]:  # counting takes a layer of its own
                loss = loss + 2 * F.cross_entropy(part, targets[name])
            right[name] = (part.argmax(-1) == targets[name]).float().mean().item()
        wanted = torch.cat([on_circles(targets["frame"], FRAME_PERIODS), on_circles(targets["first_frame"], FRAME_PERIODS)], dim=-1)
        error = F.mse_loss(next(parts), wanted)
        right["frame"] = 1 - error.item()
        # Seconds are a product; as logarithms of frame and interval they are a sum of angles.
        log_error = F.mse_loss(self.log_frame[str(layer)](states), on_circles((targets["frame"] + 0.5).log10(), DECADE_PERIODS))
        right["log-frame"] = 1 - log_error.item()
        return loss + 3 * error + 10 * log_error, right

    def refined_loss(self, states: Tensor, targets: dict[str, Tensor]) -> tuple[Tensor, dict[str, float]]:
        """states [visual slots, hidden]"""
        names = ("ordinal", "same_shape")
        scores = self.refined(F.rms_norm(states.float(), states.shape[-1:])).split([self.SIZES[name] for name in names], dim=-1)
        loss = sum(F.cross_entropy(part, targets[name]) for part, name in zip(scores, names))
        return loss, {name: (part.argmax(-1) == targets[name]).float().mean().item() for part, name in zip(scores, names)}

    def time_losses(self, trace: Trace, batch: Batch, times: Times) -> dict[str, Tensor]:
        """Errors of the interval at the end of the prefix, and of frame and seconds where an answer's first digit comes next."""
        last = trace.prefix_states[INTERVAL_LAYER][torch.arange(len(batch.prefix_length)), batch.prefix_length - 1]
        found = {"interval": (self.interval, last, on_circles(times.interval_s.log10(), DECADE_PERIODS))}
        if len(times.rows):
            wanted = {
                "told_log_frame": (self.told_log_frame, FRAME_LAYER, on_circles((times.frames + 0.5).log10(), DECADE_PERIODS)),
                "told_frame": (self.told_frame, FRAME_LAYER, on_circles(times.frames, FRAME_PERIODS)),
                "seconds": (self.seconds, SECONDS_LAYER, on_circles((times.seconds + 0.3).log10(), DECADE_PERIODS)),
            }
            for name, (head, layer, target) in wanted.items():
                states = torch.stack([trace.row_states[layer][g][v, r, p] for g, v, r, p in times.rows.tolist()])
                found[name] = (head, states, target)
        return {name: F.mse_loss(head(F.rms_norm(s.float(), s.shape[-1:])), target) for name, (head, s, target) in found.items()}


@dataclass
class Result:
    loss: Tensor
    right: list[Tensor]  # per row group bool [B, count, turns]: every answer token is the most likely one
    details: dict[str, float]


def losses(model: DemoModel, helpers: Helpers, batch: Batch, targets: Targets, dtype: torch.dtype, help_weight: float) -> Result:
    trace = Trace()
    hidden = model(batch, dtype, trace, WATCHED, rounded=True)
    details: dict[str, float] = {}
    picked = torch.cat([h[label != IGNORED] for h, label in zip(hidden, targets.labels)])
    wanted = torch.cat([label[label != IGNORED] for label in targets.labels])
    logits = model.language_model.logits(picked)
    weights = torch.cat([weight[label != IGNORED] for weight, label in zip(targets.weights, targets.labels)])
    answer_loss = (F.cross_entropy(logits, wanted, reduction="none") * weights).sum() / weights.sum()
    total = answer_loss
    details["answer"] = answer_loss.item()

    hits = logits.argmax(-1) == wanted
    right, at = [], 0
    for label, turn in zip(targets.labels, targets.turns):
        asked = label != IGNORED
        wrong = torch.zeros(label.shape)
        wrong[asked] = (~hits[at : at + int(asked.sum())]).float()
        at += int(asked.sum())
        right.append(torch.zeros(*label.shape[:2], int(turn.max()) + 1).scatter_add(2, turn, wrong) == 0)

    if help_weight > 0:
        if targets.slots:
            for layer in STATE_LAYERS:
                states = trace.prefix_states[layer][batch.visual_slots]
                loss, accuracy = helpers.slot_loss(layer, states, targets.slots)
                total = total + help_weight * 0.15 * loss
                details |= {f"{k}{layer}": v for k, v in accuracy.items()}
            loss, accuracy = helpers.refined_loss(trace.prefix_states[REFINED_LAYER][batch.visual_slots], targets.slots)
            total = total + help_weight * 0.3 * loss
            details |= {f"{k}{REFINED_LAYER}": v for k, v in accuracy.items()}
            for layer, head, name in NEIGHBOUR_LOOKS:
                wanted_slots = targets.looks[name]
                has_some = wanted_slots.any(-1)
                seen = (trace.prefix_attention[layer][:, head].float() * wanted_slots[:, :, None]).sum(-1)[has_some]
                total = total + help_weight * 0.1 * -(seen + 1e-3).log().mean()
                details[f"{name}-look{layer}"] = seen.mean().item()
            offs: dict[str, list[Tensor]] = {}
            for layer, head, name, counters in COUNTING_LOOKS:
                look, frame = targets.looks[name].float(), targets.frame
                stretches = []
                for weight, first, end in counters:
                    counted = look * ((frame >= first) & (frame < (end or frame.shape[1])))[:, None, :]
                    counted[:, :, 0] = weight * look[:, :, 0]
                    stretches.append(counted)
                counted = torch.stack(stretches, dim=2)
                even = counted / counted.sum(-1, keepdim=True).clamp_min(1)
                seen = trace.prefix_attention[layer][:, head].float().clamp_min(1e-6)
                apart = (even * (even.clamp_min(1e-6) / seen).log()).sum(-1)[batch.visual_slots].mean()
                total = total + help_weight * apart
                details[f"{name}-apart{layer}"] = apart.item()
                if name != "frames":
                    # A share that is right to a few per cent is a count that is wrong by one: (weight + count) * log(ratio of the shares)
                    # is, to first order, by how much the count is off.
                    every = counted.sum(-1)
                    off = every * (even[:, :, :, 0].clamp_min(1e-6).log() - seen[:, :, :, 0].log()) * (every > 0)
                    offs.setdefault(name, []).append(off)
                    begun = torch.stack([look[:, :, 0] * (each[:, :, 1:].sum(-1) > 0) for each in stretches], dim=2) > 0
                    total = total + help_weight * 0.5 * huber(off[begun])
            whole = torch.cat(offs["ordinal"], dim=2).sum(2)[batch.visual_slots]  # of the running number, over all stretches
            total = total + help_weight * huber(whole)
            details |= {"ordinal-off": whole.abs().mean().item(), "same_shape-off": offs["same_shape"][0].abs().mean().item()}
            if len(digits := targets.times.rows):
                layer, head = TIME_LOOK
                seen = torch.stack([trace.attention[layer][g][v, head, r, p, :, batch.prefix_length[v] - 1] for g, v, r, p in digits.tolist()])
                total = total + help_weight * 0.1 * -(seen.float() + 1e-3).log().mean()
                details["time-look"] = seen.float().mean().item()
            for name, error in helpers.time_losses(trace, batch, targets.times).items():
                total = total + 4 * help_weight * error
                details[name] = 1 - error.item()
        told_weights = torch.cat([weight[tuple(where.T)] for weight, (where, _) in zip(targets.weights, targets.told_by)])
        for layer in LOOKING_LAYERS:
            seen = torch.cat(
                [
                    (look[where[:, 0], 0, where[:, 1], where[:, 2]].float() * slots[:, None]).sum(-1)
                    for look, (where, slots) in zip(trace.attention[layer], targets.told_by)
                ]
            )
            if len(seen):
                total = total + help_weight * 0.15 * -((seen + 1e-3).log().mean(-1) * told_weights).sum() / told_weights.sum()
            details[f"look{layer}"] = seen.mean().item()
        items = torch.cat([item[item != IGNORED] for item in targets.item])
        if len(items) and targets.slots:
            states = torch.cat([s[item != IGNORED] for s, item in zip(trace.row_states[ITEM_LAYER], targets.item)])
            scores = helpers.item(F.rms_norm(states.float(), states.shape[-1:]))
            total = total + help_weight * 0.1 * F.cross_entropy(scores, items)
            details["item"] = (scores.argmax(-1) == items).float().mean().item()
    return Result(total, right, details)


def tally(result: Result, targets: Targets) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for right, kinds in zip(result.right, targets.kinds):
        for v, video in enumerate(kinds):
            for r, turns in enumerate(video):
                for turn, kind in enumerate(turns):
                    found.setdefault("follow-up" if turn else kind, []).append(bool(right[v, r, turn]))
    return found


@torch.no_grad()
def evaluate(model: DemoModel, helpers: Helpers, composer: Composer, frames: int, tokens: int, videos: int, phrasings: dict, image: bool = False) -> dict[str, float]:
    """Teacher-forced exact match per kind on fresh sequences."""
    rng = np.random.default_rng(7)
    kinds = questions.IMAGE_KINDS if image else SHORT_KINDS
    found: dict[str, list[bool]] = {}
    for _ in range(videos // 4):
        mix = Mix(4, 0, frames, tokens, image, False, phrasings, tuple(k for k in kinds if k in SHORT_KINDS))
        batch, targets = composer.compose(rng, mix)
        for kind, hits in tally(losses(model, helpers, batch, targets, torch.float32, 0.0), targets).items():
            found.setdefault(kind, []).extend(hits)
    return {kind: float(np.mean(hits)) for kind, hits in found.items()}


def table(scores: dict[str, float]) -> str:
    return f"mean {np.mean(list(scores.values())):.3f} | " + " ".join(f"{kind} {score:.2f}" for kind, score in scores.items())


class Competence:
    """Running teacher-forced accuracy of every kind at the present number of frames; decides when frames grow."""

    KINDS = (*questions.KINDS, "follow-up", "other")

    def __init__(self) -> None:
        self.scores = dict.fromkeys(self.KINDS, 0.0)

    def count(self, result: Result, targets: Targets) -> Tensor:
        """float32 [2, kinds]: right answers and questions, to be summed over the workers."""
        found = tally(result, targets)
        return torch.tensor([[float(sum(found.get(kind, []))) for kind in self.KINDS], [float(len(found.get(kind, []))) for kind in self.KINDS]])

    def update(self, counted: Tensor) -> None:
        for kind, right, asked in zip(self.KINDS, *counted.tolist()):
            if asked:
                self.scores[kind] += 0.03 * (right / asked - self.scores[kind])

    def suffices(self) -> bool:
        judged = [score for kind, score in self.scores.items() if kind not in ("other", "follow-up", "when")]
        return float(np.mean(judged)) > 0.65

    def forget(self) -> None:
        self.scores = {kind: score * 0.6 for kind, score in self.scores.items()}


class Team:
    """What the workers share: parameters live in shared memory, gradients meet there, each worker updates its own share."""

    def __init__(self, everything: nn.Module, workers: int) -> None:
        everything.share_memory()
        size = sum(parameter.numel() for parameter in everything.parameters())
        self.workers = workers
        self.barrier = multiprocessing.get_context("spawn").Barrier(workers)
        self.gradients = torch.zeros(workers, size).share_memory_()
        self.counts = torch.zeros(workers, 2, len(Competence.KINDS)).share_memory_()
        self.spent = torch.zeros(1, dtype=torch.float64).share_memory_()


class Member:
    """One worker's view of the team."""

    def __init__(self, team: Team, rank: int, everything: nn.Module, peak: float) -> None:
        self.team, self.rank, self.parameters = team, rank, list(everything.parameters())
        by_cost = sorted(everything.named_parameters(), key=lambda item: -item[1].numel())
        mine = dict(by_cost[rank :: team.workers])
        self.mine = {id(parameter) for parameter in mine.values()}
        self.optimizers = optimizers(mine, peak)

    def update(self, counted: Tensor, rate: float) -> Tensor:
        """Averages the gradients, steps this worker's share of the parameters; returns the counts of all workers."""
        team, at = self.team, 0
        own = team.gradients[self.rank]
        team.counts[self.rank] = counted
        for parameter in self.parameters:
            if parameter.grad is None:
                own[at : at + parameter.numel()] = 0
            else:
                own[at : at + parameter.numel()] = parameter.grad.flatten()
            at += parameter.numel()
        team.barrier.wait()
        at = 0
        for parameter in self.parameters:
            if id(parameter) in self.mine:
                parameter.grad = team.gradients[:, at : at + parameter.numel()].mean(0).view_as(parameter)
            at += parameter.numel()
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
        for parameter in self.parameters:
            parameter.grad = None
        total = team.counts.sum(0)
        team.barrier.wait()
        return total


def report(model: DemoModel, helpers: Helpers, composer: Composer, longest: int) -> None:
    for frames, tokens in ((16, 9), (64, 1), (64, 9), (128, 2), (256, 1), (512, 1)):
        if frames <= longest:
            scores = evaluate(model, helpers, composer, frames, tokens, 16, questions.PHRASINGS)
            print(f"  == {frames} frames x {tokens}: {table(scores)}", flush=True)
    print(f"  == images: {table(evaluate(model, helpers, composer, 1, 9, 16, questions.PHRASINGS, image=True))}", flush=True)


def modules(out: Path) -> tuple[text.Vocabulary, nn.ModuleDict]:
    vocabulary = text.Vocabulary(Tokenizer.from_file(str(out / "tokenizer.json")))
    config = DecoderConfig(vocabulary=vocabulary.tokenizer.get_vocab_size())
    torch.manual_seed(0)
    return vocabulary, nn.ModuleDict({"model": DemoModel(TowerConfig(), config), "helpers": Helpers(config.hidden_size)})


def work(rank: int, options: argparse.Namespace, everything: nn.ModuleDict, team: Team) -> None:
    keep_freed_memory()
    torch.set_num_threads(1)
    model, helpers = everything["model"], everything["helpers"]
    vocabulary, spare = modules(options.out)
    average = {name: value.clone() for name, value in model.state_dict().items()}
    composer = Composer(Bank.load(options.out / "bank.pt"), vocabulary, TowerConfig())
    member, competence = Member(team, rank, everything, options.peak), Competence()
    step, level = 0, 0
    latest = options.out / "train.pt"
    if latest.exists():
        stored = torch.load(latest, weights_only=False)
        step, level = stored["step"], stored["level"]
        average = {name: value.float() for name, value in stored["average"].items()}
        competence.scores |= stored["competence"]
    level = max(level, options.level)

    def save() -> None:
        stored = {
            "modules": everything.state_dict(), "average": average, "step": step, "level": level,
            "spent": float(team.spent), "competence": competence.scores,
        }  # fmt: skip
        torch.save(stored, latest.with_suffix(".new"))
        latest.with_suffix(".new").replace(latest)

    shared_rng, own_rng, begun_at = np.random.default_rng(step), np.random.default_rng((step, rank)), step
    last_report = last_save = last_log = time.monotonic()
    while (remaining := 60 * options.minutes - float(team.spent)) > 0:
        began = time.process_time()  # what others on the machine take is not counted
        dice = shared_rng.random()
        image, text_only = dice < 0.06, dice > 0.975
        # Where frames grow no more, all numbers have to be practised: 64 lost six points in a hundred while half the steps were the longest.
        if level + 1 == len(LEVELS):
            chosen = int(shared_rng.choice(PRACTISED[int(shared_rng.integers(len(PRACTISED)))]))
        else:
            lowest = 0 if shared_rng.random() < 0.4 else level // 2
            chosen = level if shared_rng.random() < 0.5 else int(shared_rng.integers(lowest, level + 1))
        top, frames = chosen == level, LEVELS[chosen]
        affordable = [tokens for tokens in TOKENS_PER_FRAME if frames * tokens <= LONGEST_PREFIX]
        per_frame = min(int(shared_rng.choice(TOKENS_PER_FRAME, p=options.token_shares)), affordable[-1])
        videos = max(1, min(options.videos, LONGEST_PREFIX // (frames * per_frame)))
        rows = min(2 * options.short_rows, options.short_rows * options.videos // videos)
        long_rows = 1 if image or text_only else min(3, options.videos // videos)
        mix = Mix(videos, rows, frames, per_frame, image, text_only, questions.PHRASINGS, long_rows=long_rows)
        batch, targets = composer.compose(own_rng, mix)
        result = losses(model, helpers, batch, targets, torch.float32, options.help_weight)
        result.loss.backward()
        rate = options.peak * min(1.0, (step - begun_at + 1) / 40) * min(1.0, remaining / (60 * options.final_minutes))
        counted = member.update(competence.count(result, targets), rate)
        step += 1

        if top and not (image or text_only):
            competence.update(counted)
            composer.kind_weights = {kind: 0.3 + 1.5 * (1 - competence.scores[kind]) for kind in SHORT_KINDS}
            if competence.suffices() and level + 1 < len(LEVELS):
                level += 1
                competence.forget()
        if rank == 0:
            keep = min(0.99, step / (step + 20))
            with torch.no_grad():
                for name, value in model.state_dict().items():
                    average[name].lerp_(value, 1 - keep)
            if step % 20 == 0:
                took, last_log = (time.monotonic() - last_log) / 20, time.monotonic()
                print(f"step {step} {float(team.spent) / 60:.1f}m {took:.2f}s/step frames {LEVELS[level]} loss {result.loss.item():.3f} {table(competence.scores)}", flush=True)
                print("    " + " ".join(f"{k} {v:.2f}" for k, v in result.details.items()), flush=True)
            if time.monotonic() - last_save > 60 * options.save_minutes:
                save()
                last_save = time.monotonic()
            if time.monotonic() - last_report > 60 * options.report_minutes:
                spare["model"].load_state_dict(average)
                report(spare["model"], spare["helpers"], composer, 2 * LEVELS[level])
                last_report = time.monotonic()
            team.spent += time.process_time() - began
        team.barrier.wait()
    if rank == 0:
        save()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    parser.add_argument("--minutes", type=float, default=180.0, help="of a core, all runs together")
    parser.add_argument("--final-minutes", type=float, default=20.0, help="the time at the end in which the rate falls to zero")
    parser.add_argument("--save-minutes", type=float, default=3.0)
    parser.add_argument("--report-minutes", type=float, default=10.0)
    parser.add_argument("--peak", type=float, default=2e-3)
    parser.add_argument("--videos", type=int, default=5, help="a step and worker")
    parser.add_argument("--short-rows", type=int, default=10, help="question rows a video, beside one long one")
    parser.add_argument("--token-shares", type=float, nargs=4, default=[0.6, 0.3, 0.08, 0.02], help="of videos with 1, 2, 4, 9 tokens a frame")
    parser.add_argument("--help-weight", type=float, default=1.0, help="of the auxiliary losses")
    parser.add_argument("--level", type=int, default=0, help="least index of the frame levels to go on with")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    options = parser.parse_args()
    _, everything = modules(options.out)
    latest = options.out / "train.pt"
    spent = 0.0
    if latest.exists():
        stored = torch.load(latest, weights_only=False)
        everything.load_state_dict(stored["modules"], strict=False)  # a help may be newer than the state
        spent = stored["spent"]
    team = Team(everything, options.workers)
    team.spent += spent
    multiprocessing.spawn(work, (options, everything, team), nprocs=options.workers)


if __name__ == "__main__":
    main()
