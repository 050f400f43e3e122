"""tileopt through ctypes: the C API in Python, with nothing but the standard library.

    b = Session().builder("axpy")
    b.parameters("N")
    b.tensor("X", "f32", "in", ["N"])
    b.tensor("Y", "f32", "inout", ["N"])
    b.statement("{ S[i] : 0 <= i < N }", "{ S[i] -> Y[i] }", 2 * b.read("{ S[i] -> X[i] }") + b.read("{ S[i] -> Y[i] }"))
    kernel = b.program().compile(machine="host").kernel()
    kernel({"N": 3}, X=array.array("f", [1, 2, 3]), Y=y)

Handles are freed when their objects are collected; objects may die in any order, on any thread.
"""
import contextlib
import ctypes
import ctypes.util
import os

ROLES = {"in": 0, "out": 1, "inout": 2, "local": 3}


class TileoptError(Exception):
    """What a call answered: `code` is stable, `rendered` is for people."""

    def __init__(self, lib, handle):
        def text(name):
            return getattr(lib, "tileopt_error_peek_" + name)(handle).decode()

        self.code, self.hint, self.witness = text("code"), text("hint"), text("witness")
        self.rendered, self.line = text("rendered"), lib.tileopt_error_line(handle)
        super().__init__(self.rendered)
        lib.tileopt_error_free(handle)


def load(path=None):
    """The library: `path`, else $TILEOPT_LIBRARY, else what the system finds."""
    path = path or os.environ.get("TILEOPT_LIBRARY") or ctypes.util.find_library("tileopt") or "libtileopt.so.0"
    return Library(ctypes.CDLL(path))


class Library:
    """Functions with their types: text for peeks, handles as integers, errors raised."""

    NUMBERS = {"tileopt_abi_version": ctypes.c_int, "tileopt_error_line": ctypes.c_int, "tileopt_module_cost": ctypes.c_double,
               "tileopt_module_kernel_workspace": ctypes.c_int64, "tileopt_module_launch_threads": ctypes.c_int64}

    def __init__(self, dll):
        self._dll = dll

    def __getattr__(self, name):
        function = getattr(self._dll, name)
        if "_peek_" in name or name in ("tileopt_version", "tileopt_isl_version"):
            function.restype = ctypes.c_char_p
        elif name.endswith("_free"):
            function.restype = None
        elif name.endswith("_count"):
            function.restype = ctypes.c_size_t
        elif name in self.NUMBERS:
            function.restype = self.NUMBERS[name]
        else:
            function.restype = ctypes.c_void_p  # an error

        def call(*arguments):
            return function(*[_argument(a) for a in arguments])

        setattr(self, name, call)
        return call

    def check(self, name, *arguments):
        """A call that can fail."""
        error = getattr(self, name)(*arguments)
        if error:
            raise TileoptError(self, ctypes.c_void_p(error))

    def make(self, name, *arguments):
        """A call whose last parameter stores a new handle."""
        out = ctypes.c_void_p()
        self.check(name, *arguments, ctypes.byref(out))
        return out


def _argument(value):
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, Handle):
        return value.handle
    if isinstance(value, bool):
        return ctypes.c_int(value)
    if isinstance(value, int):
        return ctypes.c_size_t(value)
    return value


class Handle:
    """An object of the library; freed with its Python object."""

    def __init__(self, lib, kind, handle):
        self.lib, self.kind, self.handle = lib, kind, handle

    def __del__(self):
        if getattr(self, "handle", None):
            getattr(self.lib, f"tileopt_{self.kind}_free")(self.handle)

    def text(self, what, *arguments):
        return getattr(self.lib, f"tileopt_{self.kind}_peek_{what}")(self.handle, *arguments).decode()

    def number(self, what, *arguments):
        return getattr(self.lib, f"tileopt_{self.kind}_{what}")(self.handle, *arguments)


class Session(Handle):
    def __init__(self, path=None):
        lib = load(path)
        super().__init__(lib, "session", lib.make("tileopt_session_create"))

    def set(self, **settings):
        for key, value in settings.items():
            self.lib.check("tileopt_session_set", self, key, str(value))

    def builder(self, name):
        return Builder(self, name)

    def parse(self, text, file_name=None, sizes=None):
        data = text.encode()
        handle = self.lib.make("tileopt_program_parse_sized", self, data, len(data), file_name, sizes)
        return Program(self.lib, "program", handle)


class Expr(Handle):
    def __init__(self, builder, handle):
        super().__init__(builder.lib, "expr", handle)
        self.builder = builder

    @property
    def type(self):
        return self.text("type")

    def _with(self, op, other, swapped=False):
        other = self.builder.value(other, self.type)
        return self.builder.call(op, other, self) if swapped else self.builder.call(op, self, other)

    def __add__(self, other): return self._with("add", other)
    def __radd__(self, other): return self._with("add", other, True)
    def __sub__(self, other): return self._with("sub", other)
    def __rsub__(self, other): return self._with("sub", other, True)
    def __mul__(self, other): return self._with("mul", other)
    def __rmul__(self, other): return self._with("mul", other, True)
    def __truediv__(self, other): return self._with("divide", other)
    def __lt__(self, other): return self._with("lt", other)
    def __gt__(self, other): return self._with("gt", other)
    def __neg__(self): return self.builder.call("negate", self)

    def cast(self, type_name):
        return Expr(self.builder, self.lib.make("tileopt_expr_create_cast", self.builder, type_name, self))


