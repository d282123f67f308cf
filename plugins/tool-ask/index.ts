import type { ToolPlugin } from "everturn/plugin";

/** Tells what a person answered; where none can be asked, as in a trial by hand, that. */
const ask: ToolPlugin = {
  execute: (_, { answer = "Nobody is there to be asked." }) => ({ text: answer }),
};

export default ask;
