import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { everything, needed, pool, pooledRun } from "./chart-values.ts";
import { unknownParts } from "./everturn-options.ts";
import { helm, tool, whyNoTools } from "./tools.ts";

const deploy = join(import.meta.dirname, "..", "..", "deploy");
const chart = join(deploy, "helm");
const folder = temporaryFolder();

interface Resource {
  kind: string;
  metadata: { name: string };
  spec: {
    template?: { spec: { containers: { args: string[] }[]; initContainers?: unknown[] } };
    scaleTargetRef?: { name: string };
    triggers?: { metadata: { taskQueue: string }; authenticationRef?: { name: string } }[];
  };
}

const gpu = ["--values", join(chart, "values-gpu.yaml")];

/** A way to use the chart, and what it renders. */
interface Release {
  of: string;
  values: string[];
  more?: string[];
  deployments: string[];
  /** Of ScaledObjects. */
  queues: string[];
  jobs: number;
}

const releases: Release[] = [
  {
    of: "least",
    values: needed,
    deployments: ["orchestration", "policy", "tools", "trainer"],
    queues: [],
    jobs: 0,
  },
  {
    of: "all",
    values: everything,
    more: gpu,
    deployments: ["orchestration", "policy", "tools", "trainer"],
    queues: ["calculator/policy", "calculator/tools"],
    jobs: 1,
  },
  {
    of: "pool",
    values: pool,
    more: gpu,
    deployments: ["policy", "trainer"],
    queues: ["pool:gpu/policy"],
    jobs: 0,
  },
  { of: "pooled run", values: pooledRun, deployments: ["orchestration", "tools"], queues: [], jobs: 1 },
];

test.skipIf(whyNoTools()).each(releases)(
  "the chart renders resources that Kubernetes' published schemas accept: $of",
  async ({ of, values, more = [], deployments, queues, jobs }) => {
    const set = values.flatMap((value) => ["--set", value]);
    const rendered = await helm("template", "calculator", chart, ...set, ...more);
    const resources = loadAll(rendered) as Resource[];
    const named = (kind: string) => resources.filter((one) => one.kind === kind);

    // KEDA's resources have no schema there. They must fit the others.
    const own = rendered.split(/^---$/m).filter((one) => !one.includes("keda.sh"));
    const file = join(folder, `${of}.yaml`);
    writeFileSync(file, own.join("---"));
    await tool("kubernetes-validate", "--strict", "--quiet", file);
    const [authentication] = named("TriggerAuthentication").map(({ metadata }) => metadata.name);
    const triggers = named("ScaledObject").flatMap(({ spec }) => spec.triggers ?? []);
    for (const { spec } of named("ScaledObject"))
      expect(named("Deployment").map(({ metadata }) => metadata.name)).toContain(spec.scaleTargetRef?.name);
    expect(triggers.map(({ metadata }) => metadata.taskQueue)).toEqual(queues);
    for (const { authenticationRef } of triggers) expect(authenticationRef?.name).toBe(authentication);
    const ofRoles = deployments.map((role) => `calculator-${role}`);
    expect(named("Deployment").map(({ metadata }) => metadata.name)).toEqual(ofRoles);
    expect(named("PodDisruptionBudget").map(({ metadata }) => metadata.name)).toEqual(ofRoles);
    expect(named("Job")).toHaveLength(jobs);
    for (const { spec } of [...named("Deployment"), ...named("Job")])
      for (const { args } of spec.template?.spec.containers ?? [])
        expect(await unknownParts(args)).toEqual([]);
  },
);

test.skipIf(whyNoTools())("a pool's workers serve the pool, and a run of a pool names it", async () => {
  const argsOf = async (values: string[]) => {
    const rendered = await helm("template", "one", chart, ...values.flatMap((value) => ["--set", value]));
    const resources = loadAll(rendered) as Resource[];
    return resources.flatMap(
      ({ spec }) => spec?.template?.spec.containers.map(({ args }) => args.join(" ")) ?? [],
    );
  };
  expect(await argsOf(pool)).toEqual([
    "worker --role policy --grace 108 --pool gpu --at-once 16",
    "worker --role trainer --grace 108 --pool gpu",
  ]);
  expect(await argsOf(pooledRun)).toEqual([
    "worker --role orchestration --grace 48 --run calculator",
    "worker --role tools --grace 108 --run calculator",
    "run pipelines/calculator.yaml --id calculator --workers elsewhere --pool gpu --priority 1",
  ]);
});

test.skipIf(whyNoTools())("the chart refuses values that are missing or misspelled", async () => {
  const refusal = (...set: string[]) =>
    helm("template", "calculator", chart, ...set.flatMap((value) => ["--set", value])).then(
      () => "",
      (error: Error) => error.message,
    );
  expect(await refusal(...needed.slice(1))).toContain("run.id is required");
  expect(await refusal(...needed, "pool.name=gpu")).toContain("run.id and pool.name exclude each other");
  expect(await refusal(...needed, "roles.polcy.replicas=2")).toContain(
    "additional properties 'polcy' not allowed",
  );
  expect(await refusal(...needed, "temporal.address=https://temporal")).toContain("does not match pattern");
  await helm("lint", chart, ...needed.flatMap((value) => ["--set", value]));
});

test.skipIf(whyNoTools())(
  "linters accept the Dockerfile, the compose file and the Slurm script",
  async () => {
    expect(await tool("hadolint", join(deploy, "Dockerfile"))).toBe("");
    expect(await tool("shellcheck", join(deploy, "slurm", "worker.sbatch"))).toBe("");
    // The library reads no variables, so they get their defaults.
    const compose = readFileSync(join(deploy, "docker-compose.yml"), "utf8").replace(
      /\$\{\w+:-([^}]*)\}/g,
      "$1",
    );
    const file = join(folder, "docker-compose.yml");
    writeFileSync(file, compose);
    const program = [
      "import sys, compose_spec",
      "options = compose_spec.PyOptions()",
      "options.apply_merge = True",
      "options.from_yaml(open(sys.argv[1]).read()).validate()",
    ];
    expect(await tool("python3", "-c", program.join("\n"), file)).toBe("");
  },
);
