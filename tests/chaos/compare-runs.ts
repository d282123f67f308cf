import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readJournal } from "./journal.ts";
import { hashOf } from "./read-files.ts";

/** Where two runs of the same seed are not the same, bit for bit: heads of trajectories, weights of versions. */
export async function differences(root: string, reference: string): Promise<string[]> {
  const [ours, theirs] = [await contents(root), await contents(reference)];
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].sort();
  return names.filter((name) => ours.get(name) !== theirs.get(name));
}

/** Where versions that a step, or a slice of the warm start, made lie. */
function below(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  const names = readdirSync(join(root, folder)).filter((name) => /^\d+$/.test(name));
  return names.map((name) => join(folder, name, ...(folder === "steps" ? ["trained"] : [])));
}

/** The head of each trajectory and the SHA-256 of each version's weights, by name. */
async function contents(root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [name, { ending }] of (await readJournal(root)).trajectories) {
    if (ending?.outcome !== "left-out") found.set(`trajectories/${name}`, JSON.stringify(ending));
  }
  for (const tree of ["initial", ...below(root, "warm-start"), ...below(root, "steps")]) {
    for (const attempt of existsSync(join(root, tree)) ? readdirSync(join(root, tree)) : []) {
      const weights = join(root, tree, attempt, "policy", "model.safetensors");
      if (existsSync(weights)) found.set(tree, hashOf(readFileSync(weights)));
    }
  }
  return found;
}
