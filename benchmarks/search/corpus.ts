import { once } from "node:events";
import { createWriteStream, globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
/** Words of a passage, as in the Wikipedia that Search-R1 searches. */
const length = 100;
/**
 * One word in five is a rare one, which no text of a few hundred pages has: in English, the words after the 5,000 most frequent. They are
 * made up, and their frequency falls with their rank (Zipf).
 */
const rareShare = 0.2;
const [firstRare, lastRare] = [5_000, 400_000];

/** Numbers from 0 to 1 by a fixed seed (mulberry32). */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Words as often as this repository's documents have them, and rare ones. */
function wordsBy(draw: () => number): () => string {
  const files = ["README.md", "CHANGELOG.md", ...globSync("docs/**/*.md", { cwd: root })].sort();
  const text = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return () => {
    if (draw() < rareShare)
      return `q${Math.floor(firstRare * (lastRare / firstRare) ** draw()).toString(36)}x`;
    return words[Math.floor(draw() * words.length)] ?? "";
  };
}

/** Writes passages, one a line, and gives so many queries: a question's beginning and some words of a passage. */
export async function writeCorpus(path: string, count: number, queries: number): Promise<string[]> {
  const draw = drawing(1);
  const word = wordsBy(draw);
  const file = createWriteStream(path);
  const asked: string[] = [];
  for (let number = 0; number < count; number++) {
    const words = Array.from({ length }, word);
    const contents = `"${words.slice(0, 3).join(" ")}"\n${words.join(" ")}`;
    if (!file.write(`${JSON.stringify({ id: String(number), contents })}\n`)) await once(file, "drain");
    if (number % Math.ceil(count / queries) === 0) asked.push(`what is the ${words.slice(40, 46).join(" ")}`);
  }
  file.end();
  await once(file, "finish");
  return asked;
}
