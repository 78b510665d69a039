"""`lossyfl --help`: all commands in groups, a line each. Plain text, for it is said before typer is imported.

A test compares it with the commands themselves.
"""

GROUPS = {
    "Train": {
        "demo": "The paper's five systems on the embedded digits, and a report.",
        "run": "Train over many devices on this machine, and write a results directory.",
        "resume": "Go on with a run that was interrupted or killed, or add rounds to one that is done.",
        "compare": "Train with several schemes: same seeds, same start, same batches; then a report.",
        "sweep": "Train with every combination of some settings; then tests, figures and a report.",
        "reproduce": "Run the schemes of a figure of the paper on the real data, and draw it.",
    },
    "Choose and look": {
        "list": "What there is by name: schemes, quantizers, tasks, strategies; a line each.",
        "tune": "Find the scheme with the fewest bytes that still learns as well, on short runs.",
        "report": "Runs as one interactive page that needs no network, and as tables and figures.",
        "bound": "Theorem 1 beside what it bounds: logistic regression on anybody's samples.",
    },
    "Data and frames": {
        "data": "Data sets: list, fetch, check.",
        "codec": "Vectors and models to frames and back.",
    },
    "Elsewhere": {
        "flower": "Flower's nodes on this machine.",
        "bench": "Speed and size against peers, in one run.",
    },
}
EXAMPLES = {
    "": (
        "lossyfl run --rounds 50",
        "lossyfl compare --task mnist --schemes lossless lfl:q1=2,q2=2 --seeds 3",
        "lossyfl list schemes",
    ),
    "run": (
        "lossyfl run --task mnist --scheme lfl:q1=2,q2=2 --rounds 60",
        "lossyfl run --downlink-budget 20kB --uplink-budget 5kB --first-budget 5bit",
        "lossyfl run experiment.toml --rounds 50 --out runs/mine",
    ),
    "resume": (
        "lossyfl resume runs/mine",
        "lossyfl resume runs/mine --rounds 200",
    ),
    "compare": (
        "lossyfl compare --rounds 20",
        "lossyfl compare --schemes lossless lfl:q1=2,q2=2 lean:up_budget=5kB --seeds 3",
    ),
    "sweep": (
        "lossyfl sweep q1=1,2,5 tau=1,4 --scheme lfl:q2=2 --seeds 3",
        "lossyfl sweep level=1,2,5 --scheme 'lfl:q1={level},q2={level}' --baseline lossless",
    ),
    "reproduce": ("lossyfl reproduce fig1a --seeds 3",),
    "tune": (
        "lossyfl tune --rounds 50",
        "lossyfl tune --downlink-budget 20kB --uplink-budget 5kB",
        "lossyfl tune --vector update.npy",
    ),
    "report": (
        "lossyfl report runs/compare",
        "lossyfl report runs/compare --downlink 1Mbit --uplink 250kbit --latency 50ms",
        "lossyfl report runs --figure savings.svg --x savings",
    ),
    "list": ("lossyfl list quantizers", "lossyfl list tasks --json"),
}
"""Of every command, the empty name for all of it."""
WIDTH = 11


def text() -> str:
    """What `lossyfl --help` says."""
    lines = [
        "Usage: lossyfl [OPTIONS] COMMAND [ARGS]...",
        "",
        "Federated learning over thin links: quantized updates, real bytes.",
    ]
    for name, commands in GROUPS.items():
        lines += ["", f"{name}:"]
        lines += [f"  {command:<{WIDTH}}{words}" for command, words in commands.items()]
    lines += [
        "",
        "Options:",
        f"  {'--help':<{WIDTH}}Show this; `lossyfl COMMAND --help` has the options of a command.",
        f"  {'--version':<{WIDTH}}Show the version.",
        "  --install-completion, --show-completion",
        f"  {'':<{WIDTH}}Complete commands and options with Tab, in bash, zsh or fish.",
        "",
        "Examples:",
        *(f"  {example}" for example in EXAMPLES[""]),
    ]
    return "\n".join(lines) + "\n"


def examples(command: str) -> str | None:
    """The end of a command's help: a paragraph for each example, as typer wants them."""
    known = EXAMPLES.get(command)
    return None if known is None else "\n\n".join(["Examples:", *known])
