// Latin hypercubes and Sobol points, and first-order sensitivity by a sum of polynomials. Moments of the data are added up
// by group, so that the jackknife subtracts a group and never looks at the data again: O(points columns^2).
// SPDX-License-Identifier: Apache-2.0
#include "observe/sensitivity.h"
#include "core/statistics.h"
#include "formula/random.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- points

// The index that point k has in a random order of `count`: the rank of a random number.
typedef struct ranked {
    uint64_t key;
    int index;
} ranked;

static int by_key(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// Numbers 0 .. count - 1 in a random order. NULL: no memory.
static ranked *shuffled(uint64_t seed, uint32_t of, int count) {
    ranked *order = malloc(((size_t)count + 1) * sizeof *order);
    for (int k = 0; order && k < count; ++k) {
        th_random4 bits = th_philox(seed, TH_STREAM_SAMPLE, of, (uint64_t)k);
        order[k] = (ranked){(uint64_t)bits.v[0] << 32 | bits.v[1], k};
    }
    if (order) qsort(order, (size_t)count, sizeof *order, by_key);
    return order;
}

static bool fill_hypercube(uint64_t seed, int count, int inputs, double *points) {
    for (int i = 0; i < inputs; ++i) {
        ranked *order = shuffled(seed, (uint32_t)i, count);
        if (!order) return false;
        for (int k = 0; k < count; ++k) {
            th_random4 bits = th_philox(seed, TH_STREAM_SAMPLE, (uint32_t)i, (uint64_t)k);
            double within = th_uniform_double(bits.v[2], bits.v[3]);
            points[k * inputs + i] = (order[k].index + within) / count;
        }
        free(order);
    }
    return true;
}

// Primitive polynomials (degree and inner coefficients) and first direction numbers of the axes after the first: Joe and
// Kuo 2008, SIAM J. Sci. Comput. 30, 2635, table new-joe-kuo-6.
static const struct {
    int degree;
    uint32_t inner, first[5];
} axes[TH_INPUTS - 1] = {
    {1, 0, {1}},          {2, 1, {1, 3}},        {3, 1, {1, 3, 1}},       {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}}, {4, 4, {1, 3, 5, 13}}, {5, 2, {1, 1, 5, 5, 17}}};

static void fill_directions(int axis, uint32_t directions[32]) {
    for (int j = 0; j < 32; ++j) {
        int degree = axis > 0 ? axes[axis - 1].degree : 32;
        if (axis == 0) {
            directions[j] = 1u << (31 - j);
        } else if (j < degree) {
            directions[j] = axes[axis - 1].first[j] << (31 - j);
        } else {
            directions[j] = directions[j - degree] ^ (directions[j - degree] >> degree);
            for (int k = 1; k < degree; ++k)
                if (axes[axis - 1].inner >> (degree - 1 - k) & 1u)
                    directions[j] ^= directions[j - k];
        }
    }
}

static void fill_sobol(uint64_t seed, int count, int inputs, double *points) {
    for (int i = 0; i < inputs; ++i) {
        uint32_t directions[32];
        fill_directions(i, directions);
        uint32_t at = th_philox(seed, TH_STREAM_SAMPLE, (uint32_t)i, 0).v[0]; // the shift
        for (int k = 0; k < count; ++k) {
            points[k * inputs + i] = (at + 0.5) / 4294967296.0;
            int bit = 0; // Gray code: one direction from a point to the next
            for (uint32_t n = (uint32_t)k; n & 1u; n >>= 1) ++bit;
            at ^= directions[bit];
        }
    }
}

bool th_sampling_fill(th_sampling method, uint64_t seed, int count, int inputs, double *points) {
    if (method != TH_SAMPLING_SOBOL) return fill_hypercube(seed, count, inputs, points);
    fill_sobol(seed, count, inputs, points);
    return true;
}

// ---- distributions

static double normal_share(double z) { return 0.5 * erfc(-z / sqrt(2.0)); }

