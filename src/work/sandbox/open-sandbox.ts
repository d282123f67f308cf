import { sharedPromises } from "../../base/async/shared-promises.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { isObject, type JsonValue } from "../../contracts/json.ts";
import type { Backend, SandboxOptions } from "./backend.ts";
import { bubblewrap } from "./bubblewrap/bubblewrap.ts";
import type { ContainerWish } from "./containers/container.ts";
import { gvisor } from "./gvisor/gvisor.ts";
import { containerKinds, openContainers } from "./open-containers.ts";
import type { RemoteWish } from "./remote/remote-wish.ts";
import { sandboxFusion } from "./remote/sandbox-fusion.ts";
import type { Sandbox } from "./sandbox.ts";
import { wasm } from "./wasm/wasm.ts";

/** The order in which `auto` tries them. */
const backends: readonly Backend[] = [bubblewrap, wasm];
/** Used only if named. */
const others: readonly Backend[] = [gvisor];
/** Sandboxes that run on a server. */
const remotes: Record<
  string,
  (wish: RemoteWish, options: SandboxOptions) => Promise<Sandbox | { missing: string }>
> = { "sandbox-fusion": sandboxFusion };

/**
 * Opens a sandbox and runs a program in it as a test. The kind is the requested one, or with `auto` the first
 * that works here, or one on a server, as `{kind: "sandbox-fusion", url}`, or containers of an image, as `{kind:
 * "podman", image}`. Its `kind` and `boundary` describe the result. Throws SANDBOX_MISSING with what to install, and SANDBOX_UNKNOWN for an unknown kind.
 */
export async function openSandbox(
  wish: string | RemoteWish | ContainerWish,
  options: SandboxOptions,
): Promise<Sandbox> {
  if (typeof wish !== "string" && "image" in wish) return openContainers(wish, options.limits);
  const missing: string[] = [];
  for (const [kind, open] of ways(wish)) {
    const opened = await open(options);
    if (!("missing" in opened)) return opened;
    missing.push(`${kind}: ${opened.missing}`);
  }
  const wished = typeof wish === "string" ? wish : wish.kind;
  throw new EverturnError("SANDBOX_MISSING", { wish: wished, reasons: missing.join("; ") });
}

type Way = readonly [kind: string, open: (options: SandboxOptions) => Promise<Sandbox | { missing: string }>];

function ways(wish: string | RemoteWish): Way[] {
  if (typeof wish === "string") {
    const found = wish === "auto" ? backends : [...backends, ...others].filter(({ kind }) => wish === kind);
    if (found.length > 0) return found.map(({ kind, open }) => [kind, open]);
    const kinds = ["auto", ...[...backends, ...others].map(({ kind }) => kind)];
    const servers = Object.keys(remotes).map((kind) => `{ kind: ${kind}, url: … }`);
    const images = Object.keys(containerKinds).map((kind) => `{ kind: ${kind}, image: … }`);
    throw new EverturnError("SANDBOX_UNKNOWN", { wish, kinds: [...kinds, ...servers, ...images].join(", ") });
  }
  const openRemote = remotes[wish.kind];
  if (openRemote === undefined || !URL.canParse(wish.url))
    throw new EverturnError("SANDBOX_UNKNOWN", {
      wish: `${wish.kind} ${wish.url}`,
      kinds: `${Object.keys(remotes).join(", ")}, with the \`url\` of a server`,
    });
  return [[wish.kind, (options) => openRemote(wish, options)]];
}

/** The sandboxes that plugins of this thread have opened, by the pipeline's setting. */
const opened = sharedPromises<Sandbox>();

/**
 * Opens the sandbox that a plugin's configuration requests in `sandbox`, once per thread. After a failure,
 * the next caller tries again. Throws the errors of `openSandbox`.
 */
export function sharedSandbox(wish: JsonValue | undefined, options: SandboxOptions): Promise<Sandbox> {
  const name = JSON.stringify([wish, String(options.modules)]);
  return opened.get(name, () => openSandbox(wishOf(wish), options));
}

function wishOf(wish: JsonValue | undefined): string | RemoteWish | ContainerWish {
  if (!isObject(wish)) return String(wish);
  const { kind, url, key, image, network, runtime } = wish;
  if (image !== undefined)
    return defined<ContainerWish>({
      kind: String(kind),
      image: String(image),
      network: typeof network === "string" ? network : undefined,
      runtime: typeof runtime === "string" ? runtime : undefined,
      url: typeof url === "string" ? url : undefined,
      key: typeof key === "string" ? key : undefined,
    });
  return defined({ kind: String(kind), url: String(url), key: typeof key === "string" ? key : undefined });
}
