// Counts of values in classes of equal ratio, so that quantiles of any number of values take little memory and
// are right to 1 %. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_HISTOGRAM_H
#define TH_OBSERVE_HISTOGRAM_H
#include <math.h>
#include <stdint.h>

// From 1e-4 to 1e5 in steps of 1 %; what is smaller counts as 1e-4, what is larger as 1e5.
enum { TH_HISTOGRAM_CLASSES = 2084 };
typedef struct th_histogram {
    uint64_t count;
    double sum, least, most;
    uint64_t classes[TH_HISTOGRAM_CLASSES];
} th_histogram;

#define TH_HISTOGRAM_LEAST 1e-4
#define TH_HISTOGRAM_RATIO 1.01

static inline void th_histogram_add(th_histogram *h, double value) {
    if (!isfinite(value)) return;
    double place = value > TH_HISTOGRAM_LEAST
                       ? log(value / TH_HISTOGRAM_LEAST) / log(TH_HISTOGRAM_RATIO)
                       : 0.0;
    int at = place < TH_HISTOGRAM_CLASSES - 1 ? (int)place : TH_HISTOGRAM_CLASSES - 1;
    h->least = h->count == 0 ? value : fmin(h->least, value);
    h->most = h->count == 0 ? value : fmax(h->most, value);
    h->classes[at]++;
    h->sum += value;
    h->count++;
}

static inline double th_histogram_mean(const th_histogram *h) {
    return h->count > 0 ? h->sum / (double)h->count : (double)NAN;
}

// NaN without values.
static inline double th_histogram_quantile(const th_histogram *h, double q) {
    if (h->count == 0) return (double)NAN;
    double rank = q * (double)(h->count - 1), below = 0.0;
    for (int k = 0; k < TH_HISTOGRAM_CLASSES; ++k) {
        below += (double)h->classes[k];
        if (below <= rank) continue;
        double middle = TH_HISTOGRAM_LEAST * pow(TH_HISTOGRAM_RATIO, k + 0.5);
        return fmin(fmax(middle, h->least), h->most);
    }
    return h->most;
}
#endif