// The normal distribution's quantile by halving: exact to the last digits that a scene needs, and no table of numbers.
static double normal_quantile(double u) {
    double low = -40.0, high = 40.0;
    for (int k = 0; k < 100; ++k) {
        double middle = 0.5 * (low + high);
        *(normal_share(middle) < u ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

static double cut_normal(const th_input *input, double low, double high, double u) {
    double from = normal_share((low - input->a) / input->b);
    double to = normal_share((high - input->a) / input->b);
    double z = normal_quantile(from + u * (to - from));
    return fmin(fmax(input->a + input->b * z, low), high);
}

static double triangular(const th_input *input, double u) {
    double width = input->high - input->low, peak = (input->a - input->low) / width;
    if (u < peak) return input->low + sqrt(u * width * (input->a - input->low));
    return input->high - sqrt((1.0 - u) * width * (input->high - input->a));
}

double th_input_value(const th_input *input, double u) {
    switch (input->kind) {
    case TH_INPUT_UNIFORM: return input->a + u * (input->b - input->a);
    case TH_INPUT_WHOLE: return fmin(floor(input->a + u * (input->b - input->a + 1.0)), input->b);
    case TH_INPUT_TRIANGULAR: return triangular(input, u);
    case TH_INPUT_NORMAL: return cut_normal(input, input->low, input->high, u);
    case TH_INPUT_LOGNORMAL:
        return exp(cut_normal(input, input->low > 0.0 ? log(input->low) : -(double)INFINITY,
                              log(input->high), u));
    }
    return (double)NAN;
}

// "1:2:3"; -1: not numbers.
static int read_numbers(const char *text, double numbers[4]) {
    int count = 0;
    for (char *end = NULL;; text = end + 1) {
        if (count == 4) return -1;
        numbers[count] = strtod(text, &end);
        if (end == text || !isfinite(numbers[count++])) return -1;
        if (*end == '\0') return count;
        if (*end != ':') return -1;
    }
}

static bool read_range(th_input *input, const char *text) {
    const char *dots = strstr(text, "..");
    char *end = NULL;
    double low = strtod(text, &end);
    bool good = end != text && (end == dots || end == dots + 1); // strtod may take a dot
    double high = strtod(dots + 2, &end);
    *input = (th_input){TH_INPUT_UNIFORM, low, high, low, high};
    return good && end != dots + 2 && *end == '\0' && isfinite(low) && isfinite(high) && low < high;
}

static bool fill_input(th_input *input, const double *numbers, int count) {
    double a = numbers[0], b = numbers[1];
    bool log_normal = input->kind == TH_INPUT_LOGNORMAL;
    input->a = a;
    input->b = b;
    input->low = log_normal ? 0.0 : -(double)INFINITY;
    input->high = (double)INFINITY;
    if (input->kind == TH_INPUT_UNIFORM) return count == 2 && a < b;
    if (input->kind == TH_INPUT_WHOLE) return count == 2 && a < b && floor(a) >= a && floor(b) >= b;
    if (input->kind == TH_INPUT_TRIANGULAR) {
        *input = (th_input){TH_INPUT_TRIANGULAR, b, 0, a, numbers[2]};
        return count == 3 && a < numbers[2] && a <= b && b <= numbers[2];
    }
    if (count == 4) {
        input->low = numbers[2];
        input->high = numbers[3];
    }
    double lowest = log_normal ? log(fmax(input->low, DBL_MIN)) : input->low;
    double highest = log_normal ? log(fmax(input->high, DBL_MIN)) : input->high;
    // Within 8 standard deviations something is left between the bounds.
    return (count == 2 || count == 4) && b > 0.0 && lowest < highest && (lowest - a) / b < 8.0 &&
           (highest - a) / b > -8.0;
}

bool th_input_read(th_input *input, const char *text, bool *bad) {
    static const char *const names[] = {
        "uniform:", "whole:", "triangular:", "normal:", "lognormal:"};
    double numbers[4];
    *bad = false;
    for (int k = 0; k < (int)(sizeof names / sizeof names[0]); ++k) {
        size_t length = strlen(names[k]);
        if (strncmp(text, names[k], length) != 0) continue;
        *input = (th_input){.kind = (th_input_kind)k};
        int count = read_numbers(text + length, numbers);
        bool good = count > 1 && fill_input(input, numbers, count);
        *bad = !good;
        return good;
    }
    if (!strstr(text, "..")) return false;
    bool good = read_range(input, text);
    *bad = !good;
    return good;
}

// ---- sensitivity

enum {
    DEGREES = 10,
    COLUMNS = 120, // at most, of all inputs
    GROUPS = 20,   // of the jackknife; below twice as many points each point is one
    GROUPS_MOST = 2 * GROUPS
};

// What is known of some points.
typedef struct moments {
    int points;
    double y, yy;        // sums over the points' means
    double within;       // squares of runs about their points' means
    double freedom;      // of them
    double inverse;      // sum of 1 / runs
    double *x, *xy, *xx; // [column], [column], [column][column]
} moments;

typedef struct fitting {
    const th_sensitivity_def *def;
    int *used;               // points with a result
    double *means;           // of these
    int points, columns;     // columns of the highest degree
    int owner[COLUMNS];      // input of a column
    int levels[DEGREES + 1]; // columns up to a degree; 0: categories alone
    int degree;              // highest
    double *matrix;          // [point][column]
    moments all, rest, groups[GROUPS_MOST];
    double *memory; // of the moments
    double *work;   // (columns + 1)^2
    int group_count;
} fitting;

static size_t moments_size(int columns) {
    return (size_t)columns * 2 + (size_t)columns * (size_t)columns;
}

static void place_moments(moments *m, double *memory, int columns) {
    m->x = memory;
    m->xy = memory + columns;
    m->xx = memory + 2 * columns;
}

// m += sign * other
static void add_moments(moments *m, const moments *other, double sign, int columns) {
    m->points += (int)sign * other->points;
    m->y += sign * other->y;
    m->yy += sign * other->yy;
    m->within += sign * other->within;
    m->freedom += sign * other->freedom;
    m->inverse += sign * other->inverse;
    for (size_t k = 0; k < moments_size(columns); ++k) m->x[k] += sign * other->x[k];
}

// The mean and the number of runs of a point; 0: none.
static int mean_of(const th_sensitivity_def *def, int point, double *mean) {
    const double *y = def->y + (size_t)point * (size_t)def->runs;
    double sum = 0.0;
    int count = 0;
    for (int r = 0; r < def->runs; ++r) {
        if (!isfinite(y[r])) continue;
        sum += y[r];
        ++count;
    }
    *mean = sum / count;
    return count;
}

static bool find_points(fitting *f) {
    const th_sensitivity_def *def = f->def;
    f->used = malloc(((size_t)def->points + 1) * sizeof *f->used);
    f->means = malloc(((size_t)def->points + 1) * sizeof *f->means);
    for (int k = 0; f->used && f->means && k < def->points; ++k) {
        if (mean_of(def, k, &f->means[f->points]) == 0) continue;
        f->used[f->points++] = k;
    }
    return f->used && f->means;
}

static double input_of(const fitting *f, int point, int input) {
    return f->def->x[(size_t)f->used[point] * (size_t)f->def->inputs + (size_t)input];
}

static bool is_category(const fitting *f, int input) {
    return f->def->category && f->def->category[input];
}

// The distinct values of a category, ascending; how many, or COLUMNS when there are as many.
static int distinct(const fitting *f, int input, double values[COLUMNS]) {
    int count = 0;
    for (int k = 0; k < f->points && count < COLUMNS; ++k) {
        double x = input_of(f, k, input);
        bool known = false;
        for (int i = 0; i < count; ++i) known = known || !(values[i] < x || values[i] > x);
        if (!known) values[count++] = x;
    }
    return count;
}

// How many columns there are by degree, and whose they are. False: more than the points can carry.
static bool plan_columns(fitting *f) {
    double values[COLUMNS];
    int numbers = 0, count = 0;
    for (int i = 0; i < f->def->inputs; ++i) {
        int columns = is_category(f, i) ? distinct(f, i, values) - 1 : 0;
        numbers += !is_category(f, i);
        for (int k = 0; k < columns && count < COLUMNS; ++k) f->owner[count++] = i;
    }
    f->levels[0] = count;
    if (2 * (count + numbers + 1) > f->points || count + numbers > COLUMNS) return false;
    for (int d = 1; d <= DEGREES && numbers > 0; ++d) {
        // Beyond straight lines a third of the points, so that chance has no say in the shape.
        if (d > 1 && (3 * (count + numbers) > f->points || count + numbers > COLUMNS)) break;
        for (int i = 0; i < f->def->inputs; ++i)
            if (!is_category(f, i)) f->owner[count++] = i;
        f->levels[f->degree = d] = count;
    }
    f->columns = count;
    return count > 0;
}

// Legendre's polynomials of an input that is stretched to -1 .. 1, as one column per degree.
static void fill_number(const fitting *f, int input, int column, int stride) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int k = 0; k < f->points; ++k) {
        low = fmin(low, input_of(f, k, input));
        high = fmax(high, input_of(f, k, input));
    }
    for (int k = 0; k < f->points; ++k) {
        double *row = f->matrix + (size_t)k * (size_t)f->columns + column;
        double t = high > low ? 2.0 * (input_of(f, k, input) - low) / (high - low) - 1.0 : 0.0;
        double before = 1.0, now = t;
        for (int d = 1; d <= f->degree; ++d) {
            row[(d - 1) * stride] = now;
            double next = ((2 * d + 1) * t * now - d * before) / (d + 1);
            before = now;
            now = next;
        }
    }
}

static void fill_matrix(fitting *f) {
    double values[COLUMNS];
    int column = 0, number = 0, numbers = 0;
    for (int i = 0; i < f->def->inputs; ++i) numbers += !is_category(f, i);
    for (int i = 0; i < f->def->inputs; ++i) {
        if (!is_category(f, i)) {
            fill_number(f, i, f->levels[0] + number++, numbers);
            continue;
        }
        int count = distinct(f, i, values);
        for (int c = 1; c < count; ++c, ++column)
            for (int k = 0; k < f->points; ++k) {
                double x = input_of(f, k, i);
                f->matrix[(size_t)k * (size_t)f->columns + (size_t)column] =
                    x < values[c] || x > values[c] ? 0.0 : 1.0;
            }
    }
}

static void see_point(const fitting *f, int k, double centre, moments *m) {
    const double *row = f->matrix + (size_t)k * (size_t)f->columns;
    const double *y = f->def->y + (size_t)f->used[k] * (size_t)f->def->runs;
    double value = f->means[k] - centre; // sums of squares of large numbers lose digits
    int runs = 0;
    for (int r = 0; r < f->def->runs; ++r) {
        if (!isfinite(y[r])) continue;
        m->within += (y[r] - f->means[k]) * (y[r] - f->means[k]);
        ++runs;
    }
    m->points += 1;
    m->freedom += runs - 1;
    m->inverse += 1.0 / runs;
    m->y += value;
    m->yy += value * value;
    for (int i = 0; i < f->columns; ++i) {
        m->x[i] += row[i];
        m->xy[i] += row[i] * value;
        for (int j = 0; j < f->columns; ++j) m->xx[i * f->columns + j] += row[i] * row[j];
    }
}

static bool fill_moments(fitting *f) {
    size_t size = moments_size(f->columns);
    f->group_count = f->points < GROUPS_MOST ? f->points : GROUPS;
    f->memory = calloc(size * (size_t)(f->group_count + 2), sizeof *f->memory);
    ranked *order = shuffled(1, TH_INPUTS, f->points);
    bool good = f->memory && order;
    double centre = th_mean(f->means, f->points);
    for (int g = 0; good && g < f->group_count; ++g)
        place_moments(&f->groups[g], f->memory + size * (size_t)g, f->columns);
    for (int k = 0; good && k < f->points; ++k)
        see_point(f, order[k].index, centre, &f->groups[k % f->group_count]);
    free(order);
    if (!good) return false;
    place_moments(&f->all, f->memory + size * (size_t)f->group_count, f->columns);
    place_moments(&f->rest, f->memory + size * (size_t)(f->group_count + 1), f->columns);
    for (int g = 0; g < f->group_count; ++g) add_moments(&f->all, &f->groups[g], 1.0, f->columns);
    return true;
}

static double covariance(const moments *m, int i, int j, int columns) {
    return (m->xx[i * columns + j] - m->x[i] * m->x[j] / m->points) / m->points;
}

// The covariances of the first `count` columns and, in the last row and column, of y.
static void centre_moments(const fitting *f, const moments *m, int count) {
    int side = count + 1;
    double *a = f->work;
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) a[i * side + j] = covariance(m, i, j, f->columns);
        double with_y = (m->xy[i] - m->x[i] * m->y / m->points) / m->points;
        a[i * side + count] = a[count * side + i] = with_y;
    }
    a[count * side + count] = fmax((m->yy - m->y * m->y / m->points) / m->points, 0.0);
}

