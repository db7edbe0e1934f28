# Third-party packages, all from the distribution; scripts/setup.sh installs them.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

# graphsan_header_library(NAME HEADER): graphsan::NAME, a package used through its headers alone.
function(graphsan_header_library name header)
  string(TOUPPER ${name} variable)
  find_path(GRAPHSAN_${variable}_INCLUDE ${header} REQUIRED)
  mark_as_advanced(GRAPHSAN_${variable}_INCLUDE)
  add_library(graphsan_${name} INTERFACE)
  add_library(graphsan::${name} ALIAS graphsan_${name})
  target_include_directories(graphsan_${name} SYSTEM INTERFACE
    $<BUILD_INTERFACE:${GRAPHSAN_${variable}_INCLUDE}>)
endfunction()
graphsan_header_library(xxhash xxhash.h)  # with XXH_INLINE_ALL
graphsan_header_library(toml toml++/toml.h)

if(GRAPHSAN_STATIC_DEPENDENCIES)
  find_library(SQLite3_LIBRARY NAMES libsqlite3.a REQUIRED)
  find_path(GRAPHSAN_FMT_INCLUDE fmt/format.h REQUIRED)
  add_library(fmt::fmt INTERFACE IMPORTED)  # Debian has no libfmt.a
  target_include_directories(fmt::fmt SYSTEM INTERFACE ${GRAPHSAN_FMT_INCLUDE})
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
else()
  find_package(fmt REQUIRED)
endif()
find_package(SQLite3 REQUIRED)
if(GRAPHSAN_STATIC_DEPENDENCIES)
  target_link_libraries(SQLite::SQLite3 INTERFACE m ${CMAKE_DL_LIBS} Threads::Threads)
endif()
