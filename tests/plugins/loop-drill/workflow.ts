import type { AgentLoop } from "everturn/workflow";

/** Calls every tool after each action, whatever the policy said, so that an untrained policy exercises them all. */
const drill: AgentLoop = async (context) => {
  const action = await context.generate();
  if (context.turn === Number(context.config.turns)) return "answered";
  const text = action.text.slice(0, 4);
  const calls = context.tools.map(({ name }) =>
    context.callTool({
      name,
      arguments: name === "session" ? { variable: "turns", add: context.turn } : { text },
    }),
  );
  context.append(await Promise.all(calls));
  return "continue";
};

export default drill;
