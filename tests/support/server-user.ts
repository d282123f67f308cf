// Uses a server until it is killed: prints its address. The arguments are its `start`, as JSON, and what it answers.
import { serverAddress } from "everturn/plugin";

const [start = "", ready = "/"] = process.argv.slice(2);
process.stdout.write(`${await serverAddress({ start: JSON.parse(start) }, { ready })}\n`);
setInterval(() => {}, 1000);
