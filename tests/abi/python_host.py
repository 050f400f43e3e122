"""A host in Python: programs built piece by piece through ctypes, no text; run; mistakes as exceptions; nothing left alive."""
import array
import gc
import math
import sys
import threading

sys.path.insert(0, sys.argv[1])
import tileopt  # noqa: E402


def gemm(session, name="py_gemm"):
    b = session.builder(name)
    b.parameters("M", "N", "K")
    b.context("{ : M >= 1 }")
    b.tensor("A", "f32", "in", ["M", "K"])
    b.tensor("B", "f32", "in", ["N", "K"])
    b.tensor("C", "f32", "out", ["M", "N"])
    b.numerics(contract=True)
    with b.loop("i", "j"):
        b.statement("{ Z[i,j] : 0 <= i < M and 0 <= j < N }", "{ Z[i,j] -> C[i,j] }", b.real(0))
        b.statement("{ S[i,j,k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }", "{ S[i,j,k] -> C[i,j] }",
                    b.read("{ S[i,j,k] -> A[i,k] }") * b.read("{ S[i,j,k] -> B[j,k] }"), combine="sum")
    return b.program()


def check_gemm(session):
    module = gemm(session).compile(machine="x86-64-v3", sizes="M=64,N=64,K=64")
    m, n, k = 13, 7, 21
    a = array.array("f", [(i * 7 % 11) - 5 for i in range(m * k)])
    b = array.array("f", [(i * 5 % 13) - 6 for i in range(n * k)])
    c = array.array("f", [0] * (m * n))
    assert module.sizes == ["M", "N", "K"] and module.arguments == ["A", "B", "C"]
    assert module.workspace(M=m, N=n, K=k) % 256 == 0
    module.kernel()({"M": m, "N": n, "K": k}, A=a, B=b, C=c)
    for i in range(m):
        for j in range(n):
            assert c[i * n + j] == sum(a[i * k + x] * b[j * k + x] for x in range(k))


def check_softmax(session):
    b = session.builder("py_softmax")
    b.parameters("M", "N")
    b.tensor("X", "f32", "in", ["M", "N"])
    b.tensor("Y", "f32", "out", ["M", "N"])
    b.tensor("m", "f32", "local", ["M"])
    b.tensor("l", "f32", "local", ["M"])
    rows, whole = "0 <= i < M", "0 <= i < M and 0 <= j < N"

    def shifted(statement):
        return b.call("exp", b.read(f"{{ {statement}[i,j] -> X[i,j] }}") - b.read(f"{{ {statement}[i,j] -> m[i] }}"))

    with b.loop("i"):
        b.statement(f"{{ M0[i] : {rows} }}", "{ M0[i] -> m[i] }", b.real(-math.inf))
        b.statement(f"{{ M1[i,j] : {whole} }}", "{ M1[i,j] -> m[i] }", b.read("{ M1[i,j] -> X[i,j] }"), combine="max")
        b.statement(f"{{ L0[i] : {rows} }}", "{ L0[i] -> l[i] }", b.real(0))
        b.statement(f"{{ L1[i,j] : {whole} }}", "{ L1[i,j] -> l[i] }", shifted("L1"), combine="sum")
        b.statement(f"{{ P[i,j] : {whole} }}", "{ P[i,j] -> Y[i,j] }", shifted("P") / b.read("{ P[i,j] -> l[i] }"))
    module = b.program().compile(machine="x86-64-v3")
    x = array.array("f", [0.25 * (i % 17) for i in range(6 * 10)])
    y = array.array("f", [0] * 60)
    module.kernel()({"M": 6, "N": 10}, X=x, Y=y)
    for i in range(6):
        row = x[10 * i:10 * i + 10]
        total = sum(math.exp(v - max(row)) for v in row)
        for j in range(10):
            assert abs(y[10 * i + j] - math.exp(row[j] - max(row)) / total) < 1e-6


def check_triangle(session):
    """A triangular domain, a skewed schedule, an affine index as a value, a pin by its parts."""
    b = session.builder("py_triangle")
    b.parameters("N")
    b.tensor("A", "f64", "inout", ["N", "N"])
    b.statement("{ S[i,j] : 1 <= i < N and 0 <= j < i }", "{ S[i,j] -> A[i,j] }",
                b.read("{ S[i,j] -> A[i-1,j] }") + b.index("{ S[i,j] -> [3*i - j] }").cast("f64"))
    b.schedule("{ S[i,j] -> [i + j, j] }")
    module = b.program().compile(machine="x86-64-v3", pins=[("schedule", ["original"], {})])
    n = 9
    a = array.array("d", [i % 5 for i in range(n * n)])
    expected = list(a)
    for i in range(1, n):
        for j in range(i):
            expected[i * n + j] = expected[(i - 1) * n + j] + 3 * i - j
    module.kernel()({"N": n}, A=a)
    assert list(a) == expected


def raises(code, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except tileopt.TileoptError as error:
        assert error.code == code, error
        assert error.hint, error
        return error
    raise AssertionError(f"no error {code}")


def check_mistakes(session):
    b = session.builder("py_mistakes")
    b.parameters("N")
    b.tensor("A", "f32", "in", ["N"])
    b.tensor("B", "f32", "out", ["N"])
    raises("duplicate-name", b.parameters, "N")
    raises("type-mismatch", lambda: b.read("{ S[i] -> A[i] }") + b.integer(1))
    error = raises("out-of-bounds", b.statement, "{ S[i] : 0 <= i < N }", "{ S[i] -> B[i] }", b.read("{ S[i] -> A[i + 1] }"))
    assert "N = " in error.witness and error.line == 4, error
    other = session.builder("py_other")
    raises("invalid-option", b.statement, "{ S[i] : 0 <= i < N }", "{ S[i] -> B[i] }", other.real(1))
    raises("unsupported", b.program)
    raises("unknown-machine", gemm(session).compile, machine="abacus")
    raises("syntax", session.parse, "def (")


def check_threads():
    results = []

    def work():
        session = tileopt.Session()
        results.append(gemm(session).compile(machine="x86-64-v3").text("source"))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3 and len(set(results)) == 1


def main():
    lib = tileopt.load()
    assert lib.tileopt_abi_version() == 0 and lib.tileopt_isl_version().endswith(b"GMP")
    session = tileopt.Session()
    session.set(seconds=120)
    for check in (check_gemm, check_softmax, check_triangle, check_mistakes):
        check(session)
    check_threads()
    del session
    gc.collect()
    assert lib.tileopt_live_count() == 0, lib.tileopt_live_count()
    print("ok")


main()
