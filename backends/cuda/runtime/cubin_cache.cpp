#include "backends/cuda/runtime/cubin_cache.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/wire.h"

namespace tileopt::cuda {

namespace fs = std::filesystem;

namespace {
const char* const format = "tileopt-cubin/1";

std::string default_folder() {
  if (const char* chosen = std::getenv("TILEOPT_CACHE")) return chosen;
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches != nullptr && *caches != '\0') return std::string(caches) + "/tileopt";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return std::string(home) + "/.cache/tileopt";
  return "";
}

/// FNV-1a, which only names the file: the key is compared in full.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325ull;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return value;
}
}  // namespace

CubinCache::CubinCache() : folder_(default_folder()) {}

std::string CubinCache::path_of(const std::string& key) const {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.cubin", static_cast<unsigned long long>(hash(key)));
  return folder_ + "/" + name;
}

bool CubinCache::find(const std::string& key, std::string& image, std::string& log) const {
  if (folder_.empty()) return false;
  std::ifstream file(path_of(key), std::ios::binary);
  if (!file) return false;
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  WireReader wire(text);
  if (wire.string() != format || wire.string() != key) return false;
  std::string found_image = wire.string(), found_log = wire.string();
  if (!wire.at_end()) return false;
  image = std::move(found_image);
  log = std::move(found_log);
  return true;
}

void CubinCache::store(const std::string& key, const std::string& image, const std::string& log) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  WireWriter wire;
  for (const std::string& part : {std::string(format), key, image, log}) wire.put(part);
  const std::string path = path_of(key), temporary = path + "." + std::to_string(getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(wire.text().data(), static_cast<std::streamsize>(wire.text().size()));
    if (!file.flush()) {
      fs::remove(temporary, error);
      return;
    }
  }
  fs::rename(temporary, path, error);
  if (error) fs::remove(temporary, error);
}

}  // namespace tileopt::cuda
