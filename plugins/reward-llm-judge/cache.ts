import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonValue } from "everturn/plugin";
import type { Judgement } from "./ask.ts";

/** Judgements in progress in this thread. */
const underWay = new Map<string, Promise<Judgement>>();

/**
 * Returns the cached judgement of a request, or asks for one and caches it. Concurrent equal requests are
 * judged once. An unreadable entry is judged again.
 */
export function cached(
  folder: unknown,
  asked: JsonValue,
  judge: () => Promise<Judgement>,
): Promise<Judgement> {
  const digest = createHash("sha256").update(JSON.stringify(asked)).digest("hex");
  const home = typeof folder === "string" ? folder : defaultFolder();
  const file = join(home, digest.slice(0, 2), `${digest}.json`);
  const known = underWay.get(file);
  if (known !== undefined) return known;
  const judging = keep(file, judge).finally(() => underWay.delete(file));
  underWay.set(file, judging);
  return judging;
}

async function keep(file: string, judge: () => Promise<Judgement>): Promise<Judgement> {
  const kept = await read(file);
  if (kept !== undefined) return kept;
  const judgement = await judge();
  const written = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(written, JSON.stringify(judgement));
    await rename(written, file); // the file is complete or absent
  } catch (error) {
    await rm(written, { force: true });
    throw error;
  }
  return judgement;
}

async function read(file: string): Promise<Judgement | undefined> {
  try {
    const kept = JSON.parse(await readFile(file, "utf8"));
    return Number.isInteger(kept.points) || typeof kept.refused === "string" ? kept : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || Object(error).code === "ENOENT") return undefined;
    throw error;
  }
}

function defaultFolder(): string {
  const { XDG_CACHE_HOME: cache = join(homedir(), ".cache") } = process.env;
  return join(cache, "everturn", "judgements");
}
