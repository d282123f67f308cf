"""Writes tests/fixtures/gguf/ with the `gguf` package, PyTorch and transformers.

    pip install -r scripts/requirements-fixtures.txt
    python scripts/make-gguf-fixtures.py

quantized.gguf, quantized.safetensors   a tensor of each block type, and the float32 values gguf-py reads from it
                   (types that gguf-py can't write are random blocks with finite scales)
<model>.gguf, <model>.json   a tiny random model a family, laid out as llama.cpp's converter does (convert_hf_to_gguf.py:
                   pairs of Llama's rotated rows side by side, Gemma's norms plus one, Llama 3's factors as a tensor),
                   with the configuration and the SHA-256 of each float32 tensor it was made from, and texts with token
                   ids. transformers loads each file but Gemma's, gives the same weights, and its tokenizer of that file gives the
                   ids, corrected where it drops what the model's own tokenizer.json has: Qwen's NFC, ignore_merges
                   of Llama 3, and the space that SentencePiece puts before every text. The families after Gemma are
                   checked with llama.cpp instead: its logits are transformers' ones, and the ids are its own, but for texts with
                   combining marks.
"""

import hashlib
import json
import math
import sys
import unicodedata
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    Gemma3TextConfig,
    GemmaConfig,
    LlamaConfig,
    MistralConfig,
    OlmoeConfig,
    Phi3Config,
    Qwen2Config,
    Qwen3Config,
    Qwen3MoeConfig,
    SmolLM3Config,
)
from transformers.integrations.gguf import convert_gguf_tokenizer, get_gguf_tokenizer

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "gguf"
TYPES = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"]
SCALES = {"Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}

TEXTS = [
    "Calculate the following: 12 + 345 - 6",
    "  two spaces, a tab\tand\r\nlines\n\n\nat the end   ",
    "don't WE'LL they've 'tis 'S'RE",
    "naïve café, Ελληνικά, 中文字符, العربية, हिन्दी",
    "cafe\u0301 combining",
    "emoji 👩‍👩‍👧‍👦 and \u200bzero width",
    "digits 1234567890, ½ ² ٣ Ⅷ 12345.678",
    "<bos>user\nhello<eos>\n<bos>assistant\n",
    "x  12  y   z",
    "path/to/file_name.py(a=[1,2])\n\n\treturn {'k': \"v\"}",
    "a" * 60,
    " ",
    "\n",
    "MiXeD CamelCase HTTPServer",
]
SPECIAL = ["<unk>", "<bos>", "<eos>"]

SIZES = dict(
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=512,
    initializer_range=0.3,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=None,
)
LLAMA3 = dict(factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192)


def write_quantized() -> None:
    draw = np.random.default_rng(1)
    writer = gguf.GGUFWriter(FOLDER / "quantized.gguf", "none")
    expected = {}
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        if name in SCALES:
            blocks = random_blocks(draw, name, kind)
        elif name == "F32":
            blocks = draw.normal(size=(3, 256)).astype(np.float32)
        else:
            values = draw.normal(size=(3, 256)).astype(np.float32)
            values[0, :32] = 0
            blocks = gguf.quantize(values, kind)
        floats = blocks if name == "F32" else gguf.dequantize(blocks, kind)
        expected[name] = np.ascontiguousarray(floats, dtype=np.float32)
        writer.add_tensor(name, blocks, raw_dtype=kind)
    finish(writer)
    save_file(expected, FOLDER / "quantized.safetensors")


def random_blocks(draw, name: str, kind) -> np.ndarray:
    _, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = draw.integers(0, 256, size=(3, size), dtype=np.uint8)
    for at in SCALES[name]:
        blocks[:, at : at + 2] = draw.normal(size=(3, 1)).astype(np.float16).view(np.uint8)
    return blocks


def finish(writer) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def byte_level_vocabulary() -> tuple[list[str], list[str]]:
    """Merges learned without any split, so that how a text is split decides its tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=460, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False, max_token_length=5
    )
    tokenizer.train_from_iterator([text.replace("<bos>", "").replace("<eos>", "") for text in TEXTS] * 4, trainer)
    state = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(state["vocab"], key=state["vocab"].get)
    return tokens, [" ".join(pair) for pair in state["merges"]]


def piece_vocabulary(architecture: str) -> tuple[list[str], list[float], list[int]]:
    """As SentencePiece lays it out: specials, bytes, merged pieces, characters, the latter two by falling score."""
    gemma = architecture.startswith("gemma")
    runs = 1 if architecture == "gemma" else 4  # transformers reads no user-defined pieces of a Gemma's file
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False, max_token_length=6)
    latin = [text for text in TEXTS if text.isascii()]
    tokenizer.train_from_iterator([text.replace("<bos>", "").replace("<eos>", "") for text in latin] * 4, trainer)
    state = json.loads(tokenizer.to_str())["model"]
    pieces = ["".join(pair) for pair in state["merges"]]
    characters = [token for token in state["vocab"] if len(token) == 1]
    spaces = ["▁▁", "▁▁▁", "▁▁▁▁"] if gemma else []
    pieces = spaces + [piece for piece in dict.fromkeys(pieces) if piece not in spaces]
    spelled = [" " * len(piece) if gemma and set(piece) == {"▁"} else piece for piece in pieces]
    listed = [f"<0x{byte:02X}>" for byte in range(256)]
    tokens = SPECIAL + listed + spelled + characters
    types = [2, 3, 3] + [6] * 256 + [runs] * len(spaces) + [1] * (len(pieces) - len(spaces) + len(characters))
    scores = [0.0] * (len(SPECIAL) + 256) + [-float(at) for at in range(len(pieces) + len(characters))]
    return tokens, scores, types


def permute(weights: np.ndarray, heads: int) -> np.ndarray:
    """LlamaModel.permute of convert_hf_to_gguf.py."""
    shape = weights.shape
    return weights.reshape(heads, 2, shape[0] // heads // 2, *shape[1:]).swapaxes(1, 2).reshape(shape)


def write_model(name: str, architecture: str, config, tokenizer: str, later: bool = False) -> None:
    """`later`: a family that llama.cpp itself is asked about."""
    torch.manual_seed(5)
    vocabulary = vocabulary_of(tokenizer, architecture)
    config.vocab_size = len(vocabulary[0])
    model = AutoModelForCausalLM.from_config(config).half().float()  # numbers that float16 holds
    for key, value in model.state_dict().items():
        if value.dim() == 1:
            value.copy_((torch.rand(value.shape) + 0.5).half().float())
    path = FOLDER / f"{name}.gguf"
    writer = gguf.GGUFWriter(path, architecture)
    add_sizes(writer, config, architecture)
    add_tokenizer(writer, tokenizer, *vocabulary)
    state = hugging_face(model)
    for key, value in converted(state, config, architecture).items():
        writer.add_tensor(key, value.astype(np.float16 if value.ndim > 1 and not later else np.float32))
    rope = config.rope_parameters
    if rope.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(config, rope))
    if rope.get("rope_type") == "longrope":
        writer.add_tensor("rope_factors_long.weight", np.array(rope["long_factor"], dtype=np.float32))
        writer.add_tensor("rope_factors_short.weight", np.array(rope["short_factor"], dtype=np.float32))
    finish(writer)
    if later:
        encoded = check_with_llama_cpp(path, model)
    else:
        check_with_transformers(path, model)
        encoded = encode(path, tokenizer)
    (FOLDER / f"{name}.json").write_text(
        json.dumps(
            {
                "config": config.to_dict(),
                "tensors": {key: hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest() for key, value in state.items()},
                "encode": encoded,
            },
            ensure_ascii=False,
            indent=1,
        )
        + "\n"
    )


def hugging_face(model) -> dict[str, np.ndarray]:
    """Weights by the names that published files have: an expert is a module of its own."""
    state = {}
    for key, value in model.state_dict().items():
        if key == "lm_head.weight" and model.config.tie_word_embeddings:
            continue
        if ".experts." not in key:
            state[key] = value.numpy()
            continue
        parent = key.rsplit(".", 1)[0]
        for expert, weights in enumerate(value):
            parts = dict(zip(["gate_proj", "up_proj"], weights.chunk(2))) if "gate_up" in key else {"down_proj": weights}
            for module, part in parts.items():
                state[f"{parent}.{expert}.{module}.weight"] = part.contiguous().numpy()
    return state


def converted(state: dict[str, np.ndarray], config, architecture: str) -> dict[str, np.ndarray]:
    """The same by GGUF's names, changed as convert_hf_to_gguf.py does."""
    kind = next(kind for kind, known in gguf.MODEL_ARCH_NAMES.items() if known == architecture)
    names = gguf.get_tensor_name_map(kind, config.num_hidden_layers)
    tensors: dict[str, np.ndarray] = {}
    experts: dict[str, list[np.ndarray]] = {}
    for key, value in state.items():
        if architecture in ("llama", "smollm3") and ".q_proj." in key:
            value = permute(value, config.num_attention_heads)
        if architecture in ("llama", "smollm3") and ".k_proj." in key:
            value = permute(value, config.num_key_value_heads)
        if architecture.startswith("gemma") and key.endswith("norm.weight"):
            value = value + 1
        if ".experts." in key:
            parent, _, module = key.partition(".experts.")
            key = f"{parent}.experts.{module.split('.', 1)[1]}"
            experts.setdefault(names.get_name(key, try_suffixes=(".weight",)), []).append(value)
        else:
            tensors[names.get_name(key, try_suffixes=(".weight", ".bias"))] = value
    return {**tensors, **{key: np.stack(parts) for key, parts in experts.items()}}


def vocabulary_of(tokenizer: str, architecture: str):
    return piece_vocabulary(architecture) if tokenizer == "llama" else byte_level_vocabulary()


def add_sizes(writer, config, architecture: str) -> None:
    head_size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_name("tiny")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if architecture in ("llama", "smollm3"):
        writer.add_rope_dimension_count(head_size)
    elif architecture == "phi3":
        rope = config.rope_parameters
        writer.add_rope_dimension_count(int(rope["partial_rotary_factor"] * config.hidden_size) // config.num_attention_heads)
        writer.add_sliding_window(config.sliding_window or 0)
        if rope["rope_type"] == "longrope":
            original = rope["original_max_position_embeddings"]
            scale = config.max_position_embeddings / original
            writer.add_rope_scaling_orig_ctx_len(original)
            writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(scale) / math.log(original)))
    else:
        writer.add_key_length(head_size)
        writer.add_value_length(head_size)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if architecture in ("gemma2", "gemma3"):
        writer.add_sliding_window(config.sliding_window)
    if architecture in ("qwen3moe", "olmoe"):
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
    if architecture == "qwen3moe":
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)


