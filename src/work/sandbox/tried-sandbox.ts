import { messageOf } from "../../base/errors/message-of.ts";
import { limitsOf } from "./limits.ts";
import type { Language, Sandbox, SandboxLimits, SandboxSession, SessionOptions } from "./sandbox.ts";

/** How to open sessions. */
interface Opening {
  kind: string;
  languages: readonly Language[];
  boundary: string;
  /** The default limits of sessions. */
  limits: Partial<SandboxLimits> | undefined;
  open(limits: SandboxLimits, options: SessionOptions): Promise<SandboxSession> | SandboxSession;
  /** Cleans up after all sessions are closed. */
  close?(): Promise<void> | void;
}

/** Returns a sandbox after a program has run in it, or the reason why none runs. */
export async function triedSandbox({
  limits,
  open,
  close,
  ...rest
}: Opening): Promise<Sandbox | { missing: string }> {
  const sessions = new Set<SandboxSession>();
  const sandbox: Sandbox = {
    ...rest,
    async open(options = {}) {
      const session = await open(limitsOf(limits, options.limits), options);
      sessions.add(session);
      const closeSession = async () => {
        sessions.delete(session);
        await session.close();
      };
      return { ...session, close: closeSession };
    },
    close: async () => {
      await Promise.all([...sessions].map((session) => session.close()));
      await close?.();
    },
  };
  const reason = (await refusal(sandbox)) && (await refusal(sandbox)); // another process may have killed the first
  if (reason === undefined) return sandbox;
  await sandbox.close();
  return { missing: `it does not start here (${reason})` };
}

/** Returns the reason why no program runs in it. Undefined if one does. */
async function refusal(sandbox: Sandbox): Promise<string | undefined> {
  try {
    const session = await sandbox.open();
    const { outcome, value, stderr } = await session.run({ language: "python", code: "6 * 7" });
    await session.close();
    return value === "42" ? undefined : `${outcome}: ${stderr.trim()}`;
  } catch (error) {
    return messageOf(error);
  }
}
