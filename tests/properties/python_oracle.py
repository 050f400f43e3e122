"""Runs tile programs as the Python that they are, and compares with the results of the reference interpreter.

Usage: python_oracle.py CASES.json    exits 0 when all cases agree, else prints the first differences and exits 1.

A case: {"source", "sizes": {name: int}, "arguments": {tensor: {"type", "shape", "values": [text]}}, "results": {same}}.
Integer texts are decimal, float texts what float.hex() writes. Only the standard library is used: typed scalars, bounds-checked
arrays (no negative subscripts) and typed reductions are defined here, `for`, `if`, ternaries and `and`/`or` are Python's own.
"""
import ast
import functools
import json
import math
import operator
import sys

INTEGERS = {"i64": (64, True), "i32": (32, True), "i16": (16, True), "i8": (8, True),
            "u64": (64, False), "u32": (32, False), "u16": (16, False), "u8": (8, False), "bool": (1, False)}
FLOATS = {"f64": (53, -1022, 1023), "f32": (24, -126, 127), "f16": (11, -14, 15), "bf16": (8, -126, 127)}


def round_float(x, type_name):
    digits, lowest, highest = FLOATS[type_name]
    if type_name == "f64" or x == 0 or math.isnan(x) or math.isinf(x):
        return x
    exponent = max(math.frexp(x)[1] - 1, lowest)
    quantum = 2.0 ** (exponent - digits + 1)
    rounded = round(x / quantum) * quantum  # Python's round is half to even, and both scalings are exact
    if rounded == 0:
        return math.copysign(0.0, x)
    return math.copysign(math.inf, x) if abs(rounded) >= 2.0 ** (highest + 1) else rounded


def wrap(value, type_name):
    bits, signed = INTEGERS[type_name]
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def saturate(x, type_name):
    bits, signed = INTEGERS[type_name]
    if math.isnan(x):
        return 0
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return high if x >= high else low if x <= low else int(x)


def convert(type_name, value):
    """A literal, an iterator, a Scalar or an empty reduction as a Scalar of the type."""
    if isinstance(value, EmptyReduction):
        value = value.identity(type_name)
    raw = value.value if isinstance(value, Scalar) else value
    if type_name in FLOATS:
        return Scalar(type_name, round_float(float(raw), type_name))
    return Scalar(type_name, saturate(raw, type_name) if isinstance(raw, float) else wrap(int(raw), type_name))


class Unknown(Exception):
    """The case leans on a type that only the checker infers (an empty reduction beside a literal)."""


class EmptyReduction:
    def __init__(self, kind):
        self.kind = kind

    def identity(self, type_name):
        if self.kind in ("sum", "prod"):
            return 0 if self.kind == "sum" else 1
        sign = -1 if self.kind == "max" else 1
        if type_name in FLOATS:
            return sign * math.inf
        bits, signed = INTEGERS[type_name]
        if not signed:
            return 0 if sign < 0 else (1 << bits) - 1
        return -(1 << (bits - 1)) if sign < 0 else (1 << (bits - 1)) - 1

    def _with(self, other, operation):
        if not isinstance(other, Scalar):
            raise Unknown
        return operation(convert(other.type, self), other)

    def __add__(self, other): return self._with(other, lambda a, b: a + b)
    def __sub__(self, other): return self._with(other, lambda a, b: a - b)
    def __mul__(self, other): return self._with(other, lambda a, b: a * b)
    def __truediv__(self, literal): raise Unknown
    def __floordiv__(self, literal): raise Unknown
    def __mod__(self, literal): raise Unknown
    def __rshift__(self, literal): raise Unknown
    def __and__(self, literal): raise Unknown
    def __radd__(self, literal): raise Unknown
    def __rsub__(self, literal): raise Unknown
    def __rmul__(self, literal): raise Unknown


