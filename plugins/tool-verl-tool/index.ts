import { randomUUID } from "node:crypto";
import type { JsonObject, ToolPlugin, ToolResponse } from "everturn/plugin";
import { type Observed, observe, startOf } from "./server.ts";

interface Instance {
  /**
   * The trajectory's id on the server. Each instance has a new one, so that it inherits nothing from an
   * earlier one.
   */
  id: string;
  url: string;
  extraFields: JsonObject;
  /** When the server that knows it started. */
  started: number | undefined;
}

/** The workers of one server start within this many milliseconds of each other. */
const startedTogether = 15_000;

/** Milliseconds to wait for the end of a trajectory. */
const patience = 10_000;

/**
 * Calls a tool of verl-tool's server. A missing, invalid or error answer and a restart of the server count as
 * infrastructure failures. The call is then retried in a new trajectory on the server, after the earlier
 * calls have been repeated.
 */
const verlTool: ToolPlugin<Instance> = {
  async create({ instance, task, config, hold, signal }) {
    const url = String(config.url);
    const id = `${instance}#${randomUUID()}`;
    const started = config.watch === true ? await startOf(url, signal) : undefined;
    hold({ url, id });
    return {
      id,
      url,
      extraFields: { ...objectOf(task.extra_info), ...objectOf(config.extraFields) },
      started,
    };
  },
  async execute({ action }, { config, key, signal }, trajectory) {
    const { url, id } = trajectory;
    if (trajectory.started !== undefined) {
      const started = await startOf(url, signal);
      if (started !== undefined && started - trajectory.started > startedTogether)
        throw new Error("the server restarted and has forgotten the trajectory");
    }
    const asked = {
      trajectory: id,
      action: String(config.action).replace("{action}", () => String(action)),
      extraFields: { ...trajectory.extraFields, call_id: key },
    };
    return answerOf(await observe(url, asked, signal));
  },
  release: ({ url, id }) => finish(url, id),
  reap: (handle) => {
    const { url, id } = objectOf(handle);
    return finish(String(url), String(id));
  },
  probe: async ({ url }) => void (await startOf(String(url), AbortSignal.timeout(patience))),
};

export default verlTool;

/**
 * Tells the server that the trajectory ends. If the server no longer knows it, there is nothing to release.
 */
async function finish(url: string, trajectory: string): Promise<void> {
  const asked = { trajectory, action: "", extraFields: {}, finish: true };
  try {
    await observe(url, asked, AbortSignal.timeout(patience));
  } catch (error) {
    if (Object(Object(error).cause).code !== "ECONNREFUSED") throw error;
  }
}

/** Converts the server's answer. Throws if the server reports that its tool failed. */
function answerOf({ observation, done, valid }: Observed): ToolResponse {
  if (typeof observation === "string") return { text: observation, ...marks(done, valid, undefined) };
  const { obs, error, reward, image, invalid_reason: reason } = observation;
  if (typeof error === "string") throw new Error(`the server's tool failed: ${error}`);
  if (obs !== undefined && typeof obs !== "string") throw new Error("the server's observation is not text");
  return {
    text: obs ?? "",
    content: imagesOf(image),
    ...(typeof reward === "number" ? { reward } : {}),
    ...marks(done, valid, reason),
  };
}

/** An invalid action that ends the trajectory is its answer. */
function marks(done: boolean, valid: boolean, reason: unknown): Pick<ToolResponse, "done" | "invalid"> {
  const why = typeof reason === "string" && reason !== "" ? reason : "the server found no action in this";
  return valid || done ? { done } : { done, invalid: why };
}

/** Images as data URLs, or as base64 alone. */
function imagesOf(image: unknown): NonNullable<ToolResponse["content"]> {
  const images = Array.isArray(image) ? image : [image];
  return images.flatMap((one) => {
    if (typeof one !== "string" || one === "") return [];
    const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(one) ?? [];
    if (mediaType === undefined || data === undefined) return [{ type: "image" as const, data: one }];
    return [{ type: "image" as const, data, mediaType }];
  });
}

function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
