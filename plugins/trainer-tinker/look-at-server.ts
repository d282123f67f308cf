import { TinkerError } from "@everturn/tinker";
import type { ConfigurationProblem } from "everturn/engine";
import { clientOf } from "./connection.ts";
import { profiles } from "./profiles.ts";
import type { ServerTrainerConfig } from "./settings.ts";

/** The names of a server's models, or why it did not list them. */
export type ServerAnswer = { models: readonly string[] } | { failure: TinkerError };

/** Milliseconds to wait for the answer. */
const patience = 5000;

/** The answers that checks have received, by the server's address, until their notes take them. */
const received = new Map<string, ServerAnswer>();

/** Asks a server for its models, and keeps the answer for `lastAnswer`. */
export async function lookAtServer(config: ServerTrainerConfig): Promise<ServerAnswer> {
  const answer = await ask(config);
  received.set(addressOf(config), answer);
  return answer;
}

/** Takes the answer that `lookAtServer` received last. Asks the server if there is none. */
export async function lastAnswer(config: ServerTrainerConfig): Promise<ServerAnswer> {
  const answer = received.get(addressOf(config));
  received.delete(addressOf(config));
  return answer ?? ask(config);
}

function addressOf({ server, url, apiKeyVariable }: ServerTrainerConfig): string {
  return JSON.stringify([server, url, apiKeyVariable]);
}

async function ask(config: ServerTrainerConfig): Promise<ServerAnswer> {
  const client = clientOf(config, { retry: { attempts: 1 }, requestTimeoutMs: patience });
  try {
    const { models } = await client.capabilities();
    return { models };
  } catch (failure) {
    if (failure instanceof TinkerError) return { failure };
    throw failure;
  }
}

/** What the answer shows to be wrong in the configuration. A run would meet it at its first update. */
export function answerProblems(config: ServerTrainerConfig, answer: ServerAnswer): ConfigurationProblem[] {
  const { server, url, baseModel, apiKeyVariable: variable } = config;
  if ("failure" in answer) {
    if (answer.failure.code !== "unauthorized") return [];
    const key = "apiKeyVariable";
    if (variable === undefined) {
      const help = "Set it to the name of an environment variable that contains a key of the server.";
      return [{ key, reason: `is missing, but ${url} requires a key`, help }];
    }
    return [
      { key, reason: `is ${variable}, whose key ${url} refuses`, help: "Set it to a key of the server." },
    ];
  }
  const { models } = answer;
  if (profiles[server].listsModels !== true || models.length === 0 || models.includes(baseModel)) return [];
  const [first, ...others] = models;
  const served = others.length === 0 ? `serves ${first}` : `serves ${first} and ${others.length} others`;
  const help = `Use the server's own name of the model${others.length > 5 ? "" : `: ${models.join(", ")}`}.`;
  return [{ key: "baseModel", reason: `is ${baseModel}, but ${url} ${served}`, help }];
}

/** Why the server could not be asked. It may start later, so a run may begin all the same. */
export function answerNotes({ server, url }: ServerTrainerConfig, answer: ServerAnswer): string[] {
  if (!("failure" in answer)) return [];
  const reason = answer.failure.message.replace(/[.\s]+$/, "");
  return [`trainer.config.url: ${profiles[server].title} did not list its models at ${url}: ${reason}`];
}
