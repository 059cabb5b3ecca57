#ifndef TH_FORMULA_HELBING_MOLNAR_H
#define TH_FORMULA_HELBING_MOLNAR_H
#include "formula/params.h"
#include "formula/vec.h"
#define TH_HELBING_MOLNAR_PARAMS(X)                                                               \
    TH_CONTACT_PARAMS(X)                                                                          \
    X(relaxation_time, 0.5, 0.01, 10, "s", "Helbing, Molnar 1995", "time to reach the preferred velocity")
typedef struct th_helbing_molnar_params {
    TH_HELBING_MOLNAR_PARAMS(TH_PARAM_MEMBER)
} th_helbing_molnar_params;
#endif
