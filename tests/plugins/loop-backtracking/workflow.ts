import { log } from "@temporalio/workflow";
import type { AgentLoop } from "everturn/workflow";

/** Looks for an answer with a regular expression that takes for ever on a long run of a's with no end. */
const backtracking: AgentLoop = async (context) => {
  const { text } = await context.generate();
  log.info("looks for an answer", { characters: text.length });
  return /^(a+)+$/.test(text) ? "answered" : "turn-limit";
};

export default backtracking;
