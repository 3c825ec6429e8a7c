#!/usr/bin/env python3
"""What OpenAI's own client asks `winnow-cli serve`, with the demo model: pictures, a video, streams, usage, cancelling, refusals.

    python3 tests/clients/openai_client.py build/release/bin/winnow-cli

Makes an environment with the client of PyPI in a folder of its own (kept between runs), starts the server on a free port and prints a line
for each check; ends with 1 if one failed."""
import base64
import io
import pathlib
import struct
import sys
import time
import wave

from served_model import SAMPLES, Checks, data_uri, go_on_with, served

SPEECH = pathlib.Path(__file__).resolve().parents[1] / "golden" / "whisper" / "english"


def refused(check, name, ask, status):
    import openai
    try:
        ask()
        check(name, False, "was answered")
    except openai.APIStatusError as error:
        check(name, error.status_code == status, f"{error.status_code}: {error.body['message']}")


def tone():
    """Two seconds of a tone, in which nothing is said, as a file of sound."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 16_000, 0, "NONE", ""))
        sound.writeframes(b"".join(struct.pack("<h", at * 400 % 16_000 - 8_000) for at in range(32_000)))
    return file.getvalue()


def hear(client, check, chat):
    """The speech model of the tests has random weights: what it hears in a tone is checked to be nothing, in every form."""
    ask = lambda **more: client.audio.transcriptions.create(**{"model": "whisper-1", "file": ("tone.wav", tone()), **more})
    check("a sound is heard", ask().text == "" and ask().usage.seconds == 2)
    check("as text", ask(response_format="text").strip() == "")
    check("as subtitles", ask(response_format="vtt").strip() == "WEBVTT" and ask(response_format="srt") == "")
    told = ask(response_format="verbose_json", timestamp_granularities=["segment"], temperature=0, language="en")
    check("with its length", told.duration == 2 and told.segments == [])
    check("its model is listed", "english" in [model.id for model in client.models.list()])
    refused(check, "words' times", lambda: ask(response_format="verbose_json", timestamp_granularities=["word"]), 400)
    refused(check, "a prompt", lambda: ask(prompt="Names: Winnow"), 400)
    refused(check, "a transcript in pieces", lambda: list(ask(stream=True)), 400)
    refused(check, "another speech model", lambda: ask(model="gpt-4o-transcribe"), 404)
    refused(check, "a file that is no sound", lambda: ask(file=("tone.wav", b"nothing")), 400)
    audio = {"data": base64.b64encode(tone()).decode(), "format": "wav"}
    refused(check, "a message in which nothing is said", lambda: chat([{"type": "input_audio", "input_audio": audio}]), 400)


def run(address, media):
    import openai
    client = openai.OpenAI(base_url=address, api_key="any", max_retries=0)
    check = Checks()
    model = client.models.list().data[0].id
    chat = lambda content, **more: client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": content}], **more)
    video = data_uri("ten-seconds.mp4", "video/mp4")
    about = lambda question: [{"type": "video_url", "video_url": {"url": video}}, {"type": "text", "text": question}]

    answer = chat("Hello")
    check("a text is answered", bool(answer.choices[0].message.content), answer.choices[0].message.content)
    check("usage adds up", answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens)

    picture = [{"type": "image_url", "image_url": {"url": data_uri("picture.png", "image/png")}},
               {"type": "text", "text": "Name the color of the star."}]
    check("a picture is seen", chat(picture).choices[0].message.content == "The star is blue.")

    started = time.monotonic()
    first = chat(about("Which shapes do you see?"))
    between = time.monotonic()
    second = chat(about("What comes first?"))
    ended = time.monotonic()
    check("a video is seen", first.usage.prompt_tokens > 50, first.choices[0].message.content)
    check("its second question reads it no more", ended - between < between - started or second.usage.prompt_tokens_details.cached_tokens > 0,
          f"{between - started:.2f} s, then {ended - between:.2f} s")
    named = [{"type": "video_url", "video_url": {"url": f"file://{media}/ten-seconds.mp4"}}, {"type": "text", "text": "What comes first?"}]
    check("a file below the media folder is the same", chat(named).choices[0].message.content == second.choices[0].message.content)

    parts = list(chat(about("Which shapes do you see?"), stream=True, stream_options={"include_usage": True}))
    text = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
    check("a stream is the same text", text == first.choices[0].message.content)
    check("one id", len({part.id for part in parts}) == 1)
    check("usage comes last", parts[-1].usage is not None and not parts[-1].choices)
    check("the reason comes once", [part.choices[0].finish_reason for part in parts if part.choices][-1] == "stop")

    stream = chat(about("List everything that you see."), stream=True)
    next(iter(stream))
    stream.close()
    started = time.monotonic()
    chat("Hello")
    check("a stream that is closed makes room", time.monotonic() - started < 30)

    told = chat("Hello", logprobs=True, top_logprobs=3, max_tokens=8).choices[0]
    check("probabilities have the answer's tokens", "".join(each.token for each in told.logprobs.content) == told.message.content)
    check("the first of the likeliest is what was said", all(each.top_logprobs[0].token == each.token for each in told.logprobs.content))
    parts = list(chat("Hello", logprobs=True, stream=True, max_tokens=8))
    streamed = [each.logprob for part in parts if part.choices[0].logprobs for each in part.choices[0].logprobs.content]
    check("a stream has the same", streamed == [each.logprob for each in told.logprobs.content])
    text = client.completions.create(model=model, prompt="The first shape is", max_tokens=6, logprobs=2, temperature=0)
    check("a text goes on", bool(text.choices[0].text) and len(text.choices[0].logprobs.tokens) == text.usage.completion_tokens, text.choices[0].text)
    parts = client.completions.create(model=model, prompt=["The first shape is"], max_tokens=6, stream=True, temperature=0)
    check("as a stream, too", "".join(part.choices[0].text for part in parts) == text.choices[0].text)

    begun = client.chat.completions.create(model=model, max_tokens=8, temperature=0, messages=[
        {"role": "user", "content": picture}, {"role": "assistant", "content": "The star"}]).choices[0].message.content
    check("a last message of the assistant goes on", begun.strip() == "is blue.", begun)
    bare = openai.OpenAI(base_url=address.removesuffix("/v1"), api_key="any", max_retries=0)
    check("an address without /v1", bare.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "Hello"}]).choices[0].message.content == answer.choices[0].message.content)
    check("its models", bare.models.list().data[0].id == model)
    refused(check, "the Responses API", lambda: client.responses.create(model=model, input="Hello"), 404)

    check("another method", chat(about("What comes first?"), extra_body={"winnow": {"method": "full"}}).usage.model_extra["winnow"]["method"] == "full")
    check("a limit is kept", chat("Hello", max_tokens=2).choices[0].finish_reason == "length")
    refused(check, "two answers", lambda: chat("x", n=2), 400)
    refused(check, "a prompt of token ids", lambda: client.completions.create(model=model, prompt=[1, 2]), 400)
    refused(check, "an embedding", lambda: client.embeddings.create(model=model, input="x"), 404)
    refused(check, "a form of the answer", lambda: chat("x", response_format={"type": "json_object"}), 400)
    refused(check, "an address on the network",
            lambda: chat([{"type": "image_url", "image_url": {"url": "http://example.org/a.png"}}]), 400)
    refused(check, "a file elsewhere", lambda: chat([{"type": "video_url", "video_url": {"url": "file:///etc/passwd"}}]), 400)
    refused(check, "another model", lambda: client.chat.completions.create(
        model="gpt-4", messages=[{"role": "user", "content": "x"}]), 404)
    hear(client, check, chat)
    return check.failed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    go_on_with("openai==3.57.0")
    with served(sys.argv[1], "--speech-model", str(SPEECH)) as address:
        failures = run(address, SAMPLES)
    sys.exit(1 if failures else 0)
