import { appendFileSync } from "node:fs";
import session from "../tool-session/index.ts";

/** The session tool, with a timed line for each execution that is no replay. */
const plugin: typeof session = {
  ...session,
  execute: (parameters, execution, state) => {
    const { key, config, isReplay } = execution;
    const line = { tool: "session", key, time: Date.now(), pid: process.pid };
    if (!isReplay) appendFileSync(String(config.calls), `${JSON.stringify(line)}\n`);
    return session.execute(parameters, execution, state);
  },
};

export default plugin;
