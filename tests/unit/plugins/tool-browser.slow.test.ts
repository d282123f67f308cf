import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import type { ToolResponse } from "everturn/plugin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readArchive } from "../../../plugins/tool-browser/archive.ts";
import { openProfile } from "../../../plugins/tool-browser/browser.ts";
import { allowedAddress, isPublic } from "../../../plugins/tool-browser/hosts.ts";
import { type Settings, settingsOf } from "../../../plugins/tool-browser/settings.ts";
import { TrajectoryBrowser } from "../../../plugins/tool-browser/trajectory-browser.ts";
import { partsOf, viewOf } from "../../../plugins/tool-browser/view.ts";
import { defined } from "../../../src/base/records/defined.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import { chromiumHere } from "../../support/chromium.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const executable = await chromiumHere();
const { signal } = new AbortController();
const open: TrajectoryBrowser[] = [];

afterAll(async () => {
  for (const browsing of open) await browsing.close();
  if (live === undefined) return; // there was no browser
  for (const config of [recorded, live]) {
    const profile = await openProfile(config);
    await profile.shared.browser.close();
  }
});

const common = defined<JsonObject>({ time: 60, executable });
const archive = join(import.meta.dirname, "..", "..", "fixtures", "browser", "shop.har");
const recorded = settingsOf({ ...common, archive, characters: 1000 });
let live: Settings | undefined;

function begin(settings: Settings, saved?: TrajectoryBrowser["saved"]): TrajectoryBrowser {
  const browsing = new TrajectoryBrowser(settings, saved);
  open.push(browsing);
  return browsing;
}

function caller(browsing: TrajectoryBrowser) {
  return (name: string, given: Record<string, string | number | boolean> = {}): Promise<ToolResponse> =>
    browsing.call({ name, arguments: given }, signal);
}

/** The number that a line of the view has. */
function number({ text = "" }: ToolResponse, line: string): number {
  const found = text.split("\n").find((one) => one.includes(line));
  return Number(/\[(\d+)\]/.exec(found ?? "")?.[1]);
}

test.each([
  ["93.184.216.34", true],
  ["2606:2800:220:1::1", true],
  ...["127.0.0.1", "10.1.2.3", "169.254.169.254", "0.0.0.0", "192.168.1.1", "100.64.0.1", "224.0.0.1"].map(
    (address) => [address, false] as const,
  ),
  ...["::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::", "a"].map(
    (address) => [address, false] as const,
  ),
] as const)("the address %s is public: %s", (address, expected) => {
  expect(isPublic(address)).toBe(expected);
});

test("a name is asked at a public address, if the list has it", async () => {
  const asked = (host: string, port: number, hosts: string[], isPrivate = false) =>
    allowedAddress(host, port, { hosts, private: isPrivate });
  expect(await asked("93.184.216.34", 443, ["*"])).toBe("93.184.216.34");
  expect(await asked("127.0.0.1", 8080, ["127.0.0.1:8080"], true)).toBe("127.0.0.1");
  await expect(asked("localhost", 80, ["localhost"])).rejects.toThrow("has the private address");
  await expect(asked("127.0.0.1", 8081, ["127.0.0.1:8080"], true)).rejects.toThrow(
    "127.0.0.1:8081 is not among",
  );
  await expect(asked("evil-example.org", 80, ["*.example.org", "example.org"])).rejects.toThrow(
    "is not among",
  );
  await expect(asked("example.org", 8080, ["*"])).rejects.toThrow("is not among");
});

test.each([
  [{}, "needs either"],
  [{ archive: "a.har", hosts: ["*"] }, "needs either"],
])("the configuration %j is refused", (config, reason) => {
  expect(() => settingsOf(config)).toThrow(reason);
});

test.each(["", "[]", '{"log": {"entries": [{}]}}', '{"log": {"entries": 3}}', "PK\u0003\u0004"])(
  "a file with %j is no archive",
  (text) => {
    const path = join(folder, "pages.har");
    writeFileSync(path, text);
    expect(() => readArchive(path)).toThrow(path);
  },
);

test("lines of a view are cut into parts between lines, and between characters", () => {
  expect(partsOf(["aa", "bb", "cc"], 5)).toEqual(["aa\nbb", "cc"]);
  expect(partsOf(["a😀b"], 2)).toEqual(["a", "😀", "b"]);
  expect(partsOf([], 5)).toEqual([""]);
  const snapshot = `- 'link "a: \\"b\\"" [ref=e2] [cursor=pointer]':\n  - /url: "/x: y"\n- text: "c: d"\n- - - broken`;
  expect(viewOf(snapshot).lines.slice(0, 2)).toEqual(['[1] link "a: \\"b\\"" → /x: y', "c: d"]);
});

