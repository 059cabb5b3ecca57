// A program with a crowd over the ranks of mpirun, for check_mpi.py: mpi_crowd SCENE STEPS prints the hash, from the first rank.
// Its communicator has the ranks in the opposite order. SPDX-License-Identifier: Apache-2.0
#include "throng/mpi.h"
#include "throng/throng.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Comm turned;
    int rank, size, level;
    if (argc != 3 || MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
    th_comm *comm = NULL;
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_error error = {0};
    th_world_def def = th_world_def_default();
    if (th_mpi_comm_create(&turned, &comm, &error) != TH_OK) return 2;
    def.comm = comm;
    if (th_scene_load_file(argv[1], NULL, &scene, &error) != TH_OK ||
        th_ranks_check(scene, &error) != TH_OK ||
        th_world_create(scene, &def, &world, &error) != TH_OK)
        comm->stop(comm, error.message);
    th_world_step(world, atoi(argv[2]));
    unsigned long long hash = th_world_hash(world);
    if (rank == 0) printf("%016llx rank %d of %d\n", hash, comm->rank, comm->size);
    th_world_destroy(world);
    th_scene_destroy(scene);
    th_mpi_comm_destroy(comm);
    MPI_Finalize();
    return 0;
}
