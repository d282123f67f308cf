"""Generates with a peer library, for benchmarks/generate.ts: reads a request a line, answers a line of JSON.

    python generate.py transformers|genai MODEL_FOLDER THREADS [WORK_FOLDER]

A request is {"prompts": [[id, ...], ...], "limits": [n, ...], "sampled": bool}; the answer
{"seconds": s, "tokens": [[id, ...], ...]}. No token ends a generation before its limit.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def transformers_generator(folder, threads):
    import torch
    from transformers import AutoModelForCausalLM, StoppingCriteria

    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.generation_config.eos_token_id = None

    class Limits(StoppingCriteria):
        """Ends each row at its own limit, as an end token would."""

        def __init__(self, start, limits):
            self.start, self.limits = start, torch.tensor(limits)

        def __call__(self, input_ids, scores, **_):
            return input_ids.shape[1] - self.start >= self.limits

    def generate(prompts, limits, sampled):
        length = max(map(len, prompts))
        ids = torch.zeros(len(prompts), length, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, length - len(prompt) :] = torch.tensor(prompt)
            mask[row, length - len(prompt) :] = 1
        ragged = {"stopping_criteria": [Limits(length, limits)]} if len(set(limits)) > 1 else {}
        with torch.inference_mode():
            out = model.generate(
                ids,
                attention_mask=mask,
                max_new_tokens=max(limits),
                do_sample=sampled,
                temperature=1.0,
                top_k=0,
                top_p=1.0,
                pad_token_id=0,
                **ragged,
            )
        return [row[length : length + limit].tolist() for row, limit in zip(out, limits)]

    return generate


def genai_generator(folder, threads, work):
    """Builds the ONNX model of the same weights with onnxruntime-genai's own builder (float32, CPU)."""
    import numpy as np
    import onnxruntime_genai as og

    if not (Path(work) / "genai_config.json").exists():
        builder = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", folder, "-o", work]
        builder += ["-p", "fp32", "-e", "cpu", "-c", str(Path(work) / "cache")]
        subprocess.run(builder, check=True, stdout=sys.stderr, env=os.environ | {"HF_HUB_OFFLINE": "1"})
        config = json.loads((Path(work) / "genai_config.json").read_text())
        options = config["model"]["decoder"]["session_options"]
        options["intra_op_num_threads"] = threads
        (Path(work) / "genai_config.json").write_text(json.dumps(config))
    model = og.Model(work)
    pad = 0

    def generate(prompts, limits, sampled):
        length, most = max(map(len, prompts)), max(limits)
        params = og.GeneratorParams(model)
        params.set_search_options(
            batch_size=len(prompts),
            max_length=length + most,
            min_length=length + most,
            do_sample=sampled,
            temperature=1.0,
            top_p=1.0,
            top_k=0,
            past_present_share_buffer=True,
        )
        generator = og.Generator(model, params)
        # genai wants all prompts of a batch of one length, padded with its pad token on the left.
        ids = np.full((len(prompts), length), pad, dtype=np.int32)
        for row, prompt in enumerate(prompts):
            ids[row, length - len(prompt) :] = prompt
        generator.append_tokens(ids)
        for _ in range(most):
            generator.generate_next_token()
        return [
            [int(token) for token in generator.get_sequence(row)[length : length + limit]]
            for row, limit in enumerate(limits)
        ]

    return generate


def main():
    kind, folder, threads, *rest = sys.argv[1:]
    answers = sys.stdout
    sys.stdout = sys.stderr
    if kind == "transformers":
        generate = transformers_generator(folder, int(threads))
    else:
        generate = genai_generator(folder, int(threads), *rest)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        tokens = generate(**request)
        seconds = time.perf_counter() - started
        print(json.dumps({"seconds": seconds, "tokens": tokens}), file=answers, flush=True)


main()
