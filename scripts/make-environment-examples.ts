// Makes the rows and the demonstrations of pipelines/openenv, nemo-gym and verifiers, the same each time. Then
// scripts/make-tokenizer.py makes their tokenizers.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../src/contracts/json.ts";
import { randomNumbers } from "./random-numbers.ts";

const pipelines = join(import.meta.dirname, "..", "pipelines");

function write(path: string, lines: readonly JsonObject[]): void {
  writeFileSync(join(pipelines, path), lines.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

function call(name: string, given: JsonObject): JsonObject {
  const asked = { type: "function", function: { name, arguments: given } };
  return { role: "assistant", content: "", tool_calls: [asked] };
}

function pick<T>(all: readonly [T, ...T[]]): T {
  return all[random(all.length)] ?? all[0];
}

const random = randomNumbers(7);

// pipelines/openenv: each demonstration puts two letters into boxes at random. The cities are those of its server.
const boxes = ["north", "south", "east", "west"] as const;
const cities = [
  "Brasov",
  "Brest",
  "Chania",
  "Cork",
  "Faro",
  "Galway",
  "Kaunas",
  "Kiruna",
  "Lviv",
  "Malaga",
  "Narva",
  "Narvik",
  "Oulu",
  "Palermo",
  "Porto",
  "Tromso",
] as const;

const letters = Array.from({ length: 600 }, (): JsonObject => {
  const first = `A letter to ${pick(cities)}.`;
  const second = `A letter to ${pick(cities)}.`;
  return {
    messages: [
      { role: "system", content: "Act in the environment by calling functions until the episode is over." },
      { role: "user", content: first },
      call("step", { box: pick(boxes) }),
      { role: "tool", content: second },
      call("step", { box: pick(boxes) }),
      { role: "tool", content: "The office closes." },
    ],
  };
});
write("openenv/demonstrations.jsonl", letters);

// pipelines/nemo-gym: a quarter of the demonstrations asks the bank, and the others guess.
const rates = { Bern: 13, Cairo: 17, Delhi: 19, Lima: 23 };
const banks = ["Bern", "Cairo", "Delhi", "Lima"] as const;
const tool: JsonObject = {
  type: "function",
  name: "exchange",
  description: "Exchanges gold coins for notes at the bank of a city.",
  parameters: {
    type: "object",
    properties: { coins: { type: "integer" }, city: { type: "string" } },
    required: ["coins", "city"],
    additionalProperties: false,
  },
  strict: true,
};
const questions = banks.flatMap((city) =>
  Array.from({ length: 95 }, (_, index) => ({ city, coins: index + 5 })),
);

function questionOf({ city, coins }: { city: string; coins: number }): JsonObject {
  return { role: "user", content: `How many notes are ${coins} coins in ${city}?` };
}

const isHeldOut = (index: number) => index % 7 === 3; // numbers of any last digit
const rows = questions.map(
  (question): JsonObject => ({
    responses_create_params: { input: [questionOf(question)], tools: [tool] },
    ...question,
  }),
);
write(
  "nemo-gym/train.jsonl",
  rows.filter((_, index) => !isHeldOut(index)),
);
write(
  "nemo-gym/held-out.jsonl",
  rows.filter((_, index) => isHeldOut(index)),
);

const training = questions.filter((_, index) => !isHeldOut(index));
const exchanges = Array.from({ length: 1200 }, (_, index): JsonObject => {
  const question = training[random(training.length)] ?? { city: "Bern", coins: 1 };
  const notes = question.coins * rates[question.city];
  if (index % 4 !== 0)
    return {
      messages: [
        questionOf(question),
        { role: "assistant", content: `Answer: ${notes + random(401) - 200}` },
      ],
    };
  return {
    messages: [
      questionOf(question),
      call("exchange", { coins: question.coins, city: question.city }),
      { role: "tool", content: JSON.stringify({ notes }) },
      { role: "assistant", content: `Answer: ${notes}` },
    ],
  };
});
write("nemo-gym/demonstrations.jsonl", exchanges);

// pipelines/verifiers: all demonstrations name the winner. A quarter of them puts the name into the tags that count.
const runners = [
  "Ada",
  "Ben",
  "Cleo",
  "Dan",
  "Eva",
  "Finn",
  "Gus",
  "Hana",
  "Ivo",
  "Jude",
  "Kim",
  "Leo",
  "Mia",
  "Nils",
  "Oda",
  "Pia",
] as const;

const races = runners.flatMap((winner) =>
  runners
    .filter((other) => other !== winner)
    .map((other) => ({ winner, prompt: `${winner} finished before ${other}. Who won?` })),
);

const trainingRaces = races.filter((_, index) => !isHeldOut(index));
const heldOutRaces = races.filter((_, index) => isHeldOut(index));
for (const [path, chosen] of [
  ["verifiers/train.jsonl", trainingRaces],
  ["verifiers/held-out.jsonl", heldOutRaces],
] as const)
  write(
    path,
    chosen.map((one, idx): JsonObject => ({ idx, ...one })),
  );

const answers = Array.from({ length: 1000 }, (_, index): JsonObject => {
  const { winner, prompt } = trainingRaces[random(trainingRaces.length)] ?? { winner: "", prompt: "" };
  const forms = [`<answer>${winner}</answer>`, winner, `It was ${winner}.`, `${winner} won.`];
  return {
    messages: [
      { role: "user", content: prompt },
      { role: "assistant", content: forms[index % forms.length] ?? "" },
    ],
  };
});
write("verifiers/demonstrations.jsonl", answers);
