"""Writes tests/fixtures/trackers: events as TensorBoard's own classes encode them, and what W&B's own client sends.

pip install tensorboard==2.21.0 wandb==0.31.0; python scripts/make-tracker-fixtures.py
"""
import gzip
import http.server
import io
import json
import os
import pathlib
import tempfile
import threading

from tensorboard.compat.proto import event_pb2, histogram_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

FOLDER = pathlib.Path(__file__).parent.parent / "tests" / "fixtures" / "trackers"

EVENTS = [
    {"at": 1795510000250, "fileVersion": "brain.Event:2"},
    {"at": 1795510000500, "texts": {"pipeline": "```json\n{ \"name\": \"größe\" }\n```"}},
    {"at": 1795510001000, "values": {"evaluation/accuracy": 0.0}},
    {"at": 1795510002000, "step": 1, "values": {"train/rewardMean": -0.25, "train/seconds/total": 1.5}},
    {"at": 1795510003000, "step": 300, "values": {"train/rewardMean": 1e-30, "train/metrics/漢": 3.0e38}},
    {"at": 1795510004000, "step": 2**40 + 1, "values": {f"train/{i}": i / 7 for i in range(40)}},
    {
        "at": 1795510005000,
        "step": 2,
        "values": {"train/rewardMean": 0.25},
        "histograms": {
            "train/rewards": {"limits": [-0.5, 0.0, 0.5, 1.0], "counts": [1, 0, 3], "sum": 1.75, "sumOfSquares": 2.5},
        },
        "tables": {"train/samples": [["**reward**", "**prompt**"], ["0.5", "```\n5 | 漢\n```"], ["1", ""]]},
    },
]


def add_texts(proto, tag: str, sizes: list, words: list) -> None:
    plugin = summary_pb2.SummaryMetadata.PluginData(plugin_name="text")
    shape = tensor_shape_pb2.TensorShapeProto(dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=size) for size in sizes])
    values = [word.encode() for word in words]
    tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, tensor_shape=shape, string_val=values)
    proto.summary.value.add(tag=tag, metadata=summary_pb2.SummaryMetadata(plugin_data=plugin), tensor=tensor)


def encoded(event: dict) -> bytes:
    proto = event_pb2.Event(wall_time=event["at"] / 1000, step=event.get("step", 0))
    if "fileVersion" in event:
        proto.file_version = event["fileVersion"]
    for tag, value in event.get("values", {}).items():
        proto.summary.value.add(tag=tag, simple_value=value)
    for tag, words in event.get("texts", {}).items():
        add_texts(proto, tag, [1], [words])
    for tag, one in event.get("histograms", {}).items():
        limits, counts = one["limits"], one["counts"]
        histogram = histogram_pb2.HistogramProto(
            min=limits[0], max=limits[-1], num=sum(counts), sum=one["sum"], sum_squares=one["sumOfSquares"],
            bucket_limit=limits[1:], bucket=counts,
        )
        proto.summary.value.add(tag=tag, histo=histogram)
    for tag, rows in event.get("tables", {}).items():
        add_texts(proto, tag, [len(rows), len(rows[0])], [cell for row in rows for cell in row])
    file = io.BytesIO()
    RecordWriter(file).write(proto.SerializeToString())
    return file.getvalue()


