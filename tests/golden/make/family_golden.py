"""What the golden scripts of the model families have in common: pictures, bytes, random weights, greedy answers, conversations of two turns,
golden folders, and what winnow-cli exports of a question.

families/<family>.json has what make_<family>_golden.py makes; templates/, or engine/model_files/templates, the chat templates that it
writes. The script offers published_sizes.py two things beside its goldens: PUBLISHED, sizes of published models by their names, and
compared_sizes(name, folder, cli), which writes such a model to the empty folder and yields a Compared for each question. Pictures are told
by [height, width, seed] (tests/support/golden_cases.h draws the same). Of the widest matrices every fifth column is kept: five shares no
factor with sides of patches, and every column of features mixes all of a tower's numbers.
"""

import argparse
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import warnings

import numpy as np
import PIL.Image
import torch
import transformers
from safetensors.torch import load_file, save_file

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
GOLDEN = pathlib.Path(__file__).resolve().parents[1]
CLIP = GOLDEN.parents[1] / "resources" / "demo" / "samples" / "ten-seconds.mp4"
GREEDY_TOKENS = 64
ANSWER_TOKENS = 12  # at most, of the first of two turns
MAKE = GOLDEN / "make"
PROGRAM_TEMPLATES = GOLDEN.parents[1] / "engine" / "model_files" / "templates"
COLUMNS = 5  # one of so many is kept of the widest matrices


def told(name):
    """Configurations, models of published sizes, and cases of families/<name>.json. Types of torch stand there by their names, and configurations
    of transformers as {"class": name, arguments}."""
    def made(value):
        if isinstance(value, list):
            return [made(each) for each in value]
        if not isinstance(value, dict):
            return value
        value = {key: getattr(torch, each) if key == "stored" else made(each) for key, each in value.items()}
        return getattr(transformers, value.pop("class"))(**value) if "class" in value else value

    content = json.loads((MAKE / "families" / f"{name}.json").read_text())
    return [made(content.get(part, {})) for part in ("configurations", "published", "cases")]


def template(name):
    """A chat template as published: the program's own, where it has the same."""
    file = MAKE / "templates" / f"{name}.jinja"
    return (file if file.exists() else PROGRAM_TEMPLATES / file.name).read_text()


