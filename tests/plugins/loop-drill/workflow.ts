import type { AgentLoop } from "everturn/workflow";

/** What the tools that hold something are asked for in a turn: each adds to what it has from the turns before. */
const adding: Record<string, (turn: number) => Record<string, string | number>> = {
  session: (turn) => ({ variable: "turns", add: turn }),
  code: (turn) => ({ code: `turns = globals().get("turns", 0) + ${turn}; print(turns)` }),
  sql: (turn) => ({ query: `UPDATE turns SET turns = turns + ${turn} RETURNING turns` }),
  run: (turn) => ({ command: `seq ${turn} >> turns; wc -l < turns` }),
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
