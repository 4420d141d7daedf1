# libremapnd: the kernels and runners behind the C functions of include/remapnd.h.  No Python takes part.
if(SKBUILD)  # into the package, where asked for
  set(CMAKE_INSTALL_LIBDIR remapnd/lib)
  set(CMAKE_INSTALL_BINDIR remapnd/lib)
  set(CMAKE_INSTALL_INCLUDEDIR remapnd/include)
endif()
include(GNUInstallDirs)

file(STRINGS src/remapnd/_version.py version_line REGEX "^__version__")
string(REGEX REPLACE ".*\"(.+)\".*" "\\1" remapnd_version "${version_line}")
string(REGEX MATCH "^[0-9]+" remapnd_major "${remapnd_version}")

add_library(remapnd SHARED
  csrc/c_api.cpp csrc/synet_gather_elements.cpp csrc/axis_map.cpp csrc/mapped_axis.cpp csrc/resample_plan.cpp
  csrc/gradient_plan.cpp
  csrc/directml/text.cpp csrc/directml/descriptor.cpp csrc/directml/overlap.cpp csrc/directml/rules.cpp
  csrc/directml/operator.cpp ${remapnd_objects})
target_compile_options(remapnd PRIVATE ${remapnd_flags})
target_compile_definitions(remapnd PRIVATE REMAPND_BUILDS_LIBRARY REMAPND_VERSION="${remapnd_version}")
target_include_directories(remapnd
  PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(remapnd PRIVATE Threads::Threads)
if(UNIX AND NOT APPLE)
  # Templates of the standard library are visible whatever the flags say.
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map)
  target_link_options(remapnd PRIVATE -Wl,--version-script=${exports})
  set_target_properties(remapnd PROPERTIES LINK_DEPENDS ${exports})
endif()
set_target_properties(remapnd PROPERTIES VISIBILITY_INLINES_HIDDEN ON)
if(NOT SKBUILD)  # a wheel has no links, and would hold the library once for each name
  set_target_properties(remapnd PROPERTIES VERSION ${remapnd_version} SOVERSION ${remapnd_major})
endif()

install(TARGETS remapnd EXPORT remapnd
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/remapnd.h include/remapnd_directml.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT remapnd NAMESPACE remapnd:: FILE remapnd-config.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/remapnd)
