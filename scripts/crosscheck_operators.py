# SPDX-License-Identifier: Apache-2.0
"""Each operator of a training step: its stored inputs through PyTorch in float64, beside what the device stored, and the bound between them."""
import numpy as np
import torch
import torch.nn.functional as F

import crosscheck_bounds as bounds

EPSILON = float(np.float32(1e-5))  # NET_GN_EPSILON
LOSS_SCALE = 1024                  # driver/host/data.c


class Check:
    """One tensor: what the device stored in `file`, what is exact, and how far apart they may be (0: not at all; infinite: overflow is possible).
    `bits`: of the fields that a mask's file packs."""

    def __init__(self, kind, node, file, device, exact, bound, bits=None):
        self.kind, self.node, self.file, self.bits = kind, node, file, bits
        self.device, self.exact, self.bound = device, exact, np.broadcast_to(bound, exact.shape)
        assert device.shape == exact.shape, (file, device.shape, exact.shape)

    def units(self):
        """Deviations in units of the bound, infinite where there must be none, 0 where there is no bound."""
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.abs(self.device - self.exact)
            units = np.where(off == 0, 0, off / self.bound)
        return np.where(np.isinf(self.bound), 0, np.where(np.isnan(units), np.inf, units))


def nchw(x):
    return torch.from_numpy(np.ascontiguousarray(x)).permute(0, 3, 1, 2)


def nhwc(x):
    return np.ascontiguousarray(x.detach().permute(0, 2, 3, 1).numpy())


