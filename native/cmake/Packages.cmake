# Debian packages, by `cmake --build ... --target package` in a build with -DCMAKE_INSTALL_PREFIX=/usr:
#   libtidepool0.1    the library that programs are linked with; its name has the SONAME's version, so two can be installed
#   libtidepool-dev   headers, static and checked library, pkg-config and CMake files, tidepool-tune
#   tidepool-preload  the libraries to preload, and tidepool-run
# SOURCE_DATE_EPOCH makes two builds of one commit the same.

set(TIDEPOOL_LIBRARY_PACKAGE libtidepool${TIDEPOOL_SOVERSION})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tidepool)
set(CPACK_PACKAGE_VENDOR "The Tidepool authors")
set(CPACK_PACKAGE_CONTACT "The Tidepool authors <tidepool@example.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each component has its own
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library dev preload)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${TIDEPOOL_LIBRARY_PACKAGE})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "memory pools and a fast allocator for C and C++
Pools, arenas, heaps and an allocator that programs are linked with.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packages/symbols)

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtidepool-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${TIDEPOOL_LIBRARY_PACKAGE} (= ${PROJECT_VERSION}), tidepool-preload (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "memory pools and a fast allocator, for development
Headers, the static library, the checked library that finds misuse, files for pkg-config and CMake, and
tidepool-tune, which finds size classes that fit a program.")

set(CPACK_DEBIAN_PRELOAD_PACKAGE_NAME tidepool-preload)
set(CPACK_DEBIAN_PRELOAD_PACKAGE_SECTION utils)
set(CPACK_COMPONENT_PRELOAD_DESCRIPTION "run any program with a fast allocator
tidepool-run PROGRAM runs it with the malloc of Tidepool; with --checked every misuse is reported.")

# Only where a package wants it; an ordinary installation has the licence among its own documentation.
if(TIDEPOOL_INSTALL)
  foreach(component LIBRARY DEV PRELOAD)
    string(TOLOWER ${component} name)
    install(FILES ${PROJECT_SOURCE_DIR}/../LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${component}_PACKAGE_NAME}
            RENAME copyright COMPONENT ${name} EXCLUDE_FROM_ALL)
  endforeach()
endif()
include(CPack)
