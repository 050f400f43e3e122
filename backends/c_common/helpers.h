/// The inline functions and vector types that printed code leans on: each is emitted only where used, in one fixed order, so
/// that equal kernels have equal texts. Every name starts with `tileopt_`, so no name of a user's program can meet it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "ir/types.h"

namespace tileopt {

class Helpers {
 public:
  /// Requests a scalar helper and what it leans on. @throws InternalError for an unknown name.
  void use(const std::string& name);
  /// Requests the form of a helper that works on vectors of `lanes` elements; returns its C name.
  std::string use(const std::string& name, int lanes);
  /// Requests the GNU vector type of `lanes` storage elements ("f32x8") and its unaligned form ("f32x8_u").
  std::string vector_type(ElementType element, int lanes);
  /// Requests `#pragma omp declare reduction` for a helper "tileopt_max_f32"; returns the reduction's identifier.
  std::string reduction(const std::string& helper);

  /// Requests the struct that a tuple type is in C; returns its name, as storage_type_c does.
  std::string tuple(ElementType type);
  /// Requests a function of this text, once a name, after all helpers.
  void define(const std::string& name, const std::string& text);

  /// Notes a wrapper that the backend itself defines; `requested` lists them.
  void request(const std::string& name) { requested_.insert(name); }
  const std::set<std::string>& requested() const { return requested_; }

  bool uses_vectors() const { return !vectors_.empty(); }
  /// All that was requested, as C text.
  std::string text() const;

 private:
  std::set<std::string> scalars_;
  std::set<std::pair<std::string, int>> on_vectors_;
  std::map<std::string, std::string> vectors_;  ///< type name -> element's C type
  std::set<std::string> reductions_;
  std::set<ElementType> tuples_;
  std::map<std::string, std::string> definitions_;
  std::set<std::string> requested_;
};

/// Element type as stored in memory: narrow floats are their bits (but tf32 a float), bool, i4 and u4 are a byte, a tuple is a struct of its
/// stored components c0, c1, ... whose typedef Helpers::tuple requests.
std::string storage_type_c(ElementType type);
/// Element type as computed with: narrow floats are held in float, always exactly one of their own values; a tuple as stored.
std::string compute_type_c(ElementType type);
ElementType compute_type(ElementType type);
/// "f32", "i8", ..., "u16" for the storage of bf16 and f16, "u8" of 8-bit floats, "i8" and "u8" of i4 and u4.
std::string storage_name(ElementType type);

}  // namespace tileopt
