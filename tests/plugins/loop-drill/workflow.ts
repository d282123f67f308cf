import type { AgentLoop, JsonObject } from "everturn/workflow";

/** What tools are asked for in a turn. Those that hold something add to what they have from the turns before. */
const adding: Record<string, (turn: number) => JsonObject> = {
  session: (turn) => ({ variable: "turns", add: turn }),
  code: (turn) => ({ code: `turns = globals().get("turns", 0) + ${turn}; print(turns)` }),
  sql: (turn) => ({ query: `UPDATE turns SET turns = turns + ${turn} RETURNING turns` }),
  run: (turn) => ({ command: `seq ${turn} >> turns; wc -l < turns` }),
  zoom: (turn) => ({ image: turn, bbox_2d: [0, 0, 0.9, 0.9] }),
};

/** Calls every tool after each action, whatever the policy said, so that an untrained policy exercises them all. */
const drill: AgentLoop = async (context) => {
  const action = await context.generate();
  if (context.turn === Number(context.config.turns)) return "answered";
  const text = action.text.slice(0, 4);
  const calls = context.tools.map(({ name }) =>
    context.callTool({
      name,
      arguments: adding[name]?.(context.turn) ?? { text },
    }),
  );
  context.append(await Promise.all(calls));
  return "continue";
};

export default drill;
