// Plugins that cannot be used; each macro is one way to get it wrong. SPDX-License-Identifier: Apache-2.0
#include <throng/throng.h>

#if defined(NO_ENTRY)
int th_something_else;
#elif defined(OLD)
const uint32_t th_plugin_layout[] = {1};
th_result th_plugin(th_error *error) {
    (void)error;
    return TH_OK;
}
#elif defined(OTHER_SIZE) // as if a member had been added to th_field_use and th_near_wall
#define NUMBER(name, number) (uint32_t)((number) + (sizeof(name) == sizeof "th_field_use" ? 8 : 0)),
const uint32_t th_plugin_layout[] = {TH_PLUGIN_LAYOUT(NUMBER)};
th_result th_plugin(th_error *error) {
    (void)error;
    return TH_OK;
}
#elif defined(OTHER_MINOR) // built with the headers of the next minor version
#define NUMBER(name, number) \
    (uint32_t)((number) + (sizeof(name) == sizeof "version of throng" ? 1 : 0)),
const uint32_t th_plugin_layout[] = {TH_PLUGIN_LAYOUT(NUMBER)};
th_result th_plugin(th_error *error) {
    (void)error;
    return TH_OK;
}
#elif defined(EMPTY)
TH_PLUGIN {
    (void)error;
    return TH_OK;
}
#elif defined(UNDEFINED)
th_result th_of_a_later_version(th_error *error);
TH_PLUGIN { return th_of_a_later_version(error); }
#elif defined(TAKEN)
static th_vec2 stand(const th_agent *person) {
    (void)person;
    return (th_vec2){0, 0};
}
TH_PLUGIN {
    static th_model first, second;
    first = th_model_default();
    first.stage = TH_STAGE_MOVE;
    first.name = "taken_first";
    first.doc = first.source = "test";
    first.agent = stand;
    second = first;
    second.name = "orca";
    th_result result = th_model_register(&first, error);
    return result == TH_OK ? th_model_register(&second, error) : result;
}
#endif
