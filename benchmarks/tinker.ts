// TINKER_PYTHON=…/bin/python node benchmarks/tinker.ts: steps of @everturn/tinker and of the official Python SDK (`pip install tinker`)
// in turns on the same server, which does no work: what a client adds to a step. A step is four requests: a pass, an optimizer step, and
// a poll for each. With a URL as parameter, it measures on that server.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { TinkerServer } from "../tests/support/tinker-server.ts";

const { TINKER_PYTHON: python = "python3" } = process.env;
const [url] = process.argv.slice(2);
const [rounds, steps, requestsPerStep] = [3, 100, 4];
const sizes = [
  { sequences: 1, tokens: 32 },
  { sequences: 64, tokens: 112 },
];
const clients = [
  { name: "@everturn/tinker", command: process.execPath, file: "client.ts" },
  { name: "Python SDK", command: python, file: "client.py" },
];

const server = url === undefined ? await new TinkerServer({ numbering: "skyrl" }).start() : undefined;
for (const { sequences, tokens } of sizes) {
  const times = new Map<string, { wall: number; cpu: number }[]>();
  for (let round = 0; round < rounds; round += 1)
    for (const { name, command, file } of clients) {
      const parameters = [url ?? server!.url, steps, sequences, tokens].map(String);
      const script = join(import.meta.dirname, "tinker", file);
      const { stdout } = await promisify(execFile)(command, [script, ...parameters]);
      times.set(name, [...(times.get(name) ?? []), JSON.parse(stdout.trim().split("\n").at(-1)!)]);
    }
  for (const [name, measured] of times) {
    const wall = median(measured.map((one) => one.wall)) / steps;
    const cpu = median(measured.map((one) => one.cpu)) / steps;
    console.log(
      `${sequences} × ${tokens} tokens, ${name}: ${(requestsPerStep / wall).toFixed(0)} requests/s, ` +
        `${(wall * 1000).toFixed(1)} ms per step, ${((cpu * 1000) / requestsPerStep).toFixed(2)} ms of CPU per request`,
    );
  }
}
await server?.stop();

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
