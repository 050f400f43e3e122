# `cmake --install`: the tool, the library with its one header, and what other builds need to find them. In three parts, which are also
# the Debian packages that CPack makes (cmake/package.cmake): runtime (the library), development, tool.
include(CMakePackageConfigHelpers)

install(TARGETS tileopt EXPORT tileopt-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS tileopt-schedule RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
install(FILES libtileopt/include/tileopt.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(FILES CHANGELOG.md README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development PATTERN decisions EXCLUDE PATTERN __pycache__ EXCLUDE)

# Completion scripts and the manual page are printed by the tool, so that they cannot fall behind it.
set(generated ${CMAKE_BINARY_DIR}/generated/shell)
function(tileopt_print_file output)
  add_custom_command(OUTPUT ${generated}/${output} COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
    COMMAND tileopt-schedule ${ARGN} > ${generated}/${output} DEPENDS tileopt-schedule VERBATIM)
endfunction()
tileopt_print_file(tileopt-schedule.bash completion bash)
tileopt_print_file(_tileopt-schedule completion zsh)
tileopt_print_file(tileopt-schedule.fish completion fish)
tileopt_print_file(tileopt-schedule.1 man)
add_custom_target(tileopt_shell_files ALL DEPENDS ${generated}/tileopt-schedule.bash ${generated}/_tileopt-schedule
                                                  ${generated}/tileopt-schedule.fish ${generated}/tileopt-schedule.1)
install(FILES ${generated}/tileopt-schedule.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
install(FILES ${generated}/tileopt-schedule.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tileopt-schedule COMPONENT tool)
install(FILES ${generated}/_tileopt-schedule DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
install(FILES ${generated}/tileopt-schedule.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tileopt)
install(EXPORT tileopt-targets NAMESPACE tileopt:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(cmake/tileopt-config.cmake.in ${CMAKE_BINARY_DIR}/tileopt-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tileopt-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tileopt-config.cmake ${CMAKE_BINARY_DIR}/tileopt-config-version.cmake DESTINATION ${package_folder} COMPONENT development)

# Relative, so that an installed tree may be moved.
file(RELATIVE_PATH tileopt_pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/tileopt.pc.in ${CMAKE_BINARY_DIR}/tileopt.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tileopt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

include(cmake/package.cmake)