// Gauss-Jordan on one column (the sweep operator, Goodnight 1979): swept columns hold the inverse, the last column their
// coefficients, its last element what is left of y's variance. False: the column says nothing new.
static bool sweep_column(double *a, int side, int k, double before) {
    double pivot = a[k * side + k];
    if (!(pivot > 1e-9 * before)) return false;
    for (int j = 0; j < side; ++j)
        if (j != k) a[k * side + j] /= pivot;
    for (int i = 0; i < side; ++i) {
        double factor = a[i * side + k];
        if (i == k) continue;
        for (int j = 0; j < side; ++j)
            if (j != k) a[i * side + j] -= factor * a[k * side + j];
        a[i * side + k] = -factor / pivot;
    }
    a[k * side + k] = 1.0 / pivot;
    return true;
}

// The degree that predicts points best that it has not seen.
static int choose_degree(const fitting *f) {
    int side = f->columns + 1, best = 0, k = 0, fitted = 0;
    double least = (double)INFINITY;
    centre_moments(f, &f->all, f->columns);
    for (int d = 0; d <= f->degree; ++d) {
        for (; k < f->levels[d]; ++k)
            fitted += sweep_column(f->work, side, k, covariance(&f->all, k, k, f->columns));
        double free_share = 1.0 - (fitted + 1.0) / f->points;
        double score = f->work[side * side - 1] / (free_share * free_share);
        if (d > 0 && score >= 0.99 * least) continue; // a higher degree for a reason only
        least = score;
        best = d;
    }
    return best;
}

