# SPDX-License-Identifier: Apache-2.0
"""How far the device's bits may be from the mathematics: csim/golden/bound.h, bound_norm.h, bound_loss.h and bound_sgd.h on float64 arrays.

An approximation carries the exact value and a bound on the distance of the computed one; see bound.h for the analysis. A bound is infinite where
a value may have overflowed.
"""
import numpy as np

UNIT = 2.0**-24
MARGIN = 1 + 2.0**-20  # float64's own rounding
ULP = 2.0**-23
FLOAT_MAX = float(np.finfo(np.float32).max)
SUBNORMAL = 2.0**-150  # half the smallest binary32

# csim/golden/scalar.h
RSQRT_ULPS, RSQRT_LOWEST_ULPS, RECIPROCAL_ULPS, EXP_ULPS, LOG_ULPS = 2.19, 3.15, 4.77, 1.24, 0.83


def of_sum(roundings, magnitude):
    """gamma_k times the sum of the terms' magnitudes."""
    return roundings * UNIT / (1 - roundings * UNIT) * magnitude * MARGIN


def half(value, error):
    """Behind the rounding to fp16 of what is within `error` of `value`: half an ulp of the largest that it may be, or half the smallest
    subnormal."""
    largest = np.abs(value) + error
    exponent = np.frexp(np.where(largest < 65520, largest, 1))[1] - 1
    return np.where(largest < 65520, error + np.ldexp(0.5, np.maximum(exponent, -14) - 10), np.inf)


def pairwise(values, errors):
    """Additions from the left, each rounded to binary32 and fp16: the exact sum, and its bound."""
    total, error = values[0], errors[0]
    for value, more in zip(values[1:], errors[1:]):
        total = total + value
        error = error + more
        error = half(total, error + UNIT * MARGIN * (np.abs(total) + error))
    return total, error


class Approx:
    def __init__(self, value, error=0.0):
        self.value = np.asarray(value, dtype=np.float64)
        self.error = np.broadcast_to(error, self.value.shape)

    def __getitem__(self, index):
        return Approx(self.value[index], self.error[index])

    def half(self):
        return Approx(self.value, half(self.value, self.error))


def _rounded(value, error):
    largest = np.abs(value) + error
    return Approx(value, np.where(largest > FLOAT_MAX, np.inf, error + UNIT * MARGIN * largest))


def constant(value):
    """Rounded to binary32 once."""
    return _rounded(np.float64(value), SUBNORMAL)


def add(a, b):
    return _rounded(a.value + b.value, a.error + b.error)


def sub(a, b):
    return _rounded(a.value - b.value, a.error + b.error)


def mul(a, b):
    return _rounded(a.value * b.value, np.abs(a.value) * b.error + np.abs(b.value) * a.error + a.error * b.error + SUBNORMAL)


def total(a, chain, axis):
    """In any order in which a term goes through at most `chain` additions."""
    largest = (np.abs(a.value) + a.error).sum(axis=axis, keepdims=True)
    error = a.error.sum(axis=axis, keepdims=True) + of_sum(chain, largest)
    return Approx(a.value.sum(axis=axis, keepdims=True), np.where(largest * 2 > FLOAT_MAX, np.inf, error))


def _evaluated(value, low, high, ulps):
    error = np.maximum(np.abs(high - value), np.abs(low - value))
    largest = np.abs(value) + error
    return Approx(value, np.where((largest > FLOAT_MAX) | np.isnan(error), np.inf, (error + ulps * ULP * largest) * MARGIN))


def rsqrt(a, lowest):
    low = np.maximum(a.value - a.error, lowest)
    ulps = np.where(low >= 2.0**-125, RSQRT_ULPS, RSQRT_LOWEST_ULPS)
    result = _evaluated(1 / np.sqrt(a.value), 1 / np.sqrt(a.value + a.error), 1 / np.sqrt(low), ulps)
    return Approx(result.value, np.where(low >= 2.0**-126, result.error, np.inf))


def reciprocal(a):
    low, high = a.value - a.error, a.value + a.error
    result = _evaluated(1 / a.value, 1 / high, 1 / low, RECIPROCAL_ULPS)
    return Approx(result.value, np.where((low >= 2.0**-125) & (high <= 2.0**125), result.error, np.inf))


