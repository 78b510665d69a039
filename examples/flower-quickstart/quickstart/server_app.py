"""The server: FedAvg, wrapped."""

import torch
from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from lossyfl.flower import LossyStrategy
from quickstart.task import accuracy, make_model, test_set

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    torch.manual_seed(0)
    strategy = FedAvg(fraction_evaluate=0.0)
    strategy = LossyStrategy(  # the added line
        strategy,
        str(context.run_config["scheme"]),
        results=str(context.run_config["results"]) or None,
    )
    strategy.start(
        grid,
        ArrayRecord(make_model().state_dict()),
        num_rounds=int(context.run_config["rounds"]),
        evaluate_fn=evaluate,
    )


def evaluate(_: int, arrays: ArrayRecord) -> MetricRecord:
    model = make_model()
    model.load_state_dict(arrays.to_torch_state_dict())
    return MetricRecord({"accuracy": accuracy(model, *test_set())})
