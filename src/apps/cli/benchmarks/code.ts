import { type Benchmark, textOf, textsOf } from "./benchmark.ts";

export const humaneval: Benchmark = {
  description: "HumanEval, Python functions (Chen et al., 2021): task_id, prompt, entry_point, test",
  reward: "reward-code-tests with credit: all",
  task(row) {
    const [prompt, entry, test] = [textOf(row, "prompt"), textOf(row, "entry_point"), textOf(row, "test")];
    if (prompt === undefined || entry === undefined || test === undefined) return undefined;
    const content = `Complete this Python function. Answer with the whole function in a block of code.\n\n\`\`\`python\n${prompt.trimEnd()}\n\`\`\``;
    return {
      data_source: "humaneval",
      prompt: [{ role: "user", content }],
      ability: "code",
      reward_model: { ground_truth: JSON.stringify({ prompt, entry_point: entry, test }) },
      extra_info: { id: textOf(row, "task_id") ?? entry },
    };
  },
};

export const mbpp: Benchmark = {
  description:
    "MBPP and its sanitized part (Austin et al., 2021): text or prompt, test_list, test_setup_code or test_imports",
  reward: "reward-code-tests with credit: all",
  task(row) {
    const [asked, tests] = [textOf(row, "text", "prompt"), textsOf(row, "test_list")];
    if (asked === undefined || tests === undefined) return undefined;
    const setup = textOf(row, "test_setup_code") ?? (textsOf(row, "test_imports") ?? []).join("\n");
    const content = `${asked} Your code should pass these tests:\n\n\`\`\`python\n${tests.join("\n")}\n\`\`\`\n\nAnswer with Python in a block of code.`;
    return {
      data_source: "mbpp",
      prompt: [{ role: "user", content }],
      ability: "code",
      reward_model: { ground_truth: JSON.stringify({ test_list: tests, test_setup_code: setup }) },
      extra_info: { id: textOf(row, "task_id") ?? "" },
    };
  },
};
