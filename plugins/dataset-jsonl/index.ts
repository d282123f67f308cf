import { type DatasetPlugin, parseTasks, readText } from "everturn/plugin";

/** Tasks of a JSON Lines file (config: `path`, `limit`). Bad rows are refused with file, line and column. */
const jsonLines: DatasetPlugin = {
  async load(config) {
    const path = String(config.path);
    const tasks = parseTasks(readText(path), path);
    return typeof config.limit === "number" ? tasks.slice(0, config.limit) : tasks;
  },
};

export default jsonLines;
