// throng: the messages of a crowd over ranks (throng/ranks.h) by MPI, in libthrong-mpi. OpenMPI, MPICH and others: the library
// is built with the MPI that is there.
//
// Threads: all calls, and th_world_step of the worlds, come from the thread that began MPI (MPI_THREAD_FUNNELED).
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_MPI_H
#define THRONG_MPI_H
#include "throng/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

// `communicator` is the address of an MPI_Comm, of which a copy is made; NULL: MPI_COMM_WORLD. Begins MPI where the program
// has not. All ranks call both functions; `comm` lives longer than its worlds.
TH_API th_result th_mpi_comm_create(const void *communicator, th_comm **comm, th_error *error);
// Ends MPI where the other began it.
TH_API void th_mpi_comm_destroy(th_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
