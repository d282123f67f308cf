import type { AgentLoop } from "everturn/workflow";

/** Each turn generates and calls the tool; so many turns are a trajectory. */
const turns: AgentLoop = async (context) => {
  await context.generate();
  context.append([await context.callTool({ name: "wait", arguments: {} })]);
  return context.turn < Number(context.config.turns) ? "continue" : "answered";
};

export default turns;
