import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Context, Hono } from "hono";
import { csrf } from "hono/csrf";
import { HTTPException } from "hono/http-exception";
import { secureHeaders } from "hono/secure-headers";
import type { EverturnError } from "../../base/errors/everturn-error.ts";
import { imageHeader } from "../../chat/images/image-header.ts";
import { knownError } from "../../control/operations/known-error.ts";
import type { Html } from "../../results/report/html.ts";
import { html, prose } from "../../results/report/html.ts";
import { style } from "../../results/report/style.ts";
import { type Fields, orderByForm } from "./give-orders.ts";
import { document } from "./layout.ts";
import { isSeen, livePart } from "./live-part.ts";
import { comparePage } from "./pages/compare-page.ts";
import { compareRunsPage, mostRuns } from "./pages/compare-runs-page.ts";
import { evaluationsPage, evaluationsPart } from "./pages/evaluations-page.ts";
import { indexNote } from "./pages/index-note.ts";
import { jobPage, jobPart } from "./pages/job-page.ts";
import { logPage, logPart } from "./pages/log-page.ts";
import { rewardsPart } from "./pages/rewards-part.ts";
import { overviewPart, runPage } from "./pages/run-page.ts";
import { runsPage, runsPart } from "./pages/runs-page.ts";
import { searchPage, searchPart } from "./pages/search-page.ts";
import { stepPage } from "./pages/step-page.ts";
import { taskPage } from "./pages/task-page.ts";
import { trajectoriesPage } from "./pages/trajectories-page.ts";
import { talk, trajectoryPage } from "./pages/trajectory-page.ts";
import { waitingPage, waitingPart } from "./pages/waiting-page.ts";
import { trajectoryPath, withQuery } from "./paths.ts";
import { type DetailPage, shownTrajectory } from "./read-trajectory-page.ts";
import { uiStyle } from "./style.ts";
import { askedList } from "./trajectory-query.ts";
import { type ShownRun, shownRun, type UiContext } from "./ui-context.ts";

/** Media types in which a run's bytes are sent, none of which a browser executes. */
const inertTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const place = "/runs/:run/trajectories/:stage/:task/:sample";

/**
 * All pages. Text from models, tools and tasks is escaped, and no page may load anything from elsewhere or send
 * anything there.
 */
