# A taskset of verifiers for `npm run environments`: add amounts to reach a target. Tasks whose indices are in FAILING
# can't begin. One tool server serves all episodes, and their totals are in verifiers' state.
import os

import verifiers.v1 as vf

__all__ = ["CountTaskset"]

FAILING = [int(index) for index in os.environ.get("FAILING", "").split(",") if index]


class CountState(vf.State):
    total: int = 0


class CountData(vf.TaskData):
    target: int


class CountTools(vf.Toolset[vf.SharedToolsetConfig, CountState]):
    TOOL_PREFIX = None

    @vf.tool
    def add(self, amount: int) -> int:
        """Add to the total."""
        self.state.total += amount
        return self.state.total


class CountTask(vf.Task[CountData, CountState, vf.TaskConfig]):
    async def setup(self, trace, runtime):
        if self.data.idx in FAILING:
            raise RuntimeError("the simulator did not start")

    @vf.reward
    async def reached(self, trace) -> float:
        return 1.0 if trace.state.total == self.data.target else 0.0

    @vf.metric
    async def steps(self, trace) -> float:
        return float(len(trace.tool_messages))


class CountTaskset(vf.Taskset[CountTask, vf.TasksetConfig]):
    @classmethod
    def toolsets(cls, config):
        return [CountTools(vf.SharedToolsetConfig())]

    def load(self):
        raise NotImplementedError("the rows are in a file")


if __name__ == "__main__":
    CountTools.run()
