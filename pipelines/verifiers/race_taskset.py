# A taskset of verifiers: who won a race? Only an answer in tags counts. Its rows are in train.jsonl and held-out.jsonl.
import re

import verifiers.v1 as vf

__all__ = ["RaceTaskset"]


class RaceData(vf.TaskData):
    winner: str


class RaceTask(vf.Task[RaceData, vf.State, vf.TaskConfig]):
    @vf.reward
    async def right(self, trace) -> float:
        answers = re.findall(r"<answer>(.*?)</answer>", trace.last_reply)
        return 1.0 if answers == [self.data.winner] else 0.0


class RaceTaskset(vf.Taskset[RaceTask, vf.TasksetConfig]):
    def load(self):
        raise NotImplementedError("the rows are in files")
