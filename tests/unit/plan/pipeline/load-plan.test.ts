import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { changed, fileOf, workspace } from "./workspace.ts";

async function planOf(changes: Record<string, string> = {}, overrides: string[] = []) {
  const folder = workspace(changes);
  const plan = await loadPlan(join(folder, "pipeline.yaml"), { overrides });
  return { folder, plan };
}

describe("loadPlan", () => {
  it("fills the defaults of the pipeline and of the plugins' schemas", async () => {
    const { plan } = await planOf();
    expect(plan.rollout).toEqual({
      batchSize: 8,
      groupSize: 2,
      templateCheck: "warn",
      temperature: 1,
      maxActionTokens: 256,
      format: "hermes",
      concurrency: 64,
      staleness: 0,
      maxInfrastructureFailures: 0.5,
      observations: { cut: "end" },
    });
    expect(plan.evaluation).toEqual({ every: 20, tasks: 300 });
    expect(plan.trainer.config).toEqual({ learningRate: 1e-4, minibatchSize: 4 });
    expect(plan.rewards[0]?.config).toEqual({ extract: "whole" });
    expect(plan).not.toHaveProperty("warmStart");
  });

  it("fills what depends on the rest of the pipeline: the trainer's learning rates and correction", async () => {
    const small = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
    const random = await loadPlan(small, {
      overrides: ["policy.config.sampling={ topP: 0.95 }", "warmStart.steps=5"],
    });
    expect(random.trainer.config).toMatchObject({
      learningRate: 1e-4,
      importanceCorrection: "token-truncate",
    });
    expect(random.warmStart?.learningRate).toBe(0.003);
    expect(random.trainer).not.toHaveProperty("comparesTurns");
    const pretrained = await loadPlan(small, {
      overrides: [
        "policy.config={ model: smollm2-135m-instruct }",
        "trainer.config={ algorithm: dapo, credit: turn, minibatchSize: 8 }",
        "rollout.groupSize=4",
        "warmStart={ demonstrations: ../fixtures/tool-demonstrations.jsonl, steps: 5 }",
      ],
    });
    expect(pretrained.trainer).toMatchObject({ comparesTurns: true, config: { learningRate: 1e-6 } });
    expect(pretrained.warmStart?.learningRate).toBe(2e-5);
  });

  it("counts the calls of demonstrations that call tools", async () => {
    const path = join(import.meta.dirname, "..", "..", "..", "..", "pipelines");
    const market = await loadPlan(join(path, "market.yaml"));
    const { search = 0, calculator = 0, ...others } = market.demonstratedCalls ?? {};
    expect(others).toEqual({});
    expect(search).toBeGreaterThan(0);
    expect(search + calculator).toBeGreaterThan(1); // some call both
    expect(await loadPlan(join(path, "feedback.yaml"))).not.toHaveProperty("demonstratedCalls");
  });

  it("says of a tool and a host how often calls begin, and of a tool's observations what is otherwise", async () => {
    const said = [
      "tools.0.rate=10/s",
      "hosts.calculator={ rate: 60/m }",
      "tools.0.observations={ cut: middle }",
    ];
    const { plan } = await planOf({}, said);
    expect(plan.tools[0]).toMatchObject({ rate: "10/s", observations: { cut: "middle" } });
    expect(plan.hosts.calculator).toMatchObject({ rate: "60/m" });
    expect(plan.rollout.observations).toEqual({ cut: "end" });
    for (const wrong of ["10 per second", "0/s"])
      await expect(planOf({}, [`tools.0.rate=${wrong}`])).rejects.toThrow("isn't of the right form");
  });

  it("takes a plugin's name alone for its use without more", async () => {
    const short = `${fileOf("pipeline.yaml").replace(/tools:[\s\S]*(?=loop:)/, "tools: [tool-calculator]\n")}`
      .replace("loop: { plugin: loop-test, config: {} }", "loop: loop-test")
      .replace("reward: { plugin: reward-exact-match, config: {} }", "reward: reward-exact-match");
    const { plan } = await planOf({ "pipeline.yaml": short }, ["tools.0.timeout=4s", "loop=loop-test"]);
    expect(plan.tools[0]).toMatchObject({ name: "tool-calculator", timeout: 4000 });
    expect(plan).toMatchObject({ loop: { name: "loop-test" }, rewards: [{ name: "reward-exact-match" }] });
  });

  it("makes paths absolute, relative to the pipeline", async () => {
    const { folder, plan } = await planOf();
    expect(plan.pipelineFile).toBe(join(folder, "pipeline.yaml"));
    expect(plan.policy.config.weights).toBe(join(folder, "weights"));
    expect(plan.dataset.validation.config).toEqual({ path: join(folder, "tasks.jsonl"), limit: 1 });
    expect(plan.loop.workflow).toBe(join(folder, "plugins", "loop-test", "workflow.js"));
  });

  it("puts the pipeline's retry and time-out before the manifest's", async () => {
    const { plan } = await planOf();
    expect(plan.tools[0]).toMatchObject({
      name: "tool-calculator",
      timeout: 2000,
      retry: { maximumAttempts: 3, initialInterval: 100, backoffCoefficient: 2, maximumInterval: 5000 },
    });
  });

  it("waits at least as long as the first wait before each further attempt", async () => {
    const { plan } = await planOf({}, ["tools.0.retry.initialInterval=1m"]);
    expect(plan.tools[0]?.retry).toMatchObject({ initialInterval: 60_000, maximumInterval: 60_000 });
  });

  it("is deeply frozen and survives JSON", async () => {
    const { plan } = await planOf();
    expect(Object.isFrozen(plan.policy.config)).toBe(true);
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  it("applies overrides in order, with YAML values", async () => {
    const { plan } = await planOf({}, ["steps=5", "steps=6", "evaluation.every=3", "tools.0.config={}"]);
    expect(plan.steps).toBe(6);
    expect(plan.evaluation.every).toBe(3);
  });

  it("finds plugins by path and in the folders it is told", async () => {
    const folder = workspace({
      ...changed("pipeline.yaml", "loop-test", "./plugins/loop-test"),
      "more/reward-more/everturn.plugin.json": JSON.stringify({
        name: "reward-more",
        kind: "reward",
        version: "1.2.3",
        engines: { everturn: "*" },
        entry: "./index.js",
      }),
      "more/reward-more/index.js": "export default { score: () => ({ reward: 1, success: true }) };",
    });
    const plan = await loadPlan(join(folder, "pipeline.yaml"), {
      overrides: ["reward={plugin: reward-more}"],
      pluginFolders: [join(folder, "more")],
    });
    expect(plan.loop.name).toBe("loop-test");
    expect(plan.rewards[0]).toMatchObject({ name: "reward-more", version: "1.2.3", config: {} });
  });

  it("finds plugins among installed packages", async () => {
    const manifest = fileOf("plugins/loop-test/everturn.plugin.json").replaceAll(
      "loop-test",
      "loop-installed",
    );
    const { folder, plan } = await planOf({
      ...changed("pipeline.yaml", "loop-test", "loop-installed"),
      "node_modules/@somebody/everturn-loop/everturn.plugin.json": manifest,
      "node_modules/@somebody/everturn-loop/workflow.js": "export default async () => 'answered';",
    });
    expect(plan.loop.folder).toBe(join(folder, "node_modules", "@somebody", "everturn-loop"));
  });

  it("lets YAML aliases share what they name without tying the two together", async () => {
    const { folder, plan } = await planOf({
      "pipeline.yaml": fileOf("pipeline.yaml")
        .replace("train: {", "train: &tasks {")
        .replace(/validation: .*/, "validation: *tasks"),
    });
    expect(plan.dataset.validation.config.path).toBe(join(folder, "tasks.jsonl"));
    expect(plan.dataset.validation).not.toBe(plan.dataset.train);
  });
});