def picture(height, width, seed):
    """Smooth slopes with a few hard edges; differs visibly between seeds."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    value = 40 * (c + 1) + x * (3 + seed % 5) + y * (7 - seed % 4) + 60 * ((x // 7 + y // 5 + seed) % 3)
    return (value % 256).astype(np.uint8)


def formula_picture(height, width, seed):
    """Slopes, steps and wrap-arounds, so that bicubic overshoot is clipped somewhere; the C++ tests repeat it."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    value = x * (5 + seed) + y * (11 + 2 * seed) + c * 70 + (x * y + x * x * 3 + y * y * 5) // (7 + seed)
    value = np.where((x // 5 + y // 3) % 4 == 0, 255 * ((x + y + c) % 2), value)
    return (value % 256).astype(np.uint8)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in np.ascontiguousarray(data).tobytes():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return f"{value:016x}"


def levels(pixels, mean, deviation):
    """The bytes that a processor scaled, of pixels whose last dimensions are colour, height, width; exact, or the golden file would not say
    what the model saw. Zeros may fill a batch up."""
    values = torch.as_tensor(np.asarray(pixels), dtype=torch.float32)
    mean, deviation = (torch.tensor(each).view(3, 1, 1) for each in (mean, deviation))
    result = torch.round((values * deviation + mean) * 255)
    again = (result / 255 - mean) / deviation
    assert float(((again - values) * (values != 0)).abs().max()) < 1e-5
    return result.to(torch.uint8)


def write(path, content, indent=2):
    path.write_text(json.dumps(content, indent=indent) + "\n")


def with_model_first(tensors):
    """Names as some folders have them: model.language_model in place of language_model.model, the rest below model, too."""
    renamed = {}
    for name, value in tensors.items():
        name = name.replace("language_model.lm_head.", "lm_head.").replace("language_model.model.", "model.language_model.")
        renamed["model." + name if name.startswith(("vision_tower", "multi_modal", "image_newline")) else name] = value
    return renamed


def write_weights(tensors, folder, shards=1):
    """model.safetensors, or as many parts with their index."""
    (folder / "model.safetensors").unlink(missing_ok=True)
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names = sorted(tensors)
    index = {"metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())}, "weight_map": {}}
    for number in range(shards):
        file = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        part = names[number::shards]
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
        index["weight_map"].update({name: file for name in part})
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def randomise(model, generator, *scales, inputs=lambda name, value: value[0].numel()):
    """Logits that differ clearly: default initialisation is so small that greedy choices would be ties. scales: (pattern of names, mean,
    deviation), of which the first that is found counts; everything else goes by the root of its inputs."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            for pattern, mean, deviation in scales:
                if re.search(pattern, name):
                    value.copy_(mean + deviation * noise)
                    break
            else:
                value.copy_(1.2 * noise / np.sqrt(inputs(name, value)))


def loaded(model_class, folder, misses=(), keeps=()):
    """The folder in fp32 with eager attention. misses, keeps: ends of names that it may lack, and that the class may not know."""
    model, report = model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    missing = {key for key in report["missing_keys"] if not key.endswith(tuple(misses))}
    unknown = {key for key in report["unexpected_keys"] if not key.endswith(tuple(keeps))}
    assert not missing and not unknown and not report["mismatched_keys"], (folder, report)
    return model.eval()


def answered(model, output, step=None):
    """Logits of a prompt's last position, the greedy tokens after it, and how far the first choice was from the second. step: logits after the
    greedy tokens so far; None: by the output's cache."""
    greedy, margins, logits, cache = [], [], output.logits[0, -1], output.past_key_values
    for _ in range(GREEDY_TOKENS):
        best = torch.topk(logits, 2).values
        greedy.append(int(logits.argmax()))
        margins.append(float(best[0] - best[1]))
        if step:
            logits = step(greedy)
        else:
            after = model(input_ids=torch.tensor([[greedy[-1]]]), past_key_values=cache, use_cache=True)
            logits, cache = after.logits[0, -1], after.past_key_values
    return {"logits": output.logits[0, -1].clone(), "greedy": torch.tensor(greedy), "margins": torch.tensor(margins)}


def messages_of(turns, answers=()):
    """turns: kinds of media and a question each; answers: between them."""
    messages = []
    for number, (kinds, question) in enumerate(turns):
        messages.append({"role": "user", "content": [{"type": kind} for kind in kinds] + [{"type": "text", "text": question}]})
        if number < len(answers):
            messages.append({"role": "assistant", "content": [{"type": "text", "text": answers[number]}]})
    return messages


def first_answer(tokenizer, greedy):
    """What is answered in the first of two turns: ids and text, as long as nothing special is in them."""
    special = set(tokenizer.all_special_ids) | set(tokenizer.added_tokens_decoder)
    ids = []
    for token in greedy[:ANSWER_TOKENS]:
        if int(token) in special:
            break
        ids.append(int(token))
    text = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    assert len(ids) >= 4 and text.strip(), "another seed"
    return ids, text


def continued_ids(encode, first, answer, whole):
    """What a cache holds that went on: ids of the first question's prompt, of its answer as it was given, and of what the whole thread has
    behind that answer's text. encode: a text to its encoding, offsets included. first, whole: (prompt, its ids with media written out)."""
    answer_ids, answer_text = answer
    written = encode(whole[0])
    assert whole[0].count(answer_text) == 1
    end = whole[0].index(answer_text) + len(answer_text)
    starts = [start for start, _ in written["offset_mapping"]]
    behind = sum(start >= end for start in starts)
    assert end in starts, "a token across the answer's end"
    media = (len(whole[1]) - len(written["input_ids"])) - (len(first[1]) - len(encode(first[0])["input_ids"]))
    return torch.cat([first[1], torch.tensor(answer_ids), whole[1][len(whole[1]) - behind - media:]])


def second_turn(tokenizer, first, answer, whole, run, **encoding):
    """Tensors of a thread whose cache went on: continued_ids() of these arguments, and what run() makes of those ids."""
    ids = continued_ids(lambda text: tokenizer(text, return_offsets_mapping=True, **encoding), first, answer, whole)
    results = {"input_ids": ids} | run(ids[None])
    return {"answer": torch.tensor(answer[0])} | {"continued." + key: value for key, value in results.items() if key not in ("features", "all_logits")}


def own_answer(turns, images, processor, inputs_of, run):
    """second_turn() behind the model's own answer about the first image. inputs_of(processor, messages, images): prompt and inputs."""
    tokenizer = processor.tokenizer
    begun, first = inputs_of(processor, messages_of(turns)[:1], images[:1])
    answer, words = first_answer(tokenizer, run(first)["greedy"])[:2]
    prompt, whole = inputs_of(processor, messages_of(turns, [words]), images)
    run_on = lambda went_on: run(whole | dict(input_ids=went_on, attention_mask=torch.ones_like(went_on)))
    return second_turn(tokenizer, (begun, first["input_ids"][0]), (answer, words), (prompt, whole["input_ids"][0]), run_on, add_special_tokens=False)


def write_configurations(out, configurations, make, ask, cases=(), begun=lambda options: {}):
    """A golden folder of each. make(options, folder, number): writes the model and gives what ask(case, options, *made) needs for a case's
    description and tensors; begun: tensors that are no case's; cases: of configurations that name none."""
    shutil.rmtree(out, ignore_errors=True)
    for number, (name, options) in enumerate(configurations.items()):
        folder = out / name / "model"
        folder.mkdir(parents=True)
        made = make(options, folder, number)
        described, tensors = {}, begun(options)
        for case in options.get("cases", cases):
            described[case], results = ask(case, options, *made)
            tensors.update(results)
        write_folder(out / name, described, tensors, options.get("whole", ()))


def write_folder(folder, cases, tensors, whole=()):
    """golden.safetensors and cases.json. whole: names of tensors whose columns are all kept."""
    wide = (".features", ".all_logits", ".levels.pixel_values", ".levels.pixel_values_videos")
    kept = {name: value[:, ::COLUMNS] if name.endswith(wide) and name not in whole else value for name, value in tensors.items()}
    save_file({name: value.contiguous() for name, value in kept.items()}, folder / "golden.safetensors")
    for file in folder.rglob("*.safetensors"):
        file.chmod(0o644)
    (folder / "cases.json").write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n")
    print(folder.name, {case: (d["tokens"], d["visual_tokens"], round(d["smallest_margin"], 5)) for case, d in cases.items()}, flush=True)


def write_manifest(folder, what, reference, script, **more):
    """What the folders hold; `tensors` are those that not every family has."""
    known = {
        "<case>.pictures": "int64 [n, 3]: height, width, seed of picture(), medium after medium",
        "<case>.features": "fp32 [visual tokens, hidden], in prompt order, of which every fifth column is kept",
        "<case>.logits": "fp32 [vocabulary], last position", "<case>.greedy": "int64 [64], stop tokens ignored",
        "<case>.margins": "fp32 [64], first minus second choice",
        "second_turn*.answer": "int64, the first of the greedy tokens of the first question, whose text is the answer in the thread",
        "second_turn*.continued.*": "ids, positions, logits, greedy tokens and margins where the cache went on: the first prompt, those very tokens, "
                                    "and what the thread has behind that text",
    }
    write(folder / "manifest.json", {
        "what": "prompt ids, resized bytes, visual features, prefill logits and 64 greedy tokens of " + what,
        "reference": f"transformers {importlib.metadata.version('transformers')}, {reference}",
        "source": "github.com/huggingface/transformers, tag v" + importlib.metadata.version("transformers"),
        "script": "tests/golden/make/" + os.path.basename(script),
        "versions": {name: importlib.metadata.version(name)
                     for name in ("torch", "torchvision", "transformers", "tokenizers", "safetensors", "pillow", "numpy")},
        "tolerance": "ids, positions, bytes: none; features and logits: largest difference <= 1e-4 of the largest absolute value (fp32 sums in "
                     "another order); greedy tokens equal where the margin exceeds 1e-3",
        **more, "tensors": known | more.get("tensors", {})}, indent=1)


@dataclasses.dataclass
class Compared:
    """A question about a folder of published sizes. ours: what the program exported; theirs: input_ids [n], logits [vocabulary] and greedy tokens
    of transformers, with features and position_ids where there are some; pixel: the largest difference of a pixel."""
    case: str
    ours: dict
    theirs: dict
    pixel: float = 0.0


def lossless_video(file, frames):
    """One frame a second. With losses the program would see other bytes."""
    height, width = frames[0].shape[:2]
    subprocess.run(["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", "1", "-i", "-", "-c:v", "libx264rgb",
                    "-qp", "0", str(file)], input=b"".join(frame.tobytes() for frame in frames), check=True)


def exported(cli, model, question, media, *more):
    """What the program writes of a question. media: ("image", array), ("video", file or list of arrays)."""
    with tempfile.TemporaryDirectory() as beside:
        asked = []
        for number, (kind, source) in enumerate(media):
            if kind == "image":
                PIL.Image.fromarray(source).save(f"{beside}/{number}.png")
                source = f"{beside}/{number}.png"
            elif isinstance(source, list):
                lossless_video(f"{beside}/{number}.mp4", source)
                source = f"{beside}/{number}.mp4"
            asked += [f"--{kind}", str(source)]
        out = f"{beside}/run.safetensors"
        subprocess.run([str(cli), "export", "--model", str(model), "--out", out, "--dtype", "fp32", "--method", "full", "--max-tokens", str(GREEDY_TOKENS),
                        *map(str, more), *asked, question], check=True, stdout=subprocess.DEVNULL)
        return load_file(out)


def main(description, write_goldens):
    argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    torch.set_num_threads(1)
    write_goldens()