describe.skipIf(executable === undefined)("a browser over recorded pages", { timeout: 300_000 }, () => {
  test("opens, fills in, searches, goes back, and goes on elsewhere as it was", async () => {
    const browsing = begin(recorded);
    const call = caller(browsing);
    const home = await call("open", { url: "http://shop.example/" });
    expect(home.text).toMatch(/^Lamp shop — http:\/\/shop\.example\/\n\[1\] link "Home" → \//);
    expect(home.text).toContain(
      '[3] textbox "Search" (a lamp)\n[4] combobox "Colour": any (selected), red, blue',
    );
    await call("type", { number: 3, text: "desk lamp" });
    expect((await call("select", { number: 4, option: "green" })).text).toContain("any, red, blue");
    const ready = await call("select", { number: 4, option: "red" });
    expect(ready.text).toContain('"desk lamp"');
    expect(ready.text).toContain("red (selected)");

    const other = caller(begin(recorded, JSON.parse(JSON.stringify(browsing.saved))));
    const found = await call("click", { number: number(ready, "Find") });
    expect(found.text).toContain("# Found: 1");
    expect(await other("click", { number: number(ready, "Find") })).toEqual(found);
    const back = await call("back");
    expect(back.text).toContain("Drawn: 0.6270739405881613 at 20"); // chance and time are the archive's
    expect((await call("type", { number: 3, text: "chair", submit: true })).text).toContain(
      "is not in the archive",
    );
  });

  test("redirects, new pages, dialogs and pages that are not there", async () => {
    const call = caller(begin(recorded));
    const home = await call("open", { url: "http://shop.example/" });
    expect((await call("back")).text).toBe("error: there is no page before this one");
    const old = await call("click", { number: number(home, "Our oldest lamp") });
    expect(old.text).toBe(
      'Lamp 1 — http://shop.example/lamp/1\n[1] link "Home" → /\n[2] link "Lamps" → /lamps\n# Lamp 1\nColour | Price\nred | 10 €\nimg "A red lamp"',
    );
    expect((await call("back")).text).toBe(home.text);
    expect((await call("click", { number: number(home, "Jobs") })).text).toContain("# Not in the archive");
    await call("back");
    expect((await call("click", { number: number(home, "Lamp of the week") })).text).toContain(
      "(a new page opened)\n",
    );
    expect((await call("back")).text).toBe(home.text);
    expect((await call("click", { number: number(home, "Opening hours") })).text).toContain(
      '(the page said: "Open from 9 to 5"; OK)',
    );
    for (const url of [
      "http://other.example/",
      "http://shop.example/round",
      "file:///etc/passwd",
      "data:text/html,a",
      "javascript:1",
      "chrome://crash",
      "a b",
      "",
    ])
      expect(await call("open", { url })).toEqual({ invalid: expect.any(String) });
    expect(await call("click", { number: 99 })).toEqual({
      text: "error: there is no [99] on the page",
      error: true,
    });
    expect((await call("type", { number: 1, text: "a" })).text).toMatch(/^error: Element is not an <input>/);
    expect((await call("select", { number: 1, option: "a" })).text).toContain("no options");
  });

  test("long pages are shown in parts, searched and pictured", async () => {
    const call = caller(begin(recorded));
    const first = await call("open", { url: "http://shop.example/lamps" });
    expect(first.text).toMatch(/\(part 1 of \d\)$/);
    const second = await call("scroll");
    expect(second.text).toMatch(/\(part 2 of \d\)$/);
    expect(second.text).not.toContain('"Lamp 1"');
    expect((await call("scroll", { part: 1 })).text).toBe(first.text);
    expect((await call("scroll", { part: 99 })).text).toContain("there is no part 99");
    expect((await call("find", { text: "LAMP 42" })).text).toMatch(/^part \d: .*\[44\] link "Lamp 42"/);
    expect((await call("find", { text: "chair" })).text).toBe('"chair" is not on the page.');
    expect((await call("click", { number: 44 })).text).toContain("is not in the archive");
    const { content = [] } = await call("screenshot");
    expect(content).toMatchObject([{ type: "image" }]);
    expect(Object(content[0]).data.subarray(1, 4).toString()).toBe("PNG");
  });

  test("a browser that dies is started again, and the page is as it was", async () => {
    const call = caller(begin(recorded));
    await call("open", { url: "http://shop.example/lamps" });
    const { shared } = await openProfile(recorded);
    await shared.browser.close();
    expect((await call("scroll")).text).toContain("(part 2 of");
  });
});

const hostile: Record<string, string> = {
  "/": "<title>Home</title><p>Home",
  "/loop": "<title>Loop</title><button onclick='while (true);'>Go</button>",
  "/alerts": "<title>Alerts</title><button onclick='while (true) alert(1)'>Go</button>",
  "/reload": "<title>Reload</title><script>location.reload()</script>",
  "/popups":
    '<title>Popups</title><button onclick=\'for (let i = 0; i < 6; i++) window.open("/", "w" + i)\'>Go</button>',
  "/huge":
    "<title>Huge</title><body><script>for (let i = 0; i < 60000; i++) document.body.append(document.createElement('i'))</script>",
  "/crash":
    "<title>Crash</title><button onclick='const all = []; while (true) all.push(new Array(1e6).fill(i++))'>Go</button><script>let i = 0</script>",
};

describe.skipIf(executable === undefined)("a browser over live pages", { timeout: 300_000 }, () => {
  let server: Server;
  let inner: Server;
  const asked: string[] = [];
  let origin = "";
  let settings: Settings;
  let secret = "";

  beforeAll(async () => {
    inner = createServer(({ url = "" }, response) => {
      asked.push(url);
      response.end("secret");
    });
    inner.on("upgrade", ({ url = "" }) => asked.push(url));
    secret = `127.0.0.1:${await portOf(inner)}`;
    server = createServer(({ url = "" }, response) => {
      if (url === "/round") return void response.writeHead(302, { location: "/round" }).end();
      if (url.startsWith("/inside"))
        return void response.writeHead(302, { location: `http://${secret}${url}` }).end();
      if (url === "/file")
        return void response.writeHead(200, { "content-disposition": "attachment" }).end("a");
      const page = url === "/reach" ? reaching(secret) : hostile[url];
      response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" }).end(page);
    });
    const own = `127.0.0.1:${await portOf(server)}`;
    origin = `http://${own}`;
    settings = settingsOf({ ...common, hosts: [own], private: true, memory: 64 });
    live = settings;
  });

  afterAll(() => {
    server.close();
    inner.close();
  });

  test("asks no other host, by whatever way a page tries", async () => {
    const browsing = begin(settings);
    const call = caller(browsing);
    await call("open", { url: `${origin}/` });
    const refused = await call("open", { url: `${origin}/inside` });
    expect(refused).toMatchObject({ error: true, text: expect.stringContaining("is not among the hosts") });
    expect((await call("open", { url: `http://${secret}/direct` })).text).toContain("is not among the hosts");
    expect((await call("open", { url: "https://nowhere.example/" })).text).toContain(
      "is not among the hosts",
    );
    expect((await call("open", { url: `${origin}/file` })).text).toContain("is a download");
    const reached = await call("open", { url: `${origin}/reach` });
    expect(reached.text).toContain("tried 7");
    for (const name of ["file", "data"]) await call("click", { number: number(reached, name) });
    expect((await call("find", { text: "root:" })).text).toContain("not on the page");
    expect(asked).toEqual([]);

    await call("open", { url: `${origin}/` });
    const elsewhere = caller(begin(settings, JSON.parse(JSON.stringify(browsing.saved))));
    expect((await elsewhere("scroll", { part: 1 })).text).toBe(`Home — ${origin}/\nHome`);
  });

  test("pages that never come to an end are the page's failure, and no other's", async () => {
    const beside = caller(begin(settings));
    await beside("open", { url: `${origin}/` });
    const call = caller(begin(settings));
    expect((await call("open", { url: `${origin}/round` })).text).toContain("ERR_TOO_MANY_REDIRECTS");
    expect((await call("open", { url: `${origin}/huge` })).text).toContain("too large to be read: 600");
    await call("open", { url: `${origin}/alerts` });
    expect((await call("click", { number: 1 })).text).toContain("one dialog after the other, and was closed");
    await call("open", { url: `${origin}/popups` });
    expect((await call("click", { number: 1 })).text).toContain("a page that opened was closed");
    expect(await call("open", { url: `${origin}/` })).toEqual({ text: `Home — ${origin}/\nHome` });
    await call("open", { url: `${origin}/crash` });
    expect((await call("click", { number: 1 })).text).toContain("crashed");
    expect(await call("open", { url: `${origin}/` })).toEqual({ text: `Home — ${origin}/\nHome` });

    const short = caller(begin({ ...settings, time: 3 }));
    await short("open", { url: `${origin}/loop` });
    expect(await short("click", { number: 1 })).toMatchObject({ error: true });
    await short("open", { url: `${origin}/reload` });
    expect((await beside("find", { text: "Home" })).text).toBe("Home");
  });
});

function reaching(host: string): string {
  return `<title>Reach</title><a href="file:///etc/passwd">file</a> <a href="data:text/html,root:">data</a>
<img src="http://${host}/img"><img src="/inside/img"><iframe src="http://${host}/frame"></iframe>
<link rel="stylesheet" href="http://${host}/style"><p id="n"></p><script>
fetch("http://${host}/fetch", { mode: "no-cors" }).catch(() => {});
navigator.sendBeacon("http://${host}/beacon");
new WebSocket("ws://${host}/socket");
document.querySelector("#n").textContent = "tried 7";
</script>`;
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Number(Object(server.address()).port);
}