class Builder(Handle):
    def __init__(self, session, name):
        super().__init__(session.lib, "builder", session.lib.make("tileopt_builder_create", session, name))
        self.session = session

    def parameters(self, *names):
        for name in names:
            self.lib.check("tileopt_builder_add_parameter", self, name)

    def context(self, text):
        self.lib.check("tileopt_builder_add_context", self, text)

    def tensor(self, name, type_name, role, extents, order=None, strides=None):
        rank = len(extents)
        texts = (ctypes.c_char_p * max(rank, 1))(*[str(e).encode() for e in extents])
        places = (ctypes.c_size_t * rank)(*order) if order else None
        steps = (ctypes.c_char_p * rank)(*[str(s).encode() for s in strides]) if strides else None
        self.lib.check("tileopt_builder_add_tensor", self, name, type_name, ctypes.c_int(ROLES[role]), rank, texts, places, steps)

    @contextlib.contextmanager
    def loop(self, *iterators):
        for iterator in iterators:
            self.lib.check("tileopt_builder_open_loop", self, iterator)
        yield
        for _ in iterators:
            self.lib.check("tileopt_builder_close_loop", self)

    def read(self, access):
        return Expr(self, self.lib.make("tileopt_expr_create_read", self, access))

    def index(self, affine, type_name="i64"):
        return Expr(self, self.lib.make("tileopt_expr_create_index", self, affine, type_name))

    def real(self, value, type_name="f32"):
        return Expr(self, self.lib.make("tileopt_expr_create_real", self, type_name, ctypes.c_double(value)))

    def integer(self, value, type_name="i64"):
        return Expr(self, self.lib.make("tileopt_expr_create_integer", self, type_name, ctypes.c_int64(value)))

    def value(self, value, type_name):
        if isinstance(value, Expr):
            return value
        return self.integer(value, type_name) if type_name[0] in "iu" else self.real(value, type_name)

    def call(self, op, *operands):
        handles = (ctypes.c_void_p * max(len(operands), 1))(*[o.handle for o in operands])
        return Expr(self, self.lib.make("tileopt_expr_create_call", self, op, handles, len(operands)))

    def statement(self, domain, write, value, combine="assign"):
        self.lib.check("tileopt_builder_add_statement", self, domain, write, combine, value)

    def predicate(self, statement, condition):
        self.lib.check("tileopt_builder_add_predicate", self, statement, condition)

    def schedule(self, text):
        self.lib.check("tileopt_builder_set_schedule", self, text)

    def numerics(self, **grants):
        for key, value in grants.items():
            self.lib.check("tileopt_builder_set_numerics", self, key, {True: "yes", False: "no"}.get(value, str(value)))

    def program(self):
        return Program(self.lib, "program", self.lib.make("tileopt_program_create", self))


class Program(Handle):
    def compile(self, pins=(), **options):
        """`pins`: (primitive, [arguments], {key: value}); `options`: keys of tileopt_options_set."""
        chosen = Handle(self.lib, "options", self.lib.make("tileopt_options_create"))
        for key, value in options.items():
            self.lib.check("tileopt_options_set", chosen, key, str(value))
        for primitive, arguments, keywords in pins:
            words = (ctypes.c_char_p * max(len(arguments), 1))(*[str(a).encode() for a in arguments])
            keys = (ctypes.c_char_p * max(len(keywords), 1))(*[k.encode() for k in keywords])
            values = (ctypes.c_char_p * max(len(keywords), 1))(*[str(v).encode() for v in keywords.values()])
            self.lib.check("tileopt_options_add_pin", chosen, primitive, words, len(arguments), keys, values, len(keywords))
        return Module(self.lib, "module", self.lib.make("tileopt_module_compile", self, chosen))


class Module(Handle):
    @property
    def sizes(self):
        return [self.text("size", i) for i in range(self.number("size_count"))]

    @property
    def arguments(self):
        return [self.text("argument", i) for i in range(self.number("argument_count"))]

    def workspace(self, **sizes):
        values, out = self._values(sizes), ctypes.c_int64()
        self.lib.check("tileopt_module_evaluate_workspace", self, values, len(values), ctypes.byref(out))
        return out.value

    def _values(self, sizes):
        return (ctypes.c_int64 * max(len(self.sizes), 1))(*[sizes[name] for name in self.sizes])

    def kernel(self, where=None):
        return Kernel(self, where)


class Kernel(Handle):
    def __init__(self, module, where):
        super().__init__(module.lib, "kernel", module.lib.make("tileopt_kernel_create", module, where))
        self.module = module

    def __call__(self, sizes, **arrays):
        """`arrays`: anything with the buffer protocol, writable (bytearray, array.array, ctypes arrays, NumPy arrays)."""
        values = self.module._values(sizes)
        names = self.module.arguments
        views = [(ctypes.c_char * memoryview(arrays[name]).nbytes).from_buffer(arrays[name]) for name in names]
        pointers = (ctypes.c_void_p * max(len(names), 1))(*[ctypes.addressof(view) for view in views])
        self.lib.check("tileopt_kernel_run", self, values, len(self.module.sizes), pointers, len(names))
