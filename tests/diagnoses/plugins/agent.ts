import { defineAgent } from "everturn/plugin";

/** Answers without asking the policy. */
export default defineAgent(() => Promise.resolve("42"));
