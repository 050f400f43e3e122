# isl and GMP, linked statically with hidden symbols (docs/architecture.md, "isl inside a host").
#
# A host that links libLLVM first would otherwise make our calls run Polly's copy of isl, silently. Debian's static archives
# are position independent except where they touch stdin, stdout and stderr; so both are copied with those three names
# redirected to hidden variables of ours (libtileopt/poly/isl_streams.c), and the copies are what every target links.
find_path(ISL_INCLUDE isl/cpp.h REQUIRED)
find_library(ISL_STATIC libisl.a REQUIRED)
find_library(GMP_STATIC libgmp.a REQUIRED)
find_program(OBJCOPY NAMES ${CMAKE_OBJCOPY} objcopy REQUIRED)

# What isl asks of GMP most is asked of libtileopt/poly/small_integers.c: nearly all of its numbers fit a machine word.
set(tileopt_small_integers init clear set set_si swap cmp cmpabs cmp_si cmp_ui add sub add_ui sub_ui mul mul_si mul_ui addmul submul gcd lcm divexact
    divisible_p fdiv_q cdiv_q fdiv_r)
set(tileopt_renamed_integers "")
foreach(function ${tileopt_small_integers})
  list(APPEND tileopt_renamed_integers --redefine-sym __gmpz_${function}=tileopt_mpz_${function})
endforeach()

function(tileopt_redirect_streams name archive) # further arguments: of objcopy
  set(copy ${CMAKE_BINARY_DIR}/isl/${name}.a)
  add_custom_command(
    OUTPUT ${copy}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/isl
    COMMAND ${OBJCOPY} --redefine-sym stdin=tileopt_stdin --redefine-sym stdout=tileopt_stdout
            --redefine-sym stderr=tileopt_stderr ${ARGN} ${archive} ${copy}
    DEPENDS ${archive}
    COMMENT "Redirecting the standard streams of ${archive}"
    VERBATIM)
  add_custom_target(${name}_copy DEPENDS ${copy})
  add_library(${name} STATIC IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${copy})
  add_dependencies(${name} ${name}_copy)
endfunction()

tileopt_redirect_streams(tileopt_isl_archive ${ISL_STATIC} ${tileopt_renamed_integers})
tileopt_redirect_streams(tileopt_gmp_archive ${GMP_STATIC})

add_library(tileopt_isl_streams STATIC ${CMAKE_SOURCE_DIR}/libtileopt/poly/isl_streams.c ${CMAKE_SOURCE_DIR}/libtileopt/poly/small_integers.c
            ${CMAKE_SOURCE_DIR}/libtileopt/poly/limb_pool.c)
target_include_directories(tileopt_isl_streams PRIVATE ${CMAKE_SOURCE_DIR}/libtileopt)
target_compile_options(tileopt_isl_streams PRIVATE $<$<CONFIG:Release>:-O2>)
set_target_properties(tileopt_isl_streams PROPERTIES C_VISIBILITY_PRESET hidden)
# Each needs the other: small integers leave the rest to GMP, and GMP writes to our streams. Linkers that read archives in order want one of them twice.
target_link_libraries(tileopt_isl_streams INTERFACE tileopt_gmp_archive)
set_target_properties(tileopt_gmp_archive PROPERTIES INTERFACE_LINK_LIBRARIES tileopt_isl_streams)

add_library(tileopt_isl INTERFACE)
target_include_directories(tileopt_isl SYSTEM INTERFACE ${ISL_INCLUDE})
target_link_libraries(tileopt_isl INTERFACE tileopt_isl_archive tileopt_isl_streams)
