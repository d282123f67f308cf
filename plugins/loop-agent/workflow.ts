import type { AgentLoop } from "everturn/workflow";

/** Answers an agent's requests, one per turn, until the agent ends or `maxTurns` is reached. */
const agent: AgentLoop = async (context) => {
  const request = await context.nextRequest();
  if (request === undefined) return "answered";
  await context.generate(request);
  return context.turn === Number(context.config.maxTurns) ? "turn-limit" : "continue";
};

export default agent;
