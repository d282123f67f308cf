import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hashOf } from "./check-store.ts";

/** Where two runs of the same seed are not the same, bit for bit: heads of trajectories, weights of versions. */
export function differences(root: string, reference: string): string[] {
  const [ours, theirs] = [contents(root), contents(reference)];
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].sort();
  return names.filter((name) => ours.get(name) !== theirs.get(name));
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
  for (const version of readdirSync(join(root, "policies"))) {
    const weights = join(root, "policies", version, "model.safetensors");
    if (existsSync(weights)) found.set(`policies/${version}`, hashOf(readFileSync(weights)));
  }
  return found;
}
