// throng: dense-crowd simulation. Include this one.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_THRONG_H
#define THRONG_THRONG_H
#include "throng/ask.h"
#include "throng/base.h"
#include "throng/fields.h"
#include "throng/live.h"
#include "throng/model.h"
#include "throng/rooms.h"
#include "throng/scene.h"
#include "throng/scene_view.h"
#include "throng/world.h"
#endif
