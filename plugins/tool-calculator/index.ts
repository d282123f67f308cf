import type { ToolPlugin } from "everturn/plugin";
import { evaluate } from "./evaluate.ts";

/** Evaluates the model's expression. A mistake in it becomes an observation. */
const calculator: ToolPlugin = {
  execute({ expression }) {
    const result = evaluate(String(expression));
    return "value" in result ? { text: result.value } : { text: `error: ${result.error}`, error: true };
  },
};

export default calculator;
