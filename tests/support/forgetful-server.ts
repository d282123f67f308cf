import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";

/** Writes a Temporal CLI into `folder` whose server asks workflows to continue as new after so many events; its path. */
export async function forgetfulServer(folder: string, events: number): Promise<string> {
  const path = join(folder, "temporal");
  const setting = `limit.historyCount.suggestContinueAsNew=${events}`;
  writeFileSync(path, `#!/bin/sh\nexec ${await findServerBinary()} "$@" --dynamic-config-value ${setting}\n`);
  chmodSync(path, 0o755);
  return path;
}
