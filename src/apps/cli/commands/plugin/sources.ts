import type { PluginManifest } from "../../../../contracts/generated/plugin.ts";

type Kind = PluginManifest["kind"];

/** The module that a new plugin begins with, and what its test tries it with; `{name}` is its name. */
export const sources: Record<Kind, { source: string; checked: string }> = {
  tool: {
    source: `import { defineTool } from "everturn/plugin";

const metres = { m: 1, km: 1000, mi: 1609.344 };

export default defineTool({
  name: "{name}",
  description: "Converts a length between metres, kilometres and miles.",
  parameters: {
    type: "object",
    additionalProperties: false,
    required: ["value", "from", "to"],
    properties: {
      value: { type: "number" },
      from: { enum: ["m", "km", "mi"] },
      to: { enum: ["m", "km", "mi"] },
    },
  },
  execute({ value, from, to }) {
    return String((value * metres[from]) / metres[to]);
  },
});
`,
    checked: '{ cases: [{ arguments: { value: 3, from: "km", to: "m" }, text: "3000" }] }',
  },
  reward: {
    source: `import { defineReward } from "everturn/plugin";

export default defineReward({
  pure: true, // it only computes
  score({ answer, task }) {
    const success = answer.trim() === task.reward_model.ground_truth;
    return { reward: success ? 1 : 0, success };
  },
});
`,
    checked: '{ cases: [{ answer: "42", reward: 1 }, { answer: "41", reward: 0 }] }',
  },
  dataset: {
    source: `import { defineDataset } from "everturn/plugin";

export default defineDataset({
  load: () =>
    [1, 2, 3].map((km) => ({
      data_source: "{name}",
      prompt: [{ role: "user", content: \`How many metres are \${km} km?\` }],
      reward_model: { ground_truth: String(km * 1000) },
    })),
});
`,
    checked: "{}",
  },
  loop: {
    source: `import { defineLoop } from "everturn/workflow";

/** One look at a tool, then the answer. The module becomes workflow code: it imports nothing of Node's. */
export default defineLoop({
  async turn({ turn, generate, callTool, append }) {
    const { text, finishReason } = await generate();
    if (finishReason === "length") return "token-limit";
    const call = /<tool_call>\\s*\\{\\s*"name":\\s*"(\\w+)"/.exec(text);
    if (call?.[1] === undefined || turn > 1) return "answered";
    append([await callTool({ name: call[1], arguments: {} })]);
    return "continue";
  },
});
`,
    checked: '{ cases: [{ actions: ["It is 42."], outcome: "answered" }] }',
  },
  loss: {
    source: `import { defineLoss, mul, negate } from "everturn/engine";

/** REINFORCE: the logarithm of each token's probability, times its advantage. */
export default defineLoss({
  loss: ({ logProbabilities, advantages }) => negate(mul(advantages, logProbabilities)),
});
`,
    checked: "{}",
  },
  policy: {
    source: `import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definePolicy, type Message } from "everturn/engine";

const encode = (text: string) => [...Buffer.from(text)];
const textOf = (messages: Message[]) => messages.map(({ role, content }) => \`\${role}: \${content}\\n\`).join("");

/** Writes bytes by chance, each as likely as any other: a place to begin. */
export default definePolicy({
  async initialize(folder) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.json"), JSON.stringify({ vocab_size: 256 }));
  },
  async open() {
    const framed = (messages: Message[]) => ({ text: textOf(messages), tokens: encode(textOf(messages)) });
    return {
      framePrompt: framed,
      frameObservation: framed,
      frameDemonstration(messages) {
        const parts = messages.map((message) => ({ message, tokens: encode(textOf([message])) }));
        return {
          tokens: parts.flatMap(({ tokens }) => tokens),
          mask: parts.flatMap(({ message, tokens }) => tokens.map(() => (message.role === "assistant" ? 1 : 0))),
        };
      },
      isLoaded: () => true,
      load: async () => {},
      async generate({ key, sampling }) {
        const drawn = createHash("sha256").update(JSON.stringify(key)).digest();
        const tokens = [...drawn.subarray(0, Math.min(sampling.maxTokens, 8))];
        const logprobs = tokens.map(() => Math.log(1 / 256));
        const text = Buffer.from(tokens).toString("latin1");
        return { tokens, logprobs, temperedLogprobs: logprobs, samplingLogprobs: logprobs, text, finishReason: "length" };
      },
      close: async () => {},
    };
  },
});
`,
    checked: "{}",
  },
  tracker: {
    source: `import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineTracker } from "everturn/plugin";

/** A line of JSON for each step and evaluation, in the run's folder. */
export default defineTracker({
  capabilities: { files: true },
  open(_config, { folder }) {
    const file = join(folder, "{name}.jsonl");
    return {
      log: ({ step, values }) => appendFileSync(file, JSON.stringify({ step, ...values }) + "\\n"),
      close() {},
    };
  },
});
`,
    checked: "{}",
  },
  trainer: {
    source: `import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTrainer } from "everturn/engine";

/** Counts its steps and leaves the policy as it is: a place to begin. */
export default defineTrainer({
  async open(folders) {
    let steps = folders.state === undefined ? 0 : Number(readFileSync(join(folders.state, "steps"), "utf8"));
    const still = { gradientNorm: 0, learningRate: 0 };
    return {
      supervisedStep: async () => ({ loss: 0, ...still }),
      async policyGradientStep() {
        steps += 1;
        return { ...still, policyLoss: 0, approximateKl: 0, entropy: 0, clipFraction: 0, logprobGap: 0 };
      },
      async save(policy, state) {
        cpSync(folders.policy, policy, { recursive: true });
        mkdirSync(state, { recursive: true });
        writeFileSync(join(state, "steps"), String(steps));
      },
      close: async () => {},
    };
  },
});
`,
    checked: "{}",
  },
};
