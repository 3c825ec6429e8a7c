"""What the real model is asked: questions and threads, strings of every kind, and a running text.

Used by make_real_model_golden.py and measure_real_model.py.
"""
import pathlib
import random

SEED = 20261124
QUESTIONS = [
    "What is the capital of France?", "Who wrote Romeo and Juliet?", "How many days has a week?", "Name three fruits that are red.",
    "What is 12 + 30?", "Explain photosynthesis in two sentences.", "Write a short poem about the sea.", "Translate 'good morning' into Spanish.",
    "What is the boiling point of water at sea level?", "Give me a recipe for pancakes.", "Why is the sky blue?", "List the planets of the solar system.",
    "What does HTTP stand for?", "Write a Python function that returns the sum of a list.", "Who was the first person on the moon?",
    "Summarise the story of Cinderella.", "What is the opposite of 'ancient'?", "How do I tie a tie?", "What should I pack for a week in Norway in winter?",
    "Is a tomato a fruit or a vegetable? Answer in one word, then explain.",
]
# Roles in turn: user, assistant, user ...
THREADS = [
    ["What is the capital of France?", "The capital of France is Paris.", "And of Italy?"],
    ["My name is Mara and I live in Lisbon.", "Nice to meet you, Mara!", "Where do I live?", "You live in Lisbon.", "And what is my name?"],
]
ATOMS = [
    "The quick brown fox jumps over the lazy dog", "I'm sure they've left; it's 12:45, isn't it?", "WE'LL SEE, HE'D SAY", "def main():\n    for i in range(10):\n",
    "\tif (a != b) { return a[i++] / 2.5e-3; }", "https://example.org/path?x=1&y=2#z", "Où est passé l'élève ? Ça coûte 3,50 €.", "größer als üblich",
    "Привет, как дела?", "这个视频里有什么？", "日本語のテキスト、カタカナ", "한국어 문장입니다", "مرحبا ١٢٣", "नमस्ते दुनिया", "สวัสดี", "😀", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪",
    "e\u0301", "\u00a0", "\u200b", "\u3000", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", " \n ", "1234567890", "3.14159", "½", "Ⅷ", "٣", "²", "7", " 42", "...",
    "?!", "--", "==", "<", "|>", "\x00", "\x7f", "\ufeff", "\U0001d400", "a", "B", " the", "'s", "'S", "_", "snake_case", "CamelCase", "<|im_end|>",
    "<|endoftext|>", "<|im_start|>system\n",
]


def strings(count):
    generator = random.Random(SEED)
    out = ["", *ATOMS, *QUESTIONS, "x" * 200, " " * 150, "ab" * 90, "中" * 80]
    while len(out) < count:
        out.append("".join(generator.choice(ATOMS) for _ in range(generator.randint(2, 9))))
    return out


def messages(thread):
    return [{"role": "user" if i % 2 == 0 else "assistant", "content": text} for i, text in enumerate(thread)]


def running_text(path, words):
    """Words of a file, one space between them."""
    found = pathlib.Path(path).read_text(encoding="utf-8").split()
    assert len(found) >= words, f"{path} has {len(found)} words only"
    return " ".join(found[:words])
