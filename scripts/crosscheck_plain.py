# SPDX-License-Identifier: Apache-2.0
"""A whole training step in PyTorch's float32 from the same images and parameters: how far the device is from it end to end. Nothing is judged."""
import numpy as np
import torch
import torch.nn.functional as F

from crosscheck_operators import EPSILON, LOSS_SCALE, nchw, pool


def _parameters(net, dump):
    values = {}
    for node in net.nodes:
        for array in node.arrays():
            of = torch.from_numpy(dump.array(node, array)).float()
            values[node, array] = of.requires_grad_()
    return values


def _forward(node, xs, parameters):
    x = xs[0]
    if node.op == "conv":
        w = parameters[node, "weight"].permute(0, 3, 1, 2)
        return F.conv2d(x, w, parameters.get((node, "bias")), node.stride, node.pad, node.dilation, node.groups)
    if node.op == "fc":
        flat = x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)
        return F.linear(flat, parameters[node, "weight"].reshape(node.channels, -1), parameters.get((node, "bias")))[:, :, None, None]
    if node.op == "gn":
        return F.group_norm(x, node.channels // node.group_channels, parameters[node, "gamma"], parameters[node, "beta"], EPSILON)
    if node.op == "relu":
        return F.relu(x)
    if node.op == "add":
        return sum(xs[1:], x)
    return torch.cat(xs, dim=1) if node.op == "concat" else pool(node, x)


def compare(net, dump):
    """One line."""
    parameters, made = _parameters(net, dump), {}
    for node in net.nodes[:-1]:
        xs = [made[source] for source in node.inputs]
        made[node] = _forward(node, xs, parameters) if xs else nchw(dump.map(node, "act")).float()
    last = net.nodes[-1]
    loss = F.cross_entropy(made[last.inputs[0]].flatten(1), torch.from_numpy(dump.labels(last)))
    gradients = torch.autograd.grad(loss, list(parameters.values()))
    worst, at, difference, length = 0, None, 0, 0
    for (node, array), theirs in zip(parameters, gradients):
        theirs = theirs.numpy().astype(np.float64)
        off = np.sum((dump.array(node, array, "_gradient") / LOSS_SCALE - theirs) ** 2)
        size = np.sum(theirs**2)
        difference, length = difference + off, length + size
        # A bias before a normalization has no gradient but rounding errors.
        if size and off / size > worst:
            worst, at = off / size, "%s.%s" % (node.name, array)
    return "loss %.6f, PyTorch's float32 %.6f; gradients differ by %.2e of their length, most in %s, %.2e" % (
        dump.losses(last).mean(), loss.item(), np.sqrt(difference / length), at, np.sqrt(worst))
