import type { JsonObject, RewardPlugin } from "everturn/plugin";
import { jsonForm } from "./json-form.ts";
import { nemoGymForm } from "./nemo-gym-form.ts";
import { post } from "./post.ts";
import { verlForm } from "./verl-form.ts";

/**
 * Asks a reward server for scores. A missing, invalid or error answer counts as an infrastructure failure,
 * and the request is repeated. If the server itself reports that it has no score, the score is missing.
 */
const http: RewardPlugin = {
  async score(request) {
    const { config, signal } = request;
    const { bodyOf, scoreOf } = formOf(config);
    const answered = await post(String(config.url), bodyOf(request), tokenOf(config), signal);
    return scoreOf(answered, Number(config.solvedFrom ?? 1));
  },
};

export default http;

function formOf(config: JsonObject) {
  if (config.form === "nemo-gym") return nemoGymForm;
  return config.form === "verl" ? verlForm : jsonForm(config);
}

function tokenOf({ token }: JsonObject): string | undefined {
  if (typeof token !== "string") return undefined;
  const value = process.env[token];
  if (value === undefined || value === "") throw new Error(`the worker has no environment variable ${token}`);
  return value;
}
