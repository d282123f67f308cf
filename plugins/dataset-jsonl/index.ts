import { readFile } from "node:fs/promises";
import { type DatasetPlugin, parseTasks } from "everturn/plugin";

/** Tasks of a JSON Lines file (config: `path`, `limit`). Bad rows are refused with file, line and column. */
const jsonLines: DatasetPlugin = {
  async load(config) {
    const path = String(config.path);
    const tasks = parseTasks(await readFile(path, "utf8"), path);
    return typeof config.limit === "number" ? tasks.slice(0, config.limit) : tasks;
  },
};

export default jsonLines;
