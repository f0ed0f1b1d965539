/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STEELYARD_REGIONS_H
#define STEELYARD_REGIONS_H
/**
 * @file
 * Figures for named parts of a program, under `steelyard run`: what the initialisation costs is then apart from what
 * the solver costs.
 *
 *     steelyard_region_begin("solve");
 *     solve();
 *     steelyard_region_end("solve");
 *
 * For each name, the run record has the executions, the totals of each rank and the efficiencies over the ranks. The
 * summary, the page and the export for TALP show them.
 *
 * A region of this header is any part of the program between two calls. It is not a parallel region of OpenMP.
 *
 * Without `steelyard run`, the calls do nothing and return STEELYARD_INACTIVE. C++17: regions.hpp. Fortran 2018: the
 * module `steelyard_regions`. Python: `steelyard.regions`.
 */
#include "steelyard/steelyard.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Begins a region. Regions may be nested: a region that was begun inside another one ends before it. All executions
 * with the same name are one region of the record.
 *
 * @param name name of the region, 1 to 255 bytes. The library copies it. Up to 1,024 names per process.
 * @return STEELYARD_SUCCESS; STEELYARD_INACTIVE before MPI_Init, after MPI_Finalize and without `steelyard run`
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT the name is null, empty or too long
 * @retval STEELYARD_ERROR_INVALID_STATE    called by a thread other than the one that called MPI_Init, or inside a
 *                                          parallel region; or a region of this name is open: the message names the
 *                                          innermost open region
 * @retval STEELYARD_ERROR_OUT_OF_MEMORY    the process has 1,024 regions already
 * @note Local: ranks may have different regions, and execute them at different times. Does not block. Primary thread
 *       only (the thread that called MPI_Init), outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_region_begin(const char* name);

/**
 * Ends the innermost open region. MPI_Finalize ends all regions that are open.
 *
 * @param name its name
 * @return STEELYARD_SUCCESS; STEELYARD_INACTIVE before MPI_Init, after MPI_Finalize and without `steelyard run`
 * @retval STEELYARD_ERROR_INVALID_ARGUMENT the name is null
 * @retval STEELYARD_ERROR_INVALID_STATE    called by a thread other than the one that called MPI_Init, or inside a
 *                                          parallel region; or this is not the innermost open region, which the message
 *                                          names
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_region_end(const char* name);

/**
 * Pauses the measurement: until steelyard_resume(), nothing that this process does is in a figure of the record, of the
 * summary or of a region. Cores are lent and moved meanwhile, as if the process computed alone.
 *
 * Call it on all ranks around the same part of the program. If one rank pauses and another waits for it in MPI, that
 * wait is in the figures.
 *
 * @return STEELYARD_SUCCESS; STEELYARD_INACTIVE before MPI_Init, after MPI_Finalize and without `steelyard run`
 * @retval STEELYARD_ERROR_INVALID_STATE the measurement is paused; or the call is made in a phase (phases.h), inside a
 *                                       parallel region, or by a thread other than the one that called MPI_Init
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_pause(void);

/**
 * Resumes the measurement after steelyard_pause().
 *
 * @return STEELYARD_SUCCESS; STEELYARD_INACTIVE before MPI_Init, after MPI_Finalize and without `steelyard run`
 * @retval STEELYARD_ERROR_INVALID_STATE the measurement is not paused; or as steelyard_pause()
 * @note Local. Does not block. Primary thread only, outside parallel regions.
 */
STEELYARD_API steelyard_status_t steelyard_resume(void);

#ifdef __cplusplus
}
#endif
#endif