enum { SHARES = TH_INPUTS + 1 }; // of all inputs, and of chance

static void find_shares(const fitting *f, const moments *m, int degree, double shares[SHARES]) {
    int count = f->levels[degree], side = count + 1, fitted = 0;
    bool swept[COLUMNS];
    double *a = f->work, parts[TH_INPUTS] = {0}, taken[TH_INPUTS] = {0};
    centre_moments(f, m, count);
    for (int k = 0; k < count; ++k) {
        swept[k] = sweep_column(a, side, k, covariance(m, k, k, f->columns));
        fitted += swept[k];
    }
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) {
            if (f->owner[i] != f->owner[j] || !swept[i] || !swept[j]) continue;
            double with = covariance(m, i, j, f->columns);
            parts[f->owner[i]] += a[i * side + count] * a[j * side + count] * with;
            taken[f->owner[i]] += a[i * side + j] * with;
        }
    double left = fmax(a[side * side - 1], 0.0) * m->points / fmax(m->points - fitted - 1, 1);
    double chance = m->freedom > 0.0 ? m->within / m->freedom : 0.0;
    // The inputs are independent, though the points of a sample are correlated a little: no products of two parts.
    double all = chance + fmax(left - chance * m->inverse / m->points, 0.0);
    for (int i = 0; i < f->def->inputs; ++i) {
        parts[i] -= left / m->points * taken[i];
        all += fmax(parts[i], 0.0);
    }
    for (int i = 0; i < f->def->inputs; ++i) shares[i] = all > 0.0 ? parts[i] / all : (double)NAN;
    shares[TH_INPUTS] = m->freedom > 0.0 && all > 0.0 ? chance / all : (double)NAN;
}

