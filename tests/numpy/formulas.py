"""What formulas of kernels are written with, and the table of them all."""

import itertools

import numpy

F32, F64, I32, I8 = numpy.float32, numpy.float64, numpy.int32, numpy.int8
random = numpy.random.default_rng(20)


def floats(*shape, kind=F32):
    return random.uniform(-1, 1, shape).astype(kind)


def double(*arrays):
    return [array.astype(F64) for array in arrays]


def to_bf16(array):
    """Nearest even, as bits."""
    bits = array.astype(F32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


def from_bf16(bits):
    return (bits.astype(numpy.uint32) << 16).view(F32)


# name -> (sizes to try, function(sizes) -> (arguments, {output: expected}, relative tolerance))
KERNELS = {}


def kernel(**sizes):
    """Registers a check: every combination of the listed sizes."""
    def register(check):
        vectors = [dict(zip(sizes, values)) for values in itertools.product(*sizes.values())]
        KERNELS[check.__name__] = (vectors, check)
        return check
    return register
