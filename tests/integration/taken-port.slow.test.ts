import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Listens on the port that the server was started with, for a few seconds. */
const listen = `
const port = Number(process.argv[process.argv.indexOf("--port") + 1]);
require("node:net").createServer().listen(port, "127.0.0.1", () => process.stdout.write("listening\\n"));
setTimeout(() => process.exit(), 5000);
`;

/** Writes a Temporal CLI into `folder` that loses its port to another program whenever `condition` holds. */
async function slowServer(folder: string, condition: string): Promise<string> {
  const path = join(folder, "temporal");
  const script = join(folder, "listen.cjs");
  writeFileSync(script, listen);
  const lines = [
    "#!/bin/sh",
    `echo >> ${folder}/starts`,
    `starts=$(wc -l < ${folder}/starts)`,
    `if ${condition}; then`,
    `  mkfifo ${folder}/said$starts`,
    `  ${process.execPath} ${script} "$@" > ${folder}/said$starts &`,
    `  read line < ${folder}/said$starts`,
    "fi",
    `exec ${await findServerBinary()} "$@"`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("a server that loses its port before it listens starts on another one, also while it creates its first database", async () => {
  const folder = temporaryFolder();
  const binary = await slowServer(folder, "[ $starts -le 2 ] || [ $starts -eq 4 ]");
  const log = join(folder, "log");
  const server = await startDevServer({ binary, database: join(folder, "temporal.db"), log });
  await server.stop();
  const starts = readFileSync(join(folder, "starts"), "utf8").length;
  expect(starts, readFileSync(log, "utf8")).toBe(5);
  expect(readFileSync(log, "utf8").match(/address already in use/g)?.length).toBeGreaterThanOrEqual(3);
});

test("a server that always loses its port is given up after five starts", async () => {
  const folder = temporaryFolder();
  const binary = await slowServer(folder, "true");
  const database = join(folder, "temporal.db");
  const starting = startDevServer({ binary, database, log: join(folder, "log") });
  await expect(starting).rejects.toThrow(/address already in use/);
  expect(readFileSync(join(folder, "starts"), "utf8")).toHaveLength(5);
});
