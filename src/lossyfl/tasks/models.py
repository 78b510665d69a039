"""The models of the built-in tasks; the paper's two in Table 1, to the parameter."""

from lossyfl.extras import of_extra

with of_extra("sim"):
    from torch import Tensor, nn


def glorot(module: nn.Module) -> nn.Module:
    """The module with Glorot-uniform weights and zero biases."""
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return module


def digits_cnn() -> nn.Module:
    """A small network for 8x8 digits: d = 13,706."""
    return glorot(
        nn.Sequential(
            *_pooled(1, 16),
            *_pooled(16, 32),
            nn.Flatten(),
            nn.Linear(128, 64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )
    )


def mnist_cnn() -> nn.Module:
    """The paper's network for MNIST: d = 130,890."""
    return glorot(
        nn.Sequential(
            *_pooled(1, 32),
            *_pooled(32, 64),
            *_pooled(64, 64),
            nn.Flatten(),
            nn.Linear(576, 128),
            nn.ReLU(),
            nn.Linear(128, 10),
        )
    )


def cifar_cnn() -> nn.Module:
    """The paper's network for CIFAR-10: d = 307,498."""
    return glorot(
        nn.Sequential(
            *_pair(3, 32, dropout=0.2),
            *_pair(32, 64, dropout=0.3),
            *_pair(64, 128, dropout=0.4),
            nn.Flatten(),
            nn.Linear(2048, 10),
        )
    )


def linear(features: int, classes: int) -> nn.Module:
    """Multinomial logistic regression, from zero: a convex loss."""
    layer = nn.Linear(features, classes)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(nn.Flatten(), layer)


def perceptron(features: int, hidden: int, classes: int) -> nn.Module:
    """Two hidden layers of the same width."""
    return glorot(
        nn.Sequential(
            nn.Flatten(),
            nn.Linear(features, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )
    )


class NextCharacter(nn.Module):
    """An LSTM over characters that says at each of them how likely each next one is.

    Characters come as numbers, (samples, length); scores go as (samples, characters, length), the axes that
    torch's cross entropy has.
    """

    def __init__(self, characters: int, features: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, features)
        self.memory = nn.LSTM(features, hidden, batch_first=True)
        self.scores = nn.Linear(hidden, characters)

    def forward(self, x: Tensor) -> Tensor:
        """(samples, characters, positions): the score of every character to come next."""
        states, _ = self.memory(self.embedding(x))
        return self.scores(states).transpose(1, 2)


def character_lstm(characters: int) -> nn.Module:
    """A small network for text: d = 136,705 for 65 characters."""
    return NextCharacter(characters, features=32, hidden=160)


def _conv(inputs: int, outputs: int) -> nn.Module:
    return nn.Conv2d(inputs, outputs, 3, padding=1)


def _pooled(inputs: int, outputs: int) -> tuple[nn.Module, ...]:
    """Convolution, ReLU and pooling: the largest of four is taken first, and then one ReLU does."""
    return _conv(inputs, outputs), nn.MaxPool2d(2), nn.ReLU()


def _pair(inputs: int, outputs: int, *, dropout: float) -> tuple[nn.Module, ...]:
    return (
        _conv(inputs, outputs),
        nn.ReLU(),
        *_pooled(outputs, outputs),
        nn.Dropout(dropout),
    )
