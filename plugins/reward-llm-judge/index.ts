import type { RewardPlugin } from "everturn/plugin";
import { judgement } from "./ask.ts";
import { cached } from "./cache.ts";
import { requestOf } from "./request.ts";

/**
 * Rewards the points of a judging model, as a share of the possible points. The same trajectory is judged
 * once per model, rubric and settings. If a judge does not answer, or not in the requested form, the request
 * is repeated. If it refuses, the score is missing.
 */
const judge: RewardPlugin = {
  async score(request) {
    const { config, signal } = request;
    const [from, to] = [Number(config.from), Number(config.to)];
    const asked = requestOf(request, { from, to });
    const place = { url: String(config.url), key: keyOf(config.key) };
    const found = await cached(config.cache, { url: place.url, asked }, () =>
      judgement(place, asked, { from, to }, signal),
    );
    if ("refused" in found) return { missing: `the judge refused: ${found.refused}` };
    const { points } = found;
    const solvedFrom = typeof config.solvedFrom === "number" ? config.solvedFrom : to;
    return { reward: (points - from) / (to - from), success: points >= solvedFrom, metrics: { points } };
  },
  check({ from, to }) {
    if (Number(from) < Number(to)) return [];
    const reason = `is ${Number(from)}, but there are points up to ${Number(to)} alone`;
    return [{ key: "from", reason, help: "Set `from` below `to`." }];
  },
};

export default judge;

function keyOf(name: unknown): string | undefined {
  if (typeof name !== "string") return undefined;
  const key = process.env[name];
  if (key === undefined || key === "") throw new Error(`the worker has no environment variable ${name}`);
  return key;
}
