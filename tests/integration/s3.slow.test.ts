import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openRun } from "../../src/control/operations/run.ts";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { type RunningCommand, startWith } from "../support/command.ts";
import { startS3Proxy } from "../support/s3-proxy.ts";
import { s3Users, seaweedHere, startS3Server } from "../support/s3-server.ts";
import { scriptedPolicy, writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { startedCommands } from "../support/started-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const weed = await seaweedHere();

describe.skipIf(weed === undefined)("runs in a bucket", async () => {
  if (weed === undefined) return;
  const folder = temporaryFolder();
  const server = await startS3Server(weed, join(folder, "s3"));
  const store = "s3://runs/team/one";
  afterAll(() => server.kill());
  const remember = startedCommands();

  const policy = scriptedPolicy({ conversations: [["1"]], seconds: 0.2 });
  const rollout = { batchSize: 4, groupSize: 1, concurrency: 1, maxActionTokens: 100 };
  const pipeline = writeScriptedPipeline(folder, [["1"]], { tools: [], policy, rollout, steps: 3 });

  const said = (command: RunningCommand, text: string) =>
    vi.waitUntil(() => command.stderr().includes(text), { timeout: 400_000, interval: 50 });

  /** A machine with its own state. It shares only the server, and downloads, with others. */
  function machine(env: Record<string, string> = server.env, own = mkdtempSync(join(folder, "machine-"))) {
    return (...parameters: string[]) => remember(startWith({ ...env, XDG_STATE_HOME: own }, ...parameters));
  }

  async function output(command: RunningCommand): Promise<string> {
    const { code, stdout, stderr } = await command.end();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  }

  let run = "";

  test("a run waits for its store, and another machine continues it when its own is lost", async () => {
    const training = machine()("run", pipeline, "--store", `${store}/`, "--json");
    await said(training, "Temporal UI at");
    await server.kill();
    await server.start();
    await said(training, "step 1/3");
    training.killGroup();
    await training.end();
    const other = machine();
    const { stderr } = await other("ledger", "nope", "--store", store).end();
    run = /scripted-[0-9-]+/.exec(stderr)?.[0] ?? stderr; // it lists the runs in the store
    const resuming = other("resume", run, "--store", store, "--json");
    await said(resuming, "checking for 40 s");
    const result: { steps: number } = JSON.parse((await output(resuming)).trim().split("\n").at(-1) ?? "");
    expect(result.steps).toBe(3);
    expect(await output(other("ledger", run, "--store", store))).toContain("The ledger holds.");
  }, 1_200_000);

  test("a command that continues a run waits until its store answers", async () => {
    const state = mkdtempSync(join(folder, "machine-"));
    const own = machine(server.env, state);
    const train = () => own("run", pipeline, "--store", store, "--id", "continued", "--json");
    const first = train();
    await said(first, "step 1/3");
    first.killGroup();
    await first.end();
    await server.kill();
    const commands = [train(), own("resume", `${store}/continued`, "--json")];
    for (const command of commands) await said(command, "can't be read");
    await sleep(15_000);
    expect(commands.map(({ child }) => child.exitCode)).toEqual([null, null]);
    await server.start();
    const ends = await Promise.all(commands.map((command) => command.end()));
    expect(ends.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(ends.find(({ code }) => code === 1)?.stderr).toContain("RUN_ALREADY_ACTIVE");
    expect(await output(own("ledger", "continued", "--store", store))).toContain("The ledger holds.");
    const wrong = machine({ ...server.env, AWS_SECRET_ACCESS_KEY: "wrong" }, state);
    for (const parameters of [
      ["resume", "continued", "--store", store],
      ["resume", `${store}/continued`],
      ["run", pipeline, "--store", store, "--id", "continued"],
    ]) {
      const refused = await wrong(...parameters).end();
      expect(refused.stderr).toMatch(/STORE_REFUSED.*AWS_SECRET_ACCESS_KEY/s);
    }
  }, 1_200_000);

  test("another machine reads it by its id and the store, and by its address", async () => {
    const other = machine();
    const listed = await output(other("trajectories", run, "--store", store, "--json"));
    const byAddress = await output(machine()("trajectories", `${store}/${run}`, "--json"));
    expect(byAddress).toBe(listed);
    const { trajectories }: { trajectories: { id: string }[] } = JSON.parse(listed);
    expect(trajectories.length).toBeGreaterThanOrEqual(12);
    expect(await output(other("ledger", run, "--store", store))).toContain("The ledger holds.");
    expect(await output(other("versions", run, "--store", store))).toContain(`${store}/${run}/initial/`);
    const id = trajectories[0]?.id ?? "";
    expect(await output(other("show", id, "--store", store))).toContain(id);
    expect(await output(other("prune", `${store}/${run}`))).not.toBe("");
  });

  test("mistakes are named before anything is created", async () => {
    const told = async (command: RunningCommand) => (await command.end()).stderr;
    const refused = (to: string, env?: Record<string, string>) =>
      told(machine(env)("run", pipeline, "--store", to));
    expect(await refused("s3://nowhere/runs")).toMatch(/STORE_REFUSED.*NoSuchBucket.*create the bucket/s);
    expect(await refused("gs://runs")).toContain("STORE_ADDRESS_INVALID");
    expect(await refused(store, { ...server.env, AWS_SECRET_ACCESS_KEY: "wrong" })).toMatch(
      /STORE_REFUSED.*AWS_SECRET_ACCESS_KEY/s,
    );
    expect(await refused(store, { ...server.env, ...s3Users.reader })).toMatch(
      /STORE_REFUSED.*s3:PutObject/s,
    );
    const proxy = await startS3Proxy(server.port, () => "ignore-conditions");
    expect(await refused(store, { ...server.env, AWS_ENDPOINT_URL_S3: proxy.url })).toContain(
      "STORE_WITHOUT_CONDITIONS",
    );
    proxy.stop();
    const { stderr } = await machine()("trajectories", "nope", "--store", store).end();
    expect(stderr).toMatch(new RegExp(`RUN_NOT_FOUND.*nope in ${store}.*${run}`, "s"));
  });

  test("a pool's workers on another machine find runs that begin later, encrypted or not", async () => {
    const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
    const temporal = await startDevServer({ binary: await findServerBinary(), ...paths });
    onTestFinished(() => temporal.stop());
    const joined = { ...server.env, EVERTURN_STORE: store, TEMPORAL_ADDRESS: temporal.address };
    const keyed = { ...joined, EVERTURN_CODEC_KEYS: `k1:${randomBytes(32).toString("base64")}` };
    const other = machine(keyed);
    const workers = ["policy", "trainer"].map((role) => other("worker", "--pool", "gpu", "--role", role));
    await vi.waitUntil(() => workers.every((one) => one.stdout().includes("of the pool gpu polls")), {
      timeout: 250_000,
    });
    const runs = [machine(joined)("run", pipeline, "--id", "open-run", "--pool", "gpu", "--json")];
    runs.push(machine(keyed)("run", pipeline, "--id", "sealed-run", "--pool", "gpu", "--json"));
    for (const one of runs) {
      expect(JSON.parse((await output(one)).trim().split("\n").at(-1) ?? "")).toMatchObject({ steps: 3 });
    }
  }, 1_200_000);

  test("scripts open it too", async () => {
    Object.assign(process.env, server.env, { XDG_STATE_HOME: join(folder, "script") });
    const opened = await openRun(run, { store });
    expect((await opened.steps()).map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(existsSync(await opened.policyFolder())).toBe(true);
    expect(readdirSync(opened.folder)).not.toContain("steps");
  });
});
