import { join } from "node:path";
import { type Command, Option } from "commander";
import { untilAborted } from "../../../base/async/abort-signals.ts";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { machineFolder } from "../../../base/processes/machine-folder.ts";
import { readText } from "../../../base/validation/read-text.ts";
import { identified, textOf } from "../../../chat/formats/action-format.ts";
import { expressionReader } from "../../../chat/formats/expression.ts";
import { formatNamed } from "../../../chat/formats/parse-action.ts";
import { isSameSecret } from "../../../chat/openai/access-token.ts";
import { startEndpoint } from "../../../chat/openai/endpoint-server.ts";
import type { FormatExpression, FormatName } from "../../../contracts/format-name.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import type { ToolDefinition } from "../../../contracts/message.ts";
import { policyFraming } from "../../../plan/pipeline/check/preflight.ts";
import { loadPolicy } from "../../../plugin/registry/registry.ts";
import { cutObservation } from "../../../work/tools/cut-observations.ts";
import { servedAgent } from "../../serve/served-agent.ts";
import { type PolicyInUse, servedPolicy } from "../../serve/served-policy.ts";
import { type ServedPlan, type ServedTools, serveTools } from "../../serve/served-tools.ts";
import { interruptible } from "../terminal/interruptible.ts";
import { count, decimal, jsonObject, positiveCount } from "../terminal/option-values.ts";
import { type NamedPolicy, namedPolicy } from "./named-policy.ts";

interface Options {
  runs: string;
  policyVersion?: string;
  config: JsonObject;
  system?: string;
  tools: boolean;
  temperature: number;
  maxTokens?: number;
  seed: number;
  host: string;
  port: number;
  apiKey?: string;
  apiKeyFile?: string;
}

/** The number of sessions, and of turns per session, that are kept in memory. */
const kept = { sessions: 256, turns: 4096 };

/** The most conversations whose tools may hold resources at once. */
const trajectories = 1024;

/** How long a conversation may be idle before its resources are released, in ms. */
const idle = 60 * 60_000;

/** `everturn serve <policy>`: serves a policy as a model of OpenAI's protocols. */
export function registerServe(program: Command): void {
  program
    .command("serve")
    .description("serve a policy with OpenAI's chat completions and responses APIs until Ctrl-C")
    .argument("<policy>", "id or path of a run, or any folder with a policy")
    .option("--policy-version <number>", "version of the run's policy (default: the newest)")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--config <json>", "policy-onnx settings for a policy that is a folder", jsonObject, {})
    .option("--system <text>", "system message for conversations without one")
    .option("--tools", "call the run's tools on this machine for requests that bring no tools", false)
    .option("--temperature <number>", "sampling temperature; 0 is greedy, as in evaluations", decimal, 0)
    .option(
      "--max-tokens <number>",
      "maximum tokens per action (default: the run's limit, or 1024)",
      positiveCount,
    )
    .option("--seed <number>", "random seed for sampling", count, 0)
    .option(
      "--host <address>",
      "address to listen on; anyone who can reach it can send requests",
      "127.0.0.1",
    )
    .option("--port <number>", "port to listen on; 0 selects a free port", count, 4000)
    .addOption(
      new Option(
        "--api-key <key>",
        "key that clients must send; other users of this machine can see it here (default: any key, each with separate conversations)",
      ).env("EVERTURN_API_KEY"),
    )
    .addOption(new Option("--api-key-file <file>", "file that contains the key").conflicts("apiKey"))
    .action(serve);
}

