/// The data model of every file we write or read (dumps, Plans, machine files, certificates): an ordered JSON value,
/// as JSON text or as block-style YAML text. Same value, same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tileopt {

using Document = nlohmann::ordered_json;

/// Block YAML; strings that hold newlines become literal blocks, so programs and trees stay readable.
std::string to_yaml(const Document& document);

/// Parses YAML (or JSON). `file` is used in error positions.
/// @throws Errors (code `invalid_dump`) with line and column on malformed text.
Document parse_yaml(const std::string& text, const std::string& file);

/// Parses JSON. @throws Errors (the given code) with line and column on malformed text.
Document parse_json(const std::string& text, const std::string& file);

/// Whole file as a string. @throws Errors(file_access).
std::string read_file(const std::string& path);

/// Writes atomically (temporary in the same folder, then rename), so an interrupted run leaves no partial file.
/// @throws Errors(file_access).
void write_file(const std::string& path, const std::string& text);

/// 64-bit FNV-1a of `text`, as 16 hex digits.
std::string hash_text(const std::string& text);

}  // namespace tileopt