def exp(a):
    result = _evaluated(np.exp(a.value), np.exp(a.value - a.error), np.exp(a.value + a.error), EXP_ULPS)
    # Below 2^-126 the computed one is +0.
    return Approx(result.value, result.error + np.where(result.value - result.error < 2.0**-126, 2.0**-126, 0))


def log(a):
    low = a.value - a.error
    result = _evaluated(np.log(a.value), np.log(low), np.log(a.value + a.error), LOG_ULPS)
    return Approx(result.value, np.where(low >= 2.0**-126, result.error, np.inf))


class Norm:
    """Group normalization of x [N, H, W, C]; maps are [N, H, W, groups, channels of a group] inside."""

    def __init__(self, x, group_channels, gamma, beta, eps):
        batch, height, width, channels = x.shape
        self.shape, self.grouped = x.shape, (batch, height, width, channels // group_channels, group_channels)
        self.x, self.gamma, self.beta = self._map(x), self._channels(gamma), self._channels(beta)
        self.inverse = constant(1 / (height * width * group_channels))
        self.chain = width * group_channels + height
        self.parameter_chain = width + batch * height
        shift = self.x[:, :1, :1, :, :1]
        d = sub(self.x, shift)
        md = mul(total(d, self.chain, (1, 2, 4)), self.inverse)
        var = sub(mul(total(mul(d, d), self.chain, (1, 2, 4)), self.inverse), mul(md, md))
        var = Approx(np.maximum(var.value, 0), var.error)
        self.mean = add(shift, md)
        self.rstd = rsqrt(add(var, Approx(eps)), eps)
        self.xhat = mul(sub(self.x, self.mean), self.rstd)

    def _map(self, x):
        return Approx(x.reshape(self.grouped))

    def _channels(self, values):
        return Approx(values.reshape(1, 1, 1, *self.grouped[3:]))

    def statistics(self):
        """Errors of mean and reciprocal deviation as every channel has them, [N, 2, C]."""
        batch, channels = self.shape[0], self.shape[3]
        each = [np.broadcast_to(a.error[:, 0, 0], (batch, *self.grouped[3:])).reshape(batch, channels) for a in (self.mean, self.rstd)]
        return np.stack(each, axis=1)

    def apply(self):
        return add(mul(self.xhat, self.gamma), self.beta).half().error.reshape(self.shape)

    def gradient(self, dy):
        g = mul(self._map(dy), self.gamma)
        c1 = mul(total(g, self.chain, (1, 2, 4)), self.inverse)
        c2 = mul(total(mul(g, self.xhat), self.chain, (1, 2, 4)), self.inverse)
        return mul(self.rstd, sub(sub(g, c1), mul(self.xhat, c2))).half().error.reshape(self.shape)

    def parameters(self, dy):
        """Errors of gamma's and beta's gradients."""
        dy = self._map(dy)
        return [total(a, self.parameter_chain, (0, 1, 2)).error.reshape(-1) for a in (mul(dy, self.xhat), dy)]


def softmax_loss(z, labels, scale):
    """Of logits [N, K]: the losses' errors, and their gradients'."""
    batch, classes = z.shape
    largest, rows = z.max(axis=1), np.arange(batch)
    each = [exp(sub(Approx(z[:, k]), Approx(largest))) for k in range(classes)]
    sums = Approx(np.zeros(batch))
    for e in each:
        sums = add(sums, e)
    loss = sub(log(sums), sub(Approx(z[rows, labels]), Approx(largest)))
    inverse, gradient = reciprocal(sums), np.empty(z.shape)
    for k, e in enumerate(each):
        p = mul(e, inverse)
        one = sub(p, Approx(np.ones(batch)))
        p = Approx(np.where(labels == k, one.value, p.value), np.where(labels == k, one.error, p.error))
        gradient[:, k] = mul(p, Approx(scale)).half().error
    return loss.error, gradient


def sgd(gradient, w, v, inv_scale, decay, mu, lr):
    """Errors of masters, momenta and fp16 parameters behind an update."""
    g = mul(Approx(gradient), Approx(inv_scale))
    g = add(g, mul(Approx(decay), Approx(w)))
    v = add(mul(Approx(mu), Approx(v)), g)
    w = sub(Approx(w), mul(Approx(lr), v))
    return w.error, v.error, w.half().error