class Scalar:
    __slots__ = ("type", "value")

    def __init__(self, type_name, value):
        self.type, self.value = type_name, value

    def _binary(self, other, operation):
        other = convert(self.type, other) if not isinstance(other, Scalar) else other
        assert other.type == self.type, (self.type, other.type)
        result = operation(self.value, other.value)
        return Scalar(self.type, round_float(result, self.type) if self.type in FLOATS else wrap(result, self.type))

    def _reflected(self, other, operation):
        return operation(convert(self.type, other), self)

    def _compare(self, other, operation):
        return operation(self.value, convert(self.type, other).value)

    def __add__(self, other): return self._binary(other, lambda a, b: a + b)
    def __sub__(self, other): return self._binary(other, lambda a, b: a - b)
    def __mul__(self, other): return self._binary(other, lambda a, b: a * b)
    def __truediv__(self, other): return self._binary(other, lambda a, b: a / b)
    def __floordiv__(self, other): return self._binary(other, lambda a, b: a // b)
    def __mod__(self, other): return self._binary(other, lambda a, b: a % b)
    def __and__(self, other): return self._binary(other, lambda a, b: a & b)
    def __rshift__(self, other): return self._binary(other, lambda a, b: a >> b)
    def __radd__(self, other): return self._reflected(other, lambda a, b: a + b)
    def __rsub__(self, other): return self._reflected(other, lambda a, b: a - b)
    def __rmul__(self, other): return self._reflected(other, lambda a, b: a * b)
    def __index__(self): return self.value
    def __lt__(self, other): return self._compare(other, lambda a, b: a < b)
    def __le__(self, other): return self._compare(other, lambda a, b: a <= b)
    def __gt__(self, other): return self._compare(other, lambda a, b: a > b)
    def __ge__(self, other): return self._compare(other, lambda a, b: a >= b)
    def __eq__(self, other): return self._compare(other, lambda a, b: a == b)
    def __ne__(self, other): return self._compare(other, lambda a, b: a != b)


class Array:
    def __init__(self, type_name, shape, values=None):
        self.type, self.shape = type_name, shape
        self.values = [None] * math.prod(shape) if values is None else values

    def _offset(self, index):
        index = index if isinstance(index, tuple) else (index,)
        assert len(index) == len(self.shape)
        offset = 0
        for i, extent in zip(map(operator.index, index), self.shape):
            assert 0 <= i < extent, f"subscript {i} outside [0, {extent})"
            offset = offset * extent + i
        return offset

    def __getitem__(self, index):
        value = self.values[self._offset(index)]
        assert value is not None, "read before written"
        return value

    def __setitem__(self, index, value):
        self.values[self._offset(index)] = convert(self.type, value)


def fold(kind, operation):
    def reduce(*arguments):
        terms = iter(arguments[0]) if len(arguments) == 1 else iter(arguments)
        result = None if len(arguments) == 1 else next(terms)
        for term in terms:
            if result is None:
                result = operation(convert(term.type, EmptyReduction(kind)), term) if isinstance(term, Scalar) else term
            else:
                if isinstance(term, Scalar) and not isinstance(result, Scalar):
                    result = convert(term.type, result)
                result = operation(result, term)
        return EmptyReduction(kind) if result is None else result
    return reduce


def larger(a, b):
    if isinstance(a, EmptyReduction) or isinstance(b, EmptyReduction):
        raise Unknown
    b = convert(a.type, b) if isinstance(a, Scalar) else b
    return b if a < b else a


def smaller(a, b):
    if isinstance(a, EmptyReduction) or isinstance(b, EmptyReduction):
        raise Unknown
    b = convert(a.type, b) if isinstance(a, Scalar) else b
    return b if b < a else a


def monoid(identity, commutative=False):
    """A decorator: two values are combined, or all of a generator from the identity on."""
    def decorate(function):
        return lambda *arguments: function(*arguments) if len(arguments) == 2 else functools.reduce(function, arguments[0], identity)
    return decorate


def search(better):
    """argmax, argmin of (value, index) pairs: the first of equal ones, -1 of none."""
    def find(pairs):
        best = None
        for value, index in pairs:
            if best is None or better(value, best[0]):
                best = (value, index)
        return -1 if best is None else best[1]
    return find


def absolute(x):
    return convert(x.type, abs(x.value)) if isinstance(x, Scalar) else abs(x)


class ToPython(ast.NodeTransformer):
    """Types become conversions, declarations allocations; the signature's annotations go."""

    def visit_FunctionDef(self, node):
        for argument in node.args.args:
            argument.annotation = None
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_Expr(self, node):
        """What is assumed holds for the arguments of the cases."""
        return None if isinstance(node.value, ast.Call) and node.value.func.id == "assume" else node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("argmax", "argmin"):
            pairs = node.args[0]
            pairs.elt = ast.Tuple([pairs.elt, ast.Name(pairs.generators[0].target.id, ast.Load())], ast.Load())
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if isinstance(node.annotation, ast.Subscript) and node.annotation.value.id == "tuple":
            return ast.Assign([node.target], node.value)
        if isinstance(node.annotation, ast.Name):
            call = f"{node.target.id} = convert({node.annotation.id!r}, 0)"
            statement = ast.parse(call).body[0]
            statement.value.args[1] = node.value
            return statement
        extents = node.annotation.slice
        shape = extents if isinstance(extents, ast.Tuple) else ast.Tuple([extents], ast.Load())
        statement = ast.parse(f"{node.target.id} = Array({node.annotation.value.id!r}, ())").body[0]
        statement.value.args[1] = shape
        return statement


def run(case):
    tree = ast.fix_missing_locations(ToPython().visit(ast.parse(case["source"])))
    names = {"convert": convert, "Array": Array, "abs": absolute, "range": range,
             "grid": lambda *extents: grid(extents), "monoid": monoid,
             "argmax": search(lambda a, b: a > b), "argmin": search(lambda a, b: a < b),
             "sum": fold("sum", lambda a, b: a + b), "prod": fold("prod", lambda a, b: a * b),
             "max": fold("max", larger), "min": fold("min", smaller)}
    for type_name in list(INTEGERS) + list(FLOATS):
        names[type_name] = lambda value, type_name=type_name: convert(type_name, value)
    names.update(case["sizes"])
    exec(compile(tree, "case", "exec"), names)
    arrays = {name: load(array) for name, array in case["arguments"].items()}
    function = names[tree.body[-1].name]
    parameters = tree.body[-1].args.args
    function(*[arrays[p.arg] if p.arg in arrays else case["sizes"][p.arg] for p in parameters])
    for name, expected in case["results"].items():
        for offset, (got, text) in enumerate(zip(arrays[name].values, expected["values"])):
            if show(got) != text:
                return f"{name}[{offset}] is {show(got)} in Python, {text} in the interpreter"
    return None


def grid(extents):
    if not extents:
        yield ()
        return
    for outer in range(extents[0]):
        for rest in grid(extents[1:]):
            yield (outer,) + rest


def load(array):
    parse = float.fromhex if array["type"] in FLOATS else int
    return Array(array["type"], array["shape"], [Scalar(array["type"], parse(text)) for text in array["values"]])


def show(scalar):
    if scalar.type not in FLOATS:
        return str(scalar.value)
    return "nan" if math.isnan(scalar.value) else float(scalar.value).hex()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    failures, skipped = 0, 0
    for case in cases:
        try:
            difference = run(case)
        except Unknown:
            skipped += 1
            continue
        except Exception as error:  # any failure of a case is a finding, and the others still run
            difference = f"{type(error).__name__}: {error}"
        if difference:
            failures += 1
            print(difference, case["sizes"], case["source"], sep="\n")
    print(f"{len(cases)} cases, {failures} differ, {skipped} skipped")
    sys.exit(1 if failures or skipped * 10 > len(cases) else 0)


main()
