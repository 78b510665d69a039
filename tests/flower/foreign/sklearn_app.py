"""Flower's quickstart-sklearn: logistic regression on MNIST, a few steps of scikit-learn's solver a round."""

import warnings
from functools import cache

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import Mod
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from tests.flower.foreign.images import images
from tests.flower.foreign.torch_apps import NODES, PER_NODE

Data = tuple[np.ndarray, np.ndarray]


@cache
def mnist() -> tuple[Data, Data]:
    found, most = images("mnist"), NODES * PER_NODE
    train = found.train_x[:most], found.train_y[:most]
    tests = found.test_x, found.test_y
    return _flat(*train), _flat(*tests)


def _flat(images: np.ndarray, labels: np.ndarray) -> Data:
    return images.reshape(len(images), -1) / 255.0, labels


class SklearnApp:
    """As the example: coefficients and intercepts are float64, without names."""

    def initial(self, seed: int) -> ArrayRecord:
        rng = np.random.default_rng(seed)
        return ArrayRecord([rng.normal(scale=1e-3, size=(10, 784)), np.zeros(10)])

    def accuracy(self, arrays: ArrayRecord) -> float:
        w, b = arrays.to_numpy_ndarrays()
        x, y = mnist()[1]
        return float(((x @ w.T + b).argmax(1) == y).mean())

    def client(self, *mods: Mod) -> ClientApp:
        app = ClientApp(mods=list(mods))

        @app.train()
        def train(message: Message, context: Context) -> Message:
            number = int(context.node_config["partition-id"])
            x, y = (part[number::NODES] for part in mnist()[0])
            model = LogisticRegression(max_iter=3, warm_start=True)
            model.classes_ = np.arange(10)
            model.coef_, model.intercept_ = message.content["arrays"].to_numpy_ndarrays()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # it is to stop early
                model.fit(x, y)
            content = RecordDict(
                {
                    "arrays": ArrayRecord([model.coef_, model.intercept_]),
                    "metrics": MetricRecord({"num-examples": len(x)}),
                }
            )
            return Message(content, reply_to=message)

        return app


logistic = SklearnApp()