static double clip(double share) { return fmin(fmax(share, 0.0), 1.0); }

// `parts`: the shares without each group.
static th_share_found interval(double share, double (*parts)[SHARES], int groups, int which) {
    double mean = 0.0, squares = 0.0;
    if (!isfinite(share)) return (th_share_found){(double)NAN, (double)NAN, (double)NAN};
    for (int g = 0; g < groups; ++g) mean += parts[g][which] / groups;
    for (int g = 0; g < groups; ++g) squares += (parts[g][which] - mean) * (parts[g][which] - mean);
    double half = th_student_t_975(groups - 1) * sqrt(squares * (groups - 1) / groups);
    return (th_share_found){clip(share), clip(share - half), clip(share + half)};
}

static void find_all(fitting *f, th_sensitivity *found) {
    double shares[SHARES], parts[GROUPS_MOST][SHARES], sum = 0.0;
    found->degree = choose_degree(f);
    find_shares(f, &f->all, found->degree, shares);
    for (int g = 0; g < f->group_count; ++g) {
        double *x = f->rest.x;
        f->rest = (moments){.x = x, .xy = f->rest.xy, .xx = f->rest.xx};
        memset(x, 0, moments_size(f->columns) * sizeof *x);
        add_moments(&f->rest, &f->all, 1.0, f->columns);
        add_moments(&f->rest, &f->groups[g], -1.0, f->columns);
        find_shares(f, &f->rest, found->degree, parts[g]);
    }
    found->chance = interval(shares[TH_INPUTS], parts, f->group_count, TH_INPUTS);
    for (int i = 0; i < f->def->inputs; ++i) {
        found->inputs[i] = interval(shares[i], parts, f->group_count, i);
        sum += found->inputs[i].share;
    }
    if (isfinite(found->chance.share)) sum += found->chance.share;
    found->others = clip(1.0 - sum);
}

