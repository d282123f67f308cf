import { isObject, type JsonObject, type JsonValue } from "../../../../contracts/json.ts";
import { type Destination, request } from "../../remote/post.ts";

/** A sandbox of Daytona's. */
export interface DaytonaSandbox {
  id: string;
  state: string;
  /** Why it is in the state `error` or `build_failed`. */
  reason: string;
  /** Where its own requests go. */
  toolbox: string;
  labels: JsonObject;
}

/** Requests to Daytona (Sandbox and Toolbox of its OpenAPI documents). All throw SANDBOX_FAILED. */
export interface DaytonaApi {
  create(asked: JsonObject, signal: AbortSignal | undefined): Promise<DaytonaSandbox>;
  get(id: string, signal: AbortSignal | undefined): Promise<DaytonaSandbox>;
  remove(id: string): Promise<void>;
  list(labels: Record<string, string>): Promise<DaytonaSandbox[]>;
  upload(sandbox: DaytonaSandbox, files: Record<string, string | Uint8Array>): Promise<void>;
  /** Runs a command and returns what it printed. */
  execute(
    sandbox: DaytonaSandbox,
    asked: { command: string; envs?: Record<string, string> | undefined; timeout: number },
    longest: number,
    signal: AbortSignal | undefined,
  ): Promise<string>;
}

export const kind = "daytona";

/** Seconds in which a request without a command must be answered. */
const patience = 120;
/** Seconds that an answer may take beyond a command's own time. */
const margin = 30;

export function daytonaApi(base: string, headers: Record<string, string>): DaytonaApi {
  const to = (url: string, more: Partial<Destination> = {}): Destination => ({
    kind,
    url: new URL(url),
    headers,
    time: patience,
    longest: 2 ** 24,
    signal: undefined,
    ...more,
  });
  const own = (path: string) => `${base}/sandbox${path}`;
  const of = ({ toolbox, id }: DaytonaSandbox, path: string) => `${toolbox}/${id}${path}`;
  return {
    create: async (asked, signal) => sandboxOf(await request("POST", asked, to(own(""), { signal }))),
    get: async (id, signal) => sandboxOf(await request("GET", undefined, to(own(`/${id}`), { signal }))),
    remove: async (id) => void (await request("DELETE", undefined, to(own(`/${id}`)))),
    list: async (labels) => {
      const found: DaytonaSandbox[] = [];
      let cursor = "";
      do {
        const query = new URLSearchParams({ labels: JSON.stringify(labels), limit: "100" });
        if (cursor !== "") query.set("cursor", cursor);
        const page = await request("GET", undefined, to(own(`?${query}`)));
        const { items, nextCursor } = isObject(page) ? page : {};
        found.push(...(Array.isArray(items) ? items.map(sandboxOf) : []));
        cursor = typeof nextCursor === "string" ? nextCursor : "";
      } while (cursor !== "");
      return found;
    },
    upload: async (sandbox, files) => {
      const form = new FormData();
      for (const [index, [path, content]] of Object.entries(files).entries()) {
        form.append(`files[${index}].path`, path);
        form.append(`files[${index}].file`, new Blob([Buffer.from(content)]), path);
      }
      await request("POST", form, to(of(sandbox, "/files/bulk-upload")));
    },
    execute: async (sandbox, asked, longest, signal) => {
      const { timeout } = asked;
      const place = to(of(sandbox, "/process/execute"), { time: timeout + margin, longest, signal });
      const answer = await request("POST", { ...asked, envs: asked.envs ?? {} }, place);
      return isObject(answer) && typeof answer.result === "string" ? answer.result : "";
    },
  };
}

function sandboxOf(answer: JsonValue): DaytonaSandbox {
  const { id, state, errorReason, toolboxProxyUrl, labels } = isObject(answer) ? answer : {};
  return {
    id: String(id),
    state: String(state),
    reason: String(errorReason ?? "no reason given"),
    toolbox: String(toolboxProxyUrl).replace(/\/$/, ""),
    labels: isObject(labels) ? labels : {},
  };
}