def add_tokenizer(writer, tokenizer: str, tokens: list, rest: list, types: list | None = None) -> None:
    writer.add_token_list(tokens)
    if tokenizer == "llama":
        writer.add_tokenizer_model("llama")
        writer.add_token_scores(rest)
        writer.add_token_types(types)
        if writer.arch in ("gemma2", "gemma3"):
            writer.add_add_space_prefix(False)
    else:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(tokenizer)
        writer.add_token_merges(rest)
        writer.add_token_types([3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL)))
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template("{% for m in messages %}<bos>{{ m['role'] }}\n{{ m['content'] }}<eos>\n{% endfor %}")


def llama3_factors(config, rope: dict) -> np.ndarray:
    """LlamaModel.generate_extra_tensors of convert_hf_to_gguf.py."""
    size = config.hidden_size // config.num_attention_heads
    frequencies = 1.0 / (rope["rope_theta"] ** (torch.arange(0, size, 2, dtype=torch.float32) / size))
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    context = rope["original_max_position_embeddings"]
    factors = []
    for frequency in frequencies:
        wavelength = 2 * np.pi / frequency
        if wavelength < context / high:
            factors.append(1)
        elif wavelength > context / low:
            factors.append(rope["factor"])
        else:
            smooth = (context / wavelength - low) / (high - low)
            factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(factors, dtype=np.float32)


