import { appendFileSync } from "node:fs";
import calculator from "@everturn/tool-calculator";
import type { ToolPlugin } from "everturn/plugin";

/** The calculator, with a side effect that can be counted: a line in a log for each execution. */
const plugin: ToolPlugin = {
  execute: (parameters, execution) => {
    appendFileSync(String(execution.config.log), `${execution.key}\n`);
    return calculator.execute(parameters, execution, undefined);
  },
};

export default plugin;
