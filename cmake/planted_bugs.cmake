# TILEOPT_PLANTED_BUGS=ON builds the passes, the search and the printer with the faults of tests/planted/bugs.txt in them, each
# asleep until TILEOPT_PLANTED names its number. For tests/planted/run.py alone: the sources of every other build have no trace of it.
option(TILEOPT_PLANTED_BUGS "Build with planted bugs, for tests/planted/run.py" OFF)

# Replaces the files of the list `variable` that hold planted bugs by their planted versions.
function(tileopt_plant_bugs variable)
  if(NOT TILEOPT_PLANTED_BUGS)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(folder ${CMAKE_BINARY_DIR}/planted)
  set(table ${CMAKE_SOURCE_DIR}/tests/planted/bugs.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/planted/bugs.py plant ${CMAKE_SOURCE_DIR} ${table} ${folder}
                  OUTPUT_VARIABLE files COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" files "${files}")
  set(list ${${variable}})
  foreach(file IN LISTS files)
    set(original ${CMAKE_SOURCE_DIR}/${file})
    if(original IN_LIST list)
      list(REMOVE_ITEM list ${original})
      list(APPEND list ${folder}/${file})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${original})
      set_source_files_properties(${folder}/${file} PROPERTIES COMPILE_OPTIONS "-I${folder};-Wno-misleading-indentation;-Wno-dangling-else")
    endif()
  endforeach()
  set(${variable} ${list} PARENT_SCOPE)
endfunction()