def check_with_transformers(path: Path, model) -> None:
    # transformers 5 reads no GGUF of Gemma (1), and no head_dim of Qwen3
    if model.config.model_type == "gemma":
        return
    given = {"config": model.config} if model.config.model_type == "qwen3" else {}
    read = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32, **given)
    theirs = read.state_dict()
    for key, value in model.state_dict().items():
        assert torch.allclose(theirs[key], value, rtol=0, atol=1e-6), f"{path.name}: transformers reads another {key}"


def check_with_llama_cpp(path: Path, model) -> list:
    """llama.cpp's logits of a sequence are the model's; the ids that it gives the texts."""
    float32 = 0
    theirs = llama_cpp.Llama(
        str(path), n_ctx=64, logits_all=True, type_k=float32, type_v=float32, n_threads=1, flash_attn=False, swa_full=True, verbose=False
    )
    tokens = torch.randint(3, model.config.vocab_size, (40,)).tolist()
    theirs.eval(tokens)
    ours = model(torch.tensor([tokens])).logits[0].detach().numpy()
    gap = np.abs(theirs.scores[: len(tokens)] - ours).max() / np.abs(ours).max()
    print(f"{path.name}: llama.cpp's logits are within {gap:.1e} of the largest of transformers'")
    assert gap < 1e-2  # its GELU is a table of float16
    # it splits words before combining marks, where the models' own tokenizers don't, and normalizes nothing
    plain = [text for text in TEXTS if not any(unicodedata.category(character)[0] == "M" for character in text)]
    return [{"text": text, "tokens": theirs.tokenize(text.encode(), add_bos=False, special=True)} for text in plain]


