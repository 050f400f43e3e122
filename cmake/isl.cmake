# isl and GMP, linked statically with hidden symbols (docs/architecture.md, "isl inside a host").
#
# A host that links libLLVM first would otherwise make our calls run Polly's copy of isl, silently. Debian's static archives
# are position independent except where they touch stdin, stdout and stderr; so both are copied with those three names
# redirected to hidden variables of ours (libtileopt/poly/isl_streams.c), and the copies are what every target links.
find_path(ISL_INCLUDE isl/cpp.h REQUIRED)
find_library(ISL_STATIC libisl.a REQUIRED)
find_library(GMP_STATIC libgmp.a REQUIRED)
find_program(OBJCOPY NAMES ${CMAKE_OBJCOPY} objcopy REQUIRED)

function(tileopt_redirect_streams name archive)
  set(copy ${CMAKE_BINARY_DIR}/isl/${name}.a)
  add_custom_command(
    OUTPUT ${copy}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/isl
    COMMAND ${OBJCOPY} --redefine-sym stdin=tileopt_stdin --redefine-sym stdout=tileopt_stdout
            --redefine-sym stderr=tileopt_stderr ${archive} ${copy}
    DEPENDS ${archive}
    COMMENT "Redirecting the standard streams of ${archive}"
    VERBATIM)
  add_custom_target(${name}_copy DEPENDS ${copy})
  add_library(${name} STATIC IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${copy})
  add_dependencies(${name} ${name}_copy)
endfunction()

tileopt_redirect_streams(tileopt_isl_archive ${ISL_STATIC})
tileopt_redirect_streams(tileopt_gmp_archive ${GMP_STATIC})

add_library(tileopt_isl_streams STATIC ${CMAKE_SOURCE_DIR}/libtileopt/poly/isl_streams.c)
set_target_properties(tileopt_isl_streams PROPERTIES C_VISIBILITY_PRESET hidden)

add_library(tileopt_isl INTERFACE)
target_include_directories(tileopt_isl SYSTEM INTERFACE ${ISL_INCLUDE})
target_link_libraries(tileopt_isl INTERFACE tileopt_isl_archive tileopt_gmp_archive tileopt_isl_streams)
