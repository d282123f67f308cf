// What framing costs beside generation, in a conversation that a tool answers at each turn; and what it would cost to render
// and encode the whole conversation again at each turn, as TRL does, with the same template and tokenizer. All in CPU time.
// node benchmarks/framing.ts [--shape small | --model FOLDER] [--turns 8,128] [--rounds 3] [--tokens 24] [--threads 1] [--json]
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Message } from "../src/contracts/message.ts";
import { formatModelConfig, readModelConfig } from "../src/engine/models/config/model-config-file.ts";
import { randomModelWeights } from "../src/engine/models/weights/random-weights.ts";
import { writeSafetensors } from "../src/engine/models/weights/safetensors.ts";
import { createSampler, type Sampler } from "../src/engine/sampling/sampler.ts";
import { compileChatTemplate } from "../src/engine/tokens/chat-template.ts";
import { createFraming } from "../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../src/engine/tokens/tokenizer.ts";
import { configs, median, shapes } from "./shapes.ts";

const { values } = parseArgs({
  options: {
    shape: { type: "string", default: "small" },
    model: { type: "string" },
    turns: { type: "string", default: "8,128" },
    rounds: { type: "string", default: "3" },
    tokens: { type: "string", default: "24" },
    threads: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const counts = values.turns.split(",").map(Number);
const shape = shapes.find((name) => name === values.shape) ?? "small";
const { model } = values;
const tokenizer = await loadTokenizer(
  model ?? join(import.meta.dirname, "../pipelines/calculator/tokenizer"),
);
const config = model
  ? await readModelConfig(join(model, "config.json"))
  : { ...configs[shape], vocab_size: tokenizer.vocabularySize, max_position_embeddings: 32_768 };
const tool = {
  name: "look",
  description: "Looks a thing up.",
  parameters: { type: "object", properties: { query: { type: "string", description: "what" } } },
};
const opening: Message[] = [
  { role: "system", content: "You look things up." },
  { role: "user", content: "How warm is it in Zürich?" },
];
const answerOf = (turn: number): Message => ({
  role: "tool",
  name: "look",
  content: `${turn}: 12 °C, rain. `.repeat(5),
});

/** Milliseconds of CPU time of each turn. */
interface Times {
  /** In a run: after an action was generated. */
  framed: number[];
  generated: number[];
  /** One turn's after the other, with nothing in between. */
  alone: number[];
  whole: number[];
}

const spent = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const milliseconds = (action: () => void) => {
  const start = spent();
  action();
  return spent() - start;
};

async function conversation(sampler: Sampler, turns: number, round: number): Promise<Times> {
  const framing = createFraming(tokenizer);
  const render = compileChatTemplate(tokenizer.chatTemplate, tokenizer.specialTokens);
  const chat = [...opening];
  const times: Times = { framed: [], generated: [], alone: [], whole: [] };
  const context: number[] = [];
  const frame = (turn: number) =>
    turn === 0 ? framing.framePrompt(opening, [tool]) : framing.frameObservation([answerOf(turn)]);
  for (let turn = 0; turn < turns; turn++) {
    const start = spent();
    const { tokens } = frame(turn);
    times.framed.push(spent() - start);
    context.push(...tokens);
    const before = spent();
    const sample = await sampler.generate({
      tokens: context,
      version: 0,
      sampling: { temperature: 1, maxTokens: Number(values.tokens) },
      key: { seed: round, trajectory: String(turns), turn },
    });
    times.generated.push(spent() - before);
    context.push(...sample.tokens, tokenizer.endOfTurn.id);
    chat.push({ role: "assistant", content: tokenizer.decode(sample.tokens) }, answerOf(turn + 1));
  }
  const before = (turn: number) => chat.slice(0, opening.length + 2 * turn);
  const sides = {
    alone: (turn: number) => frame(turn),
    whole: (turn: number) => tokenizer.encode(render(before(turn), [tool], true)),
  };
  const order = round % 2 === 0 ? (["alone", "whole"] as const) : (["whole", "alone"] as const);
  for (const side of order)
    for (let turn = 0; turn < turns; turn++) times[side].push(milliseconds(() => sides[side](turn)));
  return times;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const around = (numbers: readonly number[], turn: number) =>
  median(numbers.slice(Math.max(1, turn - 7), turn));
const spread = (numbers: readonly number[]) => ({ minimum: Math.min(...numbers), median: median(numbers) });
const percent = ({ minimum, median: middle }: { minimum: number; median: number }) =>
  `${(middle * 100).toFixed(2)} (${(minimum * 100).toFixed(2)}) %`;

const folder = await mkdtemp(join(tmpdir(), "everturn-framing-"));
if (model === undefined) {
  const tokens = { bos_token_id: null, eos_token_id: tokenizer.endOfTurn.id, pad_token_id: 0 };
  await writeFile(join(folder, "config.json"), formatModelConfig(config, tokens));
  await writeSafetensors(join(folder, "model.safetensors"), randomModelWeights(config, 1));
}
const policySampler = createSampler({
  config,
  slots: 1,
  stopTokens: [],
  threads: Number(values.threads),
  decode: (ids) => tokenizer.decode(ids),
});
await policySampler.load(0, model ?? folder);
await conversation(policySampler, 8, -1); // V8 compiles what it has seen often
const results = [];
for (const turns of counts) {
  const rounds: Times[] = [];
  for (let round = 0; round < Number(values.rounds); round++)
    rounds.push(await conversation(policySampler, turns, round));
  const share = (side: "framed" | "whole") =>
    spread(rounds.map((times) => sum(times[side]) / sum(times.generated)));
  const atTurn = (side: "framed" | "alone" | "whole") =>
    [8, 64, 128]
      .filter((turn) => turn <= turns)
      .map((turn) => ({ turn, ...spread(rounds.map((times) => around(times[side], turn))) }));
  results.push({
    turns,
    framing: { share: share("framed"), milliseconds: atTurn("framed") },
    alone: { milliseconds: atTurn("alone") },
    whole: { share: share("whole"), milliseconds: atTurn("whole") },
    generation: spread(rounds.map(({ generated }) => sum(generated) / 1000)),
  });
}
await policySampler.close();
await rm(folder, { recursive: true });
console.log(
  `${model ?? shape}, ${values.tokens} tokens an action; CPU time, the median of ${values.rounds} rounds (the least); load ${loadavg()[0]?.toFixed(1)}`,
);
for (const { turns, framing, alone, whole, generation } of results) {
  console.log(
    `${turns} turns, generation ${generation.median.toFixed(2)} (${generation.minimum.toFixed(2)}) s`,
  );
  const sides = { "framing in a run": framing, "framing alone": alone, "whole again": whole };
  for (const [name, side] of Object.entries(sides)) {
    const each = side.milliseconds.map(
      ({ turn, median: middle, minimum }) => `turn ${turn} ${middle.toFixed(2)} (${minimum.toFixed(2)}) ms`,
    );
    const share = "share" in side ? `${percent(side.share)} of generation` : "";
    console.log(`  ${name.padEnd(17)} ${share.padEnd(32)} ${each.join(", ")}`);
  }
}
if (values.json) console.log(JSON.stringify(results));
