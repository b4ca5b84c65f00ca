# TIDEPOOL_SANITIZE: the static tests are built with it, and with assertions. AddressSanitizer and UBSan go together, ThreadSanitizer alone.
set(TIDEPOOL_SANITIZE "" CACHE STRING "Sanitizers of the static tests: address, undefined, thread; or address,undefined")
if(TIDEPOOL_SANITIZE)
  add_compile_options(-fsanitize=${TIDEPOOL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_compile_definitions(TIDEPOOL_ASSERTS=1)
  add_link_options(-fsanitize=${TIDEPOOL_SANITIZE})
endif()

# GoogleTest as Debian's libgtest-dev brings it: built for this machine, or as sources for any.
find_package(GTest QUIET)
if(CMAKE_CROSSCOMPILING OR NOT TARGET GTest::gtest)
  find_path(TIDEPOOL_GTEST_SOURCE CMakeLists.txt PATHS /usr/src/googletest/googletest NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  if(TIDEPOOL_GTEST_SOURCE AND NOT TARGET GTest::gtest)
    add_subdirectory(${TIDEPOOL_GTEST_SOURCE} ${CMAKE_BINARY_DIR}/gtest EXCLUDE_FROM_ALL)
    if(NOT TARGET GTest::gtest) # newer versions of it make the name themselves
      add_library(GTest::gtest ALIAS gtest)
    endif()
  endif()
endif()
if(NOT TARGET GTest::gtest)
  message(STATUS "GoogleTest is missing: no unit tests. apt-get install libgtest-dev")
endif()

# Tests ask for what the compiler knows to be wrong. With all checks of UBSan the compiler takes three times as long to
# optimize a test; the library under it is optimized as always.
set(optimized -O1)
if(TIDEPOOL_SANITIZE MATCHES "undefined")
  set(optimized -Og)
endif()
set(TIDEPOOL_TEST_FLAGS ${optimized} -Wall -Wextra -Wno-alloc-size-larger-than -Wno-mismatched-new-delete
  -fno-builtin-malloc -fno-builtin-free -fno-builtin-calloc -fno-builtin-realloc)

# One GoogleTest program, named like its folder, of all sources in it; linked with the testing library unless another is
# given.
function(tidepool_gtest name folder)
  cmake_parse_arguments(arg "" "LIBRARY" "" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  if(NOT arg_LIBRARY)
    set(arg_LIBRARY tidepool_testing)
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${sources} ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
  target_compile_options(${name} PRIVATE ${TIDEPOOL_TEST_FLAGS})
  target_compile_definitions(${name} PRIVATE TIDEPOOL_TESTING=1)
  if(arg_LIBRARY STREQUAL "tidepool_testing_checked")
    target_compile_definitions(${name} PRIVATE TIDEPOOL_CHECKED=1)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARY} GTest::gtest ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${TIDEPOOL_UNITY})
  # GoogleTest's header takes longer to read than most of the tests: once for all programs over the same library.
  get_property(first GLOBAL PROPERTY tidepool_gtest_over_${arg_LIBRARY})
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  else()
    target_precompile_headers(${name} PRIVATE <gtest/gtest.h>)
    set_property(GLOBAL PROPERTY tidepool_gtest_over_${arg_LIBRARY} ${name})
  endif()
  add_dependencies(tests_static ${name})
endfunction()

# unit/<folder>: the program unit-<folder>. A folder may have a CMakeLists.txt of its own instead.
function(tidepool_unit_tests folder)
  get_filename_component(name ${folder} NAME)
  if(EXISTS ${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  elseif(name STREQUAL "checked")
    tidepool_gtest(unit-${name} ${folder} LIBRARY tidepool_testing_checked)
  else()
    tidepool_gtest(unit-${name} ${folder})
  endif()
endfunction()
