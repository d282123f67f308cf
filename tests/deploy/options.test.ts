import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CORE_SCHEMA, load, mergeTag } from "js-yaml";
import { expect, test } from "vitest";
import { unknownParts } from "./everturn-options.ts";

const deploy = join(import.meta.dirname, "..", "..", "deploy");
const read = (file: string) => readFileSync(join(deploy, file), "utf8");

interface Compose {
  services: Record<string, { image: string; command?: string[]; ports?: string[] }>;
}
const { services } = load(read("docker-compose.yml"), { schema: CORE_SCHEMA.withTags(mergeTag) }) as Compose;

test("everturn knows every command and option in the compose file and the Slurm script", async () => {
  const commands = Object.values(services).filter(({ image }) => image.includes("everturn"));
  expect(commands).toHaveLength(7);
  for (const { command = [] } of commands) expect(await unknownParts(command)).toEqual([]);
  const [, inSlurm = ""] = /"\$\{everturn\[@\]\}" (.*) &$/m.exec(read("slurm/worker.sbatch")) ?? [];
  expect(await unknownParts(inSlurm.split(" "))).toEqual([]);
  for (const serves of ["--run", "--pool"])
    expect(read("slurm/worker.sbatch")).toContain(`serves=(${serves} `);
  expect(await unknownParts(["worker", "--run", "--pool"])).toEqual([]);
  expect(await unknownParts(["worker", "--rolle=policy"])).toEqual(["--rolle"]);
});

test("only this machine can reach the ports of the compose file, and every image has a version", () => {
  for (const { image, ports = [] } of Object.values(services)) {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    if (!image.includes("everturn")) expect(image).toMatch(/:v?\d+\.\d+/);
  }
});
