import { killProcess, type ToolPlugin } from "everturn/plugin";
import { type Sandbox, type SandboxSession, sharedSandbox } from "everturn/sandbox";
import { filesOf, limitsOf } from "./config.ts";
import { observationOf } from "./observation.ts";

interface Place {
  sandbox: Sandbox;
  session: SandboxSession;
}

/** Runs the model's programs in the trajectory's own sandbox. A program's failure becomes an observation. */
const codeTool: ToolPlugin<Place> = {
  async create({ instance, task, config, environment, hold, signal }) {
    const sandbox = await sharedSandbox(config.sandbox, { modules: import.meta.url });
    const labels = { trajectory: instance };
    const session = await sandbox.open({ limits: limitsOf(config), environment, labels, hold, signal });
    await session.write(filesOf(task));
    return { sandbox, session };
  },
  async execute({ code, language }, { config, signal }, { sandbox, session }) {
    const wished = language ?? config.language;
    const known = sandbox.languages.find((one) => one === wished);
    if (known === undefined)
      return { text: `error: ${wished} can't be run here, but ${sandbox.languages.join(", ")}`, error: true };
    const program = { language: known, code: String(code), keep: config.keep === true };
    return observationOf(await session.run(program, { signal }), limitsOf(config));
  },
  release: ({ session }) => session.close(),
  reap: (handle) => killProcess(handle),
  probe: async (config) => void (await sharedSandbox(config.sandbox, { modules: import.meta.url })),
};

export default codeTool;
