import type { JsonObject, RewardPlugin, ToolCallRecord } from "everturn/plugin";

/**
 * Gives bonuses and penalties for a trajectory's calls, each in the turn that earned it. The trajectory is
 * solved if it made calls and none was wrong.
 */
const toolUse: RewardPlugin = {
  score({ turns, config }) {
    const marks = marksOf(config);
    const counts = { calls: 0, valid: 0, invalid: 0, repeated: 0, tooMany: 0 };
    const made = new Set<string>();
    const earned = turns.map(({ toolCalls }) => {
      let [sum, isUseful] = [0, false];
      for (const call of toolCalls.filter((one) => marks.counts(one))) {
        const isOver = ++counts.calls > marks.most;
        if (isOver) {
          counts.tooMany++;
          sum += marks.tooMany;
        }
        if (!call.valid) {
          counts.invalid++;
          sum += marks.invalid;
          continue;
        }
        if (++counts.valid === 1) sum += marks.called;
        const key = callText(call);
        if (made.has(key)) {
          counts.repeated++;
          sum += marks.repeated;
        } else if (!isOver) {
          isUseful = true;
          sum += marks.valid;
        }
        made.add(key);
      }
      return sum + (isUseful ? marks.turn : 0);
    });
    const inTurns = earned.reduce((total, turn) => total + turn, 0);
    const reward = inTurns + (counts.calls === 0 ? marks.none : 0);
    return { reward, success: counts.valid > 0 && counts.invalid === 0, metrics: counts, turns: earned };
  },
};

export default toolUse;

function marksOf(config: JsonObject) {
  const number = (name: string): number => Number(config[name] ?? 0);
  const { tools, most } = config;
  return {
    called: number("called"),
    turn: number("turn"),
    valid: number("valid"),
    invalid: number("invalid"),
    repeated: number("repeated"),
    tooMany: number("tooMany"),
    none: number("none"),
    most: typeof most === "number" ? most : Number.POSITIVE_INFINITY,
    counts: ({ tool, valid }: ToolCallRecord) => !Array.isArray(tools) || !valid || tools.includes(tool),
  };
}

/** A call as text, regardless of the order of its arguments. */
function callText({ tool, arguments: given }: ToolCallRecord): string {
  return JSON.stringify([tool, given], (_, value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}
