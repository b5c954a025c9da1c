# SPDX-License-Identifier: Apache-2.0
"""A network as `wavecore nets --json` prints it, and the files of a run's --dump (driver/host/README.md)."""
import json
import os
import subprocess

import numpy as np


class Problem(Exception):
    """What keeps the check from being made: a missing file, a wrong shape, a command that failed."""


def command(words):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Problem("cannot run '%s': %s" % (words[0], error.strerror)) from None
    if done.returncode:
        raise Problem("'%s' ended with status %d: %s" % (" ".join(words), done.returncode, done.stderr.strip()))
    return done.stdout


class Node:
    def __init__(self, fields, index):
        self.index, self.name, self.op = index, fields["name"], fields["op"]
        self.inputs, self.readers = [], []  # of nodes; of (node, which of its inputs), in order of execution
        self.height, self.width, self.channels = fields["output"]
        self.bias = fields.get("bias", False)
        self.group_channels = fields.get("group_channels")
        self.kernel, self.stride, self.pad = (fields.get(key) for key in ("kernel", "stride", "pad"))
        self.dilation, self.groups = fields.get("dilation", [1, 1]), fields.get("groups", 1)
        self.has_gradient = False

    def arrays(self):
        """Its parameters: names in its files' names."""
        if self.op == "gn":
            return ["gamma", "beta"]
        return (["weight", "bias"] if self.bias else ["weight"]) if self.op in ("conv", "fc") else []


class Net:
    def __init__(self, wavecore, name, image=0):
        described = json.loads(command([wavecore, "nets", name, "--json"] + (["--image", str(image)] if image else [])))
        self.name = described["net"]
        self.nodes = [Node(fields, index) for index, fields in enumerate(described["nodes"])]
        by_name = {node.name: node for node in self.nodes}
        for node, fields in zip(self.nodes, described["nodes"]):
            node.inputs = [by_name[name] for name in fields["inputs"]]
            for which, source in enumerate(node.inputs):
                source.readers.append((node, which))
            node.has_gradient = node.op != "loss" and (bool(node.arrays()) or any(source.has_gradient for source in node.inputs))


class Dump:
    def __init__(self, directory, net):
        self.directory, self.net = directory, net
        self.batch = self._load(net.nodes[0].name + ".act.nhwc.npy").shape[0]

    def _load(self, name):
        path = os.path.join(self.directory, name)
        try:
            return np.load(path)
        except (OSError, ValueError) as error:
            raise Problem("cannot read '%s': %s" % (path, error)) from None

    def _values(self, name, dtype, shape):
        values = self._load(name)
        if values.dtype != dtype or values.shape != shape:
            raise Problem("'%s' holds %s %s, not %s %s" % (name, values.dtype, values.shape, np.dtype(dtype), shape))
        return values

    def there(self, name):
        return os.path.exists(os.path.join(self.directory, name))

    def map_name(self, node, what):
        return "%s.%s.nhwc.npy" % (node.name, what)

    def map(self, node, what):
        """act or grad, float64 N H W C."""
        return self._values(self.map_name(node, what), np.float16, (self.batch, node.height, node.width, node.channels)).astype(np.float64)

    def array_name(self, node, array, form=""):
        return "%s.%s%s%s.npy" % (node.name, array, form, ".krsc" if array == "weight" else "")

    def array(self, node, array, form=""):
        """A parameter's values, or what else there is of it ("_gradient", ...); weights K R S C."""
        shape = (node.channels,)
        if array == "weight":
            source = node.inputs[0]
            kernel = tuple(node.kernel) if node.op == "conv" else (source.height, source.width)
            shape = (node.channels, *kernel, source.channels // node.groups)
        dtype = np.float16 if form in ("", "_updated") else np.float32
        return self._values(self.array_name(node, array, form), dtype, shape).astype(np.float64)

    def statistics(self, node):
        return self._values(node.name + ".statistics.npy", np.float32, (self.batch, 2, node.channels)).astype(np.float64)

    def labels(self, node):
        return self._load(node.name + ".labels.npy").astype(np.int64)

    def losses(self, node):
        return self._values(node.name + ".losses.npy", np.float32, (self.batch,)).astype(np.float64)

    def mask_name(self, node):
        return node.name + ".mask.bits.npy"

    def mask(self, node, bits):
        """Fields of `bits` bits, N H W C: rows packed from a byte on, least significant bit first."""
        fields = node.width * node.channels
        rows = self._values(self.mask_name(node), np.uint8, (self.batch, node.height, 1, (fields * bits + 7) // 8))
        flat = np.unpackbits(rows[:, :, 0], axis=2, bitorder="little")[:, :, : fields * bits]
        values = flat.reshape(self.batch, node.height, node.width, node.channels, bits).astype(np.int64)
        return (values << np.arange(bits)).sum(axis=4)

    def sgd(self):
        """inv_scale, decay, mu, lr."""
        return [float(value) for value in self._values("sgd.npy", np.float32, (4,))]
