"""Composes training batches: random timelines over a bank of tower outputs, with questions and auxiliary targets.

A video's pooled tokens are nearly redundant, so most videos carry only one to four of a frame's nine tokens, at their
original positions. Token 0 of every frame is always there; that keeps "how many scenes so far" well defined.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

import questions
import text
import world
from model import Batch, Rows, TowerConfig, pool_index
from questions import Facts, Qa

SHORT_KINDS = tuple(kind for kind in questions.KINDS if kind not in questions.LONG_KINDS)
IGNORED = -100
FACT_WEIGHT, NUMBER_WEIGHT, NAMED_WEIGHT = 3.0, 8.0, 0.6  # tokens that carry a short answer, a description's number, a listed thing
LONGEST_SHORT_ANSWER = 44  # characters; the few longer ones would only widen every row
SCENES_FOR = 64  # frames that most longer videos' scenes are long enough for


@dataclass(frozen=True)
class Bank:
    """Tower outputs of many frames of every thing."""

    features: Tensor  # bfloat16 [n, tokens, hidden]
    frames_of_thing: list[np.ndarray]

    @staticmethod
    def load(path: str, skip: int = 0) -> Bank:
        stored = torch.load(path, mmap=True)
        things = stored["things"].numpy()
        frames = [np.flatnonzero(things == thing) for thing in range(world.THINGS)]
        return Bank(stored["features"], [found[found >= skip] for found in frames])


@dataclass(frozen=True)
class Mix:
    """What a batch is made of."""

    videos: int
    short_rows: int
    frames: int
    tokens_per_frame: int
    image: bool = False
    text_only: bool = False
    phrasings: dict[str, tuple[str, ...]] = None
    kinds: tuple[str, ...] | None = None  # one row per kind in this order, instead of a random choice
    long_rows: int = 1  # lists and descriptions a video


@dataclass
class Times:
    """Truths on the way to an answer in seconds."""

    interval_s: Tensor  # float32 [B]; it is known at the last token of the prefix
    rows: Tensor  # int64 [n, 4]: row group, video, row, position that predicts a digit
    frames: Tensor  # int64 [n]: the frame that the answer is about
    seconds: Tensor  # float32 [n]


@dataclass
class Targets:
    """What the losses need beside the batch itself."""

    labels: list[Tensor]  # per row group int64 [B, count, length]: the next token where it belongs to an answer
    kinds: list[list[list[tuple[str, ...]]]]  # per row group [B][count], of every turn
    turns: list[Tensor]  # per row group int64 [B, count, length]: the turn that a label belongs to
    weights: list[Tensor]  # per row group float32 [B, count, length]: of every answer token's loss
    told_by: list[tuple[Tensor, Tensor]]  # per row group: int64 [n, 3] (video, row, position), bool [n, P] slots that tell the token
    item: list[Tensor]  # per row group int64 [B, count, length]: ordinal of the thing being named, IGNORED elsewhere
    slots: dict[str, Tensor]  # auxiliary targets of the visual slots, one row per visual slot of the batch
    times: Times
    looks: dict[str, Tensor]  # where a visual slot should find its neighbours, and evenly what it should count: bool [B, P, P]
    frame: Tensor  # int64 [B, P]: of visual slots, negative elsewhere


def _frame_targets(facts: Facts, scene_of_frame: np.ndarray) -> dict[str, np.ndarray]:
    """Auxiliary truths of every scene, spread over the frames."""
    things = facts.timeline.things
    scenes = len(things)
    previous = np.full(scenes, world.EMPTY)
    previous_shape = np.full(scenes, world.EMPTY)
    previous_scene = np.full(scenes, -2)
    previous_shape_scene = np.full(scenes, -2)
    ordinal = np.zeros(scenes, dtype=np.int64)
    same_shape = np.zeros(scenes, dtype=np.int64)
    counts = dict.fromkeys(world.SHAPES, 0)
    shown, shape, shown_at, shape_at, number = world.EMPTY, world.EMPTY, -2, -2, 0
    for scene, thing in enumerate(things):
        previous[scene], previous_shape[scene] = shown, shape
        previous_scene[scene], previous_shape_scene[scene] = shown_at, shape_at
        if thing != world.EMPTY:
            shown, shown_at = thing, scene
            number += 1
        if world.is_shape(thing):
            shape, shape_at = thing, scene
            counts[world.shape_of(thing)] += 1
            same_shape[scene] = min(counts[world.shape_of(thing)], 10)
        ordinal[scene] = number
    first = np.searchsorted(scene_of_frame, np.arange(scenes))
    starts = np.zeros(len(scene_of_frame), dtype=np.int64)
    starts[first[first < len(starts)]] = 1
    return {
        "previous": previous[scene_of_frame],
        "previous_shape": previous_shape[scene_of_frame],
        "ordinal": ordinal[scene_of_frame],
        "same_shape": same_shape[scene_of_frame],
        "starts": starts,
        "thing": np.asarray(things)[scene_of_frame],
        "frame": np.arange(len(scene_of_frame)),
        "first_frame": first[scene_of_frame],
        "previous_scene": previous_scene[scene_of_frame],
        "previous_shape_scene": previous_shape_scene[scene_of_frame],
    }


class Composer:
    def __init__(self, bank: Bank, vocabulary: text.Vocabulary, tower: TowerConfig) -> None:
        self.bank, self.vocabulary, self.tower = bank, vocabulary, tower
        self.pool = pool_index(tower).numpy()
        self.opening = vocabulary.ids(text.PROMPT_OPENING)
        self.newline = vocabulary.ids("\n")
        self.answer_opening = vocabulary.ids(text.ANSWER_OPENING)
        self.turn_opening = vocabulary.ids(text.TURN_OPENING)
        self.turn_end = vocabulary.ids(text.TURN_END)
        self.kind_weights = dict.fromkeys(SHORT_KINDS, 1.0)

    def _row(self, turns: list[Qa]) -> tuple[list[int], list[int], list[int], list[tuple[int, int, float, tuple[int, ...], float | None]]]:
        """Token ids, labels, turns, and (position, item, weight, scenes, seconds if asked for) of the predictions that scenes tell."""
        ids: list[int] = []
        labels: list[int] = []
        turn_of: list[int] = []
        told: list[tuple[int, int, float, tuple[int, ...], float | None]] = []
        for index, qa in enumerate(turns):
            given = (self.turn_opening if index else []) + self.vocabulary.ids(qa.question) + self.answer_opening
            labels += [IGNORED] * (len(given) - 1)
            ids += given
            item = 0
            for place, piece in enumerate(qa.pieces):
                part = self.vocabulary.ids(piece.text)
                item += piece.text == ","
                scenes = piece.scenes
                if piece.text == ",":
                    scenes = qa.pieces[place + 1].scenes  # a comma is right where a next thing is found
                if scenes:
                    long = qa.kind in questions.LONG_KINDS
                    weight = FACT_WEIGHT if not long else NUMBER_WEIGHT if qa.kind == "describe" and place < 3 else NAMED_WEIGHT
                    seconds = float(piece.text) if qa.kind == "when" else None
                    told += [(len(labels) + k, item if long else IGNORED, weight, scenes, seconds) for k in range(len(part))]
                labels += part
                ids += part
            labels += self.turn_end + [IGNORED] * (len(self.turn_end) - 1)
            ids += self.turn_end
            labels += [IGNORED] * (len(ids) - len(labels))
            turn_of += [index] * (len(ids) - len(turn_of))
        return ids, labels, turn_of, told

    def _conversation(self, facts: Facts, duration: float, rng: np.random.Generator, mix: Mix) -> list[Qa]:
        """Two to ten questions, each asked after the questions and answers before it."""
        makers = [self._long if rng.random() < 0.1 else self._short for _ in range(int(rng.integers(2, 11)))]
        return [make(facts, duration, rng, mix) for make in makers]

    def _long(self, facts: Facts, duration: float, rng: np.random.Generator, mix: Mix) -> Qa:
        kind = "describe" if mix.image or rng.random() < 0.54 else "list"
        return questions.ask(kind, facts, duration, rng, mix.phrasings, mix.image)

    def _short(self, facts: Facts, duration: float, rng: np.random.Generator, mix: Mix) -> Qa:
        if mix.text_only and rng.random() < 0.7:
            return questions.out_of_world(rng)
        kinds = [k for k in SHORT_KINDS if not mix.image or k in questions.IMAGE_KINDS]
        weights = np.array([self.kind_weights[kind] for kind in kinds])
        while True:
            kind = kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]
            qa = questions.ask(kind, facts, duration, rng, mix.phrasings, mix.image)
            if qa is not None and mix.text_only:
                return questions.without_media(qa)
            if qa is not None and len(qa.answer) <= LONGEST_SHORT_ANSWER:
                return qa

    def _image_prefix(self, thing: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
        """Base and one anyres tile: bank frame and tower token of every slot (-1: newline)."""
        grid = self.tower.grid
        frames = rng.choice(self.bank.frames_of_thing[thing], 2)
        columns = np.arange(grid)
        rows = int(rng.choice([grid, 4, 4]))  # square, or 4:3 and 16:9 without the padding
        cut = (grid - rows) // 2
        tile = np.full((rows, grid + 1), -1)
        tile[:, :grid] = (np.arange(cut, cut + rows) * grid)[:, None] + columns
        tokens = np.concatenate([np.arange(grid * grid), tile.ravel()])
        return np.where(np.arange(len(tokens)) < grid * grid, frames[0], frames[1]), tokens, len(tokens)

    def compose(self, rng: np.random.Generator, mix: Mix) -> tuple[Batch, Targets]:
        prefixes, all_slots, groups, slot_targets, intervals, first_frames = [], [], [[], []], [], [], []
        conversations = rng.random() < 0.3  # all videos' at once: their rows are about equally long
        for _ in range(mix.videos):
            scenes_for = SCENES_FOR if mix.frames > SCENES_FOR and rng.random() < 0.7 else mix.frames
            duration = float(np.exp(rng.uniform(np.log(max(2.0, 0.16 * scenes_for)), np.log(7200))))
            if mix.text_only:
                facts = Facts(world.random_timeline(rng, 8))
                bank_frame = token = scene = position = np.zeros(0, dtype=np.int64)
                length, tail, targets = 0, self.newline, None
            elif mix.image:
                timeline = world.random_timeline(rng, 2, 1)
                thing = world.EMPTY if rng.random() < 0.05 else timeline.things[0]
                if rng.random() < 0.3:
                    thing = world.SHAPE_THINGS + int(rng.integers(len(world.LETTERS)))
                facts = Facts(world.Timeline((thing,), (1.0,), 1))
                bank_frame, token, length = self._image_prefix(thing, rng)
                scene = np.zeros(length, dtype=np.int64)
                position = np.arange(length)
                tail, targets = self.newline, None
            else:
                timeline = world.random_timeline(rng, scenes_for).at(mix.frames)
                facts = Facts(timeline)
                scene_of_frame = timeline.scene_of_frames()
                bank_of_frame = np.array([rng.choice(self.bank.frames_of_thing[timeline.things[s]]) for s in scene_of_frame])
                pooled = self.tower.pooled_tokens
                order = rng.random((mix.frames, pooled))
                order[:, 0] = -1
                chosen = np.sort(np.argsort(order, axis=1)[:, : mix.tokens_per_frame], axis=1)
                frame = np.repeat(np.arange(mix.frames), mix.tokens_per_frame)
                scene = np.append(scene_of_frame[frame], -1)
                position = np.append(frame * pooled + chosen.ravel(), mix.frames * pooled)
                bank_frame, token = np.append(bank_of_frame[frame], 0), np.append(chosen.ravel(), -1)
                length = int(position[-1]) + 1
                line = questions.time_line(duration, mix.frames)
                tail = self.vocabulary.ids("\n") + self.vocabulary.tokenizer.encode(line + "\n", add_special_tokens=False).ids
                targets = {k: v[frame] for k, v in _frame_targets(facts, scene_of_frame).items()}
            start = len(self.opening)
            prefixes.append((tail, position + start, start + length))
            all_slots.append((bank_frame, token, scene))
            intervals.append(duration / mix.frames)
            first_frames.append(None if targets is None else np.searchsorted(scene_of_frame, np.arange(len(timeline.things))))
            if targets is not None:
                slot_targets.append(targets)

            short: list[list[Qa]]
            if mix.kinds is not None:
                asked = [questions.ask(kind, facts, duration, rng, mix.phrasings, mix.image) for kind in mix.kinds]
                short = [[qa or self._short(facts, duration, rng, mix)] for qa in asked]
                long = [[q] for kind in questions.LONG_KINDS[mix.image :] if (q := questions.ask(kind, facts, duration, rng, mix.phrasings, mix.image))]
            else:
                short = [[self._short(facts, duration, rng, mix)] for _ in range(mix.short_rows)]
                dice = rng.random()
                if dice < 0.04 or mix.text_only:
                    long = [[questions.out_of_world(rng)]]
                else:
                    long = [[self._long(facts, duration, rng, mix)] for _ in range(mix.long_rows - conversations)]
                    if conversations:
                        long.append(self._conversation(facts, duration, rng, mix))
            groups[0].append(short)
            groups[1].append(long)
        return self._assemble(mix, prefixes, all_slots, groups, slot_targets, intervals, first_frames)

    def _assemble(
        self, mix: Mix, prefixes: list, all_slots: list, groups: list, slot_targets: list, intervals: list, first_frames: list
    ) -> tuple[Batch, Targets]:
        """Pads everything to common shapes and finds the slots that every target needs."""
        videos, start = len(prefixes), len(self.opening)
        lengths = [start + len(position) + len(tail) for tail, position, _ in prefixes]
        width = max(lengths)
        ids = np.zeros((videos, width), dtype=np.int64)
        positions = np.zeros((videos, width), dtype=np.int64)
        visual, newline = np.zeros((videos, width), dtype=bool), np.zeros((videos, width), dtype=bool)
        scenes = np.full((videos, width), -1)
        gathered_frame, gathered_token = [], []
        for v, ((tail, position, end), (bank_frame, token, scene)) in enumerate(zip(prefixes, all_slots)):
            middle = slice(start, start + len(position))
            ids[v, :start], positions[v, :start] = self.opening, np.arange(start)
            positions[v, middle] = position
            visual[v, middle], newline[v, middle], scenes[v, middle] = token >= 0, token < 0, np.where(token >= 0, scene, -1)
            ids[v, middle.stop : lengths[v]] = tail
            positions[v, middle.stop : lengths[v]] = end + np.arange(len(tail))
            gathered_frame.append(bank_frame[token >= 0])
            gathered_token.append(token[token >= 0])
        frame, token = np.concatenate(gathered_frame), np.concatenate(gathered_token)
        behind = np.repeat(token[:, None], 4, 1) if mix.image else self.pool[token]
        features = self.bank.features[torch.from_numpy(frame)[:, None], torch.from_numpy(behind)]

        rows, labels, weights, kinds, turn_numbers, told_by, items, times = [], [], [], [], [], [], [], []
        for group in groups:
            made = [[self._row(turns) for turns in video] for video in group]
            count, length = max(map(len, made)), max((len(row[0]) for video in made for row in video), default=0)
            if count == 0:
                continue
            row_ids = np.zeros((videos, count, length), dtype=np.int64)
            row_labels = np.full((videos, count, length), IGNORED)
            row_weights = np.ones((videos, count, length), dtype=np.float32)
            row_items = np.full((videos, count, length), IGNORED)
            row_turns = np.zeros((videos, count, length), dtype=np.int64)
            where, slots = [], []
            for v, video in enumerate(made):
                frame_of_slot = (positions[v] - start) // self.tower.pooled_tokens
                for r, (tokens, label, turn_of, told) in enumerate(video):
                    row_ids[v, r, : len(tokens)], row_labels[v, r, : len(tokens)], row_turns[v, r, : len(tokens)] = tokens, label, turn_of
                    for place, item, weight, told_scenes, seconds in told:
                        where.append((v, r, place))
                        telling = np.isin(scenes[v], told_scenes) if len(told_scenes) > 1 else scenes[v] == told_scenes[0]
                        if seconds is not None:
                            first_frame = int(first_frames[v][told_scenes[0]])
                            telling &= frame_of_slot == first_frame
                            times.append((len(rows), v, r, place, first_frame, seconds))
                        slots.append(telling)
                        row_items[v, r, place], row_weights[v, r, place] = item, weight
            ends = np.array([end + len(tail) for tail, _, end in prefixes])
            row_positions = ends[:, None, None] + np.broadcast_to(np.arange(length), (videos, count, length))
            rows.append(Rows(torch.from_numpy(row_ids), torch.from_numpy(row_positions)))
            labels.append(torch.from_numpy(row_labels))
            weights.append(torch.from_numpy(row_weights))
            items.append(torch.from_numpy(row_items))
            kinds.append([[tuple(turn.kind for turn in turns) for turns in video] for video in group])
            turn_numbers.append(torch.from_numpy(row_turns))
            told_by.append((torch.tensor(where, dtype=torch.int64).view(-1, 3), torch.from_numpy(np.array(slots, dtype=bool).reshape(-1, width))))
        batch = Batch(
            torch.from_numpy(ids), torch.from_numpy(positions), torch.tensor(lengths), torch.from_numpy(visual),
            features, torch.from_numpy(newline), rows,
        )  # fmt: skip
        timed = Times(
            torch.tensor(intervals),
            torch.tensor([t[:4] for t in times], dtype=torch.int64).view(-1, 4),
            torch.tensor([t[4] for t in times], dtype=torch.int64),
            torch.tensor([t[5] for t in times], dtype=torch.float32),
        )
        looks: dict[str, Tensor] = {}
        frame_of, before, shape_before, thing_of = (np.full((videos, width), -9) for _ in range(4))
        if slot_targets:
            opens = np.zeros((videos, width), dtype=bool)  # the first token of the frame with which a thing comes
            for v, targets in enumerate(slot_targets):
                frame_of[v, visual[v]], thing_of[v, visual[v]] = targets["frame"], targets.pop("thing")
                opens[v, visual[v]] = targets["starts"] == 1
                before[v, visual[v]], shape_before[v, visual[v]] = targets.pop("previous_scene"), targets.pop("previous_shape_scene")
            opens &= ((positions - start) % self.tower.pooled_tokens == 0) & (thing_of != world.EMPTY)
            so_far = opens[:, None, :] & (frame_of[:, None, :] <= frame_of[:, :, None])
            shape = np.where((thing_of >= 0) & (thing_of < world.SHAPE_THINGS), thing_of % len(world.SHAPES), -1)
            alike = so_far & (shape[:, None, :] == shape[:, :, None]) & (shape[:, :, None] >= 0)
            so_far, alike = so_far & visual[:, :, None], alike & visual[:, :, None]
            heads_frame = visual & ((positions - start) % self.tower.pooled_tokens == 0)
            frames = heads_frame[:, None, :] & (frame_of[:, None, :] <= frame_of[:, :, None]) & visual[:, :, None]
            so_far[:, :, 0] |= visual  # the first token of all is counted along: its share tells the number
            frames[:, :, 0] |= visual
            alike[:, :, 0] |= shape >= 0
            looks = {
                "frames": torch.from_numpy(frames),
                "ordinal": torch.from_numpy(so_far),
                "same_shape": torch.from_numpy(alike),
                "previous_frame": torch.from_numpy(frame_of[:, None, :] == frame_of[:, :, None] - 1),
                "previous": torch.from_numpy(scenes[:, None, :] == before[:, :, None]),
                "previous_shape": torch.from_numpy(scenes[:, None, :] == shape_before[:, :, None]),
            }
        merged = {k: torch.from_numpy(np.concatenate([t[k] for t in slot_targets])) for k in slot_targets[0]} if slot_targets else {}
        return batch, Targets(labels, kinds, turn_numbers, weights, told_by, items, merged, timed, looks, torch.from_numpy(frame_of))
