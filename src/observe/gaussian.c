// Green's theorem turns the double integral into one along the edges: with Phi the normal distribution and g
// its density, d/dx [Phi(x) g(y)] = g(x) g(y), hence share = closed integral of Phi(x) g(y) dy, counter-clockwise.
// Edges are cut where Phi is 0 or 1 to all digits; there the integral is known, elsewhere five-point Gauss-Legendre
// on pieces of at most one sigma. SPDX-License-Identifier: Apache-2.0
#include "observe/gaussian.h"
#include <math.h>

static double distribution(double t) { return 0.5 * erfc(-t * 0.70710678118654752440); }
static double bell(double t) { return 0.39894228040143267794 * exp(-0.5 * t * t); }

// Integral over an edge from a to b (in sigmas, relative to the centre), both within the end in x.
static double along(th_point a, th_point b) {
    // Abscissae and weights on [-1, 1], Abramowitz and Stegun table 25.4.
    static const double at[5] = {-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831,
                                 0.9061798459386640};
    static const double weight[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                     0.4786286704993665, 0.2369268850561891};
    int pieces = (int)ceil(hypot(b.x - a.x, b.y - a.y));
    double sum = 0.0, half = 0.5 / pieces;
    for (int k = 0; k < pieces; ++k)
        for (int j = 0; j < 5; ++j) {
            double t = (2 * k + 1 + at[j]) * half;
            sum += weight[j] * distribution(a.x + t * (b.x - a.x)) * bell(a.y + t * (b.y - a.y));
        }
    return sum * half * (b.y - a.y);
}

// a to b with ascending y.
static double upward(th_point a, th_point b) {
    const double end = TH_GAUSSIAN_END;
    if (a.y >= end || b.y <= -end) return 0.0;
    double slope = (b.x - a.x) / (b.y - a.y);
    if (a.y < -end) a = (th_point){a.x + slope * (-end - a.y), -end};
    if (b.y > end) b = (th_point){a.x + slope * (end - a.y), end};
    double sum = 0.0;
    for (int left = 0; left < 2; ++left) { // cut at the ends in x, first at -end, then at +end
        double x = left ? end : -end;
        bool a_beyond = left ? a.x > x : a.x < x, b_beyond = left ? b.x > x : b.x < x;
        if (!a_beyond && !b_beyond) continue;
        double y = a_beyond && b_beyond ? b.y : a.y + (x - a.x) / slope;
        double low = a_beyond ? a.y : y, high = a_beyond ? y : b.y;
        if (left) sum += distribution(high) - distribution(low);
        if (a_beyond && b_beyond) return sum;
        if (a_beyond) a = (th_point){x, y};
        if (b_beyond) b = (th_point){x, y};
    }
    if (!(b.y > a.y)) return sum;
    if (a.x == b.x) return sum + distribution(a.x) * (distribution(b.y) - distribution(a.y));
    return sum + along(a, b);
}

double th_gaussian_share(const th_rings *rings, double x, double y, double sigma) {
    double share = 0.0;
    for (int r = 0; r < rings->ring_count; ++r) {
        th_point last = rings->points[rings->start[r + 1] - 1];
        th_point a = {(last.x - x) / sigma, (last.y - y) / sigma};
        for (int i = rings->start[r]; i < rings->start[r + 1]; ++i) {
            th_point b = {(rings->points[i].x - x) / sigma, (rings->points[i].y - y) / sigma};
            if (b.y > a.y) share += upward(a, b);
            if (b.y < a.y) share -= upward(b, a);
            a = b;
        }
    }
    return fmin(fmax(share, 0.0), 1.0);
}
