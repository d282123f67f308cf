import { sharedPromises } from "../../base/async/shared-promises.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { openApptainer } from "./containers/apptainer/apptainer.ts";
import type { Containers, ContainerWish } from "./containers/container.ts";
import { openDaytona } from "./containers/daytona/daytona.ts";
import { openEngine } from "./containers/engines.ts";
import { openBubblewrapImage } from "./containers/image/bubblewrap-image.ts";
import type { SandboxLimits } from "./sandbox.ts";

type Open = (
  wish: ContainerWish,
  limits: Partial<SandboxLimits> | undefined,
) => Promise<Containers | { missing: string }>;

/** The kinds of containers. */
export const containerKinds: Record<string, Open> = {
  podman: openEngine,
  docker: openEngine,
  apptainer: openApptainer,
  daytona: openDaytona,
  bubblewrap: openBubblewrapImage,
};

/**
 * Opens containers of an image, and runs a program in one as a test. `limits` are the default limits of their sessions.
 * Throws SANDBOX_MISSING with what to install, and SANDBOX_UNKNOWN for an unknown kind.
 */
export async function openContainers(
  wish: ContainerWish,
  limits?: Partial<SandboxLimits>,
): Promise<Containers> {
  const open = containerKinds[wish.kind];
  if (open === undefined)
    throw new EverturnError("SANDBOX_UNKNOWN", {
      wish: wish.kind,
      kinds: Object.keys(containerKinds)
        .map((kind) => `{ kind: ${kind}, image: … }`)
        .join(", "),
    });
  const opened = await open(wish, limits);
  if (!("missing" in opened)) return opened;
  throw new EverturnError("SANDBOX_MISSING", {
    wish: `${wish.kind} ${wish.image}`,
    reasons: `${wish.kind}: ${opened.missing}`,
  });
}

/** The containers that plugins of this thread have opened, by image and settings. */
const shared = sharedPromises<Containers>();

/**
 * Opens containers once per thread. After a failure, the next caller tries again. Throws the errors of
 * `openContainers`.
 */
export function sharedContainers(wish: ContainerWish): Promise<Containers> {
  return shared.get(JSON.stringify(Object.entries(wish).sort()), () => openContainers(wish));
}
