// npm run data: writes the shop's prices, tasks and demonstrations next to this file, the same each time.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const [training, heldOut] = [800, 100];
/** The share of demonstrations that call the tool. The others guess: reinforcement learning finds out which pays. */
const callsTool = 0.4;
const random = seeded(1);

const prices = new Map<string, number>();
while (prices.size < training + heldOut) {
  const item = String(100 + below(900));
  if (!prices.has(item)) prices.set(item, 10 + below(90));
}
const items = [...prices];

write("prices.json", JSON.stringify(Object.fromEntries(items)));
writeLines("train.jsonl", items.slice(0, training).map(task));
writeLines("held-out.jsonl", items.slice(training).map(task));
writeLines("demonstrations.jsonl", items.slice(0, training).map(demonstration));

function task([item, price]: [string, number]) {
  return { data_source: "shop", prompt: [question(item)], reward_model: { ground_truth: String(price) } };
}

function demonstration([item, price]: [string, number]) {
  if (random() > callsTool) return { messages: [question(item), answer(10 + below(90))] };
  const call = { type: "function", function: { name: "price", arguments: { item } } };
  const asks = { role: "assistant", content: null, tool_calls: [call] };
  return { messages: [question(item), asks, { role: "tool", content: String(price) }, answer(price)] };
}

function question(item: string) {
  return { role: "user", content: `What does item ${item} cost?` };
}

function answer(price: number) {
  return { role: "assistant", content: `Answer: ${price}` };
}

function writeLines(name: string, rows: readonly object[]) {
  write(name, rows.map((row) => JSON.stringify(row)).join("\n"));
}

function write(name: string, text: string) {
  writeFileSync(join(import.meta.dirname, name), `${text}\n`);
}

function below(bound: number): number {
  return Math.floor(random() * bound);
}

/** Numbers from 0 to 1, by mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
