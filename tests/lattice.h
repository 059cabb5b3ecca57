// The nodes and the graph of a small scene, for tests of planners' solvers. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_LATTICE_H
#define TH_TESTS_LATTICE_H
#include "plan/nodes.h"
#include "plan/prepared.h"
#include "support.h"

typedef struct test_lattice {
    th_scene *scene;
    th_world *world;
    th_nodes nodes;
    th_graph graph;
    th_walls walls;
    th_arena arena; // for what the test adds
    th_memory memory;
} test_lattice;

static inline void take_nodes(test_lattice *l, const char *json, double cell) {
    l->scene = scene_of(json);
    l->world = world_of(l->scene, 1, 1);
    l->memory = th_memory_of(NULL);
    l->arena = th_arena_of(NULL);
    assert_int_equal(th_nodes_build(&l->nodes, l->scene, cell, NULL), TH_OK);
    assert_true(th_graph_create(&l->graph, &l->nodes, &l->memory));
    l->walls = th_world_walls(l->world);
    th_graph_update(&l->graph, &l->walls);
}

static inline void release_nodes(test_lattice *l) {
    th_graph_destroy(&l->graph, &l->memory);
    th_nodes_release(&l->nodes);
    th_arena_release(&l->arena);
    th_world_destroy(l->world);
    th_scene_destroy(l->scene);
}
#endif
