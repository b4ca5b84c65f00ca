# The libraries, all from the same sources:
#   tidepool            libtidepool.so: tp_ names only
#   tidepool_static     libtidepool.a: the same, to be linked in
#   tidepool_preload    libtidepool-preload.so: also malloc, free, new, delete ... for LD_PRELOAD
#   tidepool_checked    libtidepool-checked.so: every misuse is found
#   tidepool_checked_preload  libtidepool-checked-preload.so: the same under any program, for LD_PRELOAD
# A part of the tree may ask for another build of them: tidepool_library(NAME TYPE DEFINITIONS... ) in tests.

set(TIDEPOOL_FLAGS
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden -fno-plt
  -ffunction-sections -fdata-sections -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-free -fno-builtin-realloc)

# Warnings stop the build here, not that of a project which brings the library along with another compiler.
if(PROJECT_IS_TOP_LEVEL)
  list(APPEND TIDEPOOL_FLAGS -Werror)
endif()

# Initial-exec TLS is what makes the fast path fast. Descriptors are the next best, for loaders that refuse it in dlopen.
option(TIDEPOOL_TLS_DYNAMIC "Thread-local storage that every loader accepts in dlopen (musl); slower" OFF)
set(TIDEPOOL_TLS_FLAGS -ftls-model=initial-exec)
if(TIDEPOOL_TLS_DYNAMIC)
  set(TIDEPOOL_TLS_FLAGS -ftls-model=global-dynamic)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND TIDEPOOL_TLS_FLAGS -mtls-dialect=gnu2)  # elsewhere descriptors are the default
  endif()
endif()

# In 0.x each minor version may break with the one before, as the package file of CMake says; later only major ones.
set(TIDEPOOL_SOVERSION ${TIDEPOOL_SOVERSION})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(TIDEPOOL_SOVERSION 0.${PROJECT_VERSION_MINOR})
endif()

# One file for the compiler holds all sources of a library: it is built five times as fast, and the compiler sees all of it.
# OFF shows that each source includes what it uses.
option(TIDEPOOL_UNITY "Compile the sources of each library as one" ON)

function(tidepool_library target type)
  cmake_parse_arguments(arg "OVERRIDE" "NAME" "DEFINITIONS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
  if(NOT arg_OVERRIDE)
    list(FILTER sources EXCLUDE REGEX "/src/override/")
  endif()
  add_library(${target} ${type} ${sources})
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS ON POSITION_INDEPENDENT_CODE ON
    UNITY_BUILD ${TIDEPOOL_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  target_compile_options(${target} PRIVATE ${TIDEPOOL_FLAGS} $<$<CONFIG:Release>:-O2> ${TIDEPOOL_TLS_FLAGS})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS} $<$<BOOL:${arg_OVERRIDE}>:TIDEPOOL_PRELOAD=1>)
  if(TIDEPOOL_TLS_DYNAMIC)
    target_compile_definitions(${target} PUBLIC TIDEPOOL_TLS_DYNAMIC=1)
  endif()
  if(TIDEPOOL_SIZE_CLASSES)
    # Installed, the table lies beside the headers (Install.cmake).
    target_compile_definitions(${target} PUBLIC $<BUILD_INTERFACE:TIDEPOOL_SIZE_CLASSES="${TIDEPOOL_SIZE_CLASSES}">)
  endif()
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  find_package(Threads REQUIRED)
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(arg_NAME)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_NAME})
  endif()
  if(type STREQUAL "SHARED")
    # -z nodelete: a thread that ends after dlclose would call a destructor that is gone.
    # Linked as C: at run time the library needs libc alone, and what would need more fails to link.
    target_link_options(${target} PRIVATE -static-libgcc -Wl,-Bsymbolic -Wl,--gc-sections -Wl,-z,nodelete -Wl,-z,defs -Wl,-z,now -Wl,--as-needed)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C VERSION ${PROJECT_VERSION} SOVERSION ${TIDEPOOL_SOVERSION})
  endif()
endfunction()

function(tidepool_libraries)
  tidepool_library(tidepool SHARED)
  tidepool_library(tidepool_static STATIC NAME tidepool)
  tidepool_library(tidepool_preload SHARED OVERRIDE NAME tidepool-preload)
  tidepool_library(tidepool_checked SHARED NAME tidepool-checked DEFINITIONS TIDEPOOL_CHECKED=1)
  tidepool_library(tidepool_checked_preload SHARED OVERRIDE NAME tidepool-checked-preload DEFINITIONS TIDEPOOL_CHECKED=1)
  add_library(tidepool::tidepool ALIAS tidepool)
  add_library(tidepool::static ALIAS tidepool_static)
  add_library(tidepool::checked ALIAS tidepool_checked)
endfunction()
