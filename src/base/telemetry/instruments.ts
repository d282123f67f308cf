import { metrics } from "@opentelemetry/api";

/** The measurements of Everturn's workers. They do nothing unless telemetry was started first. */
export function instruments() {
  const meter = metrics.getMeter("everturn");
  return {
    /** By activity type and outcome. A failed attempt counts too. */
    activitySeconds: meter.createHistogram("everturn.activity.duration", {
      unit: "s",
      description: "Duration of an activity's attempt: a generated turn, a tool call, a train step.",
    }),
    /** By activity type: the time between when it could have started and when it did. */
    waitSeconds: meter.createHistogram("everturn.activity.wait", {
      unit: "s",
      description: "How long an activity's attempt waited in its queue for a worker with a free slot.",
    }),
    /** By activity type. */
    running: meter.createUpDownCounter("everturn.activity.running", {
      unit: "{activity}",
      description: "Activities under way: the slots that are taken.",
    }),
    /** By the name that trackers use: train/rewardMean. */
    measured: meter.createGauge("everturn.run.measured", {
      description: "What the newest step of a run measured, by name.",
    }),
    tokens: meter.createCounter("everturn.tokens", {
      unit: "{token}",
      description: "Tokens by origin: prompt, action, observation.",
    }),
    hostPauses: meter.createCounter("everturn.tool.host.pauses", {
      unit: "{pause}",
      description: "How often a tool's host was paused because it kept failing, by host.",
    }),
    reward: meter.createHistogram("everturn.trajectory.reward", {
      description: "Reward of finished trajectories, by outcome.",
    }),
  };
}