export function routes(context: UiContext): Hono {
  const app = new Hono();
  app.use(
    secureHeaders({
      referrerPolicy: "same-origin", // without a referrer a form has no origin, and csrf() rejects it
      strictTransportSecurity: false, // it is plain HTTP on the loopback address
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", "data:"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    }),
  );
  app.use(csrf());
  app.use(async (c, next) => {
    await next();
    c.header("cache-control", "no-store");
  });
  app.onError((error, c) => problem(c, error));
  app.notFound((c) => c.html(problemPage("There is no such page."), 404));

  const runOf = (c: Context) => shownRun(context, c.req.param("run") ?? "");
  const onRun = (path: string, answer: (run: ShownRun, c: Context) => Promise<string>) =>
    app.get(path, async (c) => c.html(await answer(await runOf(c), c)));

  app.get("/assets/style.css", (c) =>
    c.body(style + uiStyle, 200, { "content-type": "text/css; charset=utf-8" }),
  );
  app.get("/assets/htmx.js", (c) =>
    c.body(htmx(), 200, { "content-type": "text/javascript; charset=utf-8" }),
  );

  app.get("/", async (c) => c.html(await runsPage(context)));
  app.get("/parts/runs", async (c) => part(c, await runsPart(context)));
  app.get("/compare", async (c) =>
    c.html(await comparePage(context, c.req.query("first") ?? "", c.req.query("second") ?? "")),
  );
  app.get("/compare-runs", async (c) => {
    const named = ["first", "second", "run"].flatMap((name) => c.req.queries(name) ?? []);
    const runs = await Promise.all(named.slice(0, mostRuns).map((name) => shownRun(context, name)));
    return c.html(await compareRunsPage(runs));
  });
  onRun("/runs/:run", runPage);
  app.get("/runs/:run/parts/overview", async (c) => part(c, await overviewPart(await runOf(c)), 4));
  onRun("/runs/:run/steps/:step", (run, c) => stepPage(run, c.req.param("step") ?? ""));
  onRun("/runs/:run/tasks/:task", (run, c) => taskPage(context, run, c.req.param("task") ?? ""));
  onRun("/runs/:run/evaluations", evaluationsPage);
  app.get("/runs/:run/parts/evaluations", async (c) => part(c, await evaluationsPart(await runOf(c)), 4));
  onRun("/runs/:run/log", (run, c) => logPage(run, c.req.query("name")));
  app.get("/runs/:run/parts/log", async (c) =>
    part(c, await logPart(await runOf(c), c.req.query("name") ?? "")),
  );
  onRun("/runs/:run/search", async (run, c) => searchPage(context, run, c.req.query("text") ?? ""));
  app.get("/runs/:run/parts/search", async (c) => {
    const run = await runOf(c);
    const search = context.searches.of(run, c.req.query("text") ?? "");
    const content = searchPart(run, search);
    return search.state === "at work" ? part(c, content, 1) : c.html(content.html);
  });
  app.get("/runs/:run/parts/rewards", async (c) => {
    const run = await runOf(c);
    return c.html(rewardsPart(run, await context.indexes.of(run)).html);
  });
  onRun("/runs/:run/waiting", (run) => waitingPage(context, run));
  app.get("/runs/:run/parts/waiting", async (c) => part(c, await waitingPart(context, await runOf(c))));
  app.get("/runs/:run/parts/index", async (c) => {
    const run = await runOf(c);
    const index = await context.indexes.of(run);
    if (index.isComplete) c.header("HX-Refresh", "true");
    return c.html(indexNote(run.id, index).html);
  });
  onRun("/runs/:run/trajectories", (run, c) =>
    trajectoriesPage(
      context,
      run,
      askedList((name) => c.req.query(name)),
    ),
  );

  const shownIn = async (c: Context): Promise<[ShownRun, DetailPage]> => {
    const run = await runOf(c);
    const { stage = "", task = "", sample = "" } = c.req.param();
    const number = /^\d{1,9}$/.test(sample) ? Number(sample) : -1;
    return [run, await shownTrajectory(context, run, { stage, task, sample: number })];
  };
  app.get(place, async (c) => c.html(await trajectoryPage(...(await shownIn(c)), c.req.query("tokens"))));
  app.get(`${place}/part`, async (c) => {
    const [run, shown] = await shownIn(c);
    if (shown.detail.record !== undefined) c.header("HX-Refresh", "true"); // the page of a finished one differs
    return part(c, talk(run, shown), 2);
  });
  app.post(`${place}/orders`, async (c) => {
    const [run, { id }] = await shownIn(c);
    await orderByForm(context, run, id, await fieldsOf(c));
    return c.redirect(trajectoryPath(id), 303);
  });
  app.post(`${place}/fork`, async (c) => {
    const [, { id }] = await shownIn(c);
    const fields = await fieldsOf(c);
    const words = ["turn", "temperature", "count"].flatMap((name) => {
      const value = fields.get(name)?.trim() ?? "";
      return value === "" ? [] : [`--${name}=${value}`];
    });
    const job = context.jobs.start(["fork", ...words, `--runs=${context.runs}`, "--", id]);
    return c.redirect(`/jobs/${job.number}`, 303);
  });
  app.post(`${place}/replay`, async (c) => {
    const [, { id }] = await shownIn(c);
    const job = context.jobs.start(["replay", `--runs=${context.runs}`, "--", id]);
    return c.redirect(`/jobs/${job.number}`, 303);
  });

  app.get("/jobs/:number", (c) => {
    const job = context.jobs.find(Number(c.req.param("number")));
    return job === undefined ? c.notFound() : c.html(jobPage(job));
  });
  app.get("/parts/jobs/:number", (c) => {
    const job = context.jobs.find(Number(c.req.param("number")));
    if (job === undefined) return c.notFound();
    if (job.exitCode !== undefined) c.header("HX-Refresh", "true");
    return part(c, jobPart(job), 1);
  });
  app.get("/runs/:run/bytes/:sha256", async (c) => {
    const sha256 = c.req.param("sha256");
    const { store } = await runOf(c);
    const bytes = /^[0-9a-f]{64}$/.test(sha256) ? await store.readBytes(sha256) : undefined;
    if (bytes === undefined) return c.notFound();
    const wanted = c.req.query("type") ?? imageHeader(bytes).mediaType ?? "";
    const type = inertTypes.includes(wanted) ? wanted : "text/plain; charset=utf-8";
    return c.body(new Uint8Array(bytes), 200, { "content-type": type });
  });
  return app;
}

/** Sends a part, unless the page has shown it since it was requested. */
function part(c: Context, content: Html, seconds?: number): Response {
  if (isSeen(content, c.req.query("seen"))) return c.body(null, 204);
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete("seen");
  return c.html(livePart(withQuery(pathname, Object.fromEntries(searchParams)), content, seconds).html);
}

async function fieldsOf(c: Context): Promise<Fields> {
  const sent = await c.req.formData();
  return new Map([...sent].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}

function problem(c: Context, error: Error): Response {
  if (error instanceof HTTPException)
    return c.html(problemPage(error.message || "The request was refused."), error.status);
  const known = knownError(error);
  if (known === undefined) {
    process.stderr.write(`${error.stack ?? error.message}\n`);
    return c.html(problemPage(`Something unexpected went wrong: ${error.message}`), 500);
  }
  return c.html(problemPage(`${known.code}: ${known.message}`), statusOf(known));
}

function statusOf({ code }: EverturnError): 400 | 404 | 409 {
  if (code.endsWith("_NOT_FOUND")) return 404;
  return code.startsWith("ORDER_") || code.endsWith("_NOT_LIVE") || code === "RUN_HAS_NO_SERVER" ? 409 : 400;
}

function problemPage(text: string): string {
  return document({
    title: "A problem",
    content: html`<h1>That did not work</h1><p class="problem" role="alert">${prose(text)}</p>`,
  });
}

function htmx(): string {
  return readFileSync(createRequire(import.meta.url).resolve("htmx.org/dist/htmx.min.js"), "utf8");
}
