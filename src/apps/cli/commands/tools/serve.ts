import { join } from "node:path";
import type { Command } from "commander";
import { untilAborted } from "../../../../base/async/abort-signals.ts";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { machineFolder } from "../../../../base/processes/machine-folder.ts";
import type { JsonObject } from "../../../../contracts/json.ts";
import { openHttpServer } from "../../../serve/http-server.ts";
import { openMcp } from "../../../serve/mcp.ts";
import { serveTools } from "../../../serve/served-tools.ts";
import { accessToken, withToken } from "../../terminal/access-token.ts";
import { interruptible } from "../../terminal/interruptible.ts";
import { count, jsonObject, positiveCount } from "../../terminal/option-values.ts";
import { servedPlan } from "./served-plan.ts";

interface Options {
  config?: JsonObject;
  host: string;
  port: number;
  stdio: boolean;
  token: boolean;
  trajectories: number;
}

const installation = "npm install @modelcontextprotocol/server";

/** How long a trajectory may be idle before its resources are released, in ms. */
const idle = 60 * 60_000;

/** The most concurrent requests. */
const requests = 1024;

/** `everturn tools serve <what…>`: serves tools to other trainers and agents by verl-tool's protocol and by MCP. */
export function registerServe(parent: Command): void {
  parent
    .command("serve")
    .description("serve tools to other programs with verl-tool's protocol and MCP until Ctrl-C")
    .argument(
      "<what...>",
      "a pipeline file, to serve its tools; or tools: plugin files, package folders, plugin names",
    )
    .option("--config <json>", "configuration of the tool, as in a pipeline", jsonObject)
    .option(
      "--host <address>",
      "address to listen on; anyone who can reach it and has the token can call the tools",
      "127.0.0.1",
    )
    .option("--port <number>", "port to listen on; 0 selects a free port", count, 5000)
    .option("--no-token", "let all users and programs of this machine call the tools")
    .option("--stdio", "serve MCP on standard input and output instead", false)
    .option(
      "--trajectories <number>",
      "maximum number of trajectories with open tool instances",
      positiveCount,
      1024,
    )
    .action(async (what: string[], { config, host, port, stdio, token, trajectories }: Options) => {
      const log = (text: string) => void process.stderr.write(`${text}\n`);
      const secret = accessToken(token, host);
      const plan = await servedPlan(what, config);
      await interruptible(async (signal) => {
        const folder = machineFolder(join(process.cwd(), "tools-serve"));
        const tools = await serveTools(plan, { folder, limit: trajectories, idle, log });
        try {
          const mcp = await openMcp(tools, { limit: trajectories, log });
          try {
            if (stdio) {
              if (mcp === undefined) throw noSdk();
              return await mcp.serveStdio(signal);
            }
            const server = await openHttpServer(tools, mcp, {
              host,
              port,
              limit: requests,
              token: secret,
              log,
            });
            process.stdout.write(
              `${[
                `${tools.functions.map(({ name }) => name).join(", ")} at ${server.url}`,
                `verl-tool: ${withToken(`${server.url}/get_observation`, secret)}`,
                mcp === undefined
                  ? `MCP: not here; ${installation}`
                  : `MCP: ${withToken(`${server.url}/mcp`, secret)}`,
                "Ctrl-C ends it",
              ].join("\n")}\n`,
            );
            try {
              await untilAborted(signal);
            } finally {
              await server.close();
            }
          } finally {
            await mcp?.close();
          }
        } finally {
          await tools.close();
        }
      });
    });
}

function noSdk(): EverturnError {
  return new EverturnError("COMMAND_INVALID", { reason: `MCP needs its SDK: ${installation}` });
}
