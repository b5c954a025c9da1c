# SPDX-License-Identifier: Apache-2.0
"""What is said of a dump: whether it is right, what is not, and the largest deviations."""
import sys

import numpy as np

import crosscheck_plain
from crosscheck_dump import Problem
from crosscheck_operators import checks


class Table:
    """The largest deviation of each kind of operator and network."""

    def __init__(self):
        self.largest, self.nets, self.kinds = {}, [], []

    def put(self, net, check, units):
        key = (check.kind, net)
        if net not in self.nets:
            self.nets.append(net)
        if check.kind not in self.kinds:
            self.kinds.append(check.kind)
        self.largest[key] = max(self.largest.get(key, (0, 0)), (float(units.max()), float(check.bound.max())))

    def _cell(self, kind, net):
        if (kind, net) not in self.largest:
            return "-"
        units, bound = self.largest[kind, net]
        return "%.3g" % units if bound or units else "equal"

    def write(self):
        print("%-25s" % "largest deviation / bound" + "".join("%17s" % net for net in self.nets))
        for kind in sorted(self.kinds):
            print("%-25s" % kind + "".join("%17s" % self._cell(kind, net) for net in self.nets))


def place(check, at):
    return "%s of '%s', %s%s" % (check.kind, check.node.name, check.file, list(map(int, at)))


def _say_wrong(check, units):
    at = np.unravel_index(units.argmax(), units.shape)
    print("error: %s: the device has %.9g, exact is %.9g, they may differ by %.3g and differ by %.3g (%d of %d elements)" % (
        place(check, at), check.device[at], check.exact[at], check.bound[at], abs(check.device[at] - check.exact[at]), (units > 1).sum(), units.size),
          file=sys.stderr)


def check_dump(title, net, dump, table):
    """Whether all of it is within the bounds."""
    if net.nodes[-1].op != "loss":
        raise Problem("'%s' does not end with a loss: no training step" % net.name)
    tensors = elements = wrong = unbounded = 0
    for node in net.nodes:
        for check in checks(node, dump):
            units = check.units()
            tensors, elements, unbounded = tensors + 1, elements + units.size, unbounded + int(np.isinf(check.bound).sum())
            table.put(net.name, check, units)
            if units.max() > 1:
                wrong += 1
                _say_wrong(check, units)
    print("%s: %d tensors, %d elements, %s" % (title, tensors, elements, "%d tensors wrong" % wrong if wrong else "all within their bounds"))
    if unbounded:
        print("%s: %d elements may overflow and have no bound" % (title, unbounded))
    print("%s: %s" % (title, crosscheck_plain.compare(net, dump)), flush=True)
    return not wrong
