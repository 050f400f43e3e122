"""Compiles a tile program with the tool under test and calls the printed C through its header, on NumPy arrays."""

import ctypes
import pathlib
import re
import subprocess
import tempfile

import numpy

C_TYPES = {
    "double": numpy.float64, "float": numpy.float32, "int64_t": numpy.int64, "int32_t": numpy.int32, "int16_t": numpy.int16,
    "int8_t": numpy.int8, "uint64_t": numpy.uint64, "uint32_t": numpy.uint32, "uint16_t": numpy.uint16, "uint8_t": numpy.uint8,
}


class CompiledKernel:
    """One kernel, ready to call. `pins`: schedule primitives for the tool."""

    def __init__(self, tool, tile_file, name, pins=(), threads=1):
        self.name = name
        self.folder = tempfile.TemporaryDirectory()
        source = pathlib.Path(self.folder.name) / (name + ".c")
        command = [tool, "compile", tile_file, "--program", name, "-o", str(source), "--threads", str(threads)]
        for pin in pins:
            command += ["--pin", pin]
        subprocess.run(command, check=True, capture_output=True)
        library = source.with_suffix(".so")
        subprocess.run(["cc", "-std=gnu11", "-O2", "-march=native", "-fopenmp", "-ffp-contract=fast", "-fno-math-errno", "-shared",
                        "-fPIC", str(source), "-lm", "-o", str(library)], check=True)
        self.function = getattr(ctypes.CDLL(str(library)), name)
        self.workspace_bytes = getattr(ctypes.CDLL(str(library)), name + "_workspace_bytes")
        self.workspace_bytes.restype = ctypes.c_int64
        header = source.with_suffix(".h").read_text()
        declaration = re.search(r"int32_t " + name + r"\(([^)]*)\);", header).group(1)
        self.parameters = [self._parameter(text) for text in declaration.split(",")]

    @staticmethod
    def _parameter(text):
        words = text.replace("*", " * ").replace("const", "").split()
        return words[0], "*" in words, words[-1]  # C type, pointer, name

    def __call__(self, sizes, **arguments):
        """Runs in place on `arguments`: arrays by name, scalars by value."""
        size_names = [name for _, pointer, name in self.parameters if name in sizes and not pointer]
        workspace = self.workspace_bytes(*[ctypes.c_int64(sizes[name]) for name in size_names])
        memory = numpy.zeros(max(workspace, 0) + 256, numpy.uint8)
        aligned = (memory.ctypes.data + 255) // 256 * 256
        values = []
        for c_type, pointer, name in self.parameters:
            if name == "workspace":
                values.append(ctypes.c_void_p(aligned))
            elif pointer:
                array = arguments[name]
                kind = numpy.bool_ if array.dtype == numpy.bool_ else C_TYPES.get(c_type)
                assert kind is None or array.dtype == kind, (name, array.dtype, c_type)
                assert array.flags.c_contiguous, name
                values.append(ctypes.c_void_p(array.ctypes.data))
            elif name in sizes:
                values.append(ctypes.c_int64(sizes[name]))
            else:
                values.append({"float": ctypes.c_float, "double": ctypes.c_double}.get(c_type, ctypes.c_int64)(arguments[name]))
        status = self.function(*values)
        if status != 0:
            raise RuntimeError(f"{self.name} returned {status} at {sizes}")
