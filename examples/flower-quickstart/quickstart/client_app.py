"""The client: ordinary, but for the mod."""

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from lossyfl.flower import lossy_mod
from quickstart.task import load, make_model, train

app = ClientApp(mods=[lossy_mod])  # the added line


@app.train()
def fit(message: Message, context: Context) -> Message:
    model = make_model()
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    part, parts = context.node_config["partition-id"], context.node_config["num-partitions"]
    x, y = load(int(part), int(parts))
    loss = train(model, x, y)
    metrics = MetricRecord({"num-examples": len(x), "train-loss": loss})
    content = RecordDict({"arrays": ArrayRecord(model.state_dict()), "metrics": metrics})
    return Message(content, reply_to=message)
