/// Device code that was compiled before, as files: one an entry, written under another name and renamed, so that readers see all or
/// nothing. An entry holds its whole key: a collision of names or half a file is a miss.
#pragma once

#include <string>

namespace tileopt::cuda {

class CubinCache {
 public:
  /// In $TILEOPT_CACHE, else $XDG_CACHE_HOME/tileopt, else $HOME/.cache/tileopt; none where TILEOPT_CACHE is set and empty.
  CubinCache();
  explicit CubinCache(std::string folder) : folder_(std::move(folder)) {}

  bool find(const std::string& key, std::string& image, std::string& log) const;
  /// Failures are silent: a cache that cannot be written is no fault of the kernel.
  void store(const std::string& key, const std::string& image, const std::string& log) const;
  std::string path_of(const std::string& key) const;

 private:
  std::string folder_;
};

}  // namespace tileopt::cuda
