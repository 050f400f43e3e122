# The files of the emulator that kernels are compiled with become part of the library.
# As a script (cmake -D OUTPUT=... -D FOLDER=... -P): writes OUTPUT.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "/// Generated from backends/gpu_common/emulator/device; do not edit.\n#include \"backends/gpu_common/emulator/device_text.h\"\n\nnamespace tileopt::emulator {\n")
  foreach(pair "device_header_text=tileopt_emulator.h" "device_abi_text=tileopt_emulator_abi.h" "device_stubs_text=tileopt_emulator_stubs.c")
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 function)
    list(GET pair 1 file)
    file(READ ${FOLDER}/${file} content)
    string(APPEND text "const char* ${function}() {\n  return R\"device(${content})device\";\n}\n")
  endforeach()
  string(APPEND text "}  // namespace tileopt::emulator\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

function(tileopt_embed_emulator target)
  set(folder ${CMAKE_SOURCE_DIR}/backends/gpu_common/emulator/device)
  file(GLOB inputs CONFIGURE_DEPENDS ${folder}/*)
  set(output ${CMAKE_BINARY_DIR}/generated/emulator_device_text.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D FOLDER=${folder} -P ${CMAKE_SOURCE_DIR}/cmake/embed_emulator.cmake
    DEPENDS ${inputs} ${CMAKE_SOURCE_DIR}/cmake/embed_emulator.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
