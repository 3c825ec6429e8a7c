"""The demo model's tokenizer and the exact text around questions and answers."""

import argparse
from pathlib import Path

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import questions
import world

LARGEST_VOCABULARY = 1024
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>", "<video>")
QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}"
    "{{ '<|im_start|>assistant\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for item in message['content'] %}{{ item['text'] }}{% endfor %}{% endif %}"
    "{% else %}"
    "{{ '<|im_start|>' + message['role'] + ' ' }}"
    "{% if message['content'] is string %}{{ '\n' + message['content'] }}"
    "{% else %}"
    "{% for item in message['content'] %}{% if item['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}"
    "{% for item in message['content'] %}{% if item['type'] == 'video' %}{{ '<video>' }}{% endif %}{% endfor %}"
    "{% for item in message['content'] %}{% if item['type'] == 'text' %}{{ '\n' + item['text'] }}{% endif %}{% endfor %}"
    "{% endif %}{% endif %}"
    "{{ '<|im_end|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
PROMPT_OPENING = "<|im_start|>user "
ANSWER_OPENING = "<|im_end|><|im_start|>assistant\n"
TURN_OPENING = "<|im_start|>user \n"
TURN_END = "<|im_end|>"


def _corpus(videos: int) -> list[str]:
    rng = np.random.default_rng(0)
    lines = list(questions.EVERYDAY_TEXT) + [questions.OUT_OF_WORLD_ANSWER] * 100
    lines += [TURN_OPENING.removeprefix("<|im_start|>"), "assistant\n", "system\n", "user "] * 100
    for _ in range(videos):
        frames = int(rng.integers(4, 65))
        facts = questions.Facts(world.random_timeline(rng, frames))
        duration = float(np.exp(rng.uniform(np.log(2), np.log(7200))))
        lines.append(questions.time_line(duration, frames) + "\n")
        for phrasings in (questions.PHRASINGS, questions.UNSEEN_PHRASINGS):
            for kind in questions.KINDS:
                qa = questions.ask(kind, facts, duration, rng, phrasings, image=rng.random() < 0.3)
                if qa is not None:
                    lines += [qa.question, qa.answer[:400]]
    lines += [f" {words}" for words in (*world.COLORS, *world.SHAPES, *map(questions.plural, world.SHAPES))] * 50
    return lines


def build() -> Tokenizer:
    """A byte-level BPE with Qwen2's pre-tokenizer, learnt from the world's own questions and answers."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=LARGEST_VOCABULARY - len(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_corpus(1500), trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS])
    return tokenizer


class Vocabulary:
    """A tokenizer with a memory for the few thousand strings that training repeats."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return known


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tokenizer = build()
    tokenizer.save(str(options.out / "tokenizer.json"))
    print(f"{tokenizer.get_vocab_size()} tokens")


if __name__ == "__main__":
    main()
