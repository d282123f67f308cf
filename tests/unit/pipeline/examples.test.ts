import { join } from "node:path";
import { expect, test } from "vitest";
import { checkPipeline } from "../../../src/pipeline/load-plan.ts";

const pipelines = join(import.meta.dirname, "..", "..", "..", "pipelines");

test.each(["calculator", "code", "sql", "search", "zoom"])(
  "the example %s is valid as it stands",
  async (name) => {
    const { plan } = await checkPipeline(join(pipelines, `${name}.yaml`));
    expect(plan.name).toBe(name);
  },
);
