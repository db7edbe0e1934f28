# Third-party packages, all from the distribution; scripts/setup.sh installs them.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(Threads REQUIRED)

find_path(GRAPHSAN_XXHASH_INCLUDE xxhash.h REQUIRED)
add_library(graphsan_xxhash INTERFACE)  # header-only use, XXH_INLINE_ALL
add_library(graphsan::xxhash ALIAS graphsan_xxhash)
target_include_directories(graphsan_xxhash SYSTEM INTERFACE ${GRAPHSAN_XXHASH_INCLUDE})
