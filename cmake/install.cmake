# `cmake --install`: the tool, the library with its one header, and what other builds need to find them.
include(CMakePackageConfigHelpers)

install(TARGETS tileopt EXPORT tileopt-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tileopt-schedule RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES libtileopt/include/tileopt.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE CHANGELOG.md README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN decisions EXCLUDE)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tileopt)
install(EXPORT tileopt-targets NAMESPACE tileopt:: DESTINATION ${package_folder})
configure_package_config_file(cmake/tileopt-config.cmake.in ${CMAKE_BINARY_DIR}/tileopt-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tileopt-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tileopt-config.cmake ${CMAKE_BINARY_DIR}/tileopt-config-version.cmake DESTINATION ${package_folder})

configure_file(cmake/tileopt.pc.in ${CMAKE_BINARY_DIR}/tileopt.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tileopt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
