# A taskset of verifiers for `npm run environments`: add amounts to reach a target. Tasks whose indices are in FAILING
# can't begin.
import os

import verifiers.v1 as vf

__all__ = ["CountTaskset"]

FAILING = [int(index) for index in os.environ.get("FAILING", "").split(",") if index]


class CountData(vf.TaskData):
    target: int


class CountTools(vf.Toolset[vf.ToolsetConfig, vf.State]):
    TOOL_PREFIX = None
    total = 0

    @vf.tool
    def add(self, amount: int) -> int:
        """Add to the total."""
        self.total += amount
        return self.total


class CountTask(vf.Task[CountData, vf.State, vf.TaskConfig]):
    @classmethod
    def toolsets(cls, config):
        return [CountTools(vf.ToolsetConfig())]

    async def setup(self, trace, runtime):
        if self.data.idx in FAILING:
            raise RuntimeError("the simulator did not start")

    @vf.reward
    async def reached(self, trace) -> float:
        totals = [message.content for message in trace.tool_messages]
        return 1.0 if totals and totals[-1] == str(self.data.target) else 0.0

    @vf.metric
    async def steps(self, trace) -> float:
        return float(len(trace.tool_messages))


class CountTaskset(vf.Taskset[CountTask, vf.TasksetConfig]):
    def load(self):
        for index in range(8):
            target = 3 + index
            yield CountTask(CountData(prompt=f"Reach {target}.", target=target), self.config.task)


if __name__ == "__main__":
    CountTools.run()