// The deviation of single runs, without any fit; differences as small as the digits of the numbers are none.
static double deviation_of(const th_sensitivity_def *def) {
    double mean = 0.0, squares = 0.0;
    size_t all = (size_t)def->points * (size_t)def->runs, count = 0;
    for (size_t k = 0; k < all; ++k) {
        if (!isfinite(def->y[k])) continue;
        double off = def->y[k] - mean;
        mean += off / (double)++count;
        squares += off * (def->y[k] - mean);
    }
    double deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0.0;
    return deviation > 1e-9 * fabs(mean) ? deviation : 0.0;
}

bool th_sensitivity_find(const th_sensitivity_def *def, th_sensitivity *found) {
    const th_share_found none = {(double)NAN, (double)NAN, (double)NAN};
    fitting f = {.def = def};
    *found = (th_sensitivity){.chance = none, .others = (double)NAN};
    for (int i = 0; i < TH_INPUTS; ++i) found->inputs[i] = none;
    found->deviation = deviation_of(def);
    bool good = find_points(&f);
    found->points = f.points;
    found->mean = good ? th_mean(f.means, f.points) : (double)NAN;
    if (good && found->deviation > 0.0 && plan_columns(&f)) {
        size_t side = (size_t)f.columns + 1;
        f.matrix = malloc((size_t)f.points * (size_t)f.columns * sizeof *f.matrix);
        f.work = malloc(side * side * sizeof *f.work);
        good = f.matrix && f.work;
        if (good) fill_matrix(&f);
        good = good && fill_moments(&f);
        if (good) find_all(&f, found);
    }
    free(f.used);
    free(f.means);
    free(f.matrix);
    free(f.work);
    free(f.memory);
    return good;
}
