import type { ToolPlugin } from "everturn/plugin";

/** Returns a person's answer. Where nobody can be asked, as in a trial by hand, it reports that. */
const ask: ToolPlugin = {
  execute: (_, { answer = "Nobody is there to be asked." }) => ({ text: answer }),
};

export default ask;
