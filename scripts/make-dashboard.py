"""Writes docs/grafana/everturn.json, a dashboard over what Everturn exports: python scripts/make-dashboard.py"""
import json
from pathlib import Path

TARGET = Path(__file__).parent.parent / "docs" / "grafana" / "everturn.json"
SOURCE = {"type": "prometheus", "uid": "${source}"}


def quantile(metric, by, share):
    return f"histogram_quantile({share}, sum by (le, {by}) (rate({metric}_bucket[$__rate_interval])))"


def measured(*names):
    return [(f'everturn_run_measured{{name="{name}", run=~"$run"}}', "{{run}} " + name) for name in names]


ROWS = [
    ("Learning", [
        ("Reward and success", "short", measured("train/rewardMean", "train/successRate")),
        ("KL and entropy", "short", measured("train/approximateKl", "train/entropy")),
        ("Loss and gradient norm", "short", measured("train/policyLoss", "train/gradientNorm")),
        ("Calls of tools", "percentunit", measured("train/toolCallRate", "train/validCallRate")),
        ("Gap of log-probabilities, sampler to trainer", "short", measured("train/logprobGap")),
        ("Staleness", "short", measured("train/stalenessMean", "train/staleness")),
    ]),
    ("Trajectories", [
        ("Finished a minute, by outcome", "short", [("sum by (outcome) (rate(everturn_trajectory_reward_count[$__rate_interval])) * 60", "{{outcome}}")]),
        ("Tokens a second, by origin", "short", [("sum by (origin) (rate(everturn_tokens_total[$__rate_interval]))", "{{origin}}")]),
    ]),
    ("Work", [
        ("Activities under way: slots taken", "short", [("sum by (activity) (everturn_activity_running)", "{{activity}}")]),
        ("Wait in the queue, 95 %", "s", [(quantile("everturn_activity_wait_seconds", "activity", 0.95), "{{activity}}")]),
        ("Duration, median", "s", [(quantile("everturn_activity_duration_seconds", "activity", 0.5), "{{activity}}")]),
        ("Duration, 95 %", "s", [(quantile("everturn_activity_duration_seconds", "activity", 0.95), "{{activity}}")]),
        ("Attempts that failed, a minute", "short", [('sum by (activity) (rate(everturn_activity_duration_seconds_count{outcome="failed"}[$__rate_interval])) * 60', "{{activity}}")]),
        ("Pauses of tools' hosts", "short", [("sum by (host) (increase(everturn_tool_host_pauses_total[$__rate_interval]))", "{{host}}")]),
    ]),
    ("Processes", [
        ("Processors", "short", [("process_cpu_utilization_ratio", "{{job}}")]),
        ("Memory", "bytes", [("process_memory_usage_bytes", "{{job}}")]),
    ]),
]


def panels():
    found, y, number = [], 0, 1
    for title, plots in ROWS:
        found.append({"type": "row", "title": title, "id": number, "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}, "collapsed": False, "panels": []})
        number, y = number + 1, y + 1
        for index, (name, unit, targets) in enumerate(plots):
            place = {"x": 12 * (index % 2), "y": y + 8 * (index // 2), "w": 12, "h": 8}
            asked = [{"refId": chr(65 + i), "expr": expr, "legendFormat": legend, "datasource": SOURCE} for i, (expr, legend) in enumerate(targets)]
            field = {"defaults": {"unit": unit, "custom": {"showPoints": "auto"}}, "overrides": []}
            found.append({"type": "timeseries", "title": name, "id": number, "gridPos": place, "datasource": SOURCE, "targets": asked, "fieldConfig": field})
            number += 1
        y += 8 * ((len(plots) + 1) // 2)
    return found


DASHBOARD = {
    "title": "Everturn",
    "uid": "everturn",
    "schemaVersion": 39,
    "editable": True,
    "refresh": "10s",
    "time": {"from": "now-1h", "to": "now"},
    "templating": {"list": [
        {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
        {"name": "run", "label": "Run", "type": "query", "datasource": SOURCE, "query": "label_values(everturn_run_measured, run)", "includeAll": True, "multi": True, "current": {"text": "All", "value": "$__all"}, "refresh": 2},
    ]},
    "panels": panels(),
}

if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(json.dumps(DASHBOARD, indent=1) + "\n")
