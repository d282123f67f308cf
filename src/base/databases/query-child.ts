import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { EverturnError } from "../errors/everturn-error.ts";
import { ownModule } from "../processes/own-module.ts";
import type { Answer, QueryRequest } from "./protocol.ts";

/**
 * Environment variables that a child may inherit, none of them secret. Through EVERTURN_… Everturn finds it after
 * its worker died.
 */
const kept = /^(PATH|HOME|LANG|LC_ALL|TMPDIR|TEMP|TMP|SystemRoot|EVERTURN_(THREAD|LEASE))$/;
/** How many ms beyond its time limit a stopped or starved child may take. */
const patience = 60_000;

/** A process that runs queries, one at a time. */
export interface QueryChild {
  /** Throws ChildEnded or the signal's reason. The process is over after that. */
  ask(request: QueryRequest, signal?: AbortSignal): Promise<Answer>;
  /** Also true right after a kill: a signal may abort when the answer has already arrived. */
  isOver(): boolean;
  end(): void;
}

/** Thrown when a query's process ended without an answer. */
export class ChildEnded extends Error {}

/** Starts a process for queries. Throws DATABASE_PROCESS_FAILED. */
export async function startChild(): Promise<QueryChild> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name)));
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", ownModule("src/base/databases/query-process")],
    {
      env: { ...env, TZ: "UTC" },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      serialization: "advanced",
    },
  );
  const said: string[] = [];
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => said.splice(0, Math.max(0, said.push(text) - 20)));
  const over = ended(child, () => said.join("").trim().slice(-2000));
  over.catch(() => {}); // each caller of `ask` sees it
  let isOver = false;
  child.once("close", () => {
    isOver = true;
  });
  try {
    await Promise.race([once(child, "message"), over]);
  } catch (error) {
    throw new EverturnError("DATABASE_PROCESS_FAILED", { reason: String(error) }, { cause: error });
  }
  rest(child, true);
  return {
    isOver: () => isOver || child.killed || !child.connected,
    end: () => void child.kill("SIGKILL"),
    ask: async (request, signal) => {
      rest(child, false);
      const kill = () => void child.kill("SIGKILL");
      const timer = setTimeout(kill, request.limits.seconds * 1000 + patience);
      signal?.addEventListener("abort", kill);
      try {
        signal?.throwIfAborted();
        const answered = new Promise<Answer>((resolve) => child.once("message", resolve));
        child.send(request);
        return await Promise.race([answered, over]);
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", kill);
        rest(child, true);
      }
    },
  };
}

/** While a process is idle, it does not keep its parent alive. */
function rest(child: ChildProcess, rests: boolean): void {
  const handles = [child, child.channel, child.stderr];
  for (const handle of handles) {
    if (handle && "unref" in handle && "ref" in handle) rests ? handle.unref() : handle.ref();
  }
}

async function ended(child: ChildProcess, said: () => string): Promise<never> {
  const [code, signal] = await once(child, "close");
  const how = signal === null ? `exit code ${code}` : String(signal);
  throw new ChildEnded(`the process of the query ended (${how})${said() && `: ${said()}`}`);
}