class Convolution:
    """y, and the gradients of x, w and the bias, of NHWC and KRSC arrays; the same of magnitudes, and of ones to count terms. Padding is no
    term: adding +0 rounds nothing."""

    def __init__(self, node):
        source = node.inputs[0]
        self.depth, self.filters, self.groups = source.channels, node.channels, node.groups
        self.form = {"stride": node.stride, "padding": node.pad, "dilation": node.dilation}
        self.kernel = node.kernel
        self.in_shape, self.out_shape = (source.height, source.width), (node.height, node.width)

    def forward(self, x, w, bias):
        bias = None if bias is None else torch.from_numpy(bias)
        return nhwc(F.conv2d(nchw(x), nchw(w), bias, groups=self.groups, **self.form))

    def data_gradient(self, w, dy):
        shape = (dy.shape[0], self.depth, *self.in_shape)
        return nhwc(torch.nn.grad.conv2d_input(shape, nchw(w), nchw(dy), groups=self.groups, **self.form))

    def weight_gradient(self, x, dy):
        shape = (self.filters, self.depth // self.groups, *self.kernel)
        return nhwc(torch.nn.grad.conv2d_weight(nchw(x), shape, nchw(dy), groups=self.groups, **self.form))

    def _ones(self):
        one = torch.ones
        return one(1, 1, *self.in_shape, dtype=torch.double), one(1, 1, *self.kernel, dtype=torch.double), one(1, 1, *self.out_shape, dtype=torch.double)

    def forward_terms(self):
        x, w, _ = self._ones()
        return nhwc(F.conv2d(x, w, **self.form)) * (self.depth // self.groups)

    def data_terms(self):
        x, w, dy = self._ones()
        return nhwc(torch.nn.grad.conv2d_input(x.shape, w, dy, **self.form)) * (self.filters // self.groups)

    def weight_terms(self, batch):
        x, w, dy = self._ones()
        return nhwc(torch.nn.grad.conv2d_weight(x, w.shape, dy, **self.form)) * batch


class Linear:
    """The same of a fully connected layer."""

    def __init__(self, node):
        source = node.inputs[0]
        self.shape, self.elements, self.units = (source.height, source.width, source.channels), source.height * source.width * source.channels, node.channels

    def _flat(self, x):
        return torch.from_numpy(np.ascontiguousarray(x)).reshape(x.shape[0], -1)

    def forward(self, x, w, bias):
        bias = None if bias is None else torch.from_numpy(bias)
        return F.linear(self._flat(x), self._flat(w), bias).numpy().reshape(x.shape[0], 1, 1, -1)

    def data_gradient(self, w, dy):
        return F.linear(self._flat(dy), self._flat(w).t()).numpy().reshape(dy.shape[0], *self.shape)

    def weight_gradient(self, x, dy):
        return F.linear(self._flat(dy).t(), self._flat(x).t()).numpy().reshape(self.units, *self.shape)

    def forward_terms(self):
        return self.elements

    def data_terms(self):
        return self.units

    def weight_terms(self, batch):
        return batch


def product(node):
    return Convolution(node) if node.op == "conv" else Linear(node)


def pool_form(node):
    if node.op == "global_pool":
        return {"kernel_size": (node.inputs[0].height, node.inputs[0].width)}
    return {"kernel_size": node.kernel, "stride": node.stride, "padding": node.pad}


def pool(node, x):
    """y of an NCHW tensor."""
    if node.op == "max_pool":
        return F.max_pool2d(x, **pool_form(node))
    return F.avg_pool2d(x, count_include_pad=True, **pool_form(node))


def pool_area(node):
    height, width = pool_form(node)["kernel_size"]
    return height * width


def pool_gradient(node, x, dy):
    x = nchw(x).contiguous().requires_grad_()
    return nhwc(torch.autograd.grad(pool(node, x), x, nchw(dy))[0])


def group_norm(node, dump, dy=None):
    """y, or the gradients of x, gamma and beta."""
    x = nchw(dump.map(node.inputs[0], "act")).contiguous().requires_grad_()
    gamma, beta = (torch.from_numpy(dump.array(node, name)).requires_grad_() for name in ("gamma", "beta"))
    y = F.group_norm(x, node.channels // node.group_channels, gamma, beta, EPSILON)
    if dy is None:
        return nhwc(y)
    dx, dgamma, dbeta = torch.autograd.grad(y, (x, gamma, beta), nchw(dy))
    return nhwc(dx), dgamma.numpy(), dbeta.numpy()


def norm_bounds(node, dump):
    return bounds.Norm(dump.map(node.inputs[0], "act"), node.group_channels, dump.array(node, "gamma"), dump.array(node, "beta"), EPSILON)


# ---- forward: (exact, bound) of a node's output

def forward_product(node, dump):
    x, w = dump.map(node.inputs[0], "act"), dump.array(node, "weight")
    bias, of = dump.array(node, "bias") if node.bias else None, product(node)
    exact = of.forward(x, w, bias)
    magnitude = of.forward(np.abs(x), np.abs(w), None if bias is None else np.abs(bias))
    return exact, bounds.half(exact, bounds.of_sum(of.forward_terms() + node.bias, magnitude))


def forward_pool(node, dump):
    x = nchw(dump.map(node.inputs[0], "act"))
    exact = nhwc(pool(node, x))
    if node.op == "max_pool":
        return exact, 0
    # The additions, the rounding of the factor, and of the product.
    taps = np.rint(nhwc(pool(node, torch.ones_like(x[:1, :1]))) * pool_area(node))
    return exact, bounds.half(exact, bounds.of_sum(taps + 1, nhwc(pool(node, x.abs()))))


def forward_norm(node, dump):
    return group_norm(node, dump), norm_bounds(node, dump).apply()


def forward_relu(node, dump):
    return F.relu(torch.from_numpy(dump.map(node.inputs[0], "act"))).numpy(), 0


def forward_add(node, dump):
    values = [dump.map(source, "act") for source in node.inputs]
    bound = bounds.pairwise(values, [np.zeros_like(value) for value in values])[1]
    return torch.stack([torch.from_numpy(value) for value in values]).sum(dim=0).numpy(), bound


def forward_concat(node, dump):
    return torch.cat([torch.from_numpy(dump.map(source, "act")) for source in node.inputs], dim=3).numpy(), 0


FORWARD = {"conv": forward_product, "fc": forward_product, "max_pool": forward_pool, "avg_pool": forward_pool, "global_pool": forward_pool,
           "gn": forward_norm, "relu": forward_relu, "add": forward_add, "concat": forward_concat}


# ---- backward: (exact, bound) of the part of an input's gradient that a node makes

def part_product(node, which, dump):
    w, dy, of = dump.array(node, "weight"), dump.map(node, "grad"), product(node)
    exact = of.data_gradient(w, dy)
    return exact, bounds.half(exact, bounds.of_sum(of.data_terms(), of.data_gradient(np.abs(w), np.abs(dy))))


def part_pool(node, which, dump):
    x, dy = dump.map(node.inputs[0], "act"), dump.map(node, "grad")
    exact, magnitude = pool_gradient(node, x, dy), pool_gradient(node, x, np.abs(dy))
    windows = pool_gradient(node, x, np.ones_like(dy))
    if node.op != "max_pool":
        # Beside the additions, the rounding of the factor, and of the product.
        windows = np.rint(windows * pool_area(node)) + 2
    return exact, bounds.half(exact, bounds.of_sum(np.maximum(windows - 1, 0), magnitude))


def part_norm(node, which, dump):
    dy = dump.map(node, "grad")
    return group_norm(node, dump, dy)[0], norm_bounds(node, dump).gradient(dy)


def part_relu(node, which, dump):
    x = torch.from_numpy(dump.map(node.inputs[0], "act")).requires_grad_()
    exact = torch.autograd.grad(F.relu(x), x, torch.from_numpy(dump.map(node, "grad")))[0].numpy()
    return exact, np.zeros_like(exact)


def part_add(node, which, dump):
    exact = dump.map(node, "grad")
    return exact, np.zeros_like(exact)


def part_concat(node, which, dump):
    dy = torch.from_numpy(dump.map(node, "grad"))
    exact = torch.split(dy, [source.channels for source in node.inputs], dim=3)[which].numpy()
    return exact, np.zeros_like(exact)


def loss_scale(dump):
    return float(np.float32(LOSS_SCALE) / np.float32(dump.batch))


def losses(node, dump):
    """Of a loss's logits: losses, and their sum's gradient, scaled; with their bounds."""
    source = node.inputs[0]
    z, labels, scale = dump.map(source, "act").reshape(dump.batch, -1), dump.labels(node), loss_scale(dump)
    logits = torch.from_numpy(z).requires_grad_()
    values = F.cross_entropy(logits, torch.from_numpy(labels), reduction="none")
    gradient = torch.autograd.grad(values.sum() * scale, logits)[0].numpy()
    errors, gradient_errors = bounds.softmax_loss(z, labels, scale)
    return values.detach().numpy(), errors, gradient, gradient_errors


def part_loss(node, which, dump):
    shape = (dump.batch, 1, 1, node.inputs[0].channels)
    return [values.reshape(shape) for values in losses(node, dump)[2:]]


PART = {"conv": part_product, "fc": part_product, "max_pool": part_pool, "avg_pool": part_pool, "global_pool": part_pool, "gn": part_norm,
        "relu": part_relu, "add": part_add, "concat": part_concat, "loss": part_loss}


# ---- the checks of one node

def check_act(node, dump):
    exact, bound = FORWARD[node.op](node, dump)
    yield Check(node.op + " forward", node, dump.map_name(node, "act"), dump.map(node, "act"), exact, bound)


def check_gradient(node, dump):
    parts = [PART[reader.op](reader, which, dump) for reader, which in node.readers]
    if len(parts) == 1:
        kind = node.readers[0][0].op + " data gradient"
        exact, bound = parts[0]
    else:
        # The last reader's part comes first; each is rounded, and so is each sum.
        kind = "sum of data gradients"
        exact, bound = bounds.pairwise(*zip(*reversed(parts)))
    yield Check(kind, node, dump.map_name(node, "grad"), dump.map(node, "grad"), exact, bound)


def check_product_gradients(node, dump):
    x, dy, of = dump.map(node.inputs[0], "act"), dump.map(node, "grad"), product(node)
    bound = bounds.of_sum(of.weight_terms(dump.batch), of.weight_gradient(np.abs(x), np.abs(dy)))
    yield Check(node.op + " weight gradient", node, dump.array_name(node, "weight", "_gradient"), dump.array(node, "weight", "_gradient"),
                of.weight_gradient(x, dy), bound)
    if node.bias:
        terms = dump.batch * node.height * node.width
        exact, magnitude = (torch.from_numpy(values).sum(dim=(0, 1, 2)).numpy() for values in (dy, np.abs(dy)))
        yield Check(node.op + " bias gradient", node, dump.array_name(node, "bias", "_gradient"), dump.array(node, "bias", "_gradient"), exact,
                    bounds.of_sum(terms, magnitude))


def check_norm_gradients(node, dump):
    dy = dump.map(node, "grad")
    exact, errors = group_norm(node, dump, dy)[1:], norm_bounds(node, dump).parameters(dy)
    for i, array in enumerate(("gamma", "beta")):
        yield Check("gn %s gradient" % array, node, dump.array_name(node, array, "_gradient"), dump.array(node, array, "_gradient"), exact[i], errors[i])


def check_statistics(node, dump):
    x = torch.from_numpy(dump.map(node.inputs[0], "act"))
    grouped = x.reshape(dump.batch, -1, node.channels // node.group_channels, node.group_channels)
    mean = grouped.mean(dim=(1, 3))
    rstd = (grouped.var(dim=(1, 3), unbiased=False) + EPSILON).rsqrt()
    exact = torch.stack([mean, rstd], dim=1).repeat_interleave(node.group_channels, dim=2).numpy()
    yield Check("gn statistics", node, node.name + ".statistics.npy", dump.statistics(node), exact, norm_bounds(node, dump).statistics())


def check_relu_mask(node, dump):
    x = dump.map(node.inputs[0], "act")
    yield Check("relu mask", node, dump.mask_name(node), dump.mask(node, 1), (x > 0).astype(np.int64), 0, bits=1)


def check_pool_indices(node, dump):
    """The maximum's tap in its window, from its place in the image."""
    bits = (pool_area(node) - 1).bit_length()
    at = F.max_pool2d(nchw(dump.map(node.inputs[0], "act")), return_indices=True, **pool_form(node))[1]
    at, width = nhwc(at), node.inputs[0].width
    rows = np.arange(node.height).reshape(1, -1, 1, 1) * node.stride[0] - node.pad[0]
    columns = np.arange(node.width).reshape(1, 1, -1, 1) * node.stride[1] - node.pad[1]
    exact = (at // width - rows) * node.kernel[1] + at % width - columns
    yield Check("max_pool indices", node, dump.mask_name(node), dump.mask(node, bits), exact, 0, bits=bits)


def check_losses(node, dump):
    exact, bound = losses(node, dump)[:2]
    yield Check("loss", node, node.name + ".losses.npy", dump.losses(node), exact, bound)


def check_update(node, array, dump):
    inv_scale, decay, mu, lr = dump.sgd()
    gradient, before, momentum = (dump.array(node, array, form) for form in ("_gradient", "_master_before", "_momentum_before"))
    w = torch.from_numpy(before.copy()).requires_grad_()
    sgd = torch.optim.SGD([w], lr=lr, momentum=mu, weight_decay=decay)
    sgd.state[w]["momentum_buffer"] = torch.from_numpy(momentum.copy())
    w.grad = torch.from_numpy(gradient) * inv_scale
    sgd.step()
    w, v = w.detach().numpy(), sgd.state[w]["momentum_buffer"].numpy()
    errors = bounds.sgd(gradient, before, momentum, inv_scale, decay, mu, lr)
    for what, form, exact, error in zip(("masters", "momenta", "parameters"), ("_master", "_momentum", "_updated"), (w, v, w), errors):
        yield Check("sgd " + what, node, dump.array_name(node, array, form), dump.array(node, array, form), exact, error)


def checks(node, dump):
    """Everything that the device made of a node."""
    if node.op in FORWARD:
        yield from check_act(node, dump)
    if node.has_gradient and node.readers:
        yield from check_gradient(node, dump)
    if node.op in ("conv", "fc"):
        yield from check_product_gradients(node, dump)
    if node.op == "gn":
        yield from check_statistics(node, dump)
        yield from check_norm_gradients(node, dump)
    if node.op == "loss":
        yield from check_losses(node, dump)
    # Schedules may do without: a mask is the sign of what is held anyway, or of what is made again.
    if node.op in ("relu", "max_pool") and dump.there(dump.mask_name(node)):
        yield from (check_relu_mask if node.op == "relu" else check_pool_indices)(node, dump)
    if dump.there("sgd.npy"):
        for array in node.arrays():
            yield from check_update(node, array, dump)
