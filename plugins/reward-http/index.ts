import type { JsonObject, RewardPlugin } from "everturn/plugin";
import { jsonForm } from "./json-form.ts";
import { nemoGymForm } from "./nemo-gym-form.ts";
import { post } from "./post.ts";
import { verlForm } from "./verl-form.ts";

/**
 * Asks a reward server. What does not answer, answers with an error or with what can't be read is infrastructure that
 * failed: the score is asked for again. A server that says itself that it has no score is taken at its word.
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
