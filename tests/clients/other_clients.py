#!/usr/bin/env python3
"""What litellm, langchain-openai and llm ask `winnow-cli serve`, with the demo model: a picture, a stream, tools, attachments.

    python3 tests/clients/other_clients.py build/release/bin/winnow-cli

Makes an environment with the clients of PyPI in a folder of its own (kept between runs), starts the server on a free port and prints a line
for each check; ends with 1 if one failed."""
import os
import pathlib
import subprocess
import sys
import tempfile

from served_model import SAMPLES, Checks, data_uri, go_on_with, served

QUESTION, ANSWER = "Name the color of the star.", "The star is blue."


def refused(check, name, ask):
    """What cannot be done is said, not left out."""
    try:
        ask()
        check(name, False, "was answered")
    except Exception as error:  # each client has its own
        check(name, "is not supported" in str(error), str(error).replace("\n", " ")[:140])


def picture():
    return [{"type": "image_url", "image_url": {"url": data_uri("picture.png", "image/png")}}, {"type": "text", "text": QUESTION}]


def litellm_asks(address, check):
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing else is fetched
    import litellm
    ask = lambda content, **more: litellm.completion(
        model="openai/default", api_base=address, api_key="any", messages=[{"role": "user", "content": content}], **more)
    answer = ask(picture())
    check("litellm: a picture", answer.choices[0].message.content == ANSWER, answer.choices[0].message.content)
    check("litellm: usage", answer.usage.total_tokens > 0)
    text = "".join(part.choices[0].delta.content or "" for part in ask(picture(), stream=True))
    check("litellm: the same as a stream", text == answer.choices[0].message.content)
    for name, more in (("a seed and stop words", {"seed": 7, "stop": ["\n\n"]}), ("probabilities", {"logprobs": True, "top_logprobs": 2}),
                       ("a limit", {"max_tokens": 3})):
        check(f"litellm: {name}", bool(ask("Hello", **more).choices[0].message.content))
    refused(check, "litellm: a form of the answer", lambda: ask("Hello", response_format={"type": "json_object"}))
    bare = litellm.completion(model="openai/default", api_base=address.removesuffix("/v1"), api_key="any", messages=[
        {"role": "user", "content": picture()}])
    check("litellm: an address without /v1", bare.choices[0].message.content == answer.choices[0].message.content)
    return text


def langchain_asks(address, check, expected):
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    model = ChatOpenAI(base_url=address, api_key="any", model="default")
    answer = model.invoke([("human", picture())])
    check("langchain: the same answer", answer.content == expected)
    check("langchain: usage", answer.usage_metadata["total_tokens"] > 0)
    check("langchain: a stream", "".join(part.content for part in model.stream([("human", picture())])) == expected)

    @tool
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    many = model.batch([[("human", picture())], [("human", picture())]])
    check("langchain: a batch", [each.content for each in many] == [expected] * 2)
    told = model.bind(logprobs=True).invoke([("human", "Hello")])
    check("langchain: probabilities", len(told.response_metadata["logprobs"]["content"]) > 0)
    refused(check, "langchain: a structured answer", lambda: model.with_structured_output({
        "title": "Star", "description": "a star", "type": "object", "properties": {"color": {"type": "string"}}}).invoke("Hello"))
    check("langchain: tools that may be called are no error", model.bind_tools([add]).invoke([("human", picture())]).content == expected)


def llm_asks(address, check):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "extra-openai-models.yaml").write_text(
            f"- model_id: winnow\n  model_name: default\n  api_base: {address}\n  vision: true\n  supports_schema: true\n")
        for options in ([], ["--no-stream"]):
            run = subprocess.run([pathlib.Path(sys.prefix) / "bin" / "llm", "-m", "winnow", "-a", str(SAMPLES / "picture.png"), *options, QUESTION],
                                 env={**os.environ, "LLM_USER_PATH": folder, "OPENAI_API_KEY": "any"}, capture_output=True, text=True)
            check(f"llm: a picture {options}", run.returncode == 0 and "star is" in run.stdout, run.stdout.strip() or run.stderr)
        schema = subprocess.run([pathlib.Path(sys.prefix) / "bin" / "llm", "-m", "winnow", "--schema", "color, size int", "Hello"],
                                env={**os.environ, "LLM_USER_PATH": folder, "OPENAI_API_KEY": "any"}, capture_output=True, text=True)
        check("llm: --schema is refused in words", schema.returncode != 0 and "is not supported" in schema.stderr, schema.stderr.strip()[-140:])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    go_on_with("litellm==1.110.2", "langchain-openai==1.7.4", "llm==0.36")
    checks = Checks()
    with served(sys.argv[1]) as server:
        langchain_asks(server, checks, litellm_asks(server, checks))
        llm_asks(server, checks)
    sys.exit(1 if checks.failed else 0)
