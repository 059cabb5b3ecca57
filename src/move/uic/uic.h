// Unilateral incompressibility, Narain, Golas, Curtis, Lin 2009, "Aggregate dynamics for dense crowd
// simulation": the maths of one person, one cell, one face. The crowd is a fluid that may thin out freely
// but never be packed beyond a limit; a pressure p >= 0 that acts only where it is packed bends the flow.
//
// Densities are carried as a packing: every person takes up the area 1 / rho_max of eq. 4, and the packing
// of a cell, sum of areas / area of the cell, is at most 1. With equal bodies this is rho / rho_max of the
// paper; with unequal ones each counts by its own size. Model, additions, omissions: docs/models/uic.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_UIC_H
#define TH_FORMULA_UIC_H
#include "formula/params.h"
#include "formula/vec.h"

#define TH_NGCL09 "Narain, Golas, Curtis, Lin 2009"

// separation_passes leads, as in every move model. Here it counts the passes of the model's own pair step.
#define TH_UIC_PARAMS(X)                                                                          \
    X(separation_passes, 2, 0, 16, "-", "throng: a fit to the paper's nearest distances",         \
      "passes of the pair step that moves people apart who are closer than pair_distance")        \
    X(pressure, 1, 0, 1, "-", TH_NGCL09 ": Fig. 3",                                               \
      "1: packing is limited by pressure; 0: pair step only")                                     \
    X(pair_distance, 1.25, 0, 2, "d_min", TH_NGCL09 ": mean nearest distance",                    \
      "people closer than this are moved apart; 0: no pair step")                                 \
    X(tidy_passes, 5, 0, 16, "-", "throng: a tenth of the overlaps at no more cost",              \
      "further passes for those who are still closer than about d_min")                           \
    X(pair_substep, 0.1, 0.005, 1, "s", "throng: shorter ones bring nothing, docs/models/uic.md", \
      "longest piece of way between two passes of the pair step")                                 \
    X(d_min, 0, 0, 2, "m", TH_NGCL09 ": eq. 4",                                                   \
      "distance people do not fall below; 0: twice the radius of each")                           \
    X(alpha, 0.5, 0.1, 1, "-", TH_NGCL09 ": eq. 4 has it <= 1; 0.5 is throng's fit",              \
      "share of the densest packing of discs that a crowd reaches")                               \
    X(cell_size, 0, 0, 20, "m", "throng: density overshoots least at 5 to 6 d_min",               \
      "side of a cell, the largest any group asks for; 0: 5 d_min, or three quarters of the "     \
      "narrowest passage and at least 1.5 d_min; read when the world is made")                    \
    X(tolerance, 1e-3, 1e-6, 0.1, "-", "throng",                                                  \
      "of the pressure solve, as a share of the maximum density")                                 \
    X(speed_limit, 0, 0, 5, "m/s", TH_NGCL09 ": v_max; 0: mean preferred speed of those around",  \
      "speed that a flow bent by pressure makes up for")                                          \
    X(keep_side, 0, -1, 1, "-", TH_NGCL09 ": wished for in section 5.2",                          \
      "share of the speed by which people facing others step to the right (left if negative)")    \
    X(give_way, 1, 0, 1, "-", "throng: two packed crowds that meet at a corner stand for good",   \
      "how far people who stand because wishes around them oppose each other leave the common "   \
      "flow and step to their right; 0: as published")

// X(name, doc, {parameter, value}...)
#define TH_UIC_PRESETS(X)                                                                     \
    X(narain2009, "the distances the paper reports, 1.25 d_min where dense", {"alpha", 0.45}, \
      {"separation_passes", 3}, {"give_way", 0})                                              \
    X(packed, "denser and quicker: 4.7 people per m2 of radius 0.2 m instead of 3.6",         \
      {"alpha", 0.65}, {"pair_distance", 1.15}, {"separation_passes", 5}, {"tidy_passes", 16})

typedef struct th_uic_params {
    TH_UIC_PARAMS(TH_PARAM_MEMBER)
} th_uic_params;

// Below this share of the speed limit a flow stands: renormalised, the noise of a standing crowd would
// become walking.
#define TH_UIC_FLOOR 1e-3f
#define TH_UIC_STANDS \
    0.3f // share of the mean speed below which somebody begins to stand, and gives way where wishes oppose
// Nobody is carried or pushed faster than this many times the own walking speed, whatever an overfull cell asks for.
#define TH_UIC_FASTEST 1.19f
#define TH_UIC_SLOWEST 0.1f // [m/s] who does not walk at all is pushed aside at least this fast
#define TH_UIC_QUICK 2.5f   // [m/s] somebody quick: how far anybody may get in a step
#define TH_UIC_CELL 5.0f    // default cell size in d_min

// The fastest that somebody with this walking speed moves [m/s].
TH_FORMULA float th_uic_fastest(float speed) {
    return TH_UIC_FASTEST * th_max(speed, TH_UIC_SLOWEST);
}

// The distance that somebody keeps: as given, or twice the own radius.
TH_FORMULA float th_uic_d_min(float given, float radius) {
    return given > 0.0f ? given : 2.0f * radius;
}

// Area one person takes up, 1 / rho_max (eq. 4): sqrt(3) d_min^2 / (2 alpha) [m2].
TH_FORMULA float th_uic_share(float d_min, float alpha) {
    return 0.8660254f * d_min * d_min / alpha;
}

// Eq. 3 with the weight bounded: the packing overshoots 1 by a few per cent.
TH_FORMULA float th_uic_weight(float packing, float capacity) {
    return capacity > 1e-6f ? th_min(packing / capacity, 1.0f) : 1.0f;
}

// renorm of eq. 10 for one component of a face: `along` is that component, `across` the other.
TH_FORMULA float th_uic_renorm(float along, float across, float limit) {
    float length = sqrtf(along * along + across * across);
    return length < TH_UIC_FLOOR * limit || !(length > 0.0f) ? 0.0f : along * (limit / length);
}

// Preferred velocity v with a step to the right, the more the people around want to go another way:
// nothing when their mean preferred velocity is one's own, `keep_side` of the speed when it is opposite.
TH_FORMULA th_vec2 th_uic_keep_side(th_vec2 v, th_vec2 others, float keep_side) {
    float speed2 = th_length2(v);
    if (!(speed2 > 1e-12f)) return v;
    float against = th_clamp(0.5f * (1.0f - th_dot(v, others) / speed2), 0.0f, 1.0f);
    th_vec2 turned = th_add(v, th_scale(keep_side * against, th_perp_right(v)));
    return th_scale(sqrtf(speed2 / th_length2(turned)), turned); // no faster than before
}
#endif
