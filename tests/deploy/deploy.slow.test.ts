import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { everything, needed } from "./chart-values.ts";
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

test.skipIf(whyNoTools())(
  "the chart renders resources that Kubernetes' published schemas accept",
  async () => {
    for (const [name, ...more] of [["least"], ["all", "--values", join(chart, "values-gpu.yaml")]]) {
      const set = (name === "all" ? everything : needed).flatMap((value) => ["--set", value]);
      const rendered = await helm("template", "calculator", chart, ...set, ...(more as string[]));
      const resources = loadAll(rendered) as Resource[];
      const named = (kind: string) => resources.filter((one) => one.kind === kind);

      // KEDA's resources have no schema there. They must fit the others.
      const own = rendered.split(/^---$/m).filter((one) => !one.includes("keda.sh"));
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, own.join("---"));
      await tool("kubernetes-validate", "--strict", "--quiet", file);
      const [authentication] = named("TriggerAuthentication").map(({ metadata }) => metadata.name);
      for (const { spec } of named("ScaledObject")) {
        expect(named("Deployment").map(({ metadata }) => metadata.name)).toContain(spec.scaleTargetRef?.name);
        const [trigger] = spec.triggers ?? [];
        expect(trigger?.metadata.taskQueue).toMatch(/^calculator\/(policy|tools)$/);
        expect(trigger?.authenticationRef?.name).toBe(authentication);
      }
      expect(named("ScaledObject")).toHaveLength(name === "all" ? 2 : 0);
      expect(named("Deployment")).toHaveLength(4);
      expect(named("Job")).toHaveLength(name === "all" ? 1 : 0);
      for (const { spec } of [...named("Deployment"), ...named("Job")])
        for (const { args } of spec.template?.spec.containers ?? [])
          expect(await unknownParts(args)).toEqual([]);
    }
  },
);

test.skipIf(whyNoTools())("the chart refuses values that are missing or misspelled", async () => {
  const refusal = (...set: string[]) =>
    helm("template", "calculator", chart, ...set.flatMap((value) => ["--set", value])).then(
      () => "",
      (error: Error) => error.message,
    );
  expect(await refusal(...needed.slice(1))).toContain("run.id is required");
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
