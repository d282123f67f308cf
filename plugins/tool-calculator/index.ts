import type { ToolPlugin } from "everturn/plugin";
import { evaluate } from "./evaluate.ts";

/** Evaluates the expression that the model wrote; what it got wrong comes back as an observation. */
const calculator: ToolPlugin = {
  execute({ expression }) {
    const result = evaluate(String(expression));
    return "value" in result ? { text: result.value } : { text: `error: ${result.error}`, error: true };
  },
};

export default calculator;