class Recorder(http.server.BaseHTTPRequestHandler):
    """Answers W&B's client as far as it needs, and keeps what it sends of a run."""

    protocol_version = "HTTP/1.1"
    requests: list = []

    def log_message(self, *_):
        pass

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        answer = {}
        if self.path == "/graphql":
            asked = json.loads(raw)
            answer = self.answer(asked["query"])
            if asked["operationName"] == "CreateRunFiles":
                answer = self.places(asked["variables"]["files"])
            if asked["operationName"] == "UpsertBucket" or "media/table/" in raw.decode():
                self.keep(asked)
        elif self.path.endswith("/file_stream"):
            self.keep(json.loads(raw))
        self.reply(json.dumps(answer).encode())

    def do_PUT(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if "/media/table/" in self.path:
            self.requests.append({"path": self.path, "headers": {"x-place": self.headers["x-place"]}, "body": json.loads(raw)})
        self.reply(b"{}")

    def reply(self, body: bytes):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def keep(self, body):
        headers = {name: self.headers[name] for name in ("authorization", "content-type")}
        self.requests.append({"path": self.path, "headers": headers, "body": body})

    def places(self, files: list) -> dict:
        base = f"http://{self.headers['host']}/storage/"
        targets = [{"name": file, "uploadUrl": base + file} for file in files]
        return {"data": {"createRunFiles": {"runID": "r", "uploadHeaders": ["x-place:here"], "files": targets}}}

    @staticmethod
    def answer(query: str) -> dict:
        if "upsertBucket" in query:
            project = {"id": "p", "name": "calculator", "entity": {"id": "e", "name": "acme"}}
            run = {"id": "r", "name": "run-1", "displayName": "run-1", "config": "{}", "project": project}
            return {"data": {"upsertBucket": {"bucket": {**run, "historyLineCount": 0}, "inserted": True}}}
        if "viewer" in query:
            return {"data": {"viewer": {"id": "v", "entity": "acme", "username": "a", "flags": "{}", "teams": {"edges": []}}}}
        if "__type" in query or "__schema" in query:
            return {"data": {"QueryType": {"fields": []}, "MutationType": {"fields": []}, "ServerInfoType": {"fields": []}}}
        if "serverInfo" in query:
            return {"data": {"serverInfo": {"cliVersionInfo": {"max_cli_version": "9.9.9"}, "features": []}}}
        return {"data": {"model": {"bucket": None}, "project": {"run": None}, "entity": None}}


def wandb_requests(with_media: bool) -> list:
    """The requests about a run; with media, those about a table and a histogram."""
    import wandb

    # A table is a file of the run, and also an artifact. The tracker sends the file, which the history names.
    wandb.sdk.data_types.utils._log_table_artifact = lambda *_: None
    Recorder.requests.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["WANDB_DIR"] = tempfile.mkdtemp()
    settings = wandb.Settings(
        base_url=f"http://127.0.0.1:{server.server_port}", api_key="a" * 40, console="off", x_disable_stats=True, init_timeout=30,
    )
    run = wandb.init(project="calculator", name="run-1", id="run-1", tags=["everturn"], settings=settings,
                     config={"name": "calculator", "rollout": {"batchSize": 8}})
    run.log({"train/rewardMean": 0.5, "step": 1}, step=0)
    run.log({"train/rewardMean": 0.7, "step": 2}, step=1)
    if with_media:
        table = wandb.Table(columns=["reward", "prompt"], data=[[0.5, "5 + 3"], [1.0, "漢"]])
        histogram = wandb.Histogram(np_histogram=([1, 0, 3], [-0.5, 0.0, 0.5, 1.0]))
        run.log({"train/samples": table, "train/rewards": histogram}, step=2)
    run.finish()
    server.shutdown()
    if with_media:
        return [one for one in Recorder.requests if "media/table/" in json.dumps(one)]
    upserts = [one for one in Recorder.requests if one["path"] == "/graphql"]
    streams = [one for one in Recorder.requests if one["path"] != "/graphql"]
    said = upserts[0]["body"]["variables"]
    config = {key: value for key, value in json.loads(said["config"]).items() if key != "_wandb"}
    kept = {name: said[name] for name in ("name", "project", "displayName", "tags")}
    upserts[0]["body"]["variables"] = {**kept, "config": json.dumps(config)}  # the rest is of the machine
    return [upserts[0], streams[-1]]


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    records = [{"event": event, "record": encoded(event).hex()} for event in EVENTS]
    (FOLDER / "tensorboard.json").write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n")
    (FOLDER / "wandb.json").write_text(json.dumps(wandb_requests(False), indent=1) + "\n")
    (FOLDER / "wandb-media.json").write_text(json.dumps(wandb_requests(True), indent=1) + "\n")
