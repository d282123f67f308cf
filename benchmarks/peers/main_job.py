"""TRL's side of benchmarks/main-job.ts: GRPOTrainer with a calculator, one step each time a line comes on its input.

Takes a file of JSON with its settings (see `Settings` below). Answers each line with one line of JSON: the seconds of
the step and of its phases. Needs the packages of benchmarks/requirements.txt.
"""

import json
import os
import re
import sys
import time
from dataclasses import dataclass

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


@dataclass
class Settings:
    model: str  # folder in Hugging Face's formats
    tasks: list  # {"prompt": messages, "ground_truth": str}, step after step
    steps: int
    groupSize: int
    batchSize: int
    minibatchSize: int
    epochs: int
    klCoefficient: float
    maxActionTokens: int
    maxTurns: int
    temperature: float
    learningRate: float
    threads: int
    output: str
    chatTemplate: str | None = None
    lora: dict | None = None  # rank, alpha, targets


# Hermes' calls, as both chat templates write them; TRL knows response templates only of templates that it ships.
response_template = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": "<tool_call>",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}


def calculator(expression: str) -> str:
    """
    Evaluates an arithmetic expression exactly.

    Args:
        expression: Numbers, + - * / and parentheses, for example 74 + 50 - 47.
    """
    if not re.fullmatch(r"[-+*/(). \d]+", expression):
        return "error: not an arithmetic expression"
    try:
        return str(eval(expression, {"__builtins__": {}}))
    except (SyntaxError, ZeroDivisionError, TypeError) as error:
        return f"error: {error}"


def exact_match(completions, ground_truth, **_):
    def last_number(text):
        found = re.findall(r"[-+]?\d[\d,]*(?:\.\d+)?", text)
        return found[-1].replace(",", "").lstrip("+") if found else ""

    return [
        float(last_number(messages[-1]["content"] or "") == truth)
        for messages, truth in zip(completions, ground_truth, strict=True)
    ]


class Phases:
    """Adds up the seconds inside methods of the trainer."""

    def __init__(self):
        self.seconds = {}

    def wrap(self, trainer, method, name):
        inner = getattr(trainer, method)

        def timed(*args, **kwargs):
            started = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started

        setattr(trainer, method, timed)


class OnDemand(TrainerCallback):
    """Waits for a line before each batch, and answers when its optimizer steps are over."""

    def __init__(self, phases, optimizer_steps, out):
        self.phases, self.optimizer_steps, self.out = phases, optimizer_steps, out
        self.started, self.trainer = 0.0, None

    def on_step_begin(self, args, state, control, **kwargs):
        if state.global_step % self.optimizer_steps > 0:
            return
        if not sys.stdin.readline():
            sys.exit(0)
        self.phases.seconds.clear()
        self.started = time.perf_counter()

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % self.optimizer_steps > 0:
            return
        total = time.perf_counter() - self.started
        phases = self.phases.seconds
        metrics = self.trainer._metrics["train"]
        answer = {
            "total": total,
            "rollout": phases["rollout"],
            "generation": phases["generation"],
            "score": phases["score"],
            "train": total - phases["rollout"] - phases["score"],
            "completionTokens": metrics["completions/mean_length"][-1],
            "toolCalls": metrics["tools/call_frequency"][-1],
            "reward": metrics["reward"][-1],
        }
        print(json.dumps(answer), file=self.out, flush=True)


def main():
    settings = Settings(**json.loads(open(sys.argv[1]).read()))
    out, sys.stdout = sys.stdout, sys.stderr  # TRL and its parts may print
    torch.set_num_threads(settings.threads)
    torch.manual_seed(1)
    tokenizer = AutoTokenizer.from_pretrained(settings.model)
    if settings.chatTemplate is not None:
        tokenizer.chat_template = open(settings.chatTemplate).read()
    tokenizer.response_template = response_template
    model = AutoModelForCausalLM.from_pretrained(settings.model, dtype=torch.float32)
    peft_config = None
    if settings.lora is not None:
        from peft import LoraConfig

        peft_config = LoraConfig(
            r=settings.lora["rank"],
            lora_alpha=settings.lora["alpha"],
            target_modules=settings.lora["targets"],
            lora_dropout=0.0,
            task_type="CAUSAL_LM",
        )
    # 64 trajectories of SmolLM2-135M in one forward pass want more than 20 GB; the parts make up the whole minibatch.
    most = settings.minibatchSize if settings.lora is None else 16
    forward = max(part for part in range(1, most + 1) if settings.minibatchSize % part == 0)
    optimizer_steps = settings.epochs * settings.batchSize // settings.minibatchSize
    arguments = GRPOConfig(
        output_dir=settings.output,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=forward,
        gradient_accumulation_steps=settings.minibatchSize // forward,
        steps_per_generation=settings.batchSize // forward,
        num_iterations=settings.epochs,
        num_generations=settings.groupSize,
        max_completion_length=settings.maxTurns * settings.maxActionTokens + 64,
        max_tool_calling_iterations=settings.maxTurns - 1,
        temperature=settings.temperature,
        learning_rate=settings.learningRate,
        lr_scheduler_type="constant",
        optim="adamw_torch_fused",
        beta=settings.klCoefficient,
        max_steps=settings.steps * optimizer_steps,
        shuffle_dataset=False,
        logging_steps=10**9,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    phases = Phases()
    callback = OnDemand(phases, optimizer_steps, out)
    trainer = GRPOTrainer(
        model=model,
        args=arguments,
        processing_class=tokenizer,
        reward_funcs=exact_match,
        train_dataset=Dataset.from_list(settings.tasks),
        tools=[calculator],
        peft_config=peft_config,
        callbacks=[callback],
    )
    trainer.generation_config.max_new_tokens = settings.maxActionTokens  # of a turn, as on the other side
    callback.trainer = trainer
    phases.wrap(trainer, "_calculate_rewards", "score")
    phases.wrap(trainer, "_generate", "rollout")
    phases.wrap(trainer, "_generate_single_turn", "generation")
    print(json.dumps({"ready": True}), file=out, flush=True)
    trainer.train()


main()
