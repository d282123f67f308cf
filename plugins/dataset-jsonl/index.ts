import { type DatasetPlugin, parseTasks, readText } from "everturn/plugin";

/**
 * Reads tasks from a JSON Lines file (config: `path`, `limit`, `badRows`). Bad rows are refused with file,
 * line and column, or left out.
 */
const jsonLines: DatasetPlugin = {
  async load({ path, limit, badRows }) {
    const tasks = parseTasks(readText(String(path)), String(path), {
      badRows: badRows === "skip" ? badRows : "refuse",
    });
    if (typeof limit === "number") tasks.splice(limit);
    return tasks;
  },
};

export default jsonLines;
