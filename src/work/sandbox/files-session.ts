import { oneAtATime } from "../../base/async/one-at-a-time.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { filePath } from "./file-path.ts";
import type { Program, Ran, RunOptions, SandboxSession } from "./sandbox.ts";
import { SandboxFiles } from "./sandbox-files.ts";

/** The part of a session that its kind of sandbox implements. */
interface Guest {
  run(program: Program, options: RunOptions): Promise<Ran>;
  close(): void;
}

/**
 * Opens a session whose files are kept in this process, at most `disk` MiB. It does one thing at a time, and throws
 * SANDBOX_CLOSED once it is closed.
 */
export function openFilesSession(disk: number, open: (files: SandboxFiles) => Guest): SandboxSession {
  const inTurn = oneAtATime();
  const files = new SandboxFiles(disk);
  const guest = open(files);
  let isClosed = false;

  function turn<T>(work: () => Promise<T> | T): Promise<T> {
    return inTurn("session", async () => {
      if (isClosed) throw new EverturnError("SANDBOX_CLOSED", {});
      return work();
    });
  }

  return {
    run: (program, options = {}) => turn(() => guest.run(program, options)),
    write: (contents) =>
      turn(() => {
        const put = Object.entries(contents).map(
          ([path, content]) => [filePath(path), Buffer.from(content)] as const,
        );
        if (!files.put(put)) throw new EverturnError("SANDBOX_DISK_FULL", { disk });
      }),
    read: (path) => turn(() => files.read(filePath(path))),
    list: () => turn(() => files.list()),
    close: async () => {
      isClosed = true;
      guest.close();
    },
  };
}
