import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { text as bodyOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

/** The host of the remote tool: reverses a text, slowly, and writes a line for each execution. */
const { values } = parseArgs({
  options: { host: { type: "string" }, port: { type: "string" }, log: { type: "string" } },
});
const server = createServer(async (request, response) => {
  const body = await bodyOf(request).catch(() => undefined);
  if (body === undefined) return; // its sender died
  const { text, key } = JSON.parse(body);
  const line = { tool: "reverse", key, time: Date.now(), pid: process.pid };
  appendFileSync(values.log ?? "", `${JSON.stringify(line)}\n`);
  await sleep(80);
  response.end([...String(text)].reverse().join(""));
});
server.listen(Number(values.port), values.host, () => process.stdout.write("listening\n"));
