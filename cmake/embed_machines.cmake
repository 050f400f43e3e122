# Machine files become part of the library, so that the installed tool needs no path to find them.
# As a script (cmake -D OUTPUT=... -D "FILES=a.json|b.json" -P): writes OUTPUT, a table of names and texts.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "/// Generated from the machine files; do not edit.\n#include \"cost_models/embedded_machines.h\"\n\n")
  string(APPEND text "namespace tileopt {\n\nconst std::vector<EmbeddedMachine>& embedded_machines() {\n")
  string(APPEND text "  static const std::vector<EmbeddedMachine> machines = {\n")
  string(REPLACE "|" ";" FILES "${FILES}")
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} content)
    string(APPEND text "      {\"${name}\", R\"machine(${content})machine\"},\n")
  endforeach()
  string(APPEND text "  };\n  return machines;\n}\n\n}  // namespace tileopt\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

function(tileopt_embed_machines target)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cost_models/machines/*.json)
  list(SORT files)
  set(output ${CMAKE_BINARY_DIR}/generated/embedded_machines.cpp)
  string(REPLACE ";" "|" escaped "${files}")  # a list would be split on its way through the command line
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D "FILES=${escaped}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_machines.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed_machines.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
