import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import type { Backend } from "../backend.ts";
import { limitsOf } from "../limits.ts";
import type { Sandbox, SandboxSession } from "../sandbox.ts";
import { findPackages } from "./deno.ts";
import type { GuestLanguage } from "./guest/protocol.ts";
import { Pool } from "./pool.ts";
import { type Runtime, runtimeFolder } from "./runtime-folder.ts";
import { openWasmSession } from "./wasm-session.ts";

const boundary =
  "Python (Pyodide) and JavaScript (QuickJS) in WebAssembly, in a Deno process a session that may read its own files and nothing " +
  "else: no network, no environment, no processes, no files of the machine. Its memory beside WebAssembly's is looked at ten times a " +
  "second. There are no threads, no subprocesses and no packages with native code. A hole in V8 and in Deno's permissions together " +
  "is one in this sandbox.";

/** Runs programs in WebAssembly, wherever Deno runs: Linux with glibc, macOS, Windows. */
export const wasm: Backend = {
  kind: "wasm",
  async open({ modules, limits, python }) {
    const packages = await findPackages(modules);
    if ("missing" in packages) return packages;
    const usual = limitsOf(limits);
    let pool: Pool | undefined;
    let runtime: Runtime;
    try {
      runtime = await runtimeFolder(packages, python);
      pool = new Pool(runtime);
      pool.end(await pool.take("python", usual));
    } catch (error) {
      await pool?.close();
      if (isEverturnError(error) && error.code === "PACKAGE_FETCH_FAILED") throw error;
      return { missing: `it does not start here (${messageOf(error)})` };
    }
    const ready = pool;
    const languages: GuestLanguage[] = ["python", ...(runtime.hasJavascript ? ["javascript" as const] : [])];
    const sessions = new Set<SandboxSession>();
    const sandbox: Sandbox = {
      kind: "wasm",
      languages,
      boundary,
      async open(options = {}) {
        options.signal?.throwIfAborted();
        const session = openWasmSession(ready, languages, limitsOf(limits, options.limits), options);
        sessions.add(session);
        const close = async () => {
          sessions.delete(session);
          await session.close();
        };
        return { ...session, close };
      },
      async close() {
        await Promise.all([...sessions].map((session) => session.close()));
        await ready.close();
      },
    };
    return sandbox;
  },
};
