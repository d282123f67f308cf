import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const cli = join(import.meta.dirname, "..", "..", "..", "..", "src", "apps", "cli");
const commands = join(cli, "commands");

/** Packages that take long to load, and Node's fetch, of which each process loads those that its work needs. */
const slow = [
  "@opentelemetry/sdk-node",
  "@temporalio/client",
  "@temporalio/worker",
  "onnxruntime-node",
  "undici",
];

/** Which of them a process has loaded after these commands' files, one after the other. */
async function loadedAfter(...files: string[]): Promise<string[][]> {
  const urls = files.map((file) => pathToFileURL(join(commands, file)).href);
  const script = `
    import { createRequire } from "node:module";
    const { cache } = createRequire(${JSON.stringify(import.meta.url)});
    const known = [];
    for (const url of ${JSON.stringify(urls)}) {
      await import(url);
      const loaded = [...Object.keys(cache), ...process.moduleLoadList].join("\\n").replaceAll("\\\\", "/");
      known.push(${JSON.stringify(slow)}.filter((name) => RegExp("/(node_modules|deps)/" + name + "/").test(loaded)));
    }
    process.stdout.write(JSON.stringify(known));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script]);
  return JSON.parse(stdout);
}

test("a command loads what its own work needs: no worker, no runtime of models, no telemetry", async () => {
  expect(await loadedAfter("trajectories.ts", "run.ts", "worker.ts")).toEqual([
    [],
    ["@temporalio/client"],
    ["@temporalio/client", "@temporalio/worker"],
  ]);
});

test("the version is told without loading any command", async () => {
  const script = `
    import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => (/\\/cli\\/commands\\/run\\.ts$|\\/node_modules\\/ajv\\//.test(url) && console.log(url), next(url, context)) });
    process.argv = [process.argv[0], "everturn", ...process.argv.slice(1)];
    await import(${JSON.stringify(pathToFileURL(join(cli, "program.ts")).href)});`;
  const told = async (...args: string[]) =>
    (await run(process.execPath, ["--input-type=module", "-e", script, "--", ...args])).stdout;
  expect(await told("--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await told("-V")).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await told("run", "--help")).toMatch(/\/cli\/commands\/run\.ts\n/);
});
