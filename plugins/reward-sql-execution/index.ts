import type { JsonObject, RewardPlugin, Score, Task } from "everturn/plugin";
import {
  type DatabaseSource,
  endsOrdered,
  namedDatabase,
  openDatabases,
  type QueryOutcome,
} from "everturn/sql";
import { sameResult } from "./compare.ts";
import { queryOfAnswer, queryOfLastCall } from "./given-query.ts";

const databases = openDatabases({ modules: import.meta.url });

/** The maximum bytes of a result to read, which is more than any gold query's. */
const bytes = 32 * 2 ** 20;

/**
 * Reward 1 if the result of the given query equals that of the gold query in the task's
 * `reward_model.ground_truth`, else 0. The metrics give the reason: `missing` (no query), `refused`,
 * `failed`, `stopped` at a limit, `different`. If the gold query has no result, the score is missing.
 */
const sqlExecution: RewardPlugin = {
  async score({ task, answer, turns, config, signal }) {
    const given =
      config.query === "last-call" ? queryOfLastCall(turns, String(config.tool)) : queryOfAnswer(answer);
    if (given === undefined) return wrong("missing");
    const source = namedDatabase(config, task);
    const limits = limitsOf(config);
    const gold = task.reward_model.ground_truth;
    const expected = await databases.query(source, gold, { limits, signal });
    if (expected.kind !== "rows" || expected.more !== undefined)
      return { missing: `the gold query ${gold} ${goldReason(expected)}` };
    const outcome = await databases.query(source, given, { limits, signal });
    if (outcome.kind !== "rows") return wrong(reasons[outcome.kind]);
    const comparison = {
      ordered: isOrdered(config, task, source.engine),
      columns: config.columns === "any" ? ("any" as const) : ("same" as const),
      tolerance: typeof config.tolerance === "number" ? config.tolerance : 1e-6,
    };
    if (outcome.more !== undefined || !sameResult(expected, outcome, comparison)) return wrong("different");
    return { reward: 1, success: true, metrics: right };
  },
};

export default sqlExecution;

type Reason = "missing" | "refused" | "failed" | "stopped" | "different";

const right: Record<Reason, number> = { missing: 0, refused: 0, failed: 0, stopped: 0, different: 0 };

const reasons: Record<Exclude<QueryOutcome["kind"], "rows">, Reason> = {
  changed: "refused",
  refused: "refused",
  failed: "failed",
  "time-limit": "stopped",
  "memory-limit": "stopped",
  ended: "stopped",
};

function wrong(reason: Reason): Score {
  return { reward: 0, success: false, metrics: { ...right, [reason]: 1 } };
}

function goldReason(outcome: QueryOutcome): string {
  if (outcome.kind === "rows") return "has more rows than limits.rows: raise it, or ask for fewer";
  return outcome.kind === "changed" ? "is no query" : `has no result: ${outcome.message}`;
}

function isOrdered(config: JsonObject, task: Task, engine: DatabaseSource["engine"]): boolean {
  if (config.order === "never") return false;
  if (config.order === "gold") return endsOrdered(task.reward_model.ground_truth, engine);
  return task.extra_info?.ordered === true;
}

function limitsOf({ limits }: JsonObject) {
  const given = typeof limits === "object" && limits !== null && !Array.isArray(limits) ? limits : {};
  const { seconds = 10, rows = 20_000, memory = 512 } = given;
  return { seconds: Number(seconds), rows: Number(rows), memory: Number(memory), bytes };
}
