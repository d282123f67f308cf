# Plays episodes with OpenEnv's own client: `openenv_client.py URL EPISODES`, where EPISODES is JSON: a list of the data of a
# reset and the actions of its steps. Prints the observations and rewards of each.
import json
import sys

from openenv import GenericEnvClient

url, episodes = sys.argv[1], json.loads(sys.argv[2])
played = []
for reset, actions in episodes:
    with GenericEnvClient(base_url=url).sync() as env:
        first = env.reset(**reset)
        steps = [env.step(action) for action in actions]
        observations = [one.observation for one in [first, *steps]]
        played.append({"observations": observations, "rewards": [one.reward for one in steps]})
print(json.dumps(played))
