# cmake --install: the program, the library with its headers (graphsan::graphsan, or graphsan::plugin for the headers alone), and what a consumer
# needs to read a recording and write a report from it: graphsan::model, graphsan::record and
# graphsan::reports, as components, since they need more packages; with a package configuration.
include(CMakePackageConfigHelpers)
set(GRAPHSAN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/graphsan)
set(GRAPHSAN_HEADER_DIR ${CMAKE_INSTALL_INCLUDEDIR}/graphsan)

# Installed headers include each other as the sources do ("model/digest.hpp"), so both roots serve:
# a consumer writes <graphsan/model/digest.hpp>.
foreach(module IN ITEMS model record reports)
  target_include_directories(graphsan_${module} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${GRAPHSAN_HEADER_DIR}>)
  target_compile_features(graphsan_${module} INTERFACE cxx_std_20)
endforeach()

install(TARGETS graphsan RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS graphsan_shared graphsan_plugin EXPORT graphsan-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS graphsan_model graphsan_record graphsan_reports EXPORT graphsan-component-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY src/model src/record reports DESTINATION ${GRAPHSAN_HEADER_DIR}
  FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY include/graphsan DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/generated/graphsan/version.hpp
  DESTINATION ${GRAPHSAN_HEADER_DIR})
install(EXPORT graphsan-targets NAMESPACE graphsan:: DESTINATION ${GRAPHSAN_PACKAGE_DIR})
install(EXPORT graphsan-component-targets NAMESPACE graphsan::
  DESTINATION ${GRAPHSAN_PACKAGE_DIR})

configure_package_config_file(cmake/graphsan-config.cmake.in
  ${PROJECT_BINARY_DIR}/graphsan-config.cmake INSTALL_DESTINATION ${GRAPHSAN_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/graphsan-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/graphsan-config.cmake
              ${PROJECT_BINARY_DIR}/graphsan-config-version.cmake
  DESTINATION ${GRAPHSAN_PACKAGE_DIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
