import { messageOf } from "../../base/errors/message-of.ts";
import { limitsOf } from "./limits.ts";
import { openSessions } from "./open-sessions.ts";
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
  const sessions = openSessions((options: SessionOptions) => open(limitsOf(limits, options.limits), options));
  const sandbox: Sandbox = {
    ...rest,
    open: (options = {}) => sessions.open(options),
    close: async () => {
      await sessions.close();
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
