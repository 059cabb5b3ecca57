#ifndef TH_FORMULA_SOCIAL_FORCE_H
#define TH_FORMULA_SOCIAL_FORCE_H
#include "formula/params.h"
#include "formula/vec.h"
#define TH_SOCIAL_FORCE_PARAMS(X)                                                                 \
    TH_CONTACT_PARAMS(X)                                                                          \
    X(relaxation_time, 0.5, 0.01, 10, "s", "Helbing, Farkas, Vicsek 2000", "time to reach the preferred velocity")
typedef struct th_social_force_params {
    TH_SOCIAL_FORCE_PARAMS(TH_PARAM_MEMBER)
} th_social_force_params;
#endif
