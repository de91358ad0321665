"""Recurrent models of characters: autograd's `rnn` and `lstm`, and GradBench's lstm.

The first two take batches of sequences as one-hot vectors. GradBench's (ADBench's definition) has
diagonal weights, so that all of it is elementwise. Read next: `gaussian_processes.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library

from .small import program

Parameters = dict[str, Any]


def of_characters(gates: int, size: tuple[int, int, int, int]) -> tuple[Any, ...]:
    """Parameters, and sequences [t, n, characters] of one-hot vectors."""
    length, batch, hidden, characters = size
    rng = numpy.random.default_rng(0)
    parameters = {
        "start": 0.1 * rng.normal(size=(1, hidden)),
        "cell": 0.1 * rng.normal(size=(1, hidden)),
        "change": 0.2 * rng.normal(size=(characters + hidden + 1, gates * hidden)),
        "predict": 0.2 * rng.normal(size=(hidden + 1, characters)),
    }
    if gates == 1:
        del parameters["cell"]
    return parameters, numpy.eye(characters)[rng.integers(0, characters, (length, batch))]


def with_ones(np: Any, *arrays: Any) -> Any:
    """Put arrays beside each other, and a column of ones for the bias."""
    return np.concatenate([*arrays, np.ones((len(arrays[0]), 1))], axis=1)


def surprise(lib: Library, parameters: Parameters, hidden: Any, following: Any) -> Any:
    """Return minus the log probability of the characters that follow."""
    np = lib.np
    scores = with_ones(np, hidden) @ parameters["predict"]
    log_p = scores - lib.special.logsumexp(scores, axis=1, keepdims=True)
    return -np.sum(log_p * following)


RNN = program("rnn", lambda size: of_characters(1, size), (30, 16, 24, 20), (4, 2, 3, 4))


@RNN.way("tanh")
def rnn_loss(lib: Library, parameters: Parameters, text: Any) -> Any:
    """A recurrent network with tanh."""
    np = lib.np
    hidden = np.repeat(parameters["start"], text.shape[1], axis=0)
    loss = 0.0
    for t in range(len(text) - 1):
        hidden = np.tanh(with_ones(np, text[t], hidden) @ parameters["change"])
        loss = loss + surprise(lib, parameters, hidden, text[t + 1])
    return loss / text.shape[0] / text.shape[1]


LSTM = program("lstm", lambda size: of_characters(4, size), (30, 16, 24, 20), (4, 2, 3, 4))


def logistic(np: Any, x: Any) -> Any:
    """Return the logistic function by tanh, which does not overflow."""
    return 0.5 * (np.tanh(x / 2) + 1)


@LSTM.way("four gates")
def lstm_loss(lib: Library, parameters: Parameters, text: Any) -> Any:
    """Long short-term memory; all gates by one product."""
    np = lib.np
    hidden = np.repeat(parameters["start"], text.shape[1], axis=0)
    cell = np.repeat(parameters["cell"], text.shape[1], axis=0)
    loss = 0.0
    for t in range(len(text) - 1):
        gates = with_ones(np, text[t], hidden) @ parameters["change"]
        change, forget, ignore, output = np.split(gates, 4, axis=1)
        cell = logistic(np, forget) * cell + logistic(np, ignore) * np.tanh(change)
        hidden = logistic(np, output) * np.tanh(cell)
        loss = loss + surprise(lib, parameters, hidden, text[t + 1])
    return loss / text.shape[0] / text.shape[1]


def of_bits(size: tuple[int, int, int]) -> tuple[Any, ...]:
    """Weights and biases [2 layers, 4, d], three vectors, hidden and cell, the sequence."""
    layers, length, d = size
    rng = numpy.random.default_rng(0)
    state = rng.uniform(-1, 1, (layers, 2, d))
    text = (rng.random((length, d)) < 0.5) * 1.0
    return rng.uniform(-1, 1, (layers, 2, 4, d)), rng.uniform(-1, 1, (3, d)), state, text


ADBENCH_LSTM = program("gradbench lstm", of_bits, (2, 30, 14), (1, 4, 3), (0, 1))


@ADBENCH_LSTM.way("diagonal")
def diagonal_loss(lib: Library, main: Any, extra: Any, state: Any, text: Any) -> Any:
    """Minus the mean log probability of the next vector."""
    np = lib.np
    hidden, cell = [layer[0] for layer in state], [layer[1] for layer in state]
    total = 0.0
    for t in range(len(text) - 1):
        x = text[t] * extra[0]
        for k, (w, b) in enumerate(main):
            forget = logistic(np, x * w[0] + b[0])
            ingate = logistic(np, hidden[k] * w[1] + b[1])
            outgate = logistic(np, x * w[2] + b[2])
            change = np.tanh(hidden[k] * w[3] + b[3])
            cell[k] = cell[k] * forget + ingate * change
            hidden[k] = outgate * np.tanh(cell[k])
            x = hidden[k]
        scores = x * extra[1] + extra[2]
        log_p = scores - np.log(np.sum(np.exp(scores)) + 2)
        total = total + np.sum(text[t + 1] * log_p)
    return -total / ((len(text) - 1) * text.shape[1])