async function serve(named: string, options: Options): Promise<void> {
  const { host, port, system, seed, temperature } = options;
  const apiKey = givenKey(options);
  const found = await namedPolicy(named, options);
  const toolPlan = options.tools ? toolsOf(found) : undefined;
  const log = (text: string) => void process.stderr.write(`${text}\n`);
  await interruptible(async (signal) => {
    const policy = await (await loadPolicy(found.plugin)).open(found.base, found.plugin.config);
    const closers = [() => policy.close()];
    try {
      const framing = await policyFraming(found.plugin, found.folder);
      if (framing === undefined)
        throw new EverturnError("POLICY_NOT_FOUND", { run: named, version: found.version });
      await policy.load(found.version, found.folder);
      const maxTokens = options.maxTokens ?? found.maxTokens;
      const inUse: PolicyInUse = {
        policy,
        version: found.version,
        contextLength: framing.contextLength,
        seed,
        system,
        demonstratedTools: found.plan?.demonstratedTools,
        sampling: { temperature, maxTokens },
        ...reader(found.format ?? framing.format, found.expression),
      };
      let served = servedPolicy(inUse, { ...kept, onForget: (session) => endpoint.forget(session) });
      if (toolPlan !== undefined) {
        const folder = machineFolder(join(process.cwd(), "serve"));
        const tools = await serveTools(toolPlan, { folder, limit: trajectories, idle, log });
        closers.unshift(() => tools.close());
        const read = (name: string, text: string) =>
          found.plan === undefined ? text : cutObservation(found.plan, policy, name, text);
        const call: ServedTools["call"] = async (made) => {
          const answer = await tools.call(made);
          return { ...answer, text: read(made.function, answer.text) };
        };
        const { functions } = tools;
        served = servedAgent(served, { functions, call }, { ...kept, maxTurns: toolPlan.maxTurns });
      }
      const endpoint = await startEndpoint({
        answer: served.answer,
        authenticate: (key) =>
          apiKey === undefined
            ? (key ?? "")
            : key !== undefined && isSameSecret(key, apiKey)
              ? key
              : undefined,
        takesImages: policy.readsImages === true,
        models: [found.name],
        log,
        host,
        port,
      });
      closers.unshift(() => endpoint.close());
      process.stdout.write(
        `${[
          `${found.name} at ${endpoint.url}`,
          `OPENAI_BASE_URL=${endpoint.url} OPENAI_API_KEY=${apiKey === undefined ? "any" : "THE-KEY"}`,
          "Ctrl-C ends it",
        ].join("\n")}\n`,
      );
      await untilAborted(signal);
    } finally {
      for (const close of closers) await close();
    }
  });
}

/** The key that clients must send; undefined: any. Throws COMMAND_INVALID, and the errors of reading its file. */
function givenKey({ apiKey, apiKeyFile }: Options): string | undefined {
  const key = apiKeyFile === undefined ? apiKey : readText(apiKeyFile).trim();
  if (key !== "") return key;
  throw new EverturnError("COMMAND_INVALID", { reason: "the API key is empty" });
}

/** The tools of a run, and how many actions per request may use them. Throws COMMAND_INVALID. */
function toolsOf({ name, plan }: NamedPolicy): ServedPlan & { maxTurns: number } {
  if (plan === undefined || plan.tools.length === 0)
    throw new EverturnError("COMMAND_INVALID", {
      reason: `--tools needs a run with tools, but ${name} has none`,
    });
  const { tools, hosts, rollout, loop } = plan;
  const offered = tools.filter(({ manifest }) => manifest.tool?.forLoops !== true);
  return {
    tools: offered,
    hosts,
    observations: rollout.observations,
    maxTurns: Number(loop.config.maxTurns ?? 8),
  };
}

/** The reader of actions and the texts that end them, by an expression or a format. */
function reader(
  name: FormatName = "hermes",
  expression: FormatExpression | undefined,
): Pick<PolicyInUse, "read" | "format" | "stopTexts"> {
  if (expression !== undefined) {
    const read = expressionReader(expression);
    const { stop } = expression;
    return {
      stopTexts: () => stop ?? [],
      read: (text, tools, callsBefore) => identified(read(text, tools), callsBefore),
      format: { asText: textOf },
    };
  }
  const format = formatNamed(name);
  return {
    stopTexts: (tools: readonly ToolDefinition[]) => format.stopTexts(tools),
    read: (text, tools, callsBefore) => format.parse(text, { tools, callsBefore }),
    format,
  };
}
