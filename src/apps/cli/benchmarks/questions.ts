import { defined } from "../../../base/records/defined.ts";
import { type Benchmark, kept, textOf, textsOf } from "./benchmark.ts";

export const searchQa: Benchmark = {
  description:
    "questions whose answers are searched for, in the form of FlashRAG and Search-R1 (NQ, TriviaQA, HotpotQA …): question, golden_answers or answer",
  reward: "reward-qa",
  task(row) {
    const question = textOf(row, "question");
    const single = textOf(row, "answer");
    const answers =
      textsOf(row, "golden_answers") ?? textsOf(row, "answers") ?? (single === undefined ? [] : [single]);
    const [first, ...others] = answers;
    if (question === undefined || first === undefined) return undefined;
    const content = `Answer the question. Put the answer, without an explanation, between <answer> and </answer>. ${question}`;
    return {
      data_source: textOf(row, "data_source") ?? "search-qa",
      prompt: [{ role: "user", content }],
      ability: "search",
      reward_model: defined({ ground_truth: first, answers: others.length === 0 ? undefined : others }),
      extra_info: kept(row, "id", "_id", "type", "level"),
    };
  },
};

export const textToSql: Benchmark = {
  description: "text-to-SQL in the form of Spider and BIRD: db_id, question, query or SQL, evidence",
  reward: "reward-sql-execution with folder: the databases",
  task(row) {
    const [question, query] = [textOf(row, "question"), textOf(row, "query", "SQL")];
    const database = textOf(row, "db_id");
    if (question === undefined || query === undefined || database === undefined) return undefined;
    const evidence = textOf(row, "evidence") ?? "";
    const level = textOf(row, "difficulty");
    return {
      data_source: "text-to-sql",
      prompt: [{ role: "user", content: evidence === "" ? question : `${question}\n${evidence}` }],
      ability: "sql",
      reward_model: { ground_truth: query },
      extra_info: defined({ database, tags: level === undefined ? undefined : [level] }),
    };
  },
};
