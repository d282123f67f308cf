import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/** A tool's host in a process of its own: answers 42 on loopback, and logs the key of each call it answers. */
const [log = "", port = ""] = process.argv.slice(2);
appendFileSync(log, "");
const server = createServer(async (request, response) => {
  const { key } = JSON.parse(await text(request));
  appendFileSync(log, `${key}\n`);
  response.end("42");
});
server.listen(Number(port), "127.0.0.1", () => process.stdout.write("listening\n"));