def encode(path: Path, tokenizer: str) -> list:
    architecture, described, _ = get_gguf_tokenizer(str(path))
    read, _ = convert_gguf_tokenizer(architecture, described)
    if tokenizer == "qwen2":
        read.normalizer = normalizers.NFC()
    if tokenizer in ("llama-bpe", "tekken"):
        read.model.ignore_merges = True
    if architecture == "llama" and tokenizer == "llama":
        read.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        read.pre_tokenizer = None
    return [{"text": text, "tokens": read.encode(text, add_special_tokens=False).ids} for text in TEXTS]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_quantized()
    llama3 = {"rope_type": "llama3", "rope_theta": 500000.0, **LLAMA3}
    write_model("llama3", "llama", LlamaConfig(**SIZES, rope_parameters=llama3), "llama-bpe")
    write_model("mistral", "llama", MistralConfig(**SIZES, sliding_window=None), "llama")
    write_model("nemo", "llama", LlamaConfig(**SIZES, attention_bias=False), "tekken")
    write_model("qwen2", "qwen2", Qwen2Config(**SIZES, tie_word_embeddings=True), "qwen2")
    write_model("qwen3", "qwen3", Qwen3Config(**SIZES, head_dim=16), "gpt-2")
    write_model("gemma", "gemma", GemmaConfig(**SIZES, head_dim=16), "llama")
    rotated = dict(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.75)
    rotated |= dict(short_factor=[1.0, 1.05, 1.4], long_factor=[1.0, 2.5, 32.0])
    long = dict(original_max_position_embeddings=256, sliding_window=None)
    layers = dict(num_hidden_layers=7)
    write_model("smollm3", "smollm3", SmolLM3Config(**SIZES | layers), "llama-bpe", later=True)
    write_model("phi3", "phi3", Phi3Config(**SIZES, **long, rope_parameters=rotated), "gpt-4o", later=True)
    write_model("gemma2", "gemma2", Gemma2Config(**SIZES, head_dim=16, query_pre_attn_scalar=16, sliding_window=8), "llama", later=True)
    gemma3 = dict(head_dim=16, query_pre_attn_scalar=16, sliding_window=8)
    write_model("gemma3", "gemma3", Gemma3TextConfig(**SIZES | layers | gemma3), "llama", later=True)
    experts = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, norm_topk_prob=True, head_dim=16)
    write_model("qwen3moe", "qwen3moe", Qwen3MoeConfig(**SIZES, **experts), "qwen2", later=True)
    olmoe = dict(num_experts=4, num_experts_per_tok=2, num_key_value_heads=4, pad_token_id=0)
    write_model("olmoe", "olmoe", OlmoeConfig(**SIZES | olmoe), "olmo", later=True)


if __name__ == "__main__":
    sys.exit(main())
