# SPDX-License-Identifier: Apache-2.0
"""Does the check find what is wrong? A small network's dump is right; then one value of one tensor of each kind is put just beyond its bound, and
that element, and no other of its tensor, must be reported."""
import contextlib
import io
import os

import numpy as np

from crosscheck_dump import Dump, Net, Problem, command
from crosscheck_operators import checks
from crosscheck_report import Table, check_dump, place

NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "crosscheck_every.yaml")


def _beyond(exact, bound, dtype):
    """The nearest number of a type that is farther than the bound above `exact`."""
    value = dtype.type(exact + bound)
    while float(value) - exact <= bound:
        value = np.nextafter(value, dtype.type(np.inf))
    return value


def _change(stored, check, at):
    """The tensor's file with element `at` changed."""
    stored = stored.copy()
    if check.bits:
        bit = (at[2] * check.exact.shape[3] + at[3]) * check.bits
        stored[at[0], at[1], 0, bit // 8] ^= 1 << bit % 8
    else:
        stored[at] = _beyond(check.exact[at], check.bound[at], stored.dtype)
    return stored


def _reported(net, dump):
    """Whether all is right, and the lines of what is not."""
    lines = io.StringIO()
    with contextlib.redirect_stderr(lines), contextlib.redirect_stdout(io.StringIO()):
        right = check_dump("self-test", net, dump, Table())
    return right, lines.getvalue().splitlines()


def _finds(net, dump, check):
    path = os.path.join(dump.directory, check.file)
    stored = np.load(path)
    at = np.unravel_index(check.exact.size // 2, check.exact.shape)
    np.save(path, _change(stored, check, at))
    right, lines = _reported(net, dump)
    np.save(path, stored)
    start, end = "error: %s:" % place(check, at), "(1 of %d elements)" % check.exact.size
    found = not right and any(line.startswith(start) and line.endswith(end) for line in lines)
    if not found:
        print("error: %s was changed, which is not reported, but: %s" % (place(check, at), "; ".join(lines) or "nothing"))
    return found


def _train(wavecore, scratch, net, directory):
    """Two steps on random images."""
    images, random, shape = os.path.join(scratch, "images.npy"), np.random.default_rng(1), net.nodes[0]
    np.save(images, random.standard_normal((6, shape.height, shape.width, shape.channels)).astype(np.float16))
    np.save(os.path.join(scratch, "images.labels.npy"), random.integers(0, net.nodes[-1].inputs[0].channels, 6))
    command([wavecore, "train", "--net", NET, "--data", images, "--steps", "2", "--schedule", "mbs2", "--batch", "3", "--buffer", "64KiB",
             "--backend", "model", "--dump", directory])


def run(wavecore, scratch):
    """0: every change was found; else 1."""
    directory, net = os.path.join(scratch, "dump"), Net(wavecore, NET)
    _train(wavecore, scratch, net, directory)
    dump = Dump(directory, net)
    right, lines = _reported(net, dump)
    if not right:
        raise Problem("the dump is not right before anything is changed: %s" % "; ".join(lines))
    first = {}
    for node in net.nodes:
        for check in checks(node, dump):
            first.setdefault(check.kind, check)
    missed = [kind for kind, check in first.items() if not _finds(net, dump, check)]
    print("self-test: a value of each of %d kinds of tensors was changed; %s" % (len(first), "not found: " + ", ".join(missed) if missed else "each was found"))
    return 1 if missed else 0
