import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hashOf } from "./check-store.ts";

/** Where two runs of the same seed are not the same, bit for bit: heads of trajectories, weights of versions. */
export function differences(root: string, reference: string): string[] {
  const [ours, theirs] = [contents(root), contents(reference)];
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
function contents(root: string): Map<string, string> {
  const found = new Map<string, string>();
  const trajectories = join(root, "trajectories");
  for (const name of readdirSync(trajectories, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith("/trajectory.json")) continue;
    const { head, outcome, reward } = JSON.parse(readFileSync(join(trajectories, name), "utf8")).value;
    found.set(`trajectories/${name}`, JSON.stringify({ head, outcome, reward }));
  }
  for (const tree of ["initial", ...below(root, "warm-start"), ...below(root, "steps")]) {
    for (const attempt of existsSync(join(root, tree)) ? readdirSync(join(root, tree)) : []) {
      const weights = join(root, tree, attempt, "policy", "model.safetensors");
      if (existsSync(weights)) found.set(tree, hashOf(readFileSync(weights)));
    }
  }
  return found;
}
