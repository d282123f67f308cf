import type { JsonObject, JsonValue, Score, ScoreRequest, Unscored } from "everturn/plugin";

/** How to send a trajectory to a server, and how to read its answer. */
export interface Form {
  bodyOf(request: ScoreRequest): JsonObject;
  /** Throws if the answer contains no score, because the server is broken then. */
  scoreOf(answered: JsonValue, solvedFrom: number): Score | Unscored;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a reward with the server's other values. Throws if the reward is not a number. */
export function scoreFrom(
  reward: JsonValue | undefined,
  said: { success?: JsonValue | undefined; metrics?: JsonValue | undefined },
  solvedFrom: number,
): Score {
  if (typeof reward !== "number") throw new Error(`the server's reward is ${shortened(reward)}, no number`);
  const { success, metrics } = said;
  const numbers = isObject(metrics)
    ? Object.entries(metrics).filter(([, value]) => typeof value === "number")
    : [];
  return {
    reward,
    success: typeof success === "boolean" ? success : reward >= solvedFrom,
    ...(numbers.length === 0
      ? {}
      : { metrics: Object.fromEntries(numbers.map(([name, value]) => [name, Number(value)])) }),
  };
}

function shortened(value: JsonValue | undefined): string {
  return value === undefined ? "not there" : JSON.stringify(value).slice(0, 80);
}
