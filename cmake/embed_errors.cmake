# docs/errors.md becomes part of the library, for `tileopt-schedule explain-error`.
# As a script (cmake -D OUTPUT=... -D INPUT=docs/errors.md -P): writes OUTPUT.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} content)
  set(text "/// Generated from docs/errors.md; do not edit.\nnamespace tileopt {\nextern const char* const embedded_errors_text;\n")
  string(APPEND text "const char* const embedded_errors_text =\n    R\"errors(${content})errors\";\n}  // namespace tileopt\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

function(tileopt_embed_errors target)
  set(input ${CMAKE_SOURCE_DIR}/docs/errors.md)
  set(output ${CMAKE_BINARY_DIR}/generated/embedded_errors.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D INPUT=${input} -P ${CMAKE_SOURCE_DIR}/cmake/embed_errors.cmake
    DEPENDS ${input} ${CMAKE_SOURCE_DIR}/cmake/embed_errors.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
