/// Amounts for people.
#pragma once

#include <cstdio>
#include <string>

namespace tileopt {

/// "512 bytes", "96 KiB", "2.1 MiB": three significant digits.
inline std::string bytes_text(double bytes) {
  if (bytes < 1024) return std::to_string(static_cast<long>(bytes)) + " bytes";
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit < 3; bytes /= 1024) ++unit;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, bytes >= 99.95 || bytes == static_cast<double>(static_cast<long>(bytes)) ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return buffer;
}

}  // namespace tileopt
