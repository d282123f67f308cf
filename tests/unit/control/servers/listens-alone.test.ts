import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listensAlone } from "../../../../src/control/servers/listens-alone.ts";
import { firstOutput } from "../../../support/first-output.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const listening = `require("node:net").createServer().listen(process.argv[1], () => console.log("listening"))`;

test("a socket's name belongs to one process, and is free again once that was killed", async () => {
  const path = join(temporaryFolder(), "socket");
  const other = spawn(process.execPath, ["-e", listening, path], { stdio: ["ignore", "pipe", "inherit"] });
  await firstOutput(other);
  expect(await listensAlone(createServer(), path)).toBe(false);
  other.kill("SIGKILL");
  await once(other, "exit");
  expect(existsSync(path)).toBe(true);
  const server = createServer();
  onTestFinished(() => void server.close());
  expect(await listensAlone(server, path)).toBe(true);
  await once(connect({ path }).unref(), "connect");
  expect(await listensAlone(createServer(), path)).toBe(false);
});
