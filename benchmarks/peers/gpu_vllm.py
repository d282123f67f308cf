"""vLLM's side of benchmarks/gpu.ts, on a CUDA card: greedy generation in bfloat16.

    python gpu_vllm.py generate FOLDER COUNT

64 tokens after the first 64 of each sequence, by its own engine with its defaults (compiled, CUDA graphs), in this process. Prompts
are read anew each time. Prints one line of JSON: milliseconds of each generation, and the tokens.
"""

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
os.environ.setdefault("VLLM_USE_FLASHINFER_SAMPLER", "0")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")

import torch
from vllm import LLM, SamplingParams


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["generate"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    batch = json.loads((options.folder / "batch.json").read_text())
    prompts = [{"prompt_token_ids": sequence["tokens"][:64]} for sequence in batch]
    engine = LLM(
        model=str(options.folder),
        dtype="bfloat16",
        skip_tokenizer_init=True,
        max_model_len=512,
        max_num_seqs=64,
        gpu_memory_utilization=0.5,
        enable_prefix_caching=False,
    )
    settings = SamplingParams(temperature=0.0, max_tokens=64, ignore_eos=True, detokenize=False)

    def run():
        return engine.generate(prompts, settings, use_tqdm=False)

    first = run()
    run()
    times = []
    for _ in range(options.count):
        start = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - start))
    tokens = [list(output.outputs[0].token_ids) for output in first]
    print(json.dumps({"milliseconds": times, "tokens": tokens, "card": torch.cuda.get_device_name()}))


if __name__ == "__main__":
    main()
