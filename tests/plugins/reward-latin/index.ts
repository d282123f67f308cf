import type { RewardPlugin } from "everturn/plugin";

/** The share of ASCII letters in the first action, finished or cut: of random text in all languages it always differs. */
const plugin: RewardPlugin = {
  score({ turns }) {
    const text = turns[0]?.action ?? "";
    const share = text.replace(/[^a-z]/gi, "").length / Math.max(1, text.length);
    return { reward: share, success: share > 0.5 };
  },
};

export default plugin;
