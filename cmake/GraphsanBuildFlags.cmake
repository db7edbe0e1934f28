# graphsan::build_flags: language level, warnings and sanitizers; linked PRIVATE by every target.
# Asserts stay on in release builds: a broken invariant of our own must not become a wrong verdict.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(GRAPHSAN_CCACHE ccache)
mark_as_advanced(GRAPHSAN_CCACHE)
if(GRAPHSAN_CCACHE)
  foreach(language IN ITEMS CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${GRAPHSAN_CCACHE})
    endif()
  endforeach()
endif()

add_library(graphsan_build_flags INTERFACE)
add_library(graphsan::build_flags ALIAS graphsan_build_flags)
target_compile_features(graphsan_build_flags INTERFACE cxx_std_20)
target_include_directories(graphsan_build_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(graphsan_build_flags INTERFACE
  GRAPHSAN_WITH_CUDA=$<BOOL:${GRAPHSAN_WITH_CUDA}>)
target_compile_options(graphsan_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror=switch -UNDEBUG>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${GRAPHSAN_WERROR}>>:-Werror>
  # GCC 12 warns of overlapping copies inside std::string's operator+ where there are none (PR 105651).
  # It also warns of writes and reads out of bounds inside fmt's format parser and std::vector's
  # comparison, neither of which can happen.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${GRAPHSAN_WERROR}>>:-Wno-error=restrict>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${GRAPHSAN_WERROR}>>:-Wno-error=stringop-overflow>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${GRAPHSAN_WERROR}>>:-Wno-error=stringop-overread>
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${GRAPHSAN_WERROR}>>:--Werror=all-warnings>)
if(GRAPHSAN_SANITIZE)
  target_compile_options(graphsan_build_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GRAPHSAN_SANITIZE} -fno-sanitize-recover=all
                              -fno-omit-frame-pointer>)
  target_link_options(graphsan_build_flags INTERFACE -fsanitize=${GRAPHSAN_SANITIZE})
endif()
if(GRAPHSAN_STATIC_DEPENDENCIES)
  target_link_options(graphsan_build_flags INTERFACE -static-libstdc++ -static-libgcc)
endif()

# graphsan_library(NAME SOURCES... [PUBLIC targets...] [PRIVATE targets...]): a static library
# graphsan_NAME with the alias graphsan::NAME. Includes are written "NAME/header.hpp".
function(graphsan_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(graphsan_${name} STATIC ${ARG_SOURCES})
  add_library(graphsan::${name} ALIAS graphsan_${name})
  set_target_properties(graphsan_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(graphsan_${name}
    PUBLIC ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:graphsan_build_flags>)
endfunction()
