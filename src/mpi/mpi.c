// The messages between ranks by MPI. Knows nothing of a crowd, and needs nothing of libthrong. SPDX-License-Identifier: Apache-2.0
#include "throng/mpi.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 7 };
// Counts of MPI are ints: longer messages go in pieces.
static const size_t PIECE = (size_t)1 << 30;

typedef struct link_state {
    MPI_Comm comm;
    bool began;
    MPI_Request *requests;
    int room;
} link_state;

static link_state *state_of(const th_comm *comm) { return comm->context; }

static void stop(const th_comm *comm, const char *why) {
    fprintf(stderr, "throng: %s\n", why);
    fflush(stderr);
    MPI_Abort(state_of(comm)->comm, 1);
    abort();
}

static void check(const th_comm *comm, int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    char cause[MPI_MAX_ERROR_STRING] = "", text[MPI_MAX_ERROR_STRING + 100];
    int length = 0;
    MPI_Error_string(code, cause, &length);
    snprintf(text, sizeof text, "rank %d of %d: %s: %s", comm->rank, comm->size, what, cause);
    stop(comm, text);
}

static void numbers(const th_comm *comm, const uint32_t *to, uint32_t *from) {
    check(comm, MPI_Alltoall(to, 1, MPI_UINT32_T, from, 1, MPI_UINT32_T, state_of(comm)->comm),
          "MPI_Alltoall");
}

static void reserve(const th_comm *comm, int count) {
    link_state *state = state_of(comm);
    if (count < 1 || count <= state->room) return;
    MPI_Request *more = realloc(state->requests, (size_t)count * 2 * sizeof *more);
    if (!more) stop(comm, "no memory for the list of messages");
    state->requests = more;
    state->room = 2 * count;
}

static size_t pieces_of(size_t size) { return (size + PIECE - 1) / PIECE; }

static void exchange(const th_comm *comm, const void *const *to, const size_t *to_size,
                     void *const *from, const size_t *from_size) {
    link_state *state = state_of(comm);
    size_t messages = 0;
    for (int r = 0; r < comm->size; ++r)
        if (r != comm->rank) messages += pieces_of(to_size[r]) + pieces_of(from_size[r]);
    reserve(comm, (int)messages);
    int count = 0;
    for (int r = 0; r < comm->size; ++r)
        for (size_t at = 0; r != comm->rank && at < from_size[r]; at += PIECE) {
            size_t size = from_size[r] - at < PIECE ? from_size[r] - at : PIECE;
            check(comm,
                  MPI_Irecv((char *)from[r] + at, (int)size, MPI_BYTE, r, TAG, state->comm,
                            &state->requests[count++]),
                  "MPI_Irecv");
        }
    for (int r = 0; r < comm->size; ++r)
        for (size_t at = 0; r != comm->rank && at < to_size[r]; at += PIECE) {
            size_t size = to_size[r] - at < PIECE ? to_size[r] - at : PIECE;
            check(comm,
                  MPI_Isend((const char *)to[r] + at, (int)size, MPI_BYTE, r, TAG, state->comm,
                            &state->requests[count++]),
                  "MPI_Isend");
        }
    for (int k = 0; k < count; ++k)
        check(comm, MPI_Wait(&state->requests[k], MPI_STATUS_IGNORE), "MPI_Wait");
}

static void sum(const th_comm *comm, uint64_t *values, int count) {
    check(comm,
          MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_SUM, state_of(comm)->comm),
          "MPI_Allreduce");
}
static void sum32(const th_comm *comm, uint32_t *values, int count) {
    check(comm,
          MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_UINT32_T, MPI_SUM, state_of(comm)->comm),
          "MPI_Allreduce");
}
static void highest(const th_comm *comm, double *values, int count) {
    check(comm,
          MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, state_of(comm)->comm),
          "MPI_Allreduce");
}

static th_result fail(th_error *error, const char *message) {
    if (!error) return TH_BAD_ARGUMENT;
    *error = (th_error){.code = TH_BAD_ARGUMENT};
    snprintf(error->message, sizeof error->message, "%s", message);
    return error->code;
}

th_result th_mpi_comm_create(const void *communicator, th_comm **comm, th_error *error) {
    link_state *state = calloc(1, sizeof *state);
    *comm = calloc(1, sizeof **comm);
    int begun = 0, level = MPI_THREAD_SINGLE;
    if (state && *comm) {
        MPI_Initialized(&begun);
        if (begun)
            MPI_Query_thread(&level);
        else
            MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    }
    if (level < MPI_THREAD_FUNNELED) {
        bool memory = state && *comm;
        free(state);
        free(*comm);
        *comm = NULL;
        return fail(error,
                    memory
                        ? "MPI was begun without other threads; begin it with MPI_Init_thread and "
                          "MPI_THREAD_FUNNELED"
                        : "no memory for MPI");
    }
    state->began = !begun;
    MPI_Comm_dup(communicator ? *(const MPI_Comm *)communicator : MPI_COMM_WORLD, &state->comm);
    MPI_Comm_set_errhandler(state->comm, MPI_ERRORS_RETURN);
    **comm = (th_comm){.context = state,
                       .numbers = numbers,
                       .exchange = exchange,
                       .sum = sum,
                       .sum32 = sum32,
                       .highest = highest,
                       .stop = stop};
    MPI_Comm_rank(state->comm, &(*comm)->rank);
    MPI_Comm_size(state->comm, &(*comm)->size);
    return TH_OK;
}

void th_mpi_comm_destroy(th_comm *comm) {
    if (!comm) return;
    link_state *state = comm->context;
    MPI_Comm_free(&state->comm);
    if (state->began) MPI_Finalize();
    free(state->requests);
    free(state);
    free(comm);
}
