"""Makes a pipeline's tokenizer, pipelines/NAME/tokenizer: a byte-level BPE tokenizer and its chat template.

    pip install -r scripts/requirements-fixtures.txt
    python scripts/make-tokenizer.py [NAME]    (calculator; code, feedback, look, market, repair, search, sql, verifiers, web, zoom)

The 256 bytes are in the vocabulary, so any text can be encoded. Digits, a minus sign and an operator between spaces
are tokens of their own wherever they stand: a number is the same tokens in a prompt, a tool call and a tool response.
"""

import json
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PIPELINE = Path(__file__).parent.parent / "pipelines" / (sys.argv[1] if len(sys.argv) > 1 else "calculator")
VOCABULARY_SIZE = 400  # an upper bound: training ends when every word is one token

# The alternatives: an operator between spaces, a minus sign, a digit, a word, a run of anything else.
PRE_TOKENS = r" [-+*/] |-|\p{N}| ?\p{L}+|[^\p{L}\p{N}-]+"

END_OF_TEXT, TURN_START, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
IMAGE_TOKENS = ["<fake_token_around_image>", "<global-img>", "<image>"]  # SmolVLM's
TOOL_TAGS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]

CHAT_TEMPLATE = """\
{%- set first = messages[0] if messages else none -%}
{%- set system = first.content if first and first.role == 'system' else '' -%}
{%- if system or tools -%}
  {{- '<|im_start|>system\\n' + system -}}
  {%- if tools -%}
    {{- ('\\n\\n' if system else '') + '# Tools' -}}
    {%- for tool in tools -%}
      {%- set function = tool.function if tool.function is defined else tool -%}
      {{- '\\n' + function.name + '(' -}}
      {%- for parameter in function.parameters.properties -%}
        {{- parameter + ('' if loop.last else ', ') -}}
      {%- endfor -%}
      {{- ')' -}}
    {%- endfor -%}
  {%- endif -%}
  {{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
  {%- if message.role == 'assistant' -%}
    {{- '<|im_start|>assistant\\n' + (message.content or '') -}}
    {%- for call in message.tool_calls or [] -%}
      {%- set function = call.function if call.function is defined else call -%}
      {{- '<tool_call>{"name": ' + function.name | tojson + ', "arguments": ' -}}
      {{- function.arguments if function.arguments is string else function.arguments | tojson -}}
      {{- '}</tool_call>' -}}
    {%- endfor -%}
    {{- '<|im_end|>\\n' -}}
  {%- elif message.role == 'tool' -%}
    {{- '<|im_start|>user\\n<tool_response>' + message.content + '</tool_response><|im_end|>\\n' -}}
  {%- elif message.role == 'user' -%}
    {{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\\n' -}}
{%- endif -%}
"""


# Templates of policies that see read contents in parts.
CONTENT_PARTS = "(message.content if message.content is string else message.content | map(attribute='text', default='<image>') | join)"


def sees():
    return any("<image>" in text for text in corpus())


def corpus():
    """The texts that the merges are learned from: what the training split's conversations consist of."""
    yield from calculations() if PIPELINE.name == "calculator" else demonstrated()


def demonstrated():
    for line in (PIPELINE / "demonstrations.jsonl").read_text().splitlines():
        yield from ("system", "\n# Tools\n", "user", "assistant", "\n", "error: ")
        for message in json.loads(line)["messages"]:
            yield message["content"] or ""
            for call in message.get("tool_calls", []):
                yield json.dumps(call["function"])


def calculations():
    for line in (PIPELINE / "chain-sum-small.train.jsonl").read_text().splitlines():
        task = json.loads(line)
        call = {"name": "calculator", "arguments": {"expression": task["extra_info"]["expression"]}}
        yield from ("system", "\n# Tools\n", "calculator(expression)", "user", "assistant", "\n")
        yield task["prompt"][0]["content"]
        yield json.dumps(call)
        yield "Answer: " + task["reward_model"]["ground_truth"]
        yield "error: "


def main():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRE_TOKENS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [END_OF_TEXT, TURN_START, TURN_END] + (IMAGE_TOKENS if sees() else [])
    specials = [AddedToken(text, special=True, normalized=False) for text in special]
    tags = [AddedToken(text, special=False, normalized=False) for text in TOOL_TAGS]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        min_frequency=2,
        special_tokens=specials + tags,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)

    # The trainer marks all of them special; a decoder that skips special tokens must keep the tags.
    data = json.loads(tokenizer.to_str())
    for token in data["added_tokens"]:
        token["special"] = token["content"] not in TOOL_TAGS
    folder = PIPELINE / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": TURN_END,
        "pad_token": END_OF_TEXT,
        "model_max_length": 512,
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE.replace("+ message.content +", f"+ {CONTENT_PARTS} +") if sees() else CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, ensure_ascii=False, indent=2) + "\n")
    print(f"{folder}: {len(data['model']['vocab'])} tokens")


if __name__ == "__main__":
    main()
