import { defined } from "../../base/records/defined.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import { movedImages, type PlacedImage } from "../../contracts/image-tokens.ts";
import { tiesBetween } from "../../contracts/router-ties.ts";
import type { TrainingTrajectory } from "../../contracts/trainer.ts";
import { imagesOf } from "./images-of.ts";

/** The rows of a trajectory: chains of segments, each from a prompt to an action that nothing follows. */
export interface SegmentRows {
  /** In the order in which they ended. Rows share the objects of common segments. */
  rows: Segment[][];
  /** The actions of all rows, in the order of their turns. */
  actions: Segment[];
}

/**
 * Joins a trajectory's segments into flat token arrays. Only action tokens have mask 1 and log-probabilities: the
 * policy's at `temperature` (1 for greedy actions) and, if any action was drawn under restrictions, the sampler's
 * own. Each row ends with its last action token: later tokens train nothing, and may be an observation that does not
 * fit the model. An action that several rows share is trained in the first of them. A turn without tokens, for which
 * there was no room, has no entry in `turnRewards`.
 */
export function trainingTrajectory(
  identity: Pick<TrainingTrajectory, "id" | "group" | "reward" | "turnRewards" | "truncated">,
  { rows, actions }: SegmentRows,
  temperature: number,
): TrainingTrajectory {
  const trained = new Set<Segment>();
  const all = rows.map((segments) => rowOf(segments, temperature, trained)).filter(({ end }) => end > 0);
  const join = (of: (row: Row) => number[]) => all.flatMap((row) => of(row).slice(0, row.end));
  let start = 0;
  const images: PlacedImage[] = [];
  const routerTies = all.flatMap((row) => {
    images.push(...movedImages(row.images, start));
    start += row.end;
    return tiesBetween(row.ties, 0, row.end, start - row.end);
  });
  const { turnRewards, ...identified } = identity;
  const isRestricted = all.some(({ samplingLogprobs, logprobs }) => samplingLogprobs !== logprobs);
  const earned = new Map(actions.map((action, turn) => [action, turnRewards?.[turn] ?? 0]));
  const acting = [...trained].filter(({ tokens }) => tokens.length > 0);
  return defined({
    ...identified,
    turnRewards: turnRewards === undefined ? undefined : acting.map((action) => earned.get(action) ?? 0),
    tokens: join(({ tokens }) => tokens),
    mask: join(({ mask }) => mask),
    images: images.length > 0 ? images : undefined,
    logprobs: join(({ logprobs }) => logprobs),
    samplingLogprobs: isRestricted ? join(({ samplingLogprobs }) => samplingLogprobs) : undefined,
    routerTies: routerTies.length > 0 ? routerTies : undefined,
    rows: all.length > 1 ? all.map(({ end }) => end) : undefined,
  });
}

interface Row {
  tokens: number[];
  mask: number[];
  logprobs: number[];
  /** The same array as `logprobs` if they are equal. */
  samplingLogprobs: number[];
  ties: number[];
  /** Those that begin before `end`. */
  images: PlacedImage[];
  /** The end of its last trained token; 0 if there is none. */
  end: number;
}

/** The columns of a row. `trained` contains the actions of earlier rows, and this row's are added. */
function rowOf(segments: readonly Segment[], temperature: number, trained: Set<Segment>): Row {
  const columns = segments.map((segment) => columnsOf(segment, temperature, !trained.has(segment)));
  for (const segment of segments) if (segment.origin === "action") trained.add(segment);
  const mask = columns.flatMap((column) => column.mask);
  const logprobs = columns.flatMap((column) => column.logprobs);
  const end = mask.lastIndexOf(1) + 1;
  const isRestricted = columns.some((column) => column.samplingLogprobs !== column.logprobs);
  return {
    tokens: segments.flatMap(({ tokens }) => tokens),
    mask,
    logprobs,
    samplingLogprobs: isRestricted ? columns.flatMap((column) => column.samplingLogprobs) : logprobs,
    ties: segments.flatMap(({ routerTies = [] }) => routerTies),
    images: imagesOf(segments).filter(({ start }) => start < end),
    end,
  };
}

/** A segment's mask and log-probabilities, one number per token. */
function columnsOf(segment: Segment, temperature: number, isOwn: boolean) {
  const { origin, tokens, temperedLogprobs, samplingLogprobs } = segment;
  if (origin !== "action" || !isOwn) {
    const zeros = tokens.map(() => 0);
    return { mask: zeros, logprobs: zeros, samplingLogprobs: zeros };
  }
  const { logprobs: untempered = tokens.map(() => Number.NaN) } = segment;
  const logprobs = temperature === 1 ? untempered : (temperedLogprobs ?? untempered);
  return { mask: tokens.map(() => 1), logprobs, samplingLogprobs: samplingLogprobs ?? logprobs };
}
