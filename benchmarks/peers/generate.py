"""Generates with a peer library, for benchmarks/generate.ts: reads a request a line, answers a line of JSON.

    python generate.py transformers|static|compile|genai|genai-int4|llamacpp MODEL_FOLDER THREADS WORK_FOLDER ROW_TOKENS
    python generate.py quantize GGUF_FILE NEW_FILE Q8_0|Q4_0

`static` is transformers with its static cache, `compile` the same with its forward pass compiled (torch.compile);
`llamacpp` reads WORK_FOLDER/model.gguf, which holds the same weights. `quantize` makes a file of fewer bits as llama.cpp
does, and ends.

A request is {"prompts": [[id, ...], ...], "limits": [n, ...], "sampled": bool}; the answer
{"seconds": s, "processorSeconds": s, "tokens": [[id, ...], ...]}. No token ends a generation before its limit.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def transformers_generator(kind, folder, threads):
    import torch
    from transformers import AutoModelForCausalLM, CompileConfig, StoppingCriteria

    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.generation_config.eos_token_id = None
    cache = {} if kind == "transformers" else {"cache_implementation": "static", "disable_compile": kind == "static"}
    if kind == "compile":
        compiling = CompileConfig(dynamic=True, mode="default")
        compiling._compile_all_devices = True  # transformers compiles by itself on accelerators alone
        cache["compile_config"] = compiling

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
                **cache,
                **ragged,
            )
        return [row[length : length + limit].tolist() for row, limit in zip(out, limits)]

    return generate


def genai_generator(folder, threads, work, precision):
    """Builds the ONNX model of the same weights with onnxruntime-genai's own builder (fp32 or int4, CPU)."""
    import numpy as np
    import onnxruntime_genai as og

    work = str(Path(work) / f"genai-{precision}")
    Path(work).mkdir(exist_ok=True)
    if not (Path(work) / "genai_config.json").exists():
        builder = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", folder, "-o", work]
        builder += ["-p", precision, "-e", "cpu", "-c", str(Path(work) / "cache")]
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


def llamacpp_generator(threads, work, row_tokens):
    """llama.cpp's own batches: a sequence for each row, whose keys and values stay as far as its next prompt is the same."""
    import ctypes

    import llama_cpp as llama

    rows, context = 64, 64 * row_tokens
    llama.llama_backend_init()
    silent = llama.llama_log_callback(lambda *_: None)
    llama.llama_log_set(silent, ctypes.c_void_p(0))
    path = str(Path(work) / "model.gguf").encode()
    model = llama.llama_model_load_from_file(path, llama.llama_model_default_params())
    settings = llama.llama_context_default_params()
    settings.n_ctx, settings.n_batch, settings.n_ubatch, settings.n_seq_max = context, 2048, 512, rows
    settings.n_threads = settings.n_threads_batch = threads
    settings.kv_unified = False  # else each row attends, masked, over all rows
    settings.type_k = settings.type_v = 0  # GGML_TYPE_F32
    ctx = llama.llama_init_from_model(model, settings)
    memory = llama.llama_get_memory(ctx)
    batch = llama.llama_batch_init(2048, 0, 1)
    kept = [[] for _ in range(rows)]

    def sampler(sampled):
        chain = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
        one = llama.llama_sampler_init_dist(1) if sampled else llama.llama_sampler_init_greedy()
        llama.llama_sampler_chain_add(chain, one)
        return chain

    samplers = {sampled: sampler(sampled) for sampled in (False, True)}

    def decode(entries):
        """Reads (row, position, token, whether its logits are wanted), at most 2048 at once."""
        batch.n_tokens = len(entries)
        for at, (row, position, token, wanted) in enumerate(entries):
            batch.token[at], batch.pos[at], batch.logits[at] = token, position, wanted
            batch.n_seq_id[at], batch.seq_id[at][0] = 1, row
        if (code := llama.llama_decode(ctx, batch)) != 0:
            raise RuntimeError(f"llama_decode answered {code}")

    def read(prompts, chain):
        """Reads what is new of each prompt; the first token of each continuation."""
        entries, first = [], [0] * len(prompts)
        for row, prompt in enumerate(prompts):
            same = 0
            while same < min(len(kept[row]), len(prompt) - 1) and kept[row][same] == prompt[same]:
                same += 1
            llama.llama_memory_seq_rm(memory, row, same, -1)
            kept[row] = list(prompt)
            entries += [(row, at, prompt[at], at == len(prompt) - 1) for at in range(same, len(prompt))]
        for start in range(0, len(entries), 2048):
            part = entries[start : start + 2048]
            decode(part)
            for at, (row, _, _, wanted) in enumerate(part):
                if wanted:
                    first[row] = llama.llama_sampler_sample(chain, ctx, at)
        return first

    def generate(prompts, limits, sampled):
        chain = samplers[sampled]
        for row in range(len(prompts), rows):
            llama.llama_memory_seq_rm(memory, row, -1, -1)
            kept[row] = []
        answers = [[token] for token in read(prompts, chain)]
        while going := [row for row, limit in enumerate(limits) if len(answers[row]) < limit]:
            decode([(row, len(kept[row]), answers[row][-1], True) for row in going])
            for at, row in enumerate(going):
                kept[row].append(answers[row][-1])
                answers[row].append(llama.llama_sampler_sample(chain, ctx, at))
        return answers

    return generate


def quantize(source, target, name):
    """One thread a core, so that nobody waits; embeddings and heads in the type that llama.cpp chooses."""
    import llama_cpp as llama

    settings = llama.llama_model_quantize_default_params()
    settings.ftype = {"Q8_0": llama.LLAMA_FTYPE_MOSTLY_Q8_0, "Q4_0": llama.LLAMA_FTYPE_MOSTLY_Q4_0}[name]
    if (code := llama.llama_model_quantize(source.encode(), target.encode(), settings)) != 0:
        raise RuntimeError(f"llama_model_quantize answered {code}")


def main():
    if sys.argv[1] == "quantize":
        return quantize(*sys.argv[2:])
    kind, folder, threads, work, row_tokens = sys.argv[1:]
    answers = sys.stdout
    sys.stdout = sys.stderr
    if kind in ("genai", "genai-int4"):
        generate = genai_generator(folder, int(threads), work, "int4" if kind == "genai-int4" else "fp32")
    elif kind == "llamacpp":
        generate = llamacpp_generator(int(threads), work, int(row_tokens))
    else:
        generate = transformers_generator(kind, folder, int(threads))
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        started, processor = time.perf_counter(), time.process_time()
        tokens = generate(**request)
        seconds = time.perf_counter() - started
        spent = time.process_time() - processor
        print(json.dumps({"seconds": seconds, "processorSeconds": spent, "tokens": tokens}), file=answers, flush=True)


main()
