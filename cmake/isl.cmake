# isl and GMP, static (see docs/architecture.md, "isl inside a host").
find_path(ISL_INCLUDE isl/cpp.h REQUIRED)
find_library(ISL_STATIC libisl.a REQUIRED)
find_library(GMP_STATIC libgmp.a REQUIRED)
add_library(tileopt_isl INTERFACE)
target_include_directories(tileopt_isl SYSTEM INTERFACE ${ISL_INCLUDE})
target_link_libraries(tileopt_isl INTERFACE ${ISL_STATIC} ${GMP_STATIC})
