/// A packed gemm with a register tile, written as the passes would build it.
#pragma once

#include "fixture.h"

namespace tileopt::test {

inline Program gemm_program(ElementType input = ElementType::f32, bool contract = true) {
  const auto operand = [&](std::size_t access) {
    return input == ElementType::f32 ? read(access) : cast(ElementType::f32, read(access, input));
  };
  Numerics numerics;
  numerics.contract = contract;
  return ProgramText("gemm")
      .sizes({"M", "N", "K"})
      .tensor("A", input, {"M", "K"}, TensorRole::in)
      .tensor("B", input, {"K", "N"}, TensorRole::in)
      .tensor("C", ElementType::f32, {"M", "N"}, TensorRole::out)
      .statement("C_init", {"i", "j"}, "0 <= i < M and 0 <= j < N", "C[i, j]", Combine::assign, real(0), {})
      .statement("C", {"i", "j", "k"}, "0 <= i < M and 0 <= j < N and 0 <= k < K", "C[i, j]", Combine::sum,
                 binary(BinaryOp::mul, operand(0), operand(1)), {"A[i, k]", "B[k, j]"})
      .numerics(numerics)
      .build();
}

struct GemmTile {
  long mr = 6, nr = 16, mc = 96, nc = 1024, kc = 256;
  std::string packed = "f32";       ///< element type of the packed panels
  std::string left = "stack";       ///< space of the packed left panel
  std::string level = "serial";     ///< of the loop over ic
};

inline std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

inline std::string gemm_yaml(const GemmTile& tile) {
  std::string text = R"(kernel: gemm
arrays:
  - {name: B_p, element: $E, space: workspace, tensor: B, extents: [$NCR, $KC, $NR], scope: kc, alignment: 64}
  - {name: A_p, element: $E, space: $LEFT, tensor: A, extents: [$MCR, $KC, $MR], scope: ic, alignment: 64}
  - {name: C_r, element: f32, space: register, tensor: C, extents: [$MR, $NR], scope: ir, alignment: 64}
statements:
  - {name: B_copy, kind: copy_in, statement: "", atom: "", box: [{name: jj, radix: $NR}], instance_steps: [],
     write_array: B_p, write_steps: [[0], [0], [1]], read_arrays: [B], read_steps: [[[0], [1]]], index_steps: [], zero_fill: true}
  - {name: A_copy, kind: copy_in, statement: "", atom: "", box: [{name: ii, radix: $MR}], instance_steps: [],
     write_array: A_p, write_steps: [[0], [0], [1]], read_arrays: [A], read_steps: [[[1], [0]]], index_steps: [], zero_fill: true}
  - {name: C_zero, kind: compute, statement: C_init, atom: elementwise, box: [{name: ii, radix: $MR}, {name: jj, radix: $NR}],
     instance_steps: [[1, 0], [0, 1]], write_array: C_r, write_steps: [[1, 0], [0, 1]], read_arrays: [], read_steps: [],
     index_steps: [], zero_fill: false}
  - {name: C_load, kind: copy_in, statement: "", atom: "", box: [{name: ii, radix: $MR}, {name: jj, radix: $NR}], instance_steps: [],
     write_array: C_r, write_steps: [[1, 0], [0, 1]], read_arrays: [C], read_steps: [[[1, 0], [0, 1]]], index_steps: [], zero_fill: true}
  - {name: fma, kind: compute, statement: C, atom: outer_product, box: [{name: ii, radix: $MR}, {name: jj, radix: $NR}],
     instance_steps: [[1, 0], [0, 1], [0, 0]], write_array: C_r, write_steps: [[1, 0], [0, 1]], read_arrays: [A_p, B_p],
     read_steps: [[[0, 0], [0, 0], [1, 0]], [[0, 0], [0, 0], [0, 1]]], index_steps: [], zero_fill: false}
  - {name: C_store, kind: copy_out, statement: "", atom: "", box: [{name: ii, radix: $MR}, {name: jj, radix: $NR}], instance_steps: [],
     write_array: C, write_steps: [[1, 0], [0, 1]], read_arrays: [C_r], read_steps: [[[1, 0], [0, 1]]], index_steps: [], zero_fill: false}
body:
  - for: jc
    digit: jc
    level: serial
    lower: "0"
    upper: floord(N - 1, $NC)
    step: 1
    body:
      - for: kc
        digit: kc
        level: serial
        lower: "0"
        upper: max(0, floord(K - 1, $KC))
        step: 1
        body:
          - allocate: [B_p]
            body:
              - for: jr
                digit: jr
                level: serial
                lower: "0"
                upper: min($NCR - 1, floord(N - 1 - $NC * jc, $NR))
                step: 1
                body:
                  - for: kk
                    digit: kk
                    level: serial
                    lower: "0"
                    upper: min($KC - 1, K - 1 - $KC * kc)
                    step: 1
                    body:
                      - {leaf: B_copy, instance: [], write: [jr, kk, "0"], reads: [[$KC * kc + kk, $NC * jc + $NR * jr]], indices: [],
                         extents: [N - $NC * jc - $NR * jr]}
              - for: ic
                digit: ic
                level: $LEVEL
                lower: "0"
                upper: floord(M - 1, $MC)
                step: 1
                body:
                  - allocate: [A_p]
                    body:
                      - for: ir
                        digit: ir
                        level: serial
                        lower: "0"
                        upper: min($MCR - 1, floord(M - 1 - $MC * ic, $MR))
                        step: 1
                        body:
                          - for: kk
                            digit: kk
                            level: serial
                            lower: "0"
                            upper: min($KC - 1, K - 1 - $KC * kc)
                            step: 1
                            body:
                              - {leaf: A_copy, instance: [], write: [ir, kk, "0"], reads: [[$MC * ic + $MR * ir, $KC * kc + kk]], indices: [],
                                 extents: [M - $MC * ic - $MR * ir]}
                      - for: jr
                        digit: jr
                        level: serial
                        lower: "0"
                        upper: min($NCR - 1, floord(N - 1 - $NC * jc, $NR))
                        step: 1
                        body:
                          - for: ir
                            digit: ir
                            level: serial
                            lower: "0"
                            upper: min($MCR - 1, floord(M - 1 - $MC * ic, $MR))
                            step: 1
                            body:
                              - allocate: [C_r]
                                body:
                                  - if: kc == 0
                                    then:
                                      - {leaf: C_zero, instance: [$MC * ic + $MR * ir, $NC * jc + $NR * jr], write: ["0", "0"], reads: [], indices: [], extents: []}
                                    else:
                                      - {leaf: C_load, instance: [], write: ["0", "0"], reads: [[$MC * ic + $MR * ir, $NC * jc + $NR * jr]], indices: [],
                                         extents: [M - $MC * ic - $MR * ir, N - $NC * jc - $NR * jr]}
                                  - for: kk
                                    digit: kk
                                    level: serial
                                    lower: "0"
                                    upper: min($KC - 1, K - 1 - $KC * kc)
                                    step: 1
                                    body:
                                      - {leaf: fma, instance: [$MC * ic + $MR * ir, $NC * jc + $NR * jr, $KC * kc + kk], write: ["0", "0"],
                                         reads: [[ir, kk, "0"], [jr, kk, "0"]], indices: [], extents: []}
                                  - {leaf: C_store, instance: [], write: [$MC * ic + $MR * ir, $NC * jc + $NR * jr], reads: [["0", "0"]], indices: [],
                                     extents: [M - $MC * ic - $MR * ir, N - $NC * jc - $NR * jr]}
)";
  const auto number = [](long value) { return std::to_string(value); };
  text = replace_all(text, "$NCR", number(tile.nc / tile.nr));
  text = replace_all(text, "$MCR", number(tile.mc / tile.mr));
  text = replace_all(text, "$NC", number(tile.nc));
  text = replace_all(text, "$KC", number(tile.kc));
  text = replace_all(text, "$MC", number(tile.mc));
  text = replace_all(text, "$NR", number(tile.nr));
  text = replace_all(text, "$MR", number(tile.mr));
  text = replace_all(text, "$LEFT", tile.left);
  text = replace_all(text, "$LEVEL", tile.level);
  return replace_all(text, "$E", tile.packed);
}

/// C = A B in double, exact for small integers.
inline HostArray gemm_reference(const HostArray& a, const HostArray& b) {
  const std::int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  HostArray c(ElementType::f32, {m, n});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += a.get(i * k + p) * b.get(p * n + j);
      c.set(i * n + j, sum);
    }
  return c;
}

}  // namespace tileopt::test
