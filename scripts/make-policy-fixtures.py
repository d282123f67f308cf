"""Writes the fixtures of tests/unit/engine/tokens and tests/unit/engine/sampling with Hugging Face's own libraries.

    pip install -r scripts/requirements-fixtures.txt
    python scripts/make-policy-fixtures.py

tokens/fixtures/tokenizer/   a byte-level BPE of some 340 tokens with a Qwen-like chat template
tokens/fixtures/cases.json   encodings, decodings and rendered chats of it
sampling/fixtures/policy/    a tiny random Llama (grouped-query attention, tied embeddings) with that tokenizer
sampling/fixtures/greedy.json  prompts, transformers' greedy continuations, log-probabilities and logits
"""

import json
import random
import sys
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

UNIT = Path(__file__).resolve().parent.parent / "tests" / "unit"
TOKENS = UNIT / "tokens" / "fixtures"
SAMPLING = UNIT / "sampling" / "fixtures"

CHAT_TEMPLATE = """\
{%- if tools %}
    {{- '<|im_start|>system\\n# Tools\\n' }}
    {%- for tool in tools %}
        {{- tool.function | tojson + '\\n' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content }}
        {%- for call in message.tool_calls or [] %}
            {{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
            {{- call.function.arguments | tojson + '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

CORPUS = [
    "State the final answer to the following arithmetic problem: 12 + 345 - 6 =",
    "Calculate the following: 4 * (17 - 3)",
    '<tool_call>\n{"name": "calculator", "arguments": {"expression": "12 + 345 - 6"}}\n</tool_call>',
    "error: the expression is not valid",
]

TEXTS = [
    "Calculate the following: 12 + 345 - 6",
    "  two spaces, a tab\tand\r\nlines\n\n\nat the end   ",
    "don't WE'LL they've 'tis",
    "naïve café, Ελληνικά, 中文字符, العربية, हिन्दी",
    "emoji 👩‍👩‍👧‍👦 🇸🇪 and \u200bzero width",
    "digits 1234567890, ½ ² ٣ Ⅷ",
    "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n",
    "<|im_end|><|im_end|> <tool_call></tool_call><|im_en",
    '{"name": "calculator", "arguments": {"expression": "(1+2)*-3.5e10"}}',
    "null\x00 bell\x07 del\x7f",
    "a" * 300,
    " ",
    "\n",
]

CALL = {"type": "function", "function": {"name": "calculator", "arguments": {"expression": "1 + 2"}}}
UNICODE_CALL = {"type": "function", "function": {"name": "look_up", "arguments": {"q": "é \"x\" </b>", "n": 1.5, "deep": {"list": [1, None, True]}}}}
TOOLS = [
    {
        "name": "calculator",
        "description": "Evaluates an expression.",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    }
]
CHATS = [
    {"messages": [{"role": "user", "content": "12 + 3"}], "tools": TOOLS, "generate": True},
    {"messages": [{"role": "user", "content": "12 + 3"}], "tools": [], "generate": True},
    {
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "1 + 2?"},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "content": "3"},
            {"role": "assistant", "content": "3"},
        ],
        "tools": TOOLS,
        "generate": False,
    },
    {
        "messages": [
            {"role": "user", "content": "both"},
            {"role": "assistant", "content": "so: ", "tool_calls": [CALL, UNICODE_CALL]},
            {"role": "tool", "content": "3"},
            {"role": "tool", "content": "naïve"},
        ],
        "tools": TOOLS,
        "generate": True,
    },
]


def make_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=336,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS * 8, trainer)
    tags = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
    tokenizer.add_tokens([AddedToken(tag, normalized=False) for tag in tags])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    tokenizer.save_pretrained(folder, save_jinja_files=False)


def write_token_cases(tokenizer: PreTrainedTokenizerFast) -> None:
    draw = random.Random(1)
    sequences = [[draw.randrange(len(tokenizer)) for _ in range(24)] for _ in range(40)]
    cut = tokenizer.encode("中文 👩‍👩‍👧 é", add_special_tokens=False)
    sequences += [cut[:length] for length in range(1, len(cut))]
    cases = {
        "encode": [{"text": text, "tokens": tokenizer.encode(text, add_special_tokens=False)} for text in TEXTS],
        "decode": [{"tokens": ids, "text": tokenizer.decode(ids, skip_special_tokens=False)} for ids in sequences],
        "chats": [{**chat, "text": render(tokenizer, chat)} for chat in CHATS],
    }
    (TOKENS / "cases.json").write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n")


def render(tokenizer: PreTrainedTokenizerFast, chat: dict) -> str:
    tools = [{"type": "function", "function": tool} for tool in chat["tools"]] or None
    return tokenizer.apply_chat_template(
        chat["messages"], tools=tools, add_generation_prompt=chat["generate"], tokenize=False
    )


def write_policy(tokenizer: PreTrainedTokenizerFast) -> None:
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=80,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,
    )
    model = LlamaForCausalLM(config).eval()
    model.model.embed_tokens.weight.data[tokenizer.eos_token_id] *= 2  # so that some continuations stop
    folder = SAMPLING / "policy"
    model.save_pretrained(folder)
    save_tokenizer(tokenizer, folder)

    draw = random.Random(2)
    lengths = [1, 2, 3, 5, 8, 13, 21, 34] * 4
    prompts = [[draw.randrange(len(tokenizer)) for _ in range(length)] for length in lengths]
    cases = [greedy(model, prompt, tokenizer) for prompt in prompts]
    (SAMPLING / "greedy.json").write_text(json.dumps({"cases": cases}, indent=None) + "\n")


@torch.no_grad()
def greedy(model: LlamaForCausalLM, prompt: list[int], tokenizer: PreTrainedTokenizerFast) -> dict:
    settings = GenerationConfig(
        max_new_tokens=24, do_sample=False, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    ids = torch.tensor([prompt])
    tokens = model.generate(ids, generation_config=settings, attention_mask=torch.ones_like(ids))[0].tolist()
    logits = model(torch.tensor([tokens])).logits[0]
    logprobs = logits.log_softmax(-1)[range(len(prompt) - 1, len(tokens) - 1), tokens[len(prompt) :]]
    return {
        "prompt": prompt,
        "tokens": tokens[len(prompt) :],
        "logprobs": [round(value, 6) for value in logprobs.tolist()],
    }


def main() -> None:
    TOKENS.mkdir(parents=True, exist_ok=True)
    SAMPLING.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    save_tokenizer(tokenizer, TOKENS / "tokenizer")
    write_token_cases(tokenizer)
    write_policy(tokenizer)


if __name__ == "__main__":
    sys.exit(main())
