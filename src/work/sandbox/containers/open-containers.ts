import { messageOf } from "../../../base/errors/message-of.ts";
import { limitsOf } from "../limits.ts";
import { openSessions } from "../open-sessions.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { ContainerOptions, Containers } from "./container.ts";
import { type ContainerKind, openContainerSession } from "./container-session.ts";
import { workingFolder } from "./scripts.ts";

/** A kind of containers on this machine. */
interface Opening extends ContainerKind {
  boundary: string;
  limits: Partial<SandboxLimits> | undefined;
  /** Cleans up after all sessions are closed. */
  close(): void;
}

/** Returns containers after a program has run in one of them, or the reason why none runs. */
export async function openContainersOf({
  limits,
  boundary,
  close: closeKind,
  ...kind
}: Opening): Promise<Containers | { missing: string }> {
  const sessions = openSessions((options: ContainerOptions) =>
    openContainerSession(kind, limitsOf(limits, options.limits), options),
  );
  const containers: Containers = {
    kind: kind.kind,
    languages: kind.languages,
    boundary,
    open: (options = {}) => sessions.open(options),
    close: async () => {
      await sessions.close();
      closeKind();
    },
  };
  const reason = await refusal(containers);
  if (reason === undefined) return containers;
  await containers.close();
  return { missing: `it does not start here (${reason})` };
}

/** Returns the reason why no program runs. Undefined if one does. */
async function refusal(containers: Containers): Promise<string | undefined> {
  try {
    const session = await containers.open();
    await session.write({ trial: "42" });
    const { outcome, stdout, stderr } = await session.run({ language: "shell", code: "cat trial" });
    await session.close();
    return stdout === "42" ? undefined : `${outcome} in ${workingFolder}: ${stderr.trim()}`;
  } catch (error) {
    return messageOf(error);
  }
}
