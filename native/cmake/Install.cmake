# What `cmake --install` puts where: headers, the libraries, the files of find_package(tidepool) and of pkg-config.
# Everything can be moved afterwards: no installed file holds the prefix.
# Components are packages (Packages.cmake): library is what programs need that are linked with it, preload what any program
# needs to run with it, dev the rest.

# The inline headers send every call to the checked library with its exact size when they know it.
target_compile_definitions(tidepool_checked INTERFACE TIDEPOOL_CHECKED=1)

set_target_properties(tidepool_static PROPERTIES EXPORT_NAME static)
set_target_properties(tidepool_checked PROPERTIES EXPORT_NAME checked)
set_target_properties(tidepool_preload PROPERTIES EXPORT_NAME preload)
set_target_properties(tidepool_checked_preload PROPERTIES EXPORT_NAME checked_preload)

function(tidepool_install)
  include(CMakePackageConfigHelpers)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tidepool)

  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tidepool DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
          FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
  if(TIDEPOOL_SIZE_CLASSES)
    install(FILES ${TIDEPOOL_SIZE_CLASSES} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tidepool/detail RENAME recorded_classes.h
            COMPONENT dev)
  endif()
  install(TARGETS tidepool EXPORT tidepoolTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS tidepool_static tidepool_checked EXPORT tidepoolTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS tidepool_preload tidepool_checked_preload EXPORT tidepoolTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT preload
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT tidepoolTargets NAMESPACE tidepool:: DESTINATION ${package_dir} COMPONENT dev)

  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tidepoolConfig.cmake.in
    ${PROJECT_BINARY_DIR}/tidepoolConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/tidepoolConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tidepoolConfig.cmake ${PROJECT_BINARY_DIR}/tidepoolConfigVersion.cmake
          DESTINATION ${package_dir} COMPONENT dev)

  install(FILES ${PROJECT_SOURCE_DIR}/../LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/man/tidepool-tune.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT dev)
  install(FILES ${PROJECT_SOURCE_DIR}/man/tidepool.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT dev)

  tidepool_pc_file()
  tidepool_run_script()
endfunction()

# The paths in tidepool.pc begin at its own place, unless the directories are absolute ones.
function(tidepool_pc_file)
  set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(TIDEPOOL_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH up /${pc_dir} /)
    string(REGEX REPLACE "/$" "" up ${up})
    set(TIDEPOOL_PC_PREFIX "\${pcfiledir}/${up}")
  endif()
  foreach(dir LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${dir}})
      set(TIDEPOOL_PC_${dir} ${CMAKE_INSTALL_${dir}})
    else()
      set(TIDEPOOL_PC_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
    endif()
  endforeach()
  set(TIDEPOOL_PC_DEFINITIONS "")
  if(TIDEPOOL_TLS_DYNAMIC)
    set(TIDEPOOL_PC_DEFINITIONS " -DTIDEPOOL_TLS_DYNAMIC=1")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tidepool.pc.in ${PROJECT_BINARY_DIR}/tidepool.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tidepool.pc DESTINATION ${pc_dir} COMPONENT dev)
endfunction()

# tidepool-run finds the libraries from its own place, unless the directories are absolute ones.
function(tidepool_run_script)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR})
    set(TIDEPOOL_RUN_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  else()
    file(RELATIVE_PATH libdir /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
    set(TIDEPOOL_RUN_LIBDIR "$here/${libdir}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/tools/tidepool-run.in ${PROJECT_BINARY_DIR}/tidepool-run @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/tidepool-run DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT preload)
  install(FILES ${PROJECT_SOURCE_DIR}/man/tidepool-run.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT preload)
endfunction()

# A project that brings this one along with add_subdirectory or FetchContent installs it only when it asks for that.
option(TIDEPOOL_INSTALL "Install the library, its headers and package files" ${PROJECT_IS_TOP_LEVEL})
if(TIDEPOOL_INSTALL)
  tidepool_install()
elseif(NOT PROJECT_IS_TOP_LEVEL)
  # Only what the other project links is built.
  set_target_properties(tidepool tidepool_static tidepool_preload tidepool_checked tidepool_checked_preload PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
