import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isObject, type JsonValue } from "../../../contracts/json.ts";
import type { SandboxOptions } from "../backend.ts";
import type { Sandbox } from "../sandbox.ts";
import { triedSandbox } from "../tried-sandbox.ts";
import { begun } from "./guest-program.ts";
import { post } from "./post.ts";
import { openRemoteSession, type Served, type Server } from "./remote-session.ts";
import type { RemoteWish } from "./remote-wish.ts";
import { headersOf } from "./remote-wish.ts";

const kind = "sandbox-fusion";
/** Seconds that a program may wait for its turn on a busy server. */
const queue = 60;

/**
 * Runs programs on a server of Sandbox Fusion, with `POST /run_code` (github.com/bytedance/SandboxFusion).
 */
export function sandboxFusion(
  wish: RemoteWish,
  { limits }: SandboxOptions,
): Promise<Sandbox | { missing: string }> {
  const url = new URL("run_code", wish.url.endsWith("/") ? wish.url : `${wish.url}/`);
  const server: Server = {
    kind,
    languages: ["python", "javascript", "shell"],
    async serve({ code, asked, answered, time, longest }, signal) {
      const body = {
        language: "python",
        code,
        compile_timeout: time,
        run_timeout: time,
        files: { [asked.name]: asked.content.toString("base64") },
        fetch_files: [answered],
      };
      const headers = headersOf(wish);
      return servedOf(
        await post(body, { kind, url, headers, time: time + queue, longest: 2 * longest, signal }),
        answered,
      );
    },
  };
  return triedSandbox({
    kind,
    languages: server.languages,
    boundary: `What the server ${url.origin} holds back: with isolation lite a root, a network and processes of each program's own, with none nothing. Memory and processes of a program are looked at twenty times a second.`,
    limits,
    open: (some) => openRemoteSession(server, some),
  });
}

/**
 * Validates the parts of an answer that we need: `{status, message, run_result: {status, stdout,
 * return_code}, files}`.
 */
function servedOf(answer: JsonValue, answered: string): Served {
  const { status, message, run_result: ran, files } = isObject(answer) ? answer : {};
  if (status === "SandboxError") throw failed(String(message));
  const isWhole = (status === "Success" || status === "Failed") && isObject(ran) && isObject(files);
  if (!isWhole)
    throw failed(`its answer is not in Sandbox Fusion's format: ${JSON.stringify(answer).slice(0, 200)}`);
  const isLate = ran.status === "TimeLimitExceeded";
  const content = files[answered];
  if (typeof content === "string") return { answer: Buffer.from(content, "base64"), isLate };
  // The output shows whether the program had begun.
  if (typeof ran.stdout === "string" && ran.stdout.startsWith(begun)) return { isLate };
  throw failed(`the program did not begin: ${String(ran.stderr).slice(-300)}`);
}

function failed(reason: string): EverturnError {
  return new EverturnError("SANDBOX_FAILED", { kind, reason });
}
