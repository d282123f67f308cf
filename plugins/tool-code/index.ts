import { type JsonObject, killProcess, type ToolPlugin } from "everturn/plugin";
import { openSandbox, type Sandbox, type SandboxSession } from "everturn/sandbox";
import { filesOf, limitsOf } from "./config.ts";
import { observationOf } from "./observation.ts";

interface Place {
  sandbox: Sandbox;
  session: SandboxSession;
}

/** The sandboxes that pipelines wish, opened once in a thread; trajectories have sessions in them. */
const sandboxes = new Map<string, Promise<Sandbox>>();

/** Runs what the model wrote in a sandbox of the trajectory's own. What a program did wrong is an observation. */
const code: ToolPlugin<Place> = {
  async create({ task, config, environment, hold, signal }) {
    const sandbox = await sandboxOf(config);
    const session = await sandbox.open({ limits: limitsOf(config), environment, hold, signal });
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
  probe: async (config) => void (await sandboxOf(config)),
};

export default code;

function sandboxOf({ sandbox }: JsonObject): Promise<Sandbox> {
  const kind = String(sandbox);
  const opened = sandboxes.get(kind) ?? openSandbox(kind, { modules: import.meta.url });
  sandboxes.set(kind, opened);
  opened.catch(() => sandboxes.delete(kind)); // tried again with the next trajectory
  return opened;
}
