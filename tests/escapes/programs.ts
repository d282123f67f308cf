import type { Escape } from "./escape.ts";
import { files } from "./programs/files.ts";
import { host } from "./programs/host.ts";
import { judged } from "./programs/judged.ts";
import { kernel } from "./programs/kernel.ts";
import { network } from "./programs/network.ts";
import { processes } from "./programs/processes.ts";
import { resources } from "./programs/resources.ts";
import { state } from "./programs/state.ts";

/** All programs that try to get out. */
export const escapes: readonly Escape[] = [
  ...files,
  ...kernel,
  ...network,
  ...processes,
  ...resources,
  ...state,
  ...host,
  ...judged,
];
